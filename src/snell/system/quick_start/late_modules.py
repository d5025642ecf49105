"""
Stand-ins for modules of the standard library, which load the module when one of its attributes is first used.

Loading all of these takes as long as three starts of a bare Python, and most are needed rarely. A stand-in is in
`sys.modules` only until the daemon has given its first answer.
"""

import _datetime  # type: ignore[import-not-found]  # the stubs have only `datetime`
import importlib
import os
import sys
import typing
from _blake2 import blake2b
from collections.abc import Mapping
from types import ModuleType
from typing import Any

# Modules that are only used by attribute, as in `json.loads`, in what the first answer imports.
NAMES = "base64 glob hashlib json locale selectors shlex signal socket subprocess unicodedata"
LETTERS, DIGITS = "abcdefghijklmnopqrstuvwxyz", "0123456789"
ABSENT = typing.cast("ModuleType", None)  # in `sys.modules`: importing this one fails, as on a machine without it
_Unread: Any = type("_Unread", (), {"__init__": lambda *_, **__: None})


class LateModule(ModuleType):
    """Stands for a module until an attribute of it is used; `known` has the attributes that need no loading."""

    def __init__(self, name: str, known: Mapping[str, Any] | None = None) -> None:
        super().__init__(name)
        self.__dict__.update(known or {})

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the module, and keep it here. Any thread may do this: the import has its lock."""
        if name == "__path__":  # `from x import y` asks whether it is a package
            raise AttributeError(name)
        _remove({self.__name__: self})
        return self.__dict__.setdefault(name, getattr(importlib.import_module(self.__name__), name))


def import_common_modules() -> None:
    """Import what the first answer needs without what Snell does not use of it, and put the stand-ins in place."""
    _put({"_hashlib": ABSENT, "datetime": _datetime})  # OpenSSL has 4 MB; `datetime` also has all in Python
    # `_uuid` is a library for the kind of ids that name the machine. Names in texts would start the compiler.
    put = _put({"_uuid": ABSENT, **_stand_ins("decimal textwrap platform string urllib.parse msgspec.inspect")})
    forward, typing.ForwardRef = typing.ForwardRef, _Unread  # type: ignore[misc] # for as long as the modules load
    for name in ("pathlib", "snell.system.msgspec_import", "tomllib"):
        importlib.import_module(name)
    typing.ForwardRef = forward  # type: ignore[misc] # see above
    _remove(put)
    _put(_stand_ins(NAMES))


def end() -> None:
    """
    Remove the stand-ins; modules that have one keep it. Import asyncio without its TLS, which would load OpenSSL, and
    without what it uses only to report an error.
    """
    _remove({name: module for name, module in sys.modules.items() if isinstance(module, LateModule)})
    put = _put({"ssl": ABSENT, **_stand_ins("asyncio.sslproto inspect linecache logging traceback")})
    importlib.import_module("asyncio")
    _remove(put)


def _stand_ins(names: str) -> dict[str, ModuleType]:
    return {name: LateModule(name, KNOWN.get(name)) for name in names.split()}


def _put(modules: Mapping[str, ModuleType]) -> Mapping[str, ModuleType]:
    new = {name: module for name, module in modules.items() if name not in sys.modules}
    sys.modules.update(new)
    return new


def _remove(modules: Mapping[str, ModuleType]) -> None:
    for name, module in list(modules.items()):
        if sys.modules.get(name, module) is module:
            sys.modules.pop(name, None)


# What needs no loading, since it is used at once: when a module is imported, or where there is nothing to report.
KNOWN: dict[str, Mapping[str, Any]] = {
    "decimal": {"Decimal": _Unread},  # a library; Snell has no such numbers
    "hashlib": {"blake2b": blake2b},
    "inspect": {"iscoroutinefunction": lambda each: getattr(getattr(each, "__code__", None), "co_flags", 0) & 0x80 > 0},
    "logging": {"getLogger": lambda _: LateModule("logging", KNOWN["logger"]), "StreamHandler": object, "DEBUG": 10},
    "logger": {"debug": lambda *_: None, "addHandler": lambda *_: None},
    "platform": {"system": lambda: os.uname().sysname},
    "string": {"ascii_letters": LETTERS + LETTERS.upper(), "digits": DIGITS, "hexdigits": f"{DIGITS}abcdefABCDEF"},
    "traceback": {"extract_stack": lambda *given: importlib.import_module("traceback").extract_stack(*given)},
    "urllib.parse": {"quote_from_bytes": lambda raw: importlib.import_module("urllib.parse").quote_from_bytes(raw)},
}
