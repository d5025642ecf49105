"""Show all settings and active hooks, where each comes from, and which files were read."""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from snell.cli.active_hooks import as_row, folder_context, why_inactive
from snell.cli.terminal import print_json
from snell.engine.explain import wrap
from snell.model.context import Context
from snell.model.hooks import Hook
from snell.settings.json_schema import json_schema
from snell.settings.load import Loaded, load
from snell.settings.locate import FOLDER, Located, locate
from snell.settings.value_tree import Problem
from snell.system.paths import places

File = tuple[str, Path]  # the layer and the path


def run(args: argparse.Namespace) -> int:
    if args.schema:
        print(msgspec.json.format(msgspec.json.encode(json_schema())).decode())
        return 0
    env = dict(os.environ)
    where = places(env)
    cwd = Path(args.cwd or os.getcwd()).absolute()
    loaded = load(where, cwd, env)
    context = folder_context(where, cwd, env)
    files = tuple(_files(locate(where, cwd, env), loaded))
    found = _Found(loaded, files, tuple(context.registry.hooks()), _problems(loaded, context))
    if args.json:
        print_json(found.as_data())
    else:
        print("\n".join(found.lines()))
    return 1 if any(problem.severity == "error" for problem in found.problems) else 0


class _Found(msgspec.Struct, frozen=True):
    loaded: Loaded
    files: tuple[File, ...]
    hooks: tuple[Hook, ...]  # also those of Python files and packs
    problems: tuple[Problem, ...]

    def as_data(self) -> dict[str, Any]:
        return {
            "files": [
                {"layer": layer, "path": str(path), "found": os.path.lexists(path)} for layer, path in self.files
            ],
            "values": [as_row(each) for each in self.loaded.values],
            "hooks": [_hook_data(hook) for hook in self.hooks],
            "python": [msgspec.structs.asdict(each) for each in self.loaded.python],
            "problems": [msgspec.structs.asdict(each) for each in self.problems],
        }

    def lines(self) -> Iterator[str]:
        if self.problems:
            yield "problems"
            yield from (f"  {problem if problem.file else problem.message}" for problem in self.problems)
        yield "settings files"
        for layer, path in self.files:
            yield f"  {layer:<8} {'found    ' if os.path.lexists(path) else 'not found'}  {path}"
        if not self.loaded.project_root:
            yield f"  project  not found  no `{FOLDER}` folder in this folder or above it"
        yield "settings"
        for row in map(as_row, self.loaded.values):
            yield f"  {row['name']:<26} {msgspec.json.encode(row['value']).decode():<8} {row['from']}"
        yield "active hooks by event, in execution order" if self.hooks else "no active hooks"
        for hook in self.hooks:
            yield from _hook_lines(hook, why_inactive(hook, self.loaded))


def _problems(loaded: Loaded, context: Context) -> tuple[Problem, ...]:
    """Return the problems in the settings, then those found while loading the hooks."""
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


def _hook_lines(hook: Hook, why: str) -> Iterator[str]:
    what = hook.matcher or ", ".join(hook.kinds)
    yield f"  {hook.id:<32} {hook.event:<18} {hook.role or 'undeclared':<10} {what}".rstrip()
    origin = str(hook.source)
    yield f"      {hook.source.layer}" + ("" if origin == hook.source.layer else f", {origin}")
    if why:
        yield from wrap(f"does not run: {why}", 6)
