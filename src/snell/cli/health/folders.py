"""Permissions of Snell's folders and files: only their owner may read or change them."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from snell.cli.health import Check, Installation
from snell.daemon.listener import SOCKET_NAME, socket_path
from snell.system.paths import POLICY_FILE, PlaceError

OTHERS_READ, OTHERS_WRITE = 0o077, 0o022


def checks(installation: Installation) -> Iterator[Check]:
    where = installation.where
    yield _check_mode("state folder", where.state, OTHERS_READ)
    yield _check_mode("run folder", where.run, OTHERS_READ)
    yield _check_mode("config folder", where.config, OTHERS_WRITE)
    for name, path, mask in (
        ("socket", where.run / SOCKET_NAME, OTHERS_READ),
        ("store file", where.state / "snell.db", OTHERS_READ),
        ("http token", where.state / "http-token", OTHERS_READ),
    ):
        if os.path.lexists(path):
            yield _check_mode(name, path, mask)
    if POLICY_FILE.exists() and os.stat(POLICY_FILE).st_mode & OTHERS_WRITE:
        yield Check("policy", "fail", f"{POLICY_FILE} is writable by other users", f"`chmod go-w {POLICY_FILE}`")
    try:
        socket_path(where.run)
    except PlaceError as error:
        yield Check("socket", "fail", f"{error.where} {error.message}", error.advice)
    if os.geteuid() == 0:
        yield Check("user", "warn", "Snell and every hook run as root", "outside containers, use an ordinary user")


def _check_mode(name: str, path: Path, mask: int) -> Check:
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return Check(name, "ok", f"{path} does not exist yet")
    if stat.S_ISLNK(found.st_mode):
        return Check(name, "fail", f"{path} is a symbolic link, which is not safe here", "remove the link")
    if found.st_uid != os.geteuid():
        return Check(name, "fail", f"{path} belongs to another user (uid {found.st_uid})", "remove it")
    mode = stat.S_IMODE(found.st_mode)
    if mode & mask:
        what = "readable" if mask == OTHERS_READ else "writable"
        return Check(name, "fail", f"{path} is {what} by other users (mode {mode:o})", f"`chmod go-rwx {path}`")
    return Check(name, "ok", f"{path}, mode {mode:o}")
