"""
Look at a repository without running anything that it names.

A repository's configuration may name programs for a mere look: a file system monitor, filters, text conversions,
external diffs, hooks, the configuration of submodules, a remote to fetch missing objects from. None of them runs here.
Filters are off whoever configured them, since a user's own (git-lfs) reads the repository's configuration, too; a file
that is kept through one may then count as changed when only its time is new.
"""

import os
from collections.abc import Iterable, Mapping

from snell.model.errors import HookError
from snell.system.run_program import run

LIMIT = 2.0  # seconds for each question to git
LONGEST = 4_000

_OFF = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.pager": "cat",
    "diff.external": "",
    "protocol.allow": "never",
    "safe.bareRepository": "explicit",
}
_CLOSED = {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
_KEPT = ("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR")  # nothing that begins with GIT_


def changed_files(folder: str) -> str:
    """
    What git says of the changes to tracked files; empty where there are none, or no repository.

    Raises HookError when there is no git to ask, or it does not answer.
    """
    filters = _filters(folder)
    if filters is None:
        return ""
    looking = ("diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--no-color", "--stat")
    found = _git(folder, *looking, "HEAD", "--", off=filters)
    if found is None:  # before the first commit
        found = _git(folder, *looking, "--cached", "--", off=filters)
    return (found or "").strip()[:LONGEST]


def project_files(folder: str, env: Mapping[str, str], limit: float, stdout_cap: int) -> list[str] | None:
    """
    The files below a folder that git tracks or does not ignore, by their paths from there.

    None where there is no repository, no git, or no answer in time.
    """
    listing = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--")
    try:
        found = _git(folder, *listing, env=env, limit=limit, stdout_cap=stdout_cap)
    except HookError:
        return None
    return None if found is None else [name for name in found.split("\0") if name]


def _filters(folder: str) -> list[str] | None:
    """The settings of filters that are configured anywhere; None where there is no repository to look at."""
    if _git(folder, "rev-parse", "--is-inside-work-tree") != "true\n":
        return None
    listed = _git(folder, "config", "--list", "--name-only", "-z")
    names = [name for name in (listed or "").split("\0") if name.lower().startswith("filter.")]
    # One that could not be switched off is there to be run: then nothing is looked at.
    return None if listed is None or any("=" in name or "\n" in name for name in names) else names


def _git(
    folder: str,
    *words: str,
    off: Iterable[str] = (),
    env: Mapping[str, str] = os.environ,
    limit: float = LIMIT,
    stdout_cap: int = 1_000_000,
) -> str | None:
    """What git printed; None when it could not answer."""
    settings = {**_OFF, **{name: "false" if name.endswith(".required") else "" for name in off}}
    given = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    kept = {name: env[name] for name in _KEPT if name in env}
    done = run(
        ["git", "-C", folder, *given, "--no-optional-locks", *words],
        stdin=b"",
        cwd="/",
        env={**kept, **_CLOSED},
        timeout=limit,
        stdout_cap=stdout_cap,
    )
    if done.start_error or done.timed_out:
        raise HookError(f"git cannot say what changed: {done.start_error or f'no answer within {limit:g} s'}")
    return done.stdout.decode("utf-8", "replace") if done.exit_code == 0 else None
