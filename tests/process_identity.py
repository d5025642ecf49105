"""
Let a forked process appear in /proc with the command line and the environment of the program that it became.

Tests find processes by both. Only Linux can do this, and not every kernel is built with it.
"""

import ctypes
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

_PR_SET_MM, _PR_SET_MM_MAP = 35, 14
_NO_FILE = 0xFFFFFFFF
_kept: list[ctypes.Array[ctypes.c_char]] = []  # the kernel reads these texts as long as the process lives


class _MemoryMap(ctypes.Structure):
    """The kernel's `struct prctl_mm_map`: twelve addresses, and no other auxiliary vector or program."""

    _fields_ = (("addresses", ctypes.c_uint64 * 12), ("auxv_size", ctypes.c_uint32), ("exe_fd", ctypes.c_uint32))


def appear_as(words: Sequence[str], env: Mapping[str, str]) -> bool:
    """Change what /proc shows of this process; return whether the system allowed it."""
    fields = Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    numbers = [int(fields[number - 3]) for number in (26, 27, 45, 46, 47, 28)]  # numbered as in proc(5)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.sbrk.restype = ctypes.c_void_p
    borders = [*_keep(words), *_keep([f"{name}={value}" for name, value in env.items()])]
    addresses = [*numbers[:5], libc.sbrk(0), numbers[5], *borders, 0]
    wanted = _MemoryMap((ctypes.c_uint64 * 12)(*addresses), 0, _NO_FILE)
    return libc.prctl(_PR_SET_MM, _PR_SET_MM_MAP, ctypes.byref(wanted), ctypes.sizeof(wanted), 0) == 0


def _keep(texts: Sequence[str]) -> tuple[int, int]:
    """Return where these texts begin and end in memory, each with its zero byte."""
    data = b"".join(os.fsencode(text) + b"\0" for text in texts)
    _kept.append(ctypes.create_string_buffer(data, len(data)))
    start = ctypes.addressof(_kept[-1])
    return start, start + len(data)
