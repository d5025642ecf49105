"""Judge a command with the guard."""

import os
import shlex
from collections.abc import Iterator

from snell.cli.terminal import escape, visible
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
        line = " ".join(_as_word(word.text) for word in step.words)
        yield f"  would run: {line}   in {step.cwd if step.where == 'here' else f'a {step.where}'}"


def _judge(row: Row) -> Judgement:
    where = places(os.environ)
    snell_paths = find_snell_paths(Context(env=os.environ, config=where.config, state=where.state))
    cwd, home = text_in(row, "cwd", "") or os.getcwd(), text_in(row, "home", "") or os.path.expanduser("~")
    return judge(text_in(row, "command"), cwd, home, snell_paths=snell_paths)


def _as_word(text: str) -> str:
    """Return a text as a shell reads it back; a variable stands for what is only known at run time."""
    return '"$UNKNOWN"'.join(part and _quote(part) for part in text.split(UNKNOWN)) or "''"


def _quote(text: str) -> str:
    if text.isprintable():
        return shlex.quote(text)
    inside = text.replace("\\", r"\\").replace("'", r"\'")
    return f"$'{escape(inside)}'"


def _printable(text: str) -> str:
    """Replace control characters; `?` stands for a value that is only known at run time."""
    return visible(text.replace(UNKNOWN, "?"), " ")
