"""A user, a project and a policy on disk, each test its own."""

from pathlib import Path
from typing import Any

from snell.settings.load import Loaded, load
from snell.settings.parse import parse
from snell.settings.parse_types import Parsed, ParseState
from snell.settings.trust import Review, approve, review
from snell.system.paths import Places


def parse_text(text: str | bytes, file: str = "snell.toml", **reading) -> Parsed:
    """What a settings file with this text holds."""
    return parse(text if isinstance(text, bytes) else text.encode("utf-8"), ParseState(file, **reading))


def hook_of(text: str, file: str = "snell.toml", **reading):
    """The one hook of a settings file that has nothing wrong with it."""
    found = parse_text(text, file, **reading)
    assert (len(found.declared), messages_of(found.problems)) == (1, [])
    return found.declared[0].hook


def messages_of(problems) -> list[str]:
    return [str(each) for each in problems]


def write_file(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return path


def command(name: str, event: str = "PreToolUse", **keys) -> str:
    """A `[[hooks]]` entry with a command."""
    more = "".join(f"{key} = {value}\n" for key, value in keys.items())
    return f'[[hooks]]\nname = "{name}"\nevent = "{event}"\ncommand = "run-{name}"\n{more}'


class World:
    """Directories of one user, and one project of theirs."""

    def __init__(self, folder: Path) -> None:
        folder = folder.resolve()
        self.home = folder / "home"
        self.places = Places(folder / "config", folder / "state", folder / "run")
        self.project = folder / "project"
        self.policy = folder / "etc" / "policy.toml"
        self.env = {"HOME": str(self.home), "PATH": "/usr/bin:/bin"}
        for path in (self.home, self.places.config, self.places.state, self.project):
            path.mkdir(parents=True)

    def user(self, text: str | bytes, name: str = "snell.toml") -> Path:
        return write_file(self.places.config / name, text)

    def brings(self, text: str | bytes, name: str = "snell.toml") -> Path:
        return write_file(self.project / ".snell" / name, text)

    def script(self, name: str, text: str = "#!/bin/sh\n") -> Path:
        return write_file(self.project / name, text)

    def load(self, cwd: Path | None = None, *, kept: dict[str, Any] | None = None, **env: str) -> Loaded:
        """`kept`: what a process that stays keeps from one look to the next."""
        env = {**self.env, **env}
        return load(self.places, cwd or self.project, env, policy_files=(self.policy,), **(kept or {}))

    def review(self) -> Review:
        return review(self.places, self.project, self.env)

    def trust(self) -> Review:
        """Approve everything that the project brings now."""
        return approve(self.places, self.project, [self.review().digest], self.env)


def ids(loaded: Loaded) -> list[str]:
    return [hook.id for hook in loaded.hooks]


def inert(loaded: Loaded) -> dict[str, str]:
    """Why hooks may not run, by their names; those that may are not in it."""
    return {hook.id: hook.untrusted for hook in loaded.hooks if hook.untrusted}
