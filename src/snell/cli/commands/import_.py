"""Show the hooks of a client's own files, what each becomes in Snell, and how to run them in every client."""

import argparse
import os
from pathlib import Path
from typing import Any

import msgspec

from snell.cli.python_source import visible
from snell.cli.table import plural
from snell.engine.explain import wrap
from snell.model.catalogue import nearest
from snell.model.errors import ClientError
from snell.settings.client_hook_files import CLIENT_FORMATS, project_files, user_files
from snell.settings.load import imported_clients, load
from snell.settings.locate import SettingsFile, home_of
from snell.settings.parse_types import Parsed
from snell.settings.read_file import read_file
from snell.system.paths import places

EXAMPLE = "snell import claude-code"
_RUNS = ("command", "url", "prompt", "tool")  # the field that says what a handler runs


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("client", help=f"the client: {', '.join(CLIENT_FORMATS)}")
    parser.add_argument("--json", action="store_true", help="print the hooks as JSON")


def run(args: argparse.Namespace) -> int:
    name = _client_name(args.client)
    rows = [_row(file) for file in _files(name)]
    is_on = name in imported_clients(load(places(os.environ), Path.cwd(), os.environ).values)
    if args.json:
        data = {"client": name, "runs_everywhere": is_on, "files": [row for row in rows if row["exists"]]}
        print(msgspec.json.format(msgspec.json.encode(data), indent=2).decode())
        return 0
    for row in rows:
        _show(row)
    if CLIENT_FORMATS[name].remark:
        print(f"note: {CLIENT_FORMATS[name].remark}")
    _print_advice(name, is_on, any(row["hooks"] for row in rows))
    return 0


def _client_name(given: str) -> str:
    name = given.strip().lower().replace("_", "-")
    name = {"claude": "claude-code", "claudecode": "claude-code"}.get(name, name)
    if name not in CLIENT_FORMATS:
        near = nearest(name, CLIENT_FORMATS)
        advice = f"did you mean `{near}`?" if near else f"supported: {', '.join(CLIENT_FORMATS)}"
        raise ClientError(f"hooks of `{given}` cannot be imported", advice=advice)
    return name


def _files(name: str) -> list[SettingsFile]:
    user = [
        SettingsFile(path, f"{name}:user", is_foreign=True)
        for path in user_files(name, home_of(os.environ), os.environ)
    ]
    root = next((each for each in (Path.cwd(), *Path.cwd().parents) if (each / ".git").exists()), Path.cwd())
    project = [SettingsFile(path, f"{name}:project", is_foreign=True) for path in project_files(name, root)]
    return list({file.path: file for file in (*user, *project)}.values())


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
            "runs": " ".join(
                [
                    str(next((each.definition[key] for key in _RUNS if each.definition.get(key)), "")),
                    *each.definition.get("args", ()),
                ]
            ),
            "only_if": each.definition.get("if") or None,
            "timeout": each.hook.time_limit,
            "enabled": each.hook.enabled,
        }
        for each in parsed.declared
    ]
    problems = [str(each) for each in parsed.problems]
    return {
        "file": str(file.path),
        "layer": file.layer,
        "exists": file.path.is_file(),
        "hooks": hooks,
        "problems": problems,
    }


def _show(row: dict[str, Any]) -> None:
    if not row["exists"]:
        print(f"{row['file']}: not found")
        return
    print(f"{row['file']}: {plural(len(row['hooks']), 'hook')} besides Snell's own")
    for hook in row["hooks"]:
        matcher = f" on {visible(hook['matcher'])}" if hook["matcher"] else ""
        only = f", only if {visible(hook['only_if'])}" if hook["only_if"] else ""
        off = "" if hook["enabled"] else ", disabled in that file"
        limit = f"at most {hook['timeout']:g} s"
        print(f"  line {hook['line']}: {_becomes(hook)}{matcher}, {hook['handler']}, {limit}{only}{off}")
        print(f"      {visible(hook['runs'])}")
    for problem in row["problems"]:
        print("\n".join(wrap(problem)))


def _becomes(hook: dict[str, Any]) -> str:
    """Return the event, and the client's own name for it if that is different."""
    native = hook["written_for"].partition(":")[2]
    calls = f" of {' and '.join(hook['kinds'])} calls" if hook["kinds"] else ""
    here = f"{hook['event']}{calls}"
    return here if native in ("", hook["event"]) else f"{visible(native)} becomes {here}"


def _print_advice(name: str, is_on: bool, has_hooks: bool) -> None:
    if is_on:
        print(f"these hooks run in every other client; {name} runs them itself")
        print("a project's hooks run after you approve them with `snell trust`")
    elif has_hooks:
        settings = places(os.environ).config / "snell.toml"
        print(f"to run them in every other client, write at the top of {settings}:")
        print(f'  import_hooks = ["{name}"]')
        print("a project's hooks also need a `.snell` folder in the project, and your approval with `snell trust`")
