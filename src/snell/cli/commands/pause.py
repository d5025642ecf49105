"""Disable all hooks except policy hooks for some minutes, for a user whose hook is broken. Both ends are recorded."""

import argparse
import os
import sys
import time

from msgspec.structs import asdict

from snell.cli.confirmation import require_person
from snell.cli.terminal import print_json
from snell.model.errors import SnellError
from snell.runtime.app import record_admin_action
from snell.settings.pause import LONGEST_MINUTES, begin_pause, current_pause, end_pause
from snell.system.paths import Places, places


def run(args: argparse.Namespace) -> int:
    where = places(os.environ)
    if args.end:
        if not end_pause(where):
            print("hooks are not paused")
            return 0
        print("all hooks are enabled again")
        _record(where, "Resume", "all hooks are enabled again")
        return 0
    if args.minutes is None:
        active = current_pause(where)
        if args.json:
            print_json({"is_paused": active is not None, **(asdict(active) if active else {})})
        else:
            print(active or "hooks are not paused")
        return 0
    if not 0 < args.minutes <= LONGEST_MINUTES:
        raise SnellError(f"minutes must be between 1 and {LONGEST_MINUTES}", where=f"`{args.minutes:g}`")
    require_person(os.environ, "a pause", args.code)
    pause = begin_pause(where, args.minutes, args.why)
    until = time.strftime("%T", time.localtime(pause.ends))
    print(f"only policy hooks run until {until}; `snell pause --end` ends the pause earlier")
    text = f"only policy hooks run for {pause.minutes:g} minutes"
    _record(where, "Pause", f"{text}: {pause.why}" if pause.why else text)
    return 0


def _record(where: Places, action: str, text: str) -> None:
    if problem := record_admin_action(where, action, text):
        print(f"snell: this was not recorded in the journal: {problem}", file=sys.stderr)
