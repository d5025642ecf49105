"""
Test helpers for hook authors: case files, and `decide_with` for their own tests.

    from snell.testing import decide_with

Names are imported at their first use.
"""

TYPE_CHECKING = False  # type checkers treat this name as true

if TYPE_CHECKING:
    from snell.testing.case_errors import CaseError
    from snell.testing.case_event import CaseEvent
    from snell.testing.cases import Case, cases_in
    from snell.testing.expectation import Expectation
    from snell.testing.run_cases import Result, decide_with, run_case, run_path

_WHERE = {
    "Case": "cases",
    "CaseError": "case_errors",
    "Expectation": "expectation",
    "CaseEvent": "case_event",
    "Result": "run_cases",
    "cases_in": "cases",
    "decide_with": "run_cases",
    "run_case": "run_cases",
    "run_path": "run_cases",
}

__all__ = [
    "Case",
    "CaseError",
    "CaseEvent",
    "Expectation",
    "Result",
    "cases_in",
    "decide_with",
    "run_case",
    "run_path",
]


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module `snell.testing` has no name `{name}`")
    from importlib import import_module

    return getattr(import_module(f"snell.testing.{_WHERE[name]}"), name)
