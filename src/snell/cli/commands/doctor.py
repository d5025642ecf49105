"""Check every part of this installation, and send events through it as a client would."""

import argparse
import os
import sys
from pathlib import Path

from snell.cli.terminal import Colours, fit, plural, print_json, visible

_NO_WINDOWS = "Snell needs the sockets and processes of Linux or macOS; use it inside WSL"


def run(args: argparse.Namespace) -> int:
    if not is_supported(sys.platform):
        print(f"fail  platform: Windows is not supported: {_NO_WINDOWS}")
        return 1
    from snell.cli.health import Check, Installation, examine  # cannot be imported on Windows
    from snell.system.paths import places

    env = dict(os.environ)
    installation = Installation(places(env), env, Path.cwd())
    paint = Colours.for_stdout()
    found: list[Check] = []
    for check in examine(installation):
        found.append(check)
        if not args.json and (args.all or check.status != "ok"):
            colour = {"ok": paint.green, "warn": paint.yellow, "fail": paint.red}[check.status]
            shown = fit(f"{check.status:<4}  {check.name}: {visible(check.detail)}", 6)
            print(shown.replace(check.status, colour(check.status), 1), flush=True)
            if check.advice and check.status != "ok":
                print(fit(f"      {visible(check.advice)}", 6))
    failed = any(check.status == "fail" for check in found)
    if args.json:
        print_json({"ok": not failed, "checks": found})
    elif not args.all:
        fine = sum(check.status == "ok" for check in found)
        print(f"{paint.green('ok')}    {plural(fine, 'check is', 'checks are')} fine; `--all` lists them")
    return 1 if failed else 0


def is_supported(platform: str) -> bool:
    return not platform.startswith(("win", "cygwin"))
