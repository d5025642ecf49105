"""Find secrets in a text, and show the text without them."""

from collections.abc import Iterator

from snell.redact import find, is_too_secret, redact
from snell.settings.check_rows import Row, text_in


def check_row(row: Row) -> Row:
    """Find the secrets in the text of one row."""
    text = text_in(row, "text")
    findings = find(text)
    return {
        "redacted": redact(text),
        "findings": [{"type": each.kind, "start": each.start, "end": each.end} for each in findings],
        "skip": is_too_secret(text, findings),
    }


def exit_code(answer: Row) -> int:
    return 1 if answer["findings"] else 0


def lines(_row: Row, answer: Row) -> Iterator[str]:
    """Yield the redacted text, and where each secret was."""
    yield answer["redacted"]
    for each in answer["findings"]:
        yield f"  {each['type']}, characters {each['start']} to {each['end']}"
    if not answer["findings"]:
        yield "  no secret found"
    elif answer["skip"]:
        yield "  memory would skip this text: it is a private key, or mostly secret"
