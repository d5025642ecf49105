"""
Is this a good point for a commit?

Why      Work that is not committed is lost by the next mistake.
What     When a turn ends with changes to tracked files, the agent is told once what changed and asked to commit.
Instead  `commit_point = "off"`, which is the default. It speaks at most every `commit_point_every` seconds, never
         twice in one stop, and never while the client says that a stop was already held up.
"""

import subprocess
import time

from snell.kit.authoring import judges
from snell.kit.here import Here
from snell.kit.subjects import Turn
from snell.model.effects import Deny
from snell.model.events import Event

GIT_LIMIT = 2.0  # seconds for each question to git; the hook itself has five
MARK = "nudges/commit_point"


@judges("Stop", when={"commit_point": "script"}, waits=True)
def commit_point(turn: Turn, event: Event, here: Here) -> Deny | None:
    """Ask for a commit when a turn ends with tracked changes."""
    if turn.is_continuation or not event.cwd:
        return None
    scope, now = f"project:{here.project_dir or event.cwd}", time.time()
    last = here.marks.get(scope, MARK)
    if isinstance(last, int | float) and 0 <= now - last < here.options.get("commit_point_every", 600):
        return None
    stat = changed_files(event.cwd)
    if not stat:
        return None
    here.marks.put(scope, MARK, now)
    instead = "commit them if this is a good point, else say why not"
    return Deny(f"there are uncommitted changes:\n{stat}", instead=instead)


def changed_files(folder: str) -> str:
    """What git says of the changes to tracked files; empty where there are none, or no repository, or no git."""
    if not _git(folder, "status", "--porcelain", "--untracked-files=no"):
        return ""
    return _git(folder, "diff", "--stat", "HEAD") or _git(folder, "diff", "--stat", "--cached")


# The repository's own configuration may name programs to run; none of them is wanted for a look.
_QUIET = ("--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "diff.external=")


def _git(folder: str, *words: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", folder, *_QUIET, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GIT_LIMIT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace").strip()[:4_000] if done.returncode == 0 else ""
