"""An executor that runs command hooks in a folder of its own."""

from typing import Any

from msgspec.structs import replace

from snell.handlers.command import Command
from snell.model.context import Context
from snell.model.decision import Outcome
from snell.model.events import Event
from snell.model.hooks import Hook
from snell.runtime.executor import Executor
from tests.helpers import call
from tests.process.sandbox import Sandbox


class CommandRunner:
    """An executor in a folder of its own."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.folder = sandbox.folder
        self.late: list[tuple[str, Outcome]] = []
        self.context = Context(env=sandbox.env, project_dir=str(sandbox.folder), late=self._late)

    def run(self, *hooks: Hook, on: Event | None = None, **context: Any) -> list[Outcome]:
        executor = Executor()
        try:
            return [
                without_time(outcome)
                for outcome in executor.run(hooks, on or call(cwd=str(self.folder)), replace(self.context, **context))
            ]
        finally:
            executor.close()

    def answer(
        self, line: str, *, on: Event | None = None, args: tuple[str, ...] | None = None, **fields: Any
    ) -> Outcome:
        (outcome,) = self.run(command(line, args=args, on=on.name if on else "PreToolUse", **fields), on=on)
        return outcome

    def _late(self, hook: Hook, _event: Event, outcome: Outcome) -> None:
        self.late.append((hook.id, without_time(outcome)))


def command(line: str, *, args: tuple[str, ...] | None = None, on: str = "PreToolUse", **fields: Any) -> Hook:
    own = {name: fields.pop(name) for name in ("pass_context", "parse_result", "plugin_root") if name in fields}
    return Hook(**{"id": "h", "event": on, "handler": Command(line, args, **own), "timeout": 20.0, **fields})


def without_time(outcome: Outcome) -> Outcome:
    return replace(outcome, seconds=0.0)
