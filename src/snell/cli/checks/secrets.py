"""Find secrets in a text, and show the text without them."""

import argparse
import sys
from typing import Any

from snell.cli.checks import text_in
from snell.redact import find, is_too_secret, redact

EXAMPLE = "snell check secrets 'DB_PASSWORD=hunter2 make deploy'"
ROWS = "{id, text}"
ANSWER = "{redacted, findings: [{type, start, end}], skip}"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="?", help="the text (default: standard input)")


def check_row(row: dict[str, Any]) -> dict[str, Any]:
    """Find the secrets in the text of one row."""
    text = text_in(row, "text")
    findings = find(text)
    return {
        "redacted": redact(text),
        "findings": [{"type": each.kind, "start": each.start, "end": each.end} for each in findings],
        "skip": is_too_secret(text, findings),
    }


def check_arguments(args: argparse.Namespace) -> dict[str, Any]:
    """Find the secrets in the text on the command line or standard input."""
    return check_row({"text": _text_in(args)})


def exit_code(answer: dict[str, Any]) -> int:
    return 1 if answer["findings"] else 0


def print_result(args: argparse.Namespace) -> int:
    """Print the redacted text, and where each secret was."""
    text = _text_in(args)
    findings = find(text)
    print(redact(text))
    for each in findings:
        print(f"  {each.kind}, characters {each.start} to {each.end}")
    if not findings:
        print("  no secret found")
    elif is_too_secret(text, findings):
        print("  memory would skip this text: it is a private key, or mostly secret")
    return 1 if findings else 0


def _text_in(args: argparse.Namespace) -> str:
    return args.text if args.text is not None else sys.stdin.read()
