"""
Read the tensors of a `.safetensors` file: eight bytes with the length of a JSON header, the header, then the numbers
of each tensor. The file is memory-mapped, so only the tensors that are used take memory.
"""

import math
import mmap
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from snell.model.errors import SnellError

LARGEST_HEADER = 10 * 1024 * 1024
_WIDTHS = {"F32": 4, "F16": 2, "BF16": 2}


class TensorError(SnellError):
    """The file is not a valid safetensors file."""

    id = "memory.tensors"


class _Entry(Struct, frozen=True):
    dtype: str
    shape: tuple[int, ...]
    data_offsets: tuple[int, int]


def tensors(path: Path) -> Mapping[str, Any]:
    """Return numpy arrays of 32-bit floats by name. Raises TensorError."""
    try:
        with path.open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:  # ValueError: an empty file
        raise TensorError(f"cannot be read: {error}", where=f"`{path}`") from None
    try:
        begin, entries = _entries(data)
        return {name: _array(data, begin, entry) for name, entry in entries.items()}
    except (struct.error, ValueError, msgspec.MsgspecError) as error:
        raise TensorError(f"is not a safetensors file: {error}", where=f"`{path}`") from None


def _entries(data: mmap.mmap) -> tuple[int, dict[str, _Entry]]:
    (length,) = struct.unpack("<Q", data[:8])
    if length > min(LARGEST_HEADER, len(data) - 8):
        raise ValueError("its header is longer than it may be")
    raw = msgspec.json.decode(data[8 : 8 + length], type=dict[str, msgspec.Raw])
    entries = {name: msgspec.json.decode(each, type=_Entry) for name, each in raw.items() if name != "__metadata__"}
    return 8 + length, entries


def _array(data: mmap.mmap, begin: int, entry: _Entry) -> Any:
    """
    Return one tensor as a numpy array; None for a type of numbers that is not needed.

    INVARIANT: nothing outside of the file's own numbers is read, whatever the header says.
    """
    import numpy

    first, last = entry.data_offsets
    if entry.dtype not in _WIDTHS:
        return None  # such as the integer positions in some files, which no caller reads
    count = math.prod(entry.shape)
    if not 0 <= first <= last <= len(data) - begin or min(entry.shape, default=1) < 0:
        raise ValueError("a tensor is outside of the file")
    if last - first != count * _WIDTHS[entry.dtype]:
        raise ValueError("the size of a tensor does not fit its shape")
    kind = {"F32": "<f4", "F16": "<f2", "BF16": "<u2"}[entry.dtype]
    found = numpy.frombuffer(data, dtype=kind, count=count, offset=begin + first).reshape(entry.shape)
    if entry.dtype == "BF16":  # the upper half of a 32-bit float
        found = (found.astype("<u4") << 16).view("<f4")
    return found.astype("<f4", copy=False)
