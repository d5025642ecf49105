"""Write and remove Snell's part of a text file, which is between two marker lines."""

from snell.settings.value_tree import InvalidValueError

BEGIN = "<!-- snell: begin; written by `snell setup`, do not edit -->"
END = "<!-- snell: end -->"


def with_block(text: str, block: str) -> str:
    """Return the text with Snell's part: in its old place, else at the end."""
    newline = "\r\n" if "\r\n" in text else "\n"
    part = newline.join((BEGIN, *block.strip().splitlines(), END))
    found = _place(text)
    if found:
        return text[: found[0]] + part + text[found[1] :]
    if not text:
        return part + newline
    gap = newline if text.endswith("\n") else newline * 2
    return f"{text}{gap}{part}{newline if text.endswith(chr(10)) else ''}"


def without_block(text: str) -> str:
    """Return the text without Snell's part, and without the empty line that came with it."""
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


def _place(text: str) -> tuple[int, int] | None:
    start = text.find(BEGIN)
    if start < 0:
        return None
    end = text.find(END, start)
    line = text.count("\n", 0, start) + 1
    if end < 0:
        raise InvalidValueError(
            "Snell's part begins here and has no end", line, f"add the line `{END}` after it, or remove it"
        )
    return start, end + len(END)
