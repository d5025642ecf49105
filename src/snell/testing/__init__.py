"""
Helpers for people who write hooks: case files, and one function for tests of their own.

    from snell.testing import decide_with

Names are looked up when they are first used.
"""

TYPE_CHECKING = False  # what type checkers know by this name

if TYPE_CHECKING:
    from snell.testing.cases import Case, cases_in
    from snell.testing.expect import Expectation
    from snell.testing.given import Given
    from snell.testing.inline import decide_with
    from snell.testing.mistakes import CaseError
    from snell.testing.run import Result, run_case, run_path

_WHERE = {
    "Case": "cases",
    "CaseError": "mistakes",
    "Expectation": "expect",
    "Given": "given",
    "Result": "run",
    "cases_in": "cases",
    "decide_with": "inline",
    "run_case": "run",
    "run_path": "run",
}

__all__ = [
    "Case",
    "CaseError",
    "Expectation",
    "Given",
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
