"""
Find the modules of Snell without searching: a source file and its compiled code have known names.

Python searches every folder for six kinds of files, and checks each of them. Compiled code is used under Python's own
rule: if it has the time and the size of the source file. In all other cases Python's own loader does the work.
"""

import marshal
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType

# isort: split
from importlib.util import MAGIC_NUMBER

PACKAGE = __name__.partition(".")[0] + "."
_HEADER = MAGIC_NUMBER + bytes(4)  # the four bytes say that the time counts
_COMPILED = f".{sys.implementation.cache_tag}.pyc"
_LEAST, _FIELD = 16, 0xFFFF_FFFF  # bytes of the header, and of one of its numbers


class QuickLoader(SourceFileLoader):
    """Python's own loader, which knows the source file's state already."""

    def __init__(self, name: str, path: str, compiled: str, found: os.stat_result) -> None:
        super().__init__(name, path)
        self._compiled, self._found = compiled, found

    def get_code(self, fullname: str) -> CodeType | None:
        return _read_compiled(self._compiled, self._found) or super().get_code(fullname)


class QuickFinder:
    """Finds modules in a package of Snell that is one folder."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, _target: ModuleType | None = None) -> ModuleSpec | None:
        if path is None or len(path) != 1 or not name.startswith(PACKAGE) or sys.dont_write_bytecode:
            return None
        folder, stem = path[0], name.rpartition(".")[2]
        return _spec(name, folder, stem) or _spec(name, f"{folder}/{stem}", "__init__")


def _spec(name: str, folder: str, stem: str) -> ModuleSpec | None:
    source, compiled = f"{folder}/{stem}.py", f"{folder}/__pycache__/{stem}{_COMPILED}"
    try:
        found = os.stat(source)
    except OSError:
        return None
    spec = ModuleSpec(name, QuickLoader(name, source, compiled, found), origin=source)
    spec.has_location, spec.cached = True, compiled
    if stem == "__init__":
        spec.submodule_search_locations = [folder]
    return spec


def _read_compiled(path: str, source: os.stat_result) -> CodeType | None:
    try:
        with open(path, "rb", buffering=0) as file:
            data = file.read()
    except OSError:
        return None
    numbers = (int(source.st_mtime) & _FIELD, source.st_size & _FIELD)
    if data[:_LEAST] != _HEADER + b"".join(number.to_bytes(4, "little") for number in numbers):
        return None
    code: CodeType = marshal.loads(memoryview(data)[_LEAST:])
    return code
