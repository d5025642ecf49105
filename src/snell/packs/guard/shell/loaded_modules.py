"""
What a program loads by name (`python3 -m t`, `import t`), where this line or this session wrote it; and where Python
says that Snell's own modules lie.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from snell.packs.guard.known_values import UNKNOWN, Value
from snell.packs.guard.shell.shell_state import ShellState
from snell.system.lazy_regex import lazy_regex

MOST_LOADED = 20

_ENDS = {"node": (".js", ".mjs", ".cjs", ".ts", "/index.js"), "ruby": (".rb",), "perl": (".pm",), "php": (".php",)}
_IMPORTED = {
    "python": lazy_regex(
        r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import|import[ \t]+([\w., \t]+))|;[ \t]*import[ \t]+([\w.]+)", re.MULTILINE
    ),
    "node": lazy_regex(r"(?:\brequire\(|\bimport\(?|\bfrom)\s*['\"](\.{1,2}/[\w./-]+)['\"]"),
    "ruby": lazy_regex(r"\b(?:require_relative|load)\s*\(?\s*['\"]([\w./-]+)['\"]"),
}


def loaded_files(language: str, code: str, scene: ShellState) -> Iterator[str]:
    """Yield the texts of the files that the code loads, each once for a line."""
    pattern = _IMPORTED.get(language)
    if pattern is None or not scene.files:
        return
    for found in list(pattern.finditer(code))[:MOST_LOADED]:
        names = [name.split()[0] for group in found.groups() if group for name in group.split(",") if name.strip()]
        for value in [value for name in names for value in module_files(language, name, scene)]:
            if (here := (scene.cwd, value.text)) not in scene.loaded:
                scene.loaded.add(here)
                yield value.text


def module_files(language: str, name: str, scene: ShellState) -> list[Value]:
    """Return the known contents of a module's files."""
    if language == "python":
        path = name.replace(".", "/")
        found = [scene.files.get(scene.absolute(f"{path}{end}")) for end in (".py", "/__init__.py", "/__main__.py")]
    else:
        found = [scene.files.get(scene.absolute(f"{name}{end}")) for end in ("", *_ENDS.get(language, ()))]
    return [value for value in found if value is not None and value.text.strip(UNKNOWN)]


def module_run(args: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return the module that `python -I -m name` runs, and its words; options may be joined (`-Im name`)."""
    at = 0
    while at < len(args) and args[at].startswith("-") and not args[at].startswith("--"):
        letters, found, name = args[at][1:].partition("m")
        if found and not set(letters) & set("cWX"):
            words = (name, *args[at + 1 :]) if name else tuple(args[at + 1 :])
            return (words[0], words[1:]) if words else ("", ())
        if "c" in letters:
            break
        at += 2 if args[at] in ("-W", "-X") else 1
    return "", ()


_PACKAGES = f"{UNKNOWN}/site-packages"
_LOADS_SNELL = lazy_regex(r"\b(?:import|from)\s+(?:\w+\s*,\s*)*snell\b|find_spec\(")
_FILE_OF = lazy_regex(
    r"[A-Za-z_][\w.]*\.__(?:file__|path__\[0\])|(?:inspect\.)?get(?:source)?file\(\s*[\w.]+\s*\)"
    r"|[\w.]*find_spec\([^()]{0,80}\)\.(?:origin|submodule_search_locations\[0\])"
)
_PACKAGES_OF = lazy_regex(r"getsitepackages\(\)(?:\[0\])?|get_paths?\([^()]{0,40}\)(?:\[[^\]]{0,20}\])?")
_FOLDER_OF = lazy_regex(r"dirname|\.parent|__path__|locations")


def with_own_files(masked: str, keep: Callable[[str], str]) -> str:
    """Return the code with a path in place of `snell.__file__` and other names of where files lie."""
    if "snell" in masked and _LOADS_SNELL.search(masked):
        masked = _FILE_OF.sub(lambda found: keep(_own_file(found[0])), masked)
    return _PACKAGES_OF.sub(lambda _found: keep(_PACKAGES), masked) if "get" in masked else masked


def printed_place(code: str) -> str:
    """Return the place that a line of Python prints: of Snell's package, or of all packages; empty for any other."""
    if "snell" in code and _LOADS_SNELL.search(code) and (found := _FILE_OF.search(code)):
        path = _own_file(found[0])
        return path.removesuffix("/__init__.py") if _FOLDER_OF.search(code) else path
    return _PACKAGES if "get" in code and _PACKAGES_OF.search(code) else ""


def _own_file(text: str) -> str:
    folder = f"{_PACKAGES}/snell"
    return folder if "path__" in text or "locations" in text else f"{folder}/__init__.py"
