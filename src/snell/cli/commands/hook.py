"""
What clients run where there is no daemon: the payload comes on stdin, the reply goes to stdout.

Whatever goes wrong on the way, the client gets an answer it can live with, and the person gets a line that says what
happened. Where a guard blocks when it fails, so does everything here.
"""

import argparse
import os
import sys
from contextlib import suppress

from snell.daemon.hung_daemon import end_if_hung
from snell.model.errors import SnellError
from snell.model.protocols import Reply
from snell.runtime.app import Runtime
from snell.runtime.hook_request import (
    failure_reply,
    internal_error_reply,
    parse_hook_args,
    reply_to,
    unreadable_payload_reply,
)
from snell.system.json_input import LARGEST, too_many_bytes
from snell.system.paths import POLICY_FILE, places
from snell.system.run_program import adopt_orphans

ACCEPTS_MORE = True  # a newer `snell-hook` may pass options that this version does not know
EXAMPLE = "snell hook --client claude-code < payload.json"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", default="", help="which client is calling")
    parser.add_argument("--client", default="", help="the same as an option, as set-up writes it (default: generic)")
    parser.add_argument("--event", default="", help="the event's name, for clients whose payloads do not say it")
    parser.add_argument("--request-id", default="", help="the same id again gets the same answer")
    parser.add_argument("--rewake", action="store_true", help="answer when background hooks may wake the agent")
    parser.add_argument("--end-silent-daemon", action="store_true", help="for `snell-hook`: it hangs, and has to go")
    parser.add_argument("--payload-bytes", type=int, default=0, help="for `snell-hook`: how large it was, if cut")
    parser.add_argument("--fail-closed", action="store_true", help="refuse what Snell cannot check")


def run(args: argparse.Namespace) -> int:
    payload, args.payload_bytes = _read_stdin(args.payload_bytes)
    if args.rewake:
        return 0  # without the daemon nothing goes on in the background
    if args.end_silent_daemon:
        end_if_hung(places(os.environ).run)  # first: what it holds, we may have to wait for
    adopt_orphans()
    try:
        runtime = Runtime.for_user()
    except SnellError as error:
        has_policy = POLICY_FILE.exists() or "SNELL_POLICY" in os.environ
        return _write(failure_reply(f"snell: {error}", payload, _words(args), blocks=has_policy))
    with runtime:  # leaving it waits for watchers; the reply is out by then
        return _answer(runtime, args, payload)


def _read_stdin(length: int) -> tuple[bytes, int]:
    """Return the payload and how many bytes it has; what is beyond the limit is taken from the client, and not kept."""
    payload = sys.stdin.buffer.read(LARGEST + 1)
    found = len(payload)
    while part := sys.stdin.buffer.read(1 << 20):
        found += len(part)
    return payload, max(length, found)


def _answer(runtime: Runtime, args: argparse.Namespace, payload: bytes) -> int:
    words = _words(args)
    try:
        if args.payload_bytes > LARGEST:
            raise too_many_bytes(args.payload_bytes)
        call = parse_hook_args(words, args.request_id)
        client, event = call.decode_payload(payload, _here(), os.environ)
        work = runtime.prepare(event, call.request_id)
        decision = work.earlier or runtime.commit(work, runtime.run_to_end(work))
        code = _write(reply_to(client, decision, os.getpid()))
    except SnellError as error:
        return _write(unreadable_payload_reply(error, payload, runtime, _here(), words, os.environ))
    except Exception as error:  # noqa: BLE001 - the other net: somebody is waiting for an answer
        return _write(internal_error_reply(error, payload, runtime, _here(), words, os.environ))
    runtime.after_reply(work, decision)
    return code


def _words(args: argparse.Namespace) -> list[str]:
    closed = ["--fail-closed"] if args.fail_closed else []
    client = args.client or args.name
    return [*(["--client", client] if client else ()), "--event", args.event, *closed]


def _write(reply: Reply) -> int:
    sys.stdout.buffer.write(reply.stdout)
    sys.stdout.buffer.flush()
    sys.stderr.buffer.write(reply.stderr)
    sys.stderr.buffer.flush()
    return reply.exit_code


def _here() -> str:
    with suppress(OSError):
        return os.getcwd()
    return "/"  # the directory was deleted under us
