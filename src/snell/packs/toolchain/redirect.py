"""
Run the project's own commands.

Why      An agent types `pytest` or `npm test` in a project that has `make test`, or `npm` where `pnpm` is meant.
What     The runner's name changes; arguments, environment, pipes and the rest of the line stay. Nothing is approved. A
         target of a Makefile is used for every typed language; else a command of another language is not replaced:
         `npm test` in a Go project stays as it is.
Instead  Begin the command with `!` to run it as typed, or disable `toolchain`.
"""

import os
from typing import Any

from snell.model.context import Context
from snell.model.effects import Allow, Rewrite
from snell.model.events import Event
from snell.packs.toolchain.rewrite_line import redirect_command
from snell.sdk.decorators import judges, rewrites
from snell.sdk.subjects import ShellCall


@rewrites("PreToolUse", kind="shell")
def redirect(call: ShellCall, event: Event, context: Context) -> Rewrite | None:
    """Run the project's own test, build and lint commands."""
    # A list of words stays as it is, and a tool of an MCP server may run commands on another machine.
    if not call.command or event.kind != "shell" or call.command not in call.input.values():
        return None
    folder = os.path.expanduser(call.cwd) if call.cwd.startswith("~") else call.cwd or os.getcwd()
    result = redirect_command(context.options, call.command, folder)
    if result.command is None:
        return None
    if context.options.get("mode") == "seed":
        context.marks.put(f"session:{event.session_id}", _mark(event), {"command": result.command, "why": result.why})
    return Rewrite(command=result.command, because=result.why)


@judges("PreToolUse", kind="shell", when={"mode": "seed"})
def approve_redirected(call: ShellCall, event: Event, context: Context) -> Allow | None:
    """In `seed` mode, which drops arguments and ignores languages: approve the redirected command."""
    scope = f"session:{event.session_id}"
    redirected: Any = context.marks.get(scope, _mark(event))
    if not isinstance(redirected, dict):
        return None
    context.marks.drop(scope, _mark(event))  # for this call only
    return Allow(str(redirected.get("why"))) if redirected.get("command") == call.command else None


def _mark(event: Event) -> str:
    return f"toolchain/redirected:{event.tool_use_id}"
