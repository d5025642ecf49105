"""
Read a git repository without running any program that it names.

A repository's configuration may name programs that git runs even for reading: a file system monitor, filters, text
conversions, external diffs, hooks, the configuration of submodules, a remote to fetch missing objects from. None of
them runs here. Filters are off even if the user configured them, since a user's own (git-lfs) reads the repository's
configuration too; a file that goes through one may then be listed as changed when only its time is new.
"""

import os
import time
from collections.abc import Iterable, Mapping

from snell.model.errors import HookError
from snell.system.files import file_version

LIMIT = 2.0  # seconds for each git command
LONGEST = 4_000
LARGEST_DIFF = 8_000_000
MOST_OTHERS = 2_000
_DIFF = ("diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--no-color")

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
    found = ask_git(folder, *_DIFF, "--stat", "HEAD", "--", off=filters)
    if found is None:  # before the first commit
        found = ask_git(folder, *_DIFF, "--stat", "--cached", "--", off=filters)
    return (found or "").strip()[:LONGEST]


def project_files(folder: str, env: Mapping[str, str], limit: float, stdout_cap: int) -> list[str] | None:
    """
    Return the files below a folder that git tracks or does not ignore, as relative paths.

    None if there is no repository, no git, or no reply in time.
    """
    listing = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--")
    try:
        found = ask_git(folder, *listing, env=env, limit=limit, stdout_cap=stdout_cap)
    except HookError:
        return None
    return None if found is None else [name for name in found.split("\0") if name]


def repository_state(folder: str, env: Mapping[str, str], *, with_files: bool) -> str:
    """
    Return a text that changes with HEAD, branches and tags, and `with_files` with the content of tracked files and when
    other files are written that are not ignored.

    Empty if there is no repository. Raises HookError if git is not installed or does not answer in time.
    """
    state = ask_git(folder, "show-ref", "--head", "--heads", "--tags", env=env) or ""
    filters = _filters(folder) if state and with_files else None
    if filters is None:
        return state
    diff = ask_git(folder, *_DIFF, "HEAD", "--", off=filters, env=env, stdout_cap=LARGEST_DIFF) or ""
    others = ask_git(folder, "ls-files", "-z", "--others", "--exclude-standard", "--", ":/", env=env) or ""
    return "\0".join(
        (state, diff, *(file_version(os.path.join(folder, name)) for name in others.split("\0")[:MOST_OTHERS]))
    )


def gives_back(folder: str, limit: float) -> bool:
    """
    Return whether git has every file below a folder as it is now, so that deleting the folder loses nothing.

    False if a file is changed, untracked or ignored, or marked so that git does not look at it, if another repository
    is inside, and if there is no git, no repository or no reply within the limit in seconds.
    """
    ends = time.monotonic() + limit

    def ask(*words: str, off: Iterable[str] = ()) -> str | None:
        return ask_git(folder, *words, off=off, limit=max(ends - time.monotonic(), 0.001))

    try:
        if ask("rev-parse", "--is-inside-work-tree") != "true\n":
            return False
        filters = filter_names(ask("config", "--list", "--name-only", "-z"))
        listed = ask("ls-files", "-v", "-z", "--", ".")
        if filters is None or not listed or any(name[:2] != "H " for name in listed.split("\0") if name):
            return False
        status = ("status", "--porcelain=v1", "-z", "--ignored", "--untracked-files=all", "--ignore-submodules=none")
        return ask(*status, "--", ".", off=filters) == "" and not _has_repository(folder, ends)
    except HookError:
        return False


def _has_repository(folder: str, ends: float) -> bool:
    """Return whether a repository is below a folder, or it is too large to look at in time."""
    for _path, folders, files in os.walk(folder):
        if ".git" in folders or ".git" in files or time.monotonic() > ends:
            return True
    return False


def _filters(folder: str) -> list[str] | None:
    """Return the names of all configured filter settings; None if there is no repository to read."""
    if ask_git(folder, "rev-parse", "--is-inside-work-tree") != "true\n":
        return None
    return filter_names(ask_git(folder, "config", "--list", "--name-only", "-z"))


def filter_names(listed: str | None) -> list[str] | None:
    names = [name for name in (listed or "").split("\0") if name.lower().startswith("filter.")]
    # A setting that cannot be overridden with `-c` could run a program: then nothing is read.
    return None if listed is None or any("=" in name or "\n" in name for name in names) else names


def ask_git(
    folder: str,
    *words: str,
    off: Iterable[str] = (),
    env: Mapping[str, str] = os.environ,
    limit: float = LIMIT,
    stdout_cap: int = 1_000_000,
) -> str | None:
    """Return git's output; None when it exits with an error."""
    from snell.system.run_program import run  # slow to import, and most commands ask nothing of git

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
