"""
Handle one event without the daemon: the payload comes on stdin, the reply goes to stdout.

Whatever goes wrong, the client gets a valid reply, and the user one line that says what happened. If a hook that
blocks on failure cannot run, the reply blocks too.
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
    parser.add_argument("name", nargs="?", default="", help="the calling client")
    parser.add_argument("--client", default="", help="the calling client, as an option (default: generic)")
    parser.add_argument("--event", default="", help="the event's name, for clients whose payloads do not contain it")
    parser.add_argument("--request-id", default="", help="a repeated id gets the earlier reply")
    parser.add_argument("--rewake", action="store_true", help="reply when background hooks may wake the agent")
    parser.add_argument("--end-silent-daemon", action="store_true", help="for `snell-hook`: kill a hung daemon first")
    parser.add_argument("--payload-bytes", type=int, default=0, help="for `snell-hook`: the size of a cut payload")
    parser.add_argument("--fail-closed", action="store_true", help="deny tool calls that Snell cannot check")


def run(args: argparse.Namespace) -> int:
    payload, args.payload_bytes = _read_stdin(args.payload_bytes)
    if args.rewake:
        return 0  # without the daemon nothing goes on in the background
    if args.end_silent_daemon:
        end_if_hung(places(os.environ).run)  # first, since it may hold a lock that this process needs
    adopt_orphans()
    try:
        runtime = Runtime.for_user()
    except SnellError as error:
        has_policy = POLICY_FILE.exists() or "SNELL_POLICY" in os.environ
        return _write(failure_reply(f"snell: {error}", payload, _hook_args(args), blocks=has_policy))
    with runtime:  # closing it waits for watchers, after the reply was written
        return _answer(runtime, args, payload)


def _read_stdin(length: int) -> tuple[bytes, int]:
    """Return the payload, cut at the limit, and its full size; the rest is read and dropped."""
    payload = sys.stdin.buffer.read(LARGEST + 1)
    found = len(payload)
    while part := sys.stdin.buffer.read(1 << 20):
        found += len(part)
    return payload, max(length, found)


def _answer(runtime: Runtime, args: argparse.Namespace, payload: bytes) -> int:
    words = _hook_args(args)
    try:
        if args.payload_bytes > LARGEST:
            raise too_many_bytes(args.payload_bytes)
        call = parse_hook_args(words, args.request_id)
        client, event = call.decode_payload(payload, _cwd(), os.environ)
        work = runtime.prepare(event, call.request_id)
        decision = work.earlier or runtime.commit(work, runtime.run_to_end(work))
        code = _write(reply_to(client, decision, os.getpid()))
    except SnellError as error:
        return _write(unreadable_payload_reply(error, payload, runtime, _cwd(), words, os.environ))
    except Exception as error:  # noqa: BLE001 - the client must get a reply
        return _write(internal_error_reply(error, payload, runtime, _cwd(), words, os.environ))
    runtime.after_reply(work, decision)
    return code


def _hook_args(args: argparse.Namespace) -> list[str]:
    fail_closed = ["--fail-closed"] if args.fail_closed else []
    client = args.client or args.name
    return [*(["--client", client] if client else ()), "--event", args.event, *fail_closed]


def _write(reply: Reply) -> int:
    sys.stdout.buffer.write(reply.stdout)
    sys.stdout.buffer.flush()
    sys.stderr.buffer.write(reply.stderr)
    sys.stderr.buffer.flush()
    return reply.exit_code


def _cwd() -> str:
    with suppress(OSError):
        return os.getcwd()
    return "/"  # the working directory was deleted
