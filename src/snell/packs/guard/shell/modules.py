"""What a program loads by name (`python3 -m t`, `import t`), where this line or this session wrote it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from snell.kit.late_pattern import late
from snell.packs.guard.shell.scene import Scene
from snell.packs.guard.shell.values import UNKNOWN, Value

MOST_LOADED = 20

_ENDS = {"node": (".js", ".mjs", ".cjs", ".ts", "/index.js"), "ruby": (".rb",), "perl": (".pm",), "php": (".php",)}
_IMPORTED = {
    "python": late(
        r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import|import[ \t]+([\w., \t]+))|;[ \t]*import[ \t]+([\w.]+)", re.MULTILINE
    ),
    "node": late(r"(?:\brequire\(|\bimport\(?|\bfrom)\s*['\"](\.{1,2}/[\w./-]+)['\"]"),
    "ruby": late(r"\b(?:require_relative|load)\s*\(?\s*['\"]([\w./-]+)['\"]"),
}


def loaded(language: str, code: str, scene: Scene) -> Iterator[Value]:
    """The files that the code loads."""
    pattern = _IMPORTED.get(language)
    if pattern is None or not scene.files:
        return
    for found in list(pattern.finditer(code))[:MOST_LOADED]:
        names = [name.split()[0] for group in found.groups() if group for name in group.split(",") if name.strip()]
        for name in names:
            yield from known(language, name, scene)


def known(language: str, name: str, scene: Scene) -> list[Value]:
    """The file of a module, as far as it is known."""
    if language == "python":
        path = name.replace(".", "/")
        found = [scene.files.get(scene.absolute(f"{path}{end}")) for end in (".py", "/__init__.py", "/__main__.py")]
    else:
        found = [scene.files.get(scene.absolute(f"{name}{end}")) for end in ("", *_ENDS.get(language, ()))]
    return [value for value in found if value is not None and value.text.strip(UNKNOWN)]


def content(language: str, name: str, scene: Scene) -> Value | None:
    """A script by its name, which may lack its ending."""
    found = scene.content(name)
    return found if found is not None else next(iter(known(language, name, scene)), None)
