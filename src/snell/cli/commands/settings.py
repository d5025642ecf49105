"""Show every setting and hook that counts here, where each came from, and which files were looked for."""

import argparse
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from snell.engine.explain import wrap
from snell.model.context import Context
from snell.model.events import Event
from snell.model.hooks import Hook
from snell.runtime.app import Runtime
from snell.settings.json_schema import json_schema
from snell.settings.load import Loaded, load
from snell.settings.locate import FOLDER, Located, locate
from snell.settings.parse_types import Value
from snell.settings.problems import Problem
from snell.store import display_address
from snell.system.paths import Places, places
from snell.system.run_program import adopt_orphans

EXAMPLE = "snell settings --effective"

File = tuple[str, Path]  # the layer that it is for, and the path


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--effective", action="store_true", help="what counts and where it came from (the default)")
    parser.add_argument("--cwd", default="", help="for this folder (default: here)")
    parser.add_argument("--schema", action="store_true", help="print the JSON Schema of a settings file")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(args: argparse.Namespace) -> int:
    if args.schema:
        print(msgspec.json.format(msgspec.json.encode(json_schema())).decode())
        return 0
    env = dict(os.environ)
    found = _look(places(env), Path(args.cwd or os.getcwd()).absolute(), env)
    if args.json:
        print(msgspec.json.encode(found.as_data()).decode())
    else:
        print("\n".join(found.lines()))
    return 1 if any(problem.severity == "error" for problem in found.problems) else 0


class _Found(msgspec.Struct, frozen=True):
    loaded: Loaded
    files: tuple[File, ...]
    hooks: tuple[Hook, ...]  # those of Python files and packs too
    problems: tuple[Problem, ...]

    def as_data(self) -> dict[str, Any]:
        return {
            "files": [{"layer": layer, "path": str(path), "found": _is_there(path)} for layer, path in self.files],
            "values": [
                {"name": each.name, "value": _open_value(each), "from": _origin(each)} for each in self.loaded.values
            ],
            "hooks": [_hook_data(hook) for hook in self.hooks],
            "python": [msgspec.structs.asdict(each) for each in self.loaded.python],
            "problems": [msgspec.structs.asdict(each) for each in self.problems],
        }

    def lines(self) -> Iterator[str]:
        yield "files that were looked for"
        for layer, path in self.files:
            yield f"  {layer:<8} {'found    ' if _is_there(path) else 'not found'}  {path}"
        if not self.loaded.project_root:
            yield f"  project  not found  a `{FOLDER}` folder here or above"
        yield "settings"
        for value in self.loaded.values:
            yield f"  {value.name:<26} {_shown(_open_value(value)):<8} {_origin(value)}"
        yield "hooks that count here, by event, in book order" if self.hooks else "no hooks count here"
        for hook in self.hooks:
            yield from _hook_lines(hook, self.loaded.switches.off(hook))
        if self.problems:
            yield "problems"
            yield from (f"  {_in_words(problem)}" for problem in self.problems)


def _look(where: Places, cwd: Path, env: Mapping[str, str]) -> _Found:
    loaded = load(where, cwd, env)
    adopt_orphans()
    with Runtime.for_user(env, where) as runtime:
        context = runtime.context_for(Event(name="SessionStart", payload={"cwd": str(cwd)}))
    files = tuple(_files(locate(where, cwd, env), loaded))
    return _Found(loaded, files, tuple(context.registry.hooks()), _problems(loaded, context))


def _problems(loaded: Loaded, context: Context) -> tuple[Problem, ...]:
    """What is wrong with the settings, then what showed itself when the hooks were loaded."""
    known = {str(each) for each in loaded.problems}
    later = (problem for problem in context.problems if problem not in known)
    return (*loaded.problems, *(Problem("", 0, problem) for problem in later))


def _files(located: Located, loaded: Loaded) -> Iterator[File]:
    project = located.project
    for file in (*located.policy, *located.user, *(project.settings if project else ())):
        yield file.layer, file.path
    if project:
        yield "project", project.root / FOLDER / "hooks"
    for pack in loaded.packs:
        yield "pack", Path(pack.folder)


def _is_there(path: Path) -> bool:
    return os.path.lexists(path)


def _hook_data(hook: Hook) -> dict[str, Any]:
    return {
        "id": hook.id,
        "event": hook.event,
        "scope": hook.scope.name.lower(),
        "layer": hook.source.layer,
        "handler": hook.handler.kind,
        "matcher": hook.matcher,
        "kinds": hook.kinds,
        "role": hook.role,
        "timeout": hook.time_limit,
        "on_failure": hook.failure_policy,
        "enabled": hook.enabled,
        "inert": hook.untrusted,
        "from": str(hook.source),
    }


def _hook_lines(hook: Hook, off: str) -> Iterator[str]:
    what = hook.matcher or ", ".join(hook.kinds)
    yield f"  {hook.id:<32} {hook.event:<18} {hook.role or 'undeclared':<10} {what}".rstrip()
    origin = str(hook.source)
    yield f"      {hook.source.layer}" + ("" if origin == hook.source.layer else f", {origin}")
    if why := off or hook.untrusted or ("" if hook.enabled else "it is not enabled"):
        yield from wrap(f"does not run: {why}", 6)


def _in_words(problem: Problem) -> str:
    return str(problem) if problem.file else problem.message


def _open_value(value: Value) -> Any:
    """The value without what is nobody's business."""
    return display_address(value.value) if value.name == "database" and value.value else value.value


def _shown(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _origin(value: Value) -> str:
    return f"{value.layer} ({value.file}:{value.line})" if value.file else "default"
