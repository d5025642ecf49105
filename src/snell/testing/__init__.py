"""
Test helpers for hook authors: case files, and `decide_with` for their own tests.

    from snell.testing import decide_with

Names are imported at their first use.
"""

TYPE_CHECKING = False  # type checkers treat this name as true

if TYPE_CHECKING:
    from snell.testing.case_event import CaseError as CaseError
    from snell.testing.case_event import CaseEvent as CaseEvent
    from snell.testing.cases import Case as Case
    from snell.testing.cases import cases_in as cases_in
    from snell.testing.expectation import Expectation as Expectation
    from snell.testing.run_cases import Result as Result
    from snell.testing.run_cases import decide_with as decide_with
    from snell.testing.run_cases import run_case as run_case
    from snell.testing.run_cases import run_path as run_path

_NAMES = {
    "case_event": ("CaseError", "CaseEvent"),
    "cases": ("Case", "cases_in"),
    "expectation": ("Expectation",),
    "run_cases": ("Result", "decide_with", "run_case", "run_path"),
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    for module, names in _NAMES.items():
        if name in names:
            return getattr(import_module(f"snell.testing.{module}"), name)
    raise AttributeError(f"module `snell.testing` has no name `{name}`")
