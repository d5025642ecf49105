"""A crash report: a file that can be pasted into an issue."""

import os
import time
from collections.abc import Sequence

from snell.model.errors import SnellError
from snell.system.files import write_atomically
from snell.system.paths import make_private, places


def write_report(error: BaseException, words: Sequence[str]) -> str:
    """Write what went wrong and return where; the words of the command line stay out, they may hold secrets."""
    import platform  # slow to import, all three, and hopefully never needed
    import traceback

    from snell.redact import redact

    lines = [
        f"snell {_version()} on Python {platform.python_version()}, {platform.system()} {platform.machine()}",
        f"command: {words[0] if words else '-'} ({max(len(words) - 1, 0)} more words)",
        "",
        *traceback.format_exception(type(error), error, error.__traceback__),
    ]
    try:
        state = places(os.environ).state
        folder = state / "crashes"
        make_private(state)  # first: in somebody else's directory nothing of ours is private
        make_private(folder)
        path = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
        write_atomically(path, redact("\n".join(lines)).encode("utf-8", "replace"))
        return str(path)
    except (OSError, SnellError) as problem:
        return f"not written: {problem}"


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("snell")
    except PackageNotFoundError:
        return "(not installed)"
