"""Write a crash report: a file that a user can paste into an issue."""

import os
import time
from collections.abc import Sequence

from snell.model.errors import SnellError
from snell.system.files import write_atomically
from snell.system.paths import make_private, places
from snell.system.version import our_version


def write_report(error: BaseException, words: Sequence[str]) -> str:
    """Write a report of the error and return its path. The arguments are left out, since they may contain secrets."""
    import platform  # these three are slow to import and rarely needed
    import traceback

    from snell.redact import redact

    lines = [
        f"snell {our_version()} on Python {platform.python_version()}, {platform.system()} {platform.machine()}",
        f"command: {words[0] if words else '-'} ({max(len(words) - 1, 0)} more words)",
        "",
        *traceback.format_exception(type(error), error, error.__traceback__),
    ]
    try:
        state = places(os.environ).state
        folder = state / "crashes"
        make_private(state)  # first: in a directory of another user nothing is private
        make_private(folder)
        path = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
        write_atomically(path, redact("\n".join(lines)).encode("utf-8", "replace"))
        return str(path)
    except (OSError, SnellError) as problem:
        return f"not written: {problem}"
