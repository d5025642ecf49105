"""
What `make test`, `npm run x` or `git commit` would run, where this line or this session wrote the file that says it.

Only what is asked for counts: a target with what it needs, a script with what comes before and after it, the hooks of
one git command.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from snell.system.lazy_regex import lazy_regex

_TARGET = lazy_regex(r"^(?!\t|\s*#)([^\s:=#][^:=#\n]*?)\s*::?(?!=)\s*([^;#\n=]*)(?:;(.*))?$")
_JUST = lazy_regex(r"^@?([\w-]+)[^:=\n]*:(?!=)\s*([^#\n]*)$")
_SCRIPT = lazy_regex(r'"([\w:.-]+)"\s*:\s*"((?:\\.|[^"\\])*)"')
_TASK_LINE = lazy_regex(r"^\s+-\s+(?:cmd:\s*)?(.+)$|^\s+cmds?:\s*\[?([^\[\]\n|]+)\]?\s*$")
_MOST_TARGETS = 50

_INSTALLING = ("preinstall", "install", "postinstall", "prepublish", "prepare")
_GIT_HOOKS = {
    "commit": ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"),
    "push": ("pre-push",),
    "checkout": ("post-checkout",),
    "switch": ("post-checkout",),
    "merge": ("pre-merge-commit", "post-merge"),
    "pull": ("post-merge", "post-checkout"),
    "rebase": ("pre-rebase", "post-rewrite"),
    "am": ("applypatch-msg", "pre-applypatch", "post-applypatch"),
}
_NODE = ("npm", "pnpm", "yarn", "bun")
# Programs that run a file of this name by itself, and its language.
_LOADED = {
    "rake": ("Rakefile", "ruby"),
    "invoke": ("tasks.py", "python"),
    "nox": ("noxfile.py", "python"),
    "pip": ("setup.py", "python"),
    "pip3": ("setup.py", "python"),
}
_KNOWN = frozenset(("pytest", "py.test", "make", "gmake", "just", "task", "go-task", "git", *_NODE, *_LOADED))


def reads_recipes(program: str) -> bool:
    return program in _KNOWN


def recipes(program: str, args: list[str], files: dict[str, str], cwd: str) -> Iterator[tuple[str, str]]:
    """Language (`sh` for a shell) and code. `files`: paths and what is known of their text."""
    here = {posixpath.basename(path): text for path, text in files.items() if posixpath.dirname(path) == cwd}
    if program in ("make", "gmake"):
        for name in ("GNUmakefile", "makefile", "Makefile"):
            yield from (("sh", line) for line in _of_targets(here.get(name, ""), args, _TARGET))
    elif program == "just":
        for name in ("justfile", "Justfile", ".justfile"):
            yield from (("sh", line) for line in _of_targets(here.get(name, ""), args, _JUST))
    elif program in ("task", "go-task"):
        yield from (("sh", line) for line in _of_tasks(here.get("Taskfile.yml", here.get("Taskfile.yaml", "")), args))
    elif program in _NODE:
        yield from (("sh", line) for line in _of_scripts(here.get("package.json", ""), args))
    elif program == "git":
        yield from (("sh", text) for path, text in files.items() if _is_hook(path, args))
    elif program in ("pytest", "py.test"):
        yield from (("python", text) for path, text in files.items() if _is_tested(path, args, cwd))
    elif program in _LOADED and _LOADED[program][0] in here:
        name, language = _LOADED[program]
        if program not in ("pip", "pip3") or {".", "./", "-e"} & set(args) or any(arg.startswith(".") for arg in args):
            yield language, here[name]


_TEST = lazy_regex(r"conftest\.py|test_\w+\.py|\w+_test\.py")


def _is_tested(path: str, args: list[str], cwd: str) -> bool:
    """Tests that are asked for, and what is loaded before those of a folder."""
    folder, name = posixpath.split(path)
    if not _TEST.fullmatch(name) or not f"{folder}/".startswith(f"{cwd}/"):
        return False
    asked = [posixpath.normpath(f"{cwd}/{arg.partition('::')[0]}") for arg in args if "/" in arg or arg.endswith(".py")]
    above = name == "conftest.py" and any(f"{each}/".startswith(f"{folder}/") for each in asked)
    return not asked or above or any(f"{path}/".startswith(f"{each}/") for each in asked)


def of_make(recipe: str) -> str:
    """A line of a recipe as the shell gets it: `$(HOME)` and `{{x}}` are variables, `$$` is a dollar."""
    text = re.sub(r"\$[({](\w+)[)}]", r"${\1}", recipe).replace("$$", "$")
    return re.sub(r"\{\{\s*(\w+)\s*\}\}", r"${\1}", text)


def _of_targets(text: str, args: list[str], pattern: re.Pattern[str]) -> list[str]:
    """The lines of the targets that are asked for, and of what they need; of the first where none is named."""
    found, order, current = dict[str, tuple[list[str], list[str]]](), list[str](), list[str]()
    for line in text.split("\n"):
        header = pattern.match(line)
        if header:
            current = header[1].split()
            for name in current:
                needs, lines = found.setdefault(name, ([], []))
                needs.extend(header[2].split())
                if pattern is _TARGET and header[3]:
                    lines.append(header[3])
                if any(word.startswith("-") for word in header[2].split()):
                    lines.append(of_make(header[2]))  # no target has such a name; the author means a command
            order.extend(current)
        elif line[:1] in ("\t", " ") and line.strip():
            for name in current or [""]:
                found.setdefault(name, ([], []))[1].append(of_make(line.strip().lstrip("@-+")))
    asked = [arg for arg in args if arg in found] or [name for name in order if not name.startswith(".")][:1]
    return _gather(found, ["", *asked])


def _gather(found: dict[str, tuple[list[str], list[str]]], waiting: list[str]) -> list[str]:
    lines, seen = list[str](), set[str]()
    while waiting and len(seen) < _MOST_TARGETS:
        name = waiting.pop(0)
        if name in found and name not in seen:
            seen.add(name)
            needs, own = found[name]
            waiting.extend(needs)
            lines.extend(own)
    return lines


def _of_scripts(text: str, args: list[str]) -> list[str]:
    words = [arg for arg in args if not arg.startswith("-")]
    verb = words[0] if words else "install"
    if verb in ("run", "run-script") and len(words) > 1:
        asked: tuple[str, ...] = (words[1],)
    elif verb in ("install", "i", "ci", "add"):
        asked = _INSTALLING
    else:
        asked = (verb,)
    named = {f"{lead}{name}" for name in asked for lead in ("pre", "", "post")}
    return [_unescape(script) for name, script in _SCRIPT.findall(text) if name in named]


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t"}.get(found[1], found[1]), text)


def _of_tasks(text: str, args: list[str]) -> list[str]:
    asked = [arg for arg in args if not arg.startswith("-")] or ["default"]
    lines, inside = list[str](), False
    for line in text.split("\n"):
        header = re.match(r"^  ([\w:.-]+):\s*$", line)
        if header:
            inside = header[1] in asked
        command = _TASK_LINE.match(line) if inside else None
        if command:
            lines.append((command[1] or command[2]).strip().strip("'\""))
    return lines


def _is_hook(path: str, args: list[str]) -> bool:
    verb = next((arg for arg in args if arg in _GIT_HOOKS), "")
    folder, name = posixpath.split(path)
    return bool(verb) and name in _GIT_HOOKS[verb] and folder.endswith(("/.husky", "/.git/hooks", "/.githooks"))
