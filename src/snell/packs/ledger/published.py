"""
Determine what a shell call publishes: the same push or deployment is another effect once something has changed.

The rules `[[renewed]]` of policy files name such commands, and what has to change: the commits of the repository, also
its files and those that the command names, or the image.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Literal

from msgspec import Struct

from snell.model.errors import HookError
from snell.model.events import Event
from snell.records.idempotency import sha_of
from snell.records.side_effects import is_match
from snell.shell.reader import read
from snell.shell.working_folders import with_folders
from snell.system.files import file_version
from snell.system.git_readonly import repository_state
from snell.system.run_program import run

INSPECT_SECONDS = 3.0
MOST_FILES = 50


class Renewal(Struct, frozen=True, kw_only=True):
    """One rule: a command that fits is a new effect when this has changed since."""

    id: str
    command: str  # a pattern for a complete command without its wrappers, such as `git push origin`
    by: Literal["commits", "files", "image"]


def published_version(event: Event, place: str, env: Mapping[str, str], renewals: Iterable[Renewal]) -> str:
    """Return what identifies the content that a call publishes; empty if it publishes nothing that is known."""
    found: list[str] = []
    for command, folder in with_folders(read(event.command), place):
        inner = command.inner_command
        text = " ".join((inner.program, *inner.arguments))
        by = next((each.by for each in renewals if is_match(each.command, text)), "")
        image = _image_id(inner.program, inner.arguments, env) if by == "image" else ""
        with suppress(HookError):  # without git it is not known whether something has changed
            state = repository_state(folder, env, with_files=by == "files") if by and folder and not image else ""
            found += filter(None, (image, state))
        if by == "files":  # also those that git ignores, such as a package that was built
            named = (os.path.join(folder or "/", word.rpartition("=")[2]) for word in inner.arguments[:MOST_FILES])
            found += filter(None, map(file_version, named))
    return sha_of("\0".join(found)) if found else ""


def _image_id(program: str, arguments: Sequence[str], env: Mapping[str, str]) -> str:
    """Return the id of the image that a command pushes; empty if its program does not know it."""
    image = next((word for word in reversed(arguments) if not word.startswith("-")), "")
    ask = [program, "image", "inspect", "--format", "{{.Id}}", "--", image]
    done = run(ask, stdin=b"", cwd="/", env=dict(env), timeout=INSPECT_SECONDS)
    return done.stdout.decode("utf-8", "replace").strip() if done.exit_code == 0 else ""
