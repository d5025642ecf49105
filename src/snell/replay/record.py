"""`snell record`: switch on and off that whole events are kept for a replay, and say how many are kept."""

import argparse
import os
import sys

from snell.cli.confirmation import require_person
from snell.cli.terminal import plural, print_json
from snell.cli.write_settings import write_settings
from snell.model.errors import SnellError
from snell.packs.recording.files import FOLDER, delete_oldest, kept_events, recorded_files
from snell.settings.load import load
from snell.settings.packs import options_in
from snell.system.paths import Places, places

TABLE = ("pack", "recording")
MEGABYTE = 1_048_576


def run(args: argparse.Namespace) -> int:
    where = places(os.environ)
    file = where.config / "snell.toml"
    if args.what == "on":
        require_person(os.environ, "keeping whole events", args.code)
        limit = {} if args.max_megabytes is None else {"max_megabytes": _checked_limit(args.max_megabytes)}
        write_settings(file, TABLE, {"enabled": True, **limit})
    elif args.what == "off":
        require_person(os.environ, "changing what is kept", args.code)
        write_settings(file, TABLE, {"enabled": False})
        if args.delete:
            delete_oldest(where.state, 0)
    _show(where, as_json=args.what == "status" and args.json)
    return 0


def _checked_limit(megabytes: int) -> int:
    if not 1 <= megabytes <= 100_000:
        raise SnellError(f"`--max-megabytes {megabytes}` is out of range", advice="use a number from 1 to 100000")
    return megabytes


def _show(where: Places, *, as_json: bool) -> None:
    settings = load(where, where.config, os.environ).value("pack") or {}
    is_on = settings.get(TABLE[1], {}).get("enabled") is True
    limit = options_in(TABLE[1], settings, [])["max_megabytes"]
    size, events = sum(size for _, size in recorded_files(where.state)), sum(1 for _ in kept_events(where.state))
    folder = where.state / FOLDER
    if as_json:
        kept = {"folder": str(folder), "bytes": size, "events": events, "max_megabytes": limit}
        print_json({"on": is_on, **kept})
        return
    used = f"{plural(events, 'event')}, {size / MEGABYTE:.1f} of {limit} MB, in `{folder}`"
    sys.stdout.write(f"recording is {'on' if is_on else 'off'}: {used}\n")
