"""
Stand-ins for modules of the standard library, which load the module when one of its attributes is first used.

Most of these modules are imported by one that needs them rarely, and together they take as long as three starts of a
bare Python. A stand-in is in `sys.modules` only until the daemon has given its first answer.
"""

import importlib
import os
import sys
from _blake2 import blake2b
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, cast

# Modules that are only used by attribute, as in `json.loads`, in what the first answer imports.
NAMES = ["base64", "glob", "json", "selectors", "shlex", "signal", "socket", "subprocess", "tomllib", "unicodedata"]
OF_INSPECT = {"iscoroutinefunction": lambda each: getattr(getattr(each, "__code__", None), "co_flags", 0) & 0x80 > 0}
ABSENT = cast("ModuleType", None)  # in `sys.modules`: importing this one fails, as on a machine without it


class LateModule(ModuleType):
    """Stands for a module until an attribute of it is used; `known` has the attributes that need no loading."""

    def __init__(self, name: str, known: Mapping[str, Any] | None = None) -> None:
        super().__init__(name)
        self.__dict__.update(known or {})

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the module, and keep it here. Any thread may do this: the import has its lock."""
        if name == "__path__":  # `from x import y` asks whether it is a package
            raise AttributeError(name)
        return self.__dict__.setdefault(name, getattr(_load(self), name))


def import_common_modules() -> None:
    """Import pathlib and msgspec, which would load modules that Snell does not use, and put the stand-ins in place."""
    with_stand_ins = {
        "textwrap": LateModule("textwrap"),
        "platform": LateModule("platform", {"system": lambda: os.uname().sysname}),  # `uuid` asks when it is imported
        "urllib.parse": LateModule("urllib.parse", {"quote_from_bytes": _later("urllib.parse", "quote_from_bytes")}),
        "msgspec.inspect": LateModule("msgspec.inspect"),
    }
    _put({"_hashlib": ABSENT})  # a library of 4 MB; Python has the same hashes itself
    put = _put(with_stand_ins)
    try:
        importlib.import_module("pathlib")
        importlib.import_module("snell.system.msgspec_import")
    finally:
        _remove(put)
    _put({"hashlib": LateModule("hashlib", {"blake2b": blake2b}), **{name: LateModule(name) for name in NAMES}})


def import_asyncio() -> None:
    """Import asyncio without its TLS, which would load OpenSSL, and without what it uses only to report an error."""
    known = {"inspect": OF_INSPECT, "traceback": {"extract_stack": _later("traceback", "extract_stack")}}
    names = ("asyncio.sslproto", "inspect", "linecache", "traceback")
    put = _put({"ssl": ABSENT, **{name: LateModule(name, known.get(name)) for name in names}})
    importlib.import_module("asyncio")
    _remove(put)


def forget() -> None:
    """Remove the stand-ins; modules that have one keep it."""
    _remove({name: module for name, module in sys.modules.items() if isinstance(module, LateModule)})


def _later(module: str, name: str) -> Callable[..., Any]:
    return lambda *given: getattr(importlib.import_module(module), name)(*given)


def _load(stand_in: LateModule) -> ModuleType:
    _remove({stand_in.__name__: stand_in})
    return importlib.import_module(stand_in.__name__)


def _put(modules: Mapping[str, ModuleType]) -> Mapping[str, ModuleType]:
    """Put modules in place where none is; return these."""
    new = {name: module for name, module in modules.items() if name not in sys.modules}
    sys.modules.update(new)
    return new


def _remove(modules: Mapping[str, ModuleType]) -> None:
    for name, module in list(modules.items()):
        if sys.modules.get(name, module) is module:
            sys.modules.pop(name, None)
