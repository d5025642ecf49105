"""
Take from this process, and from all that it starts, the right to write files and to open connections.

Linux: Landlock denies writing outside of one temporary folder, and a seccomp filter denies sockets and changes of
owners and modes. Both are asked for by system calls, so no further program is needed.
"""

import ctypes
import os
import platform
import struct
import sys
from collections.abc import Iterator

_WRITE_FILE, _ALL_WRITES = 1 << 1, sum(1 << bit for bit in (1, 4, 5, 6, 7, 8, 9, 10, 11, 12))
_REFER, _TRUNCATE = 1 << 13, 1 << 14  # from version 2 and 3 of Landlock on
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every machine
_NO_NEW_PRIVILEGES, _SET_SECCOMP = 38, 22
_ALLOW, _DENY = 0x7FFF0000, 0x00050000 | 13  # EACCES
_BY_CALLS = ("changing modes of files", "opening connections")  # what the filter of calls denies
# By machine: its number, and the calls to deny: socket, chmod, chown, utime, xattr, ptrace, io_uring.
_CALLS = {
    "x86_64": (0xC000003E, (41, 90, 91, 92, 93, 94, 101, 132, 188, 189, 190, 235, 260, 261, 268, 280, 425, 452)),
    "aarch64": (0xC00000B7, (198, 5, 6, 7, 52, 53, 54, 55, 88, 117, 425, 452)),
}


def enter_sandbox(writable: str) -> list[str]:
    """Give up the rights of this thread and of all that it starts; returns what this system cannot deny."""
    if sys.platform != "linux":
        return ["writing files", *_BY_CALLS]
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    failed = [] if _restrict_files(libc, writable) else ["writing files"]
    return failed if _restrict_calls(libc) else [*failed, *_BY_CALLS]


def _restrict_files(libc: ctypes.CDLL, writable: str) -> bool:
    version = libc.syscall(_CREATE_RULESET, None, 0, 1)
    if version < 1:
        return False
    denied = _ALL_WRITES | (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    # From version 6 on also signals to processes outside, and sockets without a file.
    attributes = struct.pack("<QQQ", denied, 0, 3)[: 24 if version >= 6 else 8]
    rules = libc.syscall(_CREATE_RULESET, attributes, len(attributes), 0)
    if rules < 0:
        return False
    try:
        of_file = denied & (_WRITE_FILE | _TRUNCATE)
        is_set = all(_allow(libc, rules, path, rights) for path, rights in ((writable, denied), (os.devnull, of_file)))
        return is_set and libc.syscall(_RESTRICT_SELF, rules, 0) == 0
    finally:
        os.close(rules)


def _allow(libc: ctypes.CDLL, rules: int, path: str, rights: int) -> bool:
    try:
        folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return True  # there is no such file, so there is nothing to allow
    try:
        return bool(libc.syscall(_ADD_RULE, rules, 1, struct.pack("<Qi", rights, folder), 0) == 0)
    finally:
        os.close(folder)


def _restrict_calls(libc: ctypes.CDLL) -> bool:
    machine, denied = _CALLS.get(platform.machine(), (0, ()))
    if not machine:
        return False
    program = b"".join(_filter(machine, denied))
    code = ctypes.create_string_buffer(program)
    given = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    return bool(libc.prctl(_SET_SECCOMP, 2, given, 0, 0) == 0)


def _filter(machine: int, denied: tuple[int, ...]) -> Iterator[bytes]:
    """Yield a program for the kernel: deny calls of another machine, and those that are listed."""
    load, equal, at_least, answer = 0x20, 0x15, 0x35, 0x06

    def step(code: int, value: int, if_so: int = 0, if_not: int = 0) -> bytes:
        return struct.pack("<HBBI", code, if_so, if_not, value)

    yield step(load, 4)  # the machine
    yield step(equal, machine, 1, 0)
    yield step(answer, _DENY)
    yield step(load, 0)  # the number of the call
    yield step(at_least, 0x40000000, len(denied) + 1, 0)  # the other numbering of x86
    for index, number in enumerate(denied):
        yield step(equal, number, len(denied) - index, 0)
    yield step(answer, _ALLOW)
    yield step(answer, _DENY)
