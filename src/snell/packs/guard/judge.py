"""Judge one command line: parse it, follow it step by step, and call the rules for every step."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from snell.packs.guard.known_values import Value
from snell.packs.guard.path_classes import Workspace, effective_project
from snell.packs.guard.rule import ASK, DENY, Finding
from snell.packs.guard.rules import FORK_BOMB, UNREADABLE, find_in_step
from snell.packs.guard.rules.windows import find_unread
from snell.packs.guard.shell.shell_state import HERE, ShellState, Step
from snell.packs.guard.shell.source_text import Budget, TooMuchError
from snell.packs.guard.shell.symlinks import follow_links
from snell.packs.guard.shell.walk import Walk
from snell.packs.guard.snell_paths import NO_SNELL_PATHS, SnellPaths

ALLOW = "allow"
MOST_FINDINGS = 12

_STRICTNESS = {ALLOW: 0, ASK: 1, DENY: 2}


class Judgement(Struct, frozen=True):
    """The strictest verdict, and every finding behind it."""

    verdict: str = ALLOW
    findings: tuple[Finding, ...] = ()
    steps: tuple[Step, ...] = ()
    files: dict[str, Value] = {}  # the files that the command would write, with their content


def judge(
    command: str,
    cwd: str = "/",
    home: str = "/root",
    project: str = "",
    files: dict[str, Value] | None = None,
    snell_paths: SnellPaths = NO_SNELL_PATHS,
) -> Judgement:
    """
    Return what running this command would do, without running it. Never raises for bad text.

    Args:
        files: the known content of files, from earlier calls.
        snell_paths: where Snell's own files are, besides the usual places.
    """
    budget = Budget()
    if "\0" in command:
        command = command.replace("\0", "")  # as shells do
        budget.trouble("it holds characters that a shell leaves out")
    workspace = Workspace(cwd, home, effective_project(cwd, home, project), snell_paths)
    walk, scene = _walk(command, workspace, files or {}, budget)
    if "mkfifo" in command or (" & " in command and scene.files):
        # What one side of a pipe or background job reads may be written further right.
        walk, scene = _walk(command, workspace, scene.files, budget, merges=True)
    findings = [*_find(walk.steps, workspace, scene.links), *(FORK_BOMB.deny(why) for why in walk.bombs)]
    if budget.troubles:
        findings.extend(find_unread(command))
    findings.extend(UNREADABLE.ask(f"it cannot be parsed completely: {why}") for why in budget.troubles)
    kept = _strictest_first(findings)
    return Judgement(strictest_verdict(kept), kept, tuple(walk.steps), scene.files)


def judge_steps(steps: tuple[Step, ...], workspace: Workspace) -> Judgement:
    """Return what these steps of a tool other than a shell would do."""
    findings = _strictest_first(_find(list(steps), workspace, {}))
    return Judgement(strictest_verdict(findings), findings, steps)


def merge_judgements(judgements: list[Judgement]) -> Judgement:
    """Return one judgement with all findings and steps."""
    findings = tuple(dict.fromkeys(finding for each in judgements for finding in each.findings))
    steps = tuple(step for each in judgements for step in each.steps)
    return Judgement(strictest_verdict(findings), findings, steps)


def strictest_verdict(findings: tuple[Finding, ...]) -> str:
    return max((finding.verdict for finding in findings), key=_STRICTNESS.__getitem__, default=ALLOW)


def _strictest_first(findings: list[Finding]) -> tuple[Finding, ...]:
    """Sort the findings, each once, so that the limit never cuts off the strictest."""
    ordered = sorted(dict.fromkeys(findings), key=lambda finding: -_STRICTNESS[finding.verdict])
    return tuple(ordered[:MOST_FINDINGS])


def _walk(
    command: str, workspace: Workspace, files: dict[str, Value], budget: Budget, *, merges: bool = False
) -> tuple[Walk, ShellState]:
    budget.commands = budget.depth = 0
    scene = ShellState(workspace.cwd, workspace.home, workspace.project, budget)
    scene.know(workspace.snell_paths.env)
    scene.guarded = tuple(f"{folder}/" for folder in workspace.snell_paths.folders)
    scene.files.update(files)
    scene.merges = merges
    walk = Walk()
    try:
        walk.line(command, scene)
    except (TooMuchError, RecursionError) as error:
        budget.trouble(str(error) if isinstance(error, TooMuchError) else "it is nested too deeply")
    return walk, scene


def _find(steps: list[Step], start: Workspace, links: Mapping[str, str]) -> list[Finding]:
    findings = list[Finding]()
    for step in steps:
        if step.where == HERE:
            workspace = start.in_folder(step.cwd)
        else:
            workspace = Workspace(step.cwd, "/home/remote", "/workdir")
        real = follow_links(step, links, start.home, start.project)
        findings.extend(find_in_step(step, real, workspace))
    return findings
