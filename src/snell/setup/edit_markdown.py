"""A passage of a text file that is ours, between two marks."""

from snell.settings.problems import InvalidValueError

BEGIN = "<!-- snell: begin; written by `snell setup`, do not edit -->"
END = "<!-- snell: end -->"


def with_block(text: str, block: str) -> str:
    """The text with our passage in it: where it was, else at the end."""
    newline = "\r\n" if "\r\n" in text else "\n"
    passage = newline.join((BEGIN, *block.strip().splitlines(), END))
    found = _place(text)
    if found:
        return text[: found[0]] + passage + text[found[1] :]
    if not text:
        return passage + newline
    gap = newline if text.endswith("\n") else newline * 2
    return f"{text}{gap}{passage}{newline if text.endswith(chr(10)) else ''}"


def without_block(text: str) -> str:
    """The text as it would be without our passage, and without the empty line that came with it."""
    found = _place(text)
    if not found:
        return text
    before, after = text[: found[0]], text[found[1] :]
    newline = "\r\n" if "\r\n" in text else "\n"
    if not after.strip() and before.endswith(newline * 2):
        had_final = bool(after)
        return before[: -len(newline)] if had_final else before[: -2 * len(newline)]
    if not before.strip():
        return after.lstrip("\r\n")
    return before + after.removeprefix(newline)


def has_block(text: str) -> bool:
    return _place(text) is not None


def _place(text: str) -> tuple[int, int] | None:
    start = text.find(BEGIN)
    if start < 0:
        return None
    end = text.find(END, start)
    line = text.count("\n", 0, start) + 1
    if end < 0:
        raise InvalidValueError("our passage begins here and does not end", line, f"add `{END}` after it, or remove it")
    return start, end + len(END)
