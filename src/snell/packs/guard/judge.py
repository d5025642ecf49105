"""Judge one command line: parse it, follow it step by step, and call the rules for every step."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from snell.packs.guard.file_lookups import forget_lookups, unread_scripts
from snell.packs.guard.known_values import Value
from snell.packs.guard.path_classes import Workspace, effective_project
from snell.packs.guard.rule import ASK, DENY, Finding
from snell.packs.guard.rules import FORK_BOMB, RULES, UNREADABLE, find_in_step
from snell.packs.guard.rules.windows import find_unread
from snell.packs.guard.shell.shell_state import HERE, ShellState, Step
from snell.packs.guard.shell.symlinks import follow_links
from snell.packs.guard.shell.walk import LineWalk
from snell.packs.guard.snell_paths import NO_SNELL_PATHS, SnellPaths, beginnings
from snell.shell.cursor import Budget, TooMuchError
from snell.shell.windows_text import looks_like_powershell

ALLOW = "allow"
MOST_FINDINGS = 12

_STRICTNESS = {ALLOW: 0, ASK: 1, DENY: 2}


class Judgement(Struct, frozen=True):
    """The strictest verdict, and every finding behind it."""

    verdict: str = ALLOW
    findings: tuple[Finding, ...] = ()
    steps: tuple[Step, ...] = ()
    files: dict[str, Value] = {}  # the files that the command would write, with their content
    unread: tuple[str, ...] = ()  # what would run and was not read, in words


def judge(
    command: str,
    cwd: str = "/",
    home: str = "/root",
    project: str = "",
    files: dict[str, Value] | None = None,
    snell_paths: SnellPaths = NO_SNELL_PATHS,
    *,
    is_powershell: bool = False,
    look_up: Callable[[str], Any] = lambda _name: None,
) -> Judgement:
    """
    Return what running this command would do, without running it. Never raises for bad text.

    Args:
        files: the known content of files, from earlier calls.
        snell_paths: where Snell's own files are, besides the usual places.
        look_up: returns what rules remember of the session, by its name.
        is_powershell: the shell is PowerShell. If it is not known which shell runs a line that looks like PowerShell,
            it is judged in both ways.
    """
    workspace = Workspace(cwd, home, effective_project(cwd, home, project), snell_paths, look_up)
    if not is_powershell and not looks_like_powershell(command):
        return _judge_line(command, workspace, files or {}, Budget())
    from snell.shell.powershell import to_posix  # few commands need it

    translated, budget = to_posix(command), Budget()
    if is_powershell and not translated.is_understood:
        budget.trouble("there is PowerShell code that is not understood")
    found = _judge_line(translated.line, workspace, files or {}, budget)
    if is_powershell:
        return found
    plain = _judge_line(command, workspace, files or {}, Budget())
    return replace(merge_judgements([plain, found]), files={**found.files, **plain.files})


def _judge_line(command: str, workspace: Workspace, files: dict[str, Value], budget: Budget) -> Judgement:
    if "\0" in command:
        command = command.replace("\0", "")  # as shells do
        budget.trouble("it holds characters that a shell leaves out")
    forget_lookups()
    walk, scene = _walk(command, workspace, files, budget)
    if "mkfifo" in command or (" & " in command and scene.files):
        # What one side of a pipe or background job reads may be written further right.
        walk, scene = _walk(command, workspace, scene.files, budget, merges=True)
    findings = _find(walk.steps, workspace, scene.links)
    findings += [FORK_BOMB.deny(why) for why in walk.bombs]
    if budget.troubles:
        findings.extend(find_unread(command))
        findings.extend(UNREADABLE.ask(f"it cannot be parsed completely: {why}") for why in budget.troubles)
    kept = _strictest_first(findings) if findings else ()
    verdict = strictest_verdict(kept) if kept else ALLOW
    return Judgement(verdict, kept, tuple(walk.steps), scene.files, unread_scripts())


def judge_steps(steps: tuple[Step, ...], workspace: Workspace) -> Judgement:
    """Return what these steps of a tool other than a shell would do."""
    forget_lookups()
    findings = _strictest_first(_find(list(steps), workspace, {}))
    return Judgement(strictest_verdict(findings), findings, steps)


def merge_judgements(judgements: list[Judgement]) -> Judgement:
    """Return one judgement with all findings and steps."""
    findings = tuple(dict.fromkeys(finding for each in judgements for finding in each.findings))
    steps = tuple(step for each in judgements for step in each.steps)
    unread = tuple(dict.fromkeys(text for each in judgements for text in each.unread))
    return Judgement(strictest_verdict(findings), findings, steps, unread=unread)


def strictest_verdict(findings: tuple[Finding, ...]) -> str:
    return max((finding.verdict for finding in findings), key=_STRICTNESS.__getitem__, default=ALLOW)


def _strictest_first(findings: list[Finding]) -> tuple[Finding, ...]:
    """Sort the findings, each once, so that the limit never cuts off the strictest."""
    ordered = sorted(dict.fromkeys(findings), key=lambda finding: -_STRICTNESS[finding.verdict])
    return tuple(ordered[:MOST_FINDINGS])


def _walk(
    command: str, workspace: Workspace, files: dict[str, Value], budget: Budget, *, merges: bool = False
) -> tuple[LineWalk, ShellState]:
    budget.commands = budget.depth = 0
    own = workspace.snell_paths
    scene = ShellState(workspace.cwd, workspace.home, workspace.project, budget, own.env)
    scene.guarded = beginnings(own.folders)[0]
    scene.files.update(files)
    scene.merges = merges
    walk = LineWalk()
    try:
        walk.line(command, scene)
    except (TooMuchError, RecursionError) as error:
        budget.trouble(str(error) if isinstance(error, TooMuchError) else "it is nested too deeply")
    return walk, scene


def _find(steps: list[Step], start: Workspace, links: Mapping[str, str]) -> list[Finding]:
    findings, workspace, budget = list[Finding](), start, Budget()
    start.steps = steps
    for number, step in enumerate(steps):
        if number % 8 == 0 and not budget.has_time():
            return [*findings, UNREADABLE.ask("it takes too long to judge all of it")]
        if step.where != HERE:
            workspace = Workspace(step.cwd, "/home/remote", "/workdir")
        elif workspace.cwd != step.cwd or workspace.project != start.project:
            workspace = start.in_folder(step.cwd)
        real = follow_links(step, links, start.home, start.project)
        found = find_in_step(step, real, workspace)
        findings += _of_script(found, step.script) if step.script and found else found
    return findings


def _of_script(findings: list[Finding], path: str) -> list[Finding]:
    """
    Return what to ask about a script that was on the disk before: what would be denied in a command line.

    It may be the user's own, so that it is not denied; scripts read secrets to use them, and handle unknown values.
    """
    serious = [each for each in findings if each.verdict == DENY and RULES[each.rule].family != "secrets"]
    return [
        each if each.rule.startswith("own-") else replace(each, verdict=ASK, why=f"the script `{path}`: {each.why}")
        for each in serious
    ]
