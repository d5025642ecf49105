"""Text that no shell could read, in a tool that need not be a shell: prose, a formula, a program."""

from __future__ import annotations

from snell.model.tool_names import is_shell_by_name
from snell.packs.guard.judge import Judgement, strictest_verdict
from snell.packs.guard.rule import Finding
from snell.packs.guard.rules import UNREADABLE

_TOO_MUCH = (": it ", ": commands ", "longer than")  # a shell would read on where the guard gave up


def is_shell_tool(*tools: str) -> bool:
    """One of the names of a tool, the client's or Claude Code's, says that a shell gets the text."""
    return any(map(is_shell_by_name, tools))


def drop_misread(judgement: Judgement) -> Judgement:
    """The judgement without what only says that the text is no shell's."""
    kept = tuple(finding for finding in judgement.findings if not _is_misread(finding))
    if len(kept) == len(judgement.findings):
        return judgement
    return Judgement(strictest_verdict(kept), kept, judgement.steps, judgement.files)


def _is_misread(finding: Finding) -> bool:
    return finding.rule == UNREADABLE.name and not any(each in finding.why for each in _TOO_MUCH)
