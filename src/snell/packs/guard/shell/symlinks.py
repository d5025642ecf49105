"""
Resolve symbolic links in paths: links on the disk, and links that the line itself makes.

Only what exists is looked at, and only for programs that read, send, write or delete what their words name.
"""

import os
import posixpath
from collections.abc import Mapping

from msgspec.structs import replace

from snell.model.tool_names import name_set
from snell.packs.guard.file_lookups import LINK, PLAIN, absolute_path, path_kind, unlinked_paths
from snell.packs.guard.known_names import names
from snell.packs.guard.known_values import UNKNOWN, Value
from snell.packs.guard.shell.shell_state import HERE, Step
from snell.system.lazy_regex import lazy_regex

MOST_PATHS = 24
LONGEST_PATH = 1_000

_DELETERS = name_set("rm grm rmdir unlink shred srm mv gmv rimraf trash trash-put del-cli find gfind")
_PROGRAMS = _DELETERS | names("programs_that_follow_links")
_PATTERN = lazy_regex(r"[*?\[{]")
_NEVER = ("/dev/", "/proc/", "/sys/")  # links there depend on the process that reads them


def follow_links(step: Step, links: Mapping[str, str], home: str, project: str) -> Step | None:
    """Return the step with links in its paths resolved; None if there is no link in them."""
    has_streams = step.reads or step.writes or step.appends
    if step.where != HERE or not (step.program in _PROGRAMS or has_streams):
        return None
    if step.program == "ln":
        return None  # it makes the link; what that leads to stays as it is
    args, own = step.args, step.args[:MOST_PATHS] if step.program in _PROGRAMS else ()
    unlinked = () if links else unlinked_paths()  # the walk has looked at most names of files
    may_name = ["=" in arg or "@" in arg or (arg[:1] != "-" and f"{step.cwd}/{arg}" not in unlinked) for arg in own]
    if not (True in may_name or has_streams or step.sweeps):
        return None
    resolver, keeps = _LinkResolver(step.cwd, links, home, project), step.program in _DELETERS
    if own:
        pairs = zip(own, may_name, strict=True)
        args = (*[resolver.word(arg, keeps=keeps) if may else arg for arg, may in pairs], *args[MOST_PATHS:])
    resolve = resolver.of_link if keeps else resolver.path
    reads, writes, appends = step.reads, step.writes, step.appends
    if has_streams:
        reads, writes, appends = tuple(map(resolve, reads)), tuple(map(resolve, writes)), tuple(map(resolve, appends))
    sweeps = tuple(map(resolver.path, step.sweeps))
    if (args, reads, writes, appends, sweeps) == (step.args, step.reads, step.writes, step.appends, step.sweeps):
        return None
    words = (step.words[0], *(Value(text, old.labels) for text, old in zip(args, step.words[1:], strict=False)))
    return replace(step, words=words, args=args, reads=reads, writes=writes, appends=appends, sweeps=sweeps)


def leads_to(path: str, links: Mapping[str, str], home: str, project: str) -> str:
    """Return the absolute path without links, written below the home or project, which may be links themselves."""
    unlinked = unlinked_paths()
    if path in unlinked and not links:
        return path
    for link, target in links.items():
        if f"{path}/".startswith(f"{link}/"):
            path = posixpath.normpath(target + path[len(link) :])
    if UNKNOWN in path or len(path) > LONGEST_PATH or not path.startswith("/") or path.startswith(_NEVER):
        return path
    head, tail = _before_pattern(path) if _PATTERN.search(path) else (path, "")
    if not _is_linked(head, project if f"{head}/".startswith(f"{project}/") else ""):
        unlinked.add(path)
        return path
    real = _on_disk(head)
    for place in (project, home):
        if place and f"{real}/".startswith((really := _on_disk(place)) + "/"):
            real = place + real[len(really) :]
            break
    return real + tail


class _LinkResolver:
    def __init__(self, cwd: str, links: Mapping[str, str], home: str, project: str) -> None:
        self.cwd, self.links, self.home, self.project = cwd, links, home, project

    def word(self, arg: str, *, keeps: bool) -> str:
        """Return a word with its path resolved, also a path behind `@` or `=`."""
        lead, mark, name = arg.rpartition("@")
        if not mark:
            lead, mark, name = arg.rpartition("=")
        if not name or len(name) > LONGEST_PATH or "://" in name or "\n" in name:
            return arg
        plain = absolute_path(name, self.cwd)
        real = self.of_link(plain) if keeps and not name.endswith("/") else self.path(plain)
        return f"{lead}{mark}{real}" if real != plain else arg

    def path(self, path: str) -> str:
        return leads_to(path, self.links, self.home, self.project)

    def of_link(self, path: str) -> str:
        """Return the path of a link itself, since deleting or moving a link does not touch its target."""
        folder, slash, name = path.rpartition("/")
        if _PATTERN.search(name):
            return self.path(path)
        return f"{self.path(folder)}{slash}{name}" if folder else path


def _before_pattern(path: str) -> tuple[str, str]:
    parts = path.split("/")
    plain = next(index for index, part in enumerate(parts) if _PATTERN.search(part))
    return "/".join(parts[:plain]) or "/", "/" + "/".join(parts[plain:])


def _is_linked(path: str, start: str) -> bool:
    """Return whether a part of the path below `start` is a link; cheaper than resolving it, and nearly always no."""
    at = start.rstrip("/")
    for part in path[len(at) + 1 :].split("/") if path != at else ():
        at = f"{at}/{part}"
        kind = path_kind(at)
        if kind != PLAIN:
            return kind == LINK  # or, from here on, nothing is there
    return False


def _on_disk(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path
