"""Judge one command line: read it, walk through it, let every rule look at every step."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from snell.packs.guard.known_values import Value
from snell.packs.guard.path_classes import Ground, project_in
from snell.packs.guard.rule import ASK, DENY, Finding
from snell.packs.guard.rules import FINDERS, FORK_BOMB, UNREADABLE
from snell.packs.guard.rules.windows import find_unread
from snell.packs.guard.shell.shell_state import HERE, ShellState, Step
from snell.packs.guard.shell.source_text import Budget, TooMuchError
from snell.packs.guard.shell.symlinks import follow_links
from snell.packs.guard.shell.walk import Walk
from snell.packs.guard.snell_paths import NOWHERE, SnellPaths

ALLOW = "allow"
MOST_FINDINGS = 12

_ORDER = {ALLOW: 0, ASK: 1, DENY: 2}


class Judgement(Struct, frozen=True):
    """The strictest verdict, and every finding behind it."""

    verdict: str = ALLOW
    findings: tuple[Finding, ...] = ()
    steps: tuple[Step, ...] = ()
    files: dict[str, Value] = {}  # what the command would leave in files


def judge(
    command: str,
    cwd: str = "/",
    home: str = "/root",
    project: str = "",
    files: dict[str, Value] | None = None,
    own: SnellPaths = NOWHERE,
) -> Judgement:
    """
    What running this command would do, without running it. Never raises for bad text.

    Args:
        files: what is known about files from earlier calls.
        own: where Snell's own files are, besides the usual places.
    """
    budget = Budget()
    if "\0" in command:
        command = command.replace("\0", "")  # as shells do
        budget.trouble("it holds characters that a shell leaves out")
    ground = Ground(cwd, home, project_in(cwd, home, project), own)
    walk, scene = _walked(command, ground, files or {}, budget)
    if "mkfifo" in command or (" & " in command and scene.files):
        # What one side of a pipe or background job reads may be written further right.
        walk, scene = _walked(command, ground, scene.files, budget, merges=True)
    findings = [*_found(walk.steps, ground, scene.links), *(FORK_BOMB.deny(why) for why in walk.bombs)]
    if budget.troubles:
        findings.extend(find_unread(command))
    findings.extend(UNREADABLE.ask(f"it could not be read to the end: {why}") for why in budget.troubles)
    kept = _strictest_first(findings)
    return Judgement(verdict_of(kept), kept, tuple(walk.steps), scene.files)


def judge_steps(steps: tuple[Step, ...], cwd: str, home: str, project: str, own: SnellPaths = NOWHERE) -> Judgement:
    """What these steps would do, where a tool other than a shell does them."""
    findings = _strictest_first(_found(list(steps), Ground(cwd, home, project_in(cwd, home, project), own), {}))
    return Judgement(verdict_of(findings), findings, steps)


def _strictest_first(findings: list[Finding]) -> tuple[Finding, ...]:
    """Each once; what there is no room for is never what counts most."""
    ordered = sorted(dict.fromkeys(findings), key=lambda finding: -_ORDER[finding.verdict])
    return tuple(ordered[:MOST_FINDINGS])


def strictest(judgements: list[Judgement]) -> Judgement:
    """All of them as one."""
    findings = tuple(dict.fromkeys(finding for each in judgements for finding in each.findings))
    return Judgement(verdict_of(findings), findings, tuple(step for each in judgements for step in each.steps))


def verdict_of(findings: tuple[Finding, ...]) -> str:
    return max((finding.verdict for finding in findings), key=_ORDER.__getitem__, default=ALLOW)


def _walked(
    command: str, ground: Ground, files: dict[str, Value], budget: Budget, *, merges: bool = False
) -> tuple[Walk, ShellState]:
    budget.commands = budget.depth = 0
    scene = ShellState(ground.cwd, ground.home, ground.project, budget)
    scene.know(ground.own.env)
    scene.guarded = tuple(f"{folder}/" for folder in ground.own.folders)
    scene.files.update(files)
    scene.merges = merges
    walk = Walk()
    try:
        walk.line(command, scene)
    except (TooMuchError, RecursionError) as error:
        budget.trouble(str(error) if isinstance(error, TooMuchError) else "it is nested too deeply")
    return walk, scene


def _found(steps: list[Step], start: Ground, links: Mapping[str, str]) -> list[Finding]:
    findings = list[Finding]()
    for step in steps:
        if step.where == HERE:
            ground = Ground(step.cwd, start.home, start.project, start.own)
        else:
            ground = Ground(step.cwd, "/home/remote", "/workdir")
        real = follow_links(step, links, start.home, start.project)
        for find in FINDERS:
            findings.extend(find(step, ground))
            if real is not None:
                findings.extend(find(real, ground))
    return findings
