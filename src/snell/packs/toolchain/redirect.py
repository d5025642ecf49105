"""
Run the project's own commands.

Why      An agent types `pytest` or `npm test` in a project that has `make test`, or `npm` where `pnpm` is meant.
What     The runner's name changes; arguments, environment, pipes and the rest of the line stay. Nothing is approved.
Instead  Begin the command with `!` to have it run as typed, or switch off `toolchain`.
"""

import os
from typing import Any

from snell.kit.authoring import judges, rewrites
from snell.kit.here import Here
from snell.kit.subjects import ShellCall
from snell.model.effects import Allow, Rewrite
from snell.model.events import Event
from snell.packs.toolchain.chains import toolchains_from
from snell.packs.toolchain.projects import Project
from snell.packs.toolchain.rewriting import redirected
from snell.packs.toolchain.seed import action_of, project_command

MARK = "toolchain/redirected"


@rewrites("PreToolUse", kind="shell")
def redirect(call: ShellCall, event: Event, here: Here) -> Rewrite | None:
    """Run the project's own test, build and lint commands."""
    if not call.command or not isinstance(call.input.get("command"), str):
        return None
    if here.options.get("mode") == "seed":
        return _as_the_seed_has_it(call, event, here)
    came = redirected(call.command, _folder(call.cwd), more=toolchains_from(here.options.get("toolchains", {})))
    return Rewrite(command=came.command, because=came.why) if came.command is not None else None


@judges("PreToolUse", kind="shell", when={"mode": "seed"})
def approve_redirected(call: ShellCall, event: Event, here: Here) -> Allow | None:
    """In `seed` mode: approve what was redirected, as that mode always did."""
    made: Any = here.marks.get(f"session:{event.session_id}", MARK)
    if not isinstance(made, dict) or made.get("command") != call.command:
        return None
    return Allow(f"Redirected: {made.get('action')}")


def _as_the_seed_has_it(call: ShellCall, event: Event, here: Here) -> Rewrite | None:
    action = action_of(call.command)
    command = project_command(action, Project(_folder(call.cwd))) if action else ""
    if not command or command == call.command:
        return None
    here.marks.put(f"session:{event.session_id}", MARK, {"command": command, "action": action})
    return Rewrite(command=command, because=f"Redirected: {action}")


def _folder(cwd: str) -> str:
    return os.path.expanduser(cwd) if cwd else os.getcwd()
