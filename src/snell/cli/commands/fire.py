"""Send one event to the hooks and show the decision."""

import argparse
import os
import sys
from contextlib import closing
from typing import Any

import msgspec

from snell.cli.call_summary import decode_stored
from snell.cli.terminal import Colours, fit, visible
from snell.clients import client_named
from snell.engine.explain import explain, headline
from snell.model.catalogue import CATALOGUE, COMMON_EVENTS, canonical, did_you_mean
from snell.model.decision import OBSERVED, PRINTED, Decision
from snell.model.errors import PayloadError, SnellError
from snell.model.events import Event
from snell.model.protocols import Transaction
from snell.records import ledger
from snell.records.resume import give_up
from snell.runtime.app import Runtime, database_of
from snell.system.json_input import read_object
from snell.system.json_output import json_bytes
from snell.system.paths import places
from snell.system.run_program import adopt_orphans
from snell.system.wall_clock import now_ms


def run(args: argparse.Namespace) -> int:
    client = client_named(args.client)
    event = _event(args, client)
    adopt_orphans()
    with Runtime.for_user() as runtime:
        decision = runtime.decide(event)
        record = runtime.record_of(decision)
    if decision.in_ledger and record["verdict"] != "deny":
        _close_call(decision)
    for problem in record.get("problems", ()):
        print(f"snell: {problem}", file=sys.stderr)
    if args.json:
        print(json_bytes(record).decode())
    elif args.reply:
        reply = client.encode(decision)
        sys.stdout.buffer.write(reply.stdout)
        sys.stderr.buffer.write(reply.stderr)
    elif args.why:
        print(explain(record, Colours.for_stdout().of(record)))
    else:
        _short(record)
    return 1 if args.exit_code and record["verdict"] == "deny" else 0


def _close_call(decision: Decision) -> None:
    """End the call in the ledger, since nothing runs; only one that this event has begun."""
    event = decision.event
    number = f"{ledger.safe_id(event.session_id)}/{ledger.safe_id(event.tool_use_id) or decision.id}"

    def end(tx: Transaction) -> None:
        call = ledger.find(tx, number)
        if call and call.decision_id == decision.id:
            give_up(tx, call, now_ms(), "fired")

    with closing(database_of(places(os.environ))) as database:
        database.run(end)


def _event(args: argparse.Namespace, client: Any) -> Event:
    about_tool = args.command or args.tool or args.input
    name = args.event or ("PreToolUse" if about_tool else "UserPromptSubmit" if args.prompt is not None else "")
    if not name:
        raw = b"" if sys.stdin.isatty() else sys.stdin.buffer.read()
        if not raw:
            advice = "try `snell fire --command 'git push --force'`, or pipe in a payload"
            raise SnellError("no event was given", advice=advice)
        return client.decode(raw)  # type: ignore[no-any-return] # clients are modules
    if canonical(name) not in CATALOGUE:
        raise SnellError(f"unknown event `{name}`", advice=did_you_mean(name, otherwise=COMMON_EVENTS))
    if args.cwd and not os.path.isdir(args.cwd):
        print(f"snell: --cwd: `{args.cwd}` is not a folder; the event is sent anyway", file=sys.stderr)
    payload = _payload(args, canonical(name))
    return client.decode(json_bytes(payload))  # type: ignore[no-any-return] # clients are modules


def _payload(args: argparse.Namespace, name: str) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "hook_event_name": name,
        "session_id": args.session or f"fire-{os.urandom(4).hex()}",
        "cwd": os.path.abspath(args.cwd or os.getcwd()),
    }
    if args.tool or args.command or args.input:
        payload["tool_name"] = args.tool or "Bash"
    if args.command:
        payload["tool_input"] = {"command": args.command}
    if args.input:
        payload["tool_input"] = _tool_input(args.input)
    if args.prompt is not None:
        payload["prompt"] = args.prompt
    for each in args.set:
        field, equals, value = each.partition("=")
        if not equals:
            raise SnellError(f"`--set {each}` has no value", advice="write --set FIELD=VALUE")
        payload[field] = decode_stored(value)
    return payload


def _tool_input(text: str) -> dict[str, Any]:
    raw = sys.stdin.buffer.read() if text == "-" else text.encode("utf-8", "surrogateescape")
    try:
        return read_object(raw)
    except PayloadError as error:
        advice = """write it like --input '{"command": "ls"}'"""
        raise SnellError(f"--input: {error.message.replace('payload', 'input')}", advice=advice) from None


def _short(record: dict[str, Any]) -> None:
    verdict, colon, reason = fit(headline(record)).partition(":")
    print(f"{Colours.for_stdout().of(record)(verdict)}{colon}{reason}")
    for change in record.get("changes", ()):
        print(f"  rewritten by {change['hook']}: {msgspec.json.encode(change['after']).decode()}")
    for note in record.get("notes", ()):
        print(f"  note for the model: {note['text']}")
    for tell in record.get("tells", ()):
        print(f"  shown to you: {tell['text']}")
    for name, value in record.get("env", {}).items():
        print(f"  sets {name}={value}")
    if stop := record.get("stop"):
        print(f"  {stop['hook']} stops the agent: {stop.get('text', '')}")
    for failure in record.get("failures", ()):
        print(f"  {failure['hook']} failed: {failure['text']}")
    print("\n".join([*_print_lines(record), "  (`snell why` explains it)"]))


def _print_lines(record: dict[str, Any]) -> list[str]:
    runs = (run for each in record.get("rounds", ()) for run in each["runs"])
    remarks = ((run["hook"], each) for run in runs for each in run.get("remarks", ()))
    return [f"  {hook} {visible(each)}" for hook, each in remarks if each.startswith((PRINTED, OBSERVED))]
