"""Tell arithmetic that every shell takes for arithmetic from text that some would read as commands."""

from snell.system.lazy_regex import lazy_regex

_PARENTHESES = lazy_regex("[()]")
_QUOTES = lazy_regex("['\"]")
_MISLEADING = lazy_regex(r"[\\`#]|<<")
_OPERATORS = lazy_regex(r"[;&|<>\n]")


def reads_otherwise(source: str, closing: str) -> bool:
    """Another reading of the text between the marks is possible."""
    # Bash looks for the end by counting; where that is not where we found it, it would read commands instead.
    if not _is_balanced(source) or (_QUOTES.search(source) and _MISLEADING.search(source)):
        return True
    # Plain POSIX shells know no `$[ ]` and act on the operators inside.
    return closing == "]" and _OPERATORS.search(source) is not None


def _is_balanced(text: str) -> bool:
    open_marks = 0
    for mark in _PARENTHESES.findall(text):
        open_marks += 1 if mark == "(" else -1
        if open_marks < 0:
            return False
    return not open_marks
