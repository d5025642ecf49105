"""Show every setting and hook that counts here, and where each came from."""

import argparse
import os
from pathlib import Path
from typing import Any

import msgspec

from snell.machine.paths import places
from snell.model.hooks import Hook
from snell.settings.json_schema import json_schema
from snell.settings.load import Loaded, load
from snell.settings.reading import Value

EXAMPLE = "snell settings --effective"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--effective", action="store_true", help="each value and where it came from (the default)")
    parser.add_argument("--cwd", default="", help="for this folder (default: here)")
    parser.add_argument("--schema", action="store_true", help="print the JSON Schema of a settings file")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(args: argparse.Namespace) -> int:
    if args.schema:
        print(msgspec.json.format(msgspec.json.encode(json_schema())).decode())
        return 0
    env = dict(os.environ)
    loaded = load(places(env), Path(args.cwd or os.getcwd()).absolute(), env)
    if args.json:
        print(msgspec.json.encode(_as_data(loaded)).decode())
    else:
        _show(loaded)
    return 1 if any(problem.severity == "error" for problem in loaded.problems) else 0


def _as_data(loaded: Loaded) -> dict[str, Any]:
    return {
        "values": [{"name": each.name, "value": each.value, "from": _origin(each)} for each in loaded.values],
        "hooks": [_hook_data(hook) for hook in loaded.hooks],
        "python": [msgspec.structs.asdict(each) for each in loaded.python],
        "problems": [msgspec.structs.asdict(each) for each in loaded.problems],
    }


def _hook_data(hook: Hook) -> dict[str, Any]:
    return {
        "id": hook.id,
        "event": hook.event,
        "scope": hook.scope.name.lower(),
        "handler": hook.handler.kind,
        "matcher": hook.matcher,
        "role": hook.role,
        "timeout": hook.time_limit,
        "on_failure": hook.failure_policy,
        "enabled": hook.enabled,
        "inert": hook.untrusted,
        "from": str(hook.source),
    }


def _show(loaded: Loaded) -> None:
    for value in loaded.values:
        print(f"{value.name:<26} {_shown(value.value):<24} {_origin(value)}")
    for hook in loaded.hooks:
        state = hook.untrusted or ("" if hook.enabled else "not enabled")
        print(f"hook {hook.id:<28} {hook.event:<20} {hook.matcher or '*':<16} {hook.source}  {state}".rstrip())
    for source in loaded.python:
        print(f"file {source.path}  {source.untrusted}".rstrip())
    for problem in loaded.problems:
        print(problem)


def _shown(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _origin(value: Value) -> str:
    return f"{value.layer} ({value.file}:{value.line})" if value.file else "default"
