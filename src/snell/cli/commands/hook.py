"""
Handle one event without the daemon: the payload comes on stdin, the reply goes to stdout.

Whatever goes wrong, the client gets a valid reply, and the user one line that says what happened. If a hook that
blocks on failure cannot run, the reply blocks too.
"""

import argparse
import os
import sys

from snell.model.errors import SnellError
from snell.model.protocols import Reply
from snell.runtime.app import Runtime
from snell.runtime.hook_request import failure_reply, parse_hook_args, reply_to, undecided_reply
from snell.system.json_input import LARGEST, too_many_bytes
from snell.system.paths import POLICY_FILE, drop_unusable_homes, places, working_folder
from snell.system.recorded_runs import RUNS
from snell.system.run_program import adopt_orphans

ACCEPTS_MORE = True  # a newer `snell-hook` may pass options that this version does not know


def run(args: argparse.Namespace) -> int:
    payload = sys.stdin.buffer.read(LARGEST + 1)
    length = len(payload)
    while part := sys.stdin.buffer.read(1 << 20):  # the rest is only counted
        length += len(part)
    args.payload_bytes = max(args.payload_bytes, length)
    if args.rewake:
        return 0  # without the daemon nothing goes on in the background
    if why := drop_unusable_homes(os.environ):
        sys.stderr.write(f"snell: {why}\n")
    adopt_orphans()
    try:
        RUNS.record_in(places(os.environ).run)
        runtime = Runtime.for_user(keep_open=True)  # a daemon that hangs may hold the database: then rows go to a file
    except SnellError as error:
        has_policy = POLICY_FILE.exists() or "SNELL_POLICY" in os.environ
        return _write(failure_reply(f"snell: {error}", payload, _hook_args(args), blocks=has_policy))
    with runtime:  # closing it waits for watchers, after the reply was written
        return _answer(runtime, args, payload)


def _answer(runtime: Runtime, args: argparse.Namespace, payload: bytes) -> int:
    words, cwd = _hook_args(args), working_folder() or "/"
    try:
        if args.payload_bytes > LARGEST:
            raise too_many_bytes(args.payload_bytes)
        call = parse_hook_args(words, args.request_id)
        client, event = call.decode_payload(payload, cwd, os.environ)
        earlier = runtime.earlier_decision(event, call.request_id)
        work = runtime.prepare(event, call.request_id, decision_id=earlier)
        decision = work.earlier or runtime.commit(work, runtime.run_to_end(work))
        code = _write(reply_to(client, decision, os.getpid()))
    except Exception as error:  # noqa: BLE001 - the client must get a reply
        return _write(undecided_reply(error, payload, runtime, cwd, words, os.environ))
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
