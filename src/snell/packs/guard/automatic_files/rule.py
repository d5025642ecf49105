"""
Ask about changes of files that run by themselves, and say what would run and when.

This covers tasks and settings of editors, MCP servers, hooks of skills and agents, git hooks, `.envrc`, development
containers, scripts of packages, settings of package managers, build scripts and workflows of build servers. Only what
the change adds counts: other edits of these files are fine.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from snell.model.tool_names import name_set
from snell.packs.guard.automatic_files.kinds import reader_of
from snell.packs.guard.edited_text import text_on_disk
from snell.packs.guard.file_lookups import mark_unrepeatable
from snell.packs.guard.known_values import UNKNOWN
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import DENY, WRITES, Finding, Rule, Trigger, given_to
from snell.packs.guard.shell import shell_state
from snell.packs.guard.shell.shell_state import Step
from snell.system.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from snell.packs.guard.automatic_files.entries import Entry

RULE = Rule(
    name="automatic-files",
    family="execution",
    instead="say what should run and when, and let the user change the file",
    about=(__doc__ or "").strip(),
)
MOST_ENTRIES, LONGEST_SHOWN = 40, 80

_COPIERS = name_set("cp gcp mv gmv install ln rsync")
_EDITORS = name_set("jq yq sed gsed dasel gojq jaq")
_PACKAGE_MANAGERS = name_set("npm pnpm yarn bun")
_AGENTS = name_set("claude codex gemini qwen copilot opencode amp droid cursor-agent code code-insiders cursor codium")
TRIGGER = Trigger(programs=_EDITORS | _PACKAGE_MANAGERS | _AGENTS, traits=WRITES)


def find(step: Step, workspace: Workspace) -> Iterator[Finding]:
    if step.where != shell_state.HERE:
        return
    for path in dict.fromkeys((*step.writes, *step.appends)):
        if reader := reader_of(path):
            before = _text_before(path)
            after = _text_after(path, before, step, workspace)
            yield from _judge_change(path, reader(before), reader(after), workspace)
    if step.program in _AGENTS and (server := _added_server(step.args)):
        yield RULE.ask(f"it adds an MCP server: `{server}` would run whenever the coding agent starts")
    if step.program in _EDITORS or (step.program in _PACKAGE_MANAGERS and "pkg" in step.args[:2]):
        yield from _filtered_files(step, workspace)


def _added_server(args: tuple[str, ...]) -> str:
    """Return what `claude mcp add NAME -- COMMAND` or `code --add-mcp JSON` adds."""
    if args[:1] == ("mcp",) and args[1:2] in (("add",), ("add-json",)) and not {"--help", "-h"} & set(args):
        return " ".join(args[args.index("--") + 1 :] if "--" in args else args[2:])[:LONGEST_SHOWN]
    return next((" ".join(args[1:])[:LONGEST_SHOWN] for arg in args if arg.startswith("--add-mcp")), "")


def _text_before(path: str) -> str:
    mark_unrepeatable()
    return text_on_disk(path)


def _text_after(path: str, before: str, step: Step, workspace: Workspace) -> str:
    """Return the new text of the file, as far as it is known."""
    if step.program in _COPIERS:
        sources = given_to(step).operands[:1]
        return text_on_disk(workspace.absolute(sources[0])) if sources else ""
    takes_input = step.program in (":", "tee", "sponge") and step.stdin is not None
    text = step.stdin.text if takes_input and step.stdin is not None else step.output.text
    text = text.replace(UNKNOWN, "")
    adds = path in step.appends or (step.program == "tee" and bool({"-a", "--append"} & set(step.args)))
    return f"{before}\n{text}" if adds else text


_ASSIGNMENT = lazy_regex(r"""(?:\.|\[["'])?["']?([\w-]+)["']?\]?\s*[|+]?=\s*(?=["'{\[\w./])""")


def _filtered_files(step: Step, workspace: Workspace) -> Iterator[Finding]:
    """Judge `jq '.scripts.install = "x"' package.json` and `npm pkg set scripts.install=x` by their own text."""
    is_package = step.program in _PACKAGE_MANAGERS
    names = ["package.json"] if is_package else [arg for arg in step.args if not arg.startswith("-")]
    for path in map(workspace.absolute, names[-1:]):
        if reader := reader_of(path):
            change = "\n".join(_as_member(arg) if is_package else arg for arg in step.args)
            change = change if is_package else _ASSIGNMENT.sub(r'"\1": ', change)
            yield from _judge_change(path, (), reader(change), workspace)


def _as_member(arg: str) -> str:
    name, _, value = arg.partition("=")
    text = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{name.rpartition(".")[2]}": "{text}"'


def _judge_change(
    path: str, before: Iterable["Entry"], after: Iterable["Entry"], workspace: Workspace
) -> Iterator[Finding]:
    """Judge what the file runs after the change, and did not run before."""
    old, new = dict.fromkeys(before), dict.fromkeys(after)
    added = [entry for entry in new if entry not in old][:MOST_ENTRIES]
    if not added:
        return
    removed = [entry for entry in old if entry not in new][:MOST_ENTRIES]
    known = {finding for entry in removed for finding in _findings(entry, workspace)}
    for entry in added:
        found = [finding for finding in _findings(entry, workspace) if finding not in known]
        for finding in found[:2]:
            verdict = RULE.deny if finding.verdict == DENY else RULE.ask
            yield verdict(f"{_say(path, entry)}: {finding.why}", finding.secret)
        if entry.asks and not found:
            yield RULE.ask(_say(path, entry))


def _say(path: str, entry: "Entry") -> str:
    name = "/".join(path.split("/")[-2:])
    runs = " ".join(entry.runs.split())
    shown = runs if len(runs) <= LONGEST_SHOWN else f"{runs[:LONGEST_SHOWN]}..."
    return f"`{name}` would run `{shown}` {entry.when}"


_HERE_ONLY = frozenset(("execution", "exfiltration"))


def _findings(entry: "Entry", workspace: Workspace) -> list[Finding]:
    """Return what is wrong with the command of an entry; on a build server only what it fetches or sends counts."""
    from snell.packs.guard.automatic_files.entries import HERE
    from snell.packs.guard.judge import judge
    from snell.packs.guard.not_shell_text import drop_misread
    from snell.packs.guard.rules import RULES

    paths = workspace.snell_paths
    found = drop_misread(
        judge(entry.line, workspace.cwd, workspace.home, workspace.project, snell_paths=paths)
    ).findings
    return [each for each in found if entry.where == HERE or RULES[each.rule].family in _HERE_ONLY]
