"""Show the hooks of a client's own files, what each becomes in Snell, and how to run them in every client."""

import argparse
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snell.cli.terminal import escape, plural, print_json
from snell.engine.explain import wrap
from snell.model.catalogue import did_you_mean
from snell.model.errors import ClientError
from snell.settings.client_hook_files import CLIENT_FORMATS, project_files, user_files
from snell.settings.load import imported_clients, load
from snell.settings.locate import SettingsFile, home_of
from snell.settings.parse import read_file
from snell.settings.parse_types import Parsed
from snell.system.paths import places

_RUNS = ("command", "url", "prompt", "tool")  # the field that says what a handler runs


def run(args: argparse.Namespace) -> int:
    name = _client_name(args.client)
    rows = [_row(file) for file in _files(name)]
    is_on = name in imported_clients(load(places(os.environ), Path.cwd(), os.environ).values)
    if args.json:
        data = {"client": name, "runs_everywhere": is_on, "files": [row for row in rows if row["exists"]]}
        print_json(data, indent=2)
        return 0
    for row in rows:
        _show(row)
    if CLIENT_FORMATS[name].remark:
        print(f"note: {CLIENT_FORMATS[name].remark}")
    if is_on:
        print(f"these hooks run in every other client; {name} runs them itself")
        print("a project's hooks run after you approve them with `snell trust`")
    elif any(row["hooks"] for row in rows):
        settings = places(os.environ).config / "snell.toml"
        print(f"to run them in every other client, write at the top of {settings}:")
        print(f'  import_hooks = ["{name}"]')
        print("a project's hooks also need a `.snell` folder in the project, and your approval with `snell trust`")
    return 0


def _client_name(given: str) -> str:
    name = given.strip().lower().replace("_", "-")
    name = {"claude": "claude-code", "claudecode": "claude-code"}.get(name, name)
    if name not in CLIENT_FORMATS:
        advice = did_you_mean(name, CLIENT_FORMATS, f"supported: {', '.join(CLIENT_FORMATS)}")
        raise ClientError(f"hooks of `{given}` cannot be imported", advice=advice)
    return name


def _files(name: str) -> list[SettingsFile]:
    root = next((each for each in (Path.cwd(), *Path.cwd().parents) if (each / ".git").exists()), Path.cwd())
    layers = {"user": user_files(name, home_of(os.environ), os.environ), "project": project_files(name, root)}
    found = {path: layer for layer, paths in layers.items() for path in paths}
    return [SettingsFile(path, f"{name}:{layer}", is_foreign=True) for path, layer in found.items()]


def _row(file: SettingsFile) -> dict[str, Any]:
    parsed: Parsed = read_file(file)
    hooks = [
        {
            "line": each.hook.source.line,
            "event": each.hook.event,
            "written_for": each.definition.get("written_for", ""),
            "matcher": each.hook.matcher or each.definition.get("their_matcher") or None,
            "kinds": list(each.hook.kinds),
            "handler": each.hook.handler.kind,
            "runs": _command(each.definition),
            "only_if": each.definition.get("if") or None,
            "timeout": each.hook.time_limit,
            "enabled": each.hook.enabled,
        }
        for each in parsed.declared
    ]
    problems = [str(each) for each in parsed.problems]
    start = {"file": str(file.path), "layer": file.layer, "exists": file.path.is_file()}
    return {**start, "hooks": hooks, "problems": problems}


def _command(definition: Mapping[str, Any]) -> str:
    """Return what a handler runs, with its arguments."""
    first = next((definition[key] for key in _RUNS if definition.get(key)), "")
    return " ".join([str(first), *definition.get("args", ())])


def _show(row: dict[str, Any]) -> None:
    if not row["exists"]:
        print(f"{row['file']}: not found")
        return
    print(f"{row['file']}: {plural(len(row['hooks']), 'hook')} besides Snell's own")
    for hook in row["hooks"]:
        matcher = f" on {escape(hook['matcher'])}" if hook["matcher"] else ""
        only = f", only if {escape(hook['only_if'])}" if hook["only_if"] else ""
        off = "" if hook["enabled"] else ", disabled in that file"
        limit = f"at most {hook['timeout']:g} s"
        native = hook["written_for"].partition(":")[2]
        calls = f" of {' and '.join(hook['kinds'])} calls" if hook["kinds"] else ""
        here = f"{hook['event']}{calls}"
        becomes = here if native in ("", hook["event"]) else f"{escape(native)} becomes {here}"
        print(f"  line {hook['line']}: {becomes}{matcher}, {hook['handler']}, {limit}{only}{off}")
        print(f"      {escape(hook['runs'])}")
    for problem in row["problems"]:
        print("\n".join(wrap(problem)))
