"""Judge a command with the guard."""

import argparse
import os
from typing import Any

from snell.cli.checks import text_in
from snell.model.context import Context
from snell.model.errors import SnellError
from snell.packs.guard.judge import Judgement, judge
from snell.packs.guard.known_values import UNKNOWN
from snell.packs.guard.snell_paths import find_snell_paths
from snell.system.paths import places

EXAMPLE = "snell check command 'rm -rf build && git push --force'"
ROWS = "{id, command, cwd?, home?}"
ANSWER = "{verdict, findings: [{rule, why}]}"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("command", nargs="?", help="the command line; it is not run")
    parser.add_argument("--cwd", help="the working directory (default: the current one)")
    parser.add_argument("--home", help="the home directory (default: yours)")


def check_row(row: dict[str, Any]) -> dict[str, Any]:
    """Judge the command of one row."""
    return _as_data(_judge(text_in(row, "command"), text_in(row, "cwd", ""), text_in(row, "home", "")))


def check_arguments(args: argparse.Namespace) -> dict[str, Any]:
    """Judge the command on the command line."""
    return _as_data(_judge_args(args))


def print_result(args: argparse.Namespace) -> int:
    """Print the verdict, the rules behind it, and the commands that would run."""
    judgement = _judge_args(args)
    print(judgement.verdict)
    for finding in judgement.findings:
        print(f"  {finding.verdict}  {finding.rule}: {_printable(finding.why)}")
        print(f"        instead: {finding.instead}")
    if not judgement.findings:
        print("  no rule matches this command")
    for step in judgement.steps[:20]:
        print(
            f"  would run: {_printable(step.text)}"
            + (f"   in {step.cwd}" if step.where == "here" else f"   in a {step.where}")
        )
    return 0


def _judge_args(args: argparse.Namespace) -> Judgement:
    if args.command is None:
        raise SnellError("no command was given", advice=f"for example: {EXAMPLE}")
    return _judge(args.command, args.cwd or "", args.home or "")


def _judge(command: str, cwd: str, home: str) -> Judgement:
    where = places(os.environ)
    snell_paths = find_snell_paths(Context(env=os.environ, config=where.config, state=where.state))
    return judge(command, cwd or os.getcwd(), home or os.path.expanduser("~"), snell_paths=snell_paths)


def _as_data(judgement: Judgement) -> dict[str, Any]:
    findings = [{"rule": finding.rule, "why": _printable(finding.why)} for finding in judgement.findings]
    return {"verdict": judgement.verdict, "findings": findings}


def _printable(text: str) -> str:
    """Replace control characters; `?` stands for a value that is only known at run time."""
    return "".join(char if char.isprintable() else " " for char in text.replace(UNKNOWN, "?"))
