"""Ignore parse errors in tools that are not known to be a shell: the text may be prose or a program."""

from snell.model.tool_names import is_shell_by_name
from snell.packs.guard.judge import Judgement, strictest_verdict
from snell.packs.guard.rule import Finding
from snell.packs.guard.rules import UNREADABLE

_TOO_MUCH = (": it ", ": commands ", "longer than")  # the guard gave up where a shell would go on


def is_shell_tool(*tools: str) -> bool:
    """Tell whether one of the names of a tool, the client's or Claude Code's, is that of a shell."""
    return any(map(is_shell_by_name, tools))


def drop_misread(judgement: Judgement) -> Judgement:
    """Return the judgement without findings that only say that the text is no shell command."""
    kept = tuple(finding for finding in judgement.findings if not _is_misread(finding))
    if len(kept) == len(judgement.findings):
        return judgement
    return Judgement(strictest_verdict(kept), kept, judgement.steps, judgement.files)


def _is_misread(finding: Finding) -> bool:
    return finding.rule == UNREADABLE.name and not any(each in finding.why for each in _TOO_MUCH)
