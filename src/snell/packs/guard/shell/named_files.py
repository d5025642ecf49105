"""Files that the words of a program name."""

from __future__ import annotations

import re

from snell.packs.guard.shell.shell_state import ShellState


def named_file(path: str, scene: ShellState) -> str:
    """What an open descriptor that is named as a file stands for."""
    found = re.fullmatch(r"/(?:dev|proc/self)/fd/(\w+)", path)
    return scene.fds.get(found[1], path) if found else path


def labels_of_named_files(args: tuple[str, ...], scene: ShellState) -> frozenset[str]:
    """The labels of the files that these words name."""
    labels = frozenset[str]()
    for arg in args:
        for name in {arg, arg.removesuffix("/*"), *(arg.rpartition(mark)[2] for mark in "@=:")}:
            content = scene.content(name) if name and len(name) < 1000 else None
            labels |= content.labels if content else frozenset()
    return labels
