"""
Read a git repository without running any program that it names.

A repository's configuration may name programs that git runs even for reading: a file system monitor, filters, text
conversions, external diffs, hooks, the configuration of submodules, a remote to fetch missing objects from. None of
them runs here. Filters are off even if the user configured them, since a user's own (git-lfs) reads the repository's
configuration too; a file that goes through one may then be listed as changed when only its time is new.
"""

import os
from collections.abc import Iterable, Mapping

from snell.model.errors import HookError
from snell.system.run_program import run

LIMIT = 2.0  # seconds for each git command
LONGEST = 4_000

_OFF = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.pager": "cat",
    "diff.external": "",
    "protocol.allow": "never",
    "safe.bareRepository": "explicit",
}
_ENVIRONMENT = {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
_INHERITED = ("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR")  # nothing that begins with GIT_


def changed_files(folder: str) -> str:
    """
    Return git's statistics of the changes to tracked files; empty if there are none, or no repository.

    Raises HookError if git is not installed or does not answer in time.
    """
    filters = _filters(folder)
    if filters is None:
        return ""
    diff = ("diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--no-color", "--stat")
    found = _git(folder, *diff, "HEAD", "--", off=filters)
    if found is None:  # before the first commit
        found = _git(folder, *diff, "--cached", "--", off=filters)
    return (found or "").strip()[:LONGEST]


def project_files(folder: str, env: Mapping[str, str], limit: float, stdout_cap: int) -> list[str] | None:
    """
    Return the files below a folder that git tracks or does not ignore, as relative paths.

    None if there is no repository, no git, or no reply in time.
    """
    listing = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--")
    try:
        found = _git(folder, *listing, env=env, limit=limit, stdout_cap=stdout_cap)
    except HookError:
        return None
    return None if found is None else [name for name in found.split("\0") if name]


def _filters(folder: str) -> list[str] | None:
    """Return the names of all configured filter settings; None if there is no repository to read."""
    if _git(folder, "rev-parse", "--is-inside-work-tree") != "true\n":
        return None
    listed = _git(folder, "config", "--list", "--name-only", "-z")
    names = [name for name in (listed or "").split("\0") if name.lower().startswith("filter.")]
    # A setting that cannot be overridden with `-c` could run a program: then nothing is read.
    return None if listed is None or any("=" in name or "\n" in name for name in names) else names


def _git(
    folder: str,
    *words: str,
    off: Iterable[str] = (),
    env: Mapping[str, str] = os.environ,
    limit: float = LIMIT,
    stdout_cap: int = 1_000_000,
) -> str | None:
    """Return git's output; None when it exits with an error."""
    settings = {**_OFF, **{name: "false" if name.endswith(".required") else "" for name in off}}
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    inherited = {name: env[name] for name in _INHERITED if name in env}
    done = run(
        ["git", "-C", folder, *options, "--no-optional-locks", *words],
        stdin=b"",
        cwd="/",
        env={**inherited, **_ENVIRONMENT},
        timeout=limit,
        stdout_cap=stdout_cap,
    )
    if done.start_error or done.timed_out:
        raise HookError(f"git cannot list the changes: {done.start_error or f'no reply within {limit:g} s'}")
    return done.stdout.decode("utf-8", "replace") if done.exit_code == 0 else None
