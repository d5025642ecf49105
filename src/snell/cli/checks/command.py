"""Judge a command with the guard."""

import os
from collections.abc import Iterator

from snell.cli.terminal import visible
from snell.model.context import Context
from snell.packs.guard.judge import Judgement, judge
from snell.packs.guard.known_values import UNKNOWN
from snell.packs.guard.snell_paths import find_snell_paths
from snell.settings.check_rows import Row, text_in
from snell.system.paths import places


def check_row(row: Row) -> Row:
    """Judge the command of one row."""
    judgement = _judge(row)
    findings = [{"rule": finding.rule, "why": _printable(finding.why)} for finding in judgement.findings]
    return {"verdict": judgement.verdict, "findings": findings}


def lines(row: Row, _answer: Row) -> Iterator[str]:
    """Yield the verdict, the rules behind it, and the commands that would run."""
    judgement = _judge(row)
    yield judgement.verdict
    for finding in judgement.findings:
        yield f"  {finding.verdict}  {finding.rule}: {_printable(finding.why)}"
        yield f"        instead: {finding.instead}"
    if not judgement.findings:
        yield "  no rule matches this command"
    yield from (f"  {_printable(text)}" for text in judgement.unread)
    for step in judgement.steps[:20]:
        yield f"  would run: {_printable(step.text)}   in {step.cwd if step.where == 'here' else f'a {step.where}'}"


def _judge(row: Row) -> Judgement:
    where = places(os.environ)
    snell_paths = find_snell_paths(Context(env=os.environ, config=where.config, state=where.state))
    cwd, home = text_in(row, "cwd", "") or os.getcwd(), text_in(row, "home", "") or os.path.expanduser("~")
    return judge(text_in(row, "command"), cwd, home, snell_paths=snell_paths)


def _printable(text: str) -> str:
    """Replace control characters; `?` stands for a value that is only known at run time."""
    return visible(text.replace(UNKNOWN, "?"), " ")
