"""A hook author with an empty project and a terminal."""

import os
import pty
from contextlib import suppress
from pathlib import Path

from snell.cli.confirmation import AGENT_MARKERS
from tests.fork_server import run_snell, start_module
from tests.person import as_person

README_HOOK = '''\
from snell import Deny, ShellCall, judges

@judges("PreToolUse", kind="shell")
def no_force_push(call: ShellCall) -> Deny | None:
    """Refuse to overwrite a shared branch."""
    if call.runs("git", "push", "--force"):
        return Deny("force-push overwrites other people's work", instead="use --force-with-lease on your own branch")
'''

README_CASES = """\
[[case]]
name   = "a force push is refused"
event  = { on = "PreToolUse", kind = "shell", command = "cd api && git push --force origin main" }
expect = { deny = "--force-with-lease" }

[[case]]
name   = "a plain push is left alone"
event  = { on = "PreToolUse", kind = "shell", command = "git push" }
expect = "no_opinion"
"""


class Author:
    """A hook author with an empty project and a Snell of their own."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.home = folder / "home"
        (self.project / ".git").mkdir(parents=True)

    def write(self, name: str, text: str) -> Path:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def snell(self, *words: str, cwd: str = "") -> tuple[int, str, str]:
        """Exit code, stdout and stderr of one command."""
        return run_snell(*words, cwd=self.project / cwd, env=self.env)

    def stop_daemon(self) -> None:
        """Stop the daemon that a command, such as the doctor, has started."""
        if (self.home / "run/snell.sock").exists():
            self.snell("daemon", "stop")

    def on_terminal(self, *words: str, typed: str = "", **env: str) -> str:
        """Run one command on a terminal, with this text typed; return everything that it shows."""
        ours, theirs = pty.openpty()
        os.write(ours, typed.encode("utf-8"))
        streams = (theirs, theirs, theirs)
        env = {**self.env, **env}
        process = start_module(
            "snell", *as_person(words, env, at_terminal=True), cwd=self.project, env=env, streams=streams
        )
        os.close(theirs)
        shown = b""
        with suppress(OSError):  # the terminal's last writer has closed it
            while part := os.read(ours, 65536):
                shown += part
        os.close(ours)
        process.wait(100)
        return shown.decode("utf-8")

    @property
    def env(self) -> dict[str, str]:
        """The environment of a person's shell with a temporary home, without the marks of a coding agent."""
        dropped = (*AGENT_MARKERS, "NO_COLOR")
        inherited = {name: value for name, value in os.environ.items() if name not in dropped}
        return {**inherited, "SNELL_HOME": str(self.home)}
