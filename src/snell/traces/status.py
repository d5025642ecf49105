"""`snell traces`: what was sent, what waits and what was lost; and the part of `snell doctor` about it."""

import argparse
import os
import time
from collections.abc import Iterator
from typing import Any

import msgspec

from snell.cli.health import Check, Installation
from snell.cli.terminal import fit, print_json, time_ago, visible
from snell.model.errors import SnellError
from snell.packs.traces.options import read_options
from snell.packs.traces.service import can_export
from snell.system.deadline import Deadline
from snell.system.optional_packages import install_advice, missing_message
from snell.system.paths import Places, places
from snell.traces.exporter import read_progress
from snell.traces.otlp import NotSentError, make_span, send

_ADVICE = "check that the receiver runs and `endpoint` in `[pack.traces]` is right; `snell traces test` sends one span"


def run(args: argparse.Namespace) -> int:
    where = places(os.environ)
    if args.what == "test":
        print(f"one span sent to {visible(send_test(where))}")
    elif args.json:
        print_json(read_status(where))
    else:
        shown = read_status(where)
        last = f"; last round {time_ago(shown['at'])}" if shown["at"] else ""
        print(f"traces    {'on' if shown['enabled'] else 'off; your settings have no `enabled` under `[pack.traces]`'}")
        print(f"exporter  {'running' if shown['pid'] else 'not running'}{last}")
        print(fit(f"spans     {visible(_details(shown))}", 10))
    return 0


def traces_checks(installation: Installation) -> Iterator[Check]:
    """Yield one line if traces are enabled."""
    shown = read_status(installation.where)
    if shown["enabled"]:
        yield Check("traces", "warn" if shown["error"] or shown["lost"] else "ok", _details(shown), _ADVICE)


def read_status(where: Places) -> dict[str, Any]:
    """Return what the exporter last wrote down, and whether and where it sends."""
    is_on, options = read_options(where)
    shown = msgspec.to_builtins(read_progress(where.state))
    del shown["sessions"], shown["traces"], shown["calls"]
    if not can_export():
        shown["error"] = f"{missing_message('otel')}; {install_advice('otel')}"
    return {"enabled": is_on, "endpoint": options.endpoint, **shown}


def send_test(where: Places) -> str:
    """Send one span and return the address that accepted it."""
    options, now = read_options(where)[1], time.time() * 1000
    span = make_span((os.urandom(16), os.urandom(8), b""), "snell traces test", (now, now), {"snell.event": "test"})
    try:
        send("spans", [span], options, Deadline(options.timeout))
    except ImportError:
        raise SnellError(missing_message("otel"), advice=install_advice("otel")) from None
    except NotSentError as error:
        raise SnellError(str(error), where=f"`{options.endpoint}`", advice=_ADVICE) from None
    return options.endpoint


def _details(shown: dict[str, Any]) -> str:
    counts = f"{shown['sent']:,} sent, {shown['lost']:,} lost; {shown['waiting']:,} decisions and calls waiting"
    return "; ".join(filter(None, (f"{shown['endpoint']}: {counts}", shown["error"], shown["remark"])))
