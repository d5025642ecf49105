"""
What clients run: the payload comes on stdin, the reply goes to stdout.

Whatever goes wrong on the way, the client gets an answer it can live with, and the person gets a line that says what
happened. A payload that is not an event changes nothing in the client.
"""

import argparse
import os
import sys

from snell.clients import client_named
from snell.machine.processes import adopt_orphans
from snell.model.catalogue import NEVER_BLOCKED_BY_FAILURE
from snell.model.errors import PayloadError
from snell.model.ports import Reply
from snell.runtime.house import House

EXAMPLE = "snell hook --client claude-code < payload.json"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--client", default="generic", help="which client is calling (default: generic)")
    parser.add_argument("--request-id", default="", help="the same id again gets the same answer")


def run(args: argparse.Namespace) -> int:
    client = client_named(args.client)
    payload = sys.stdin.buffer.read()
    adopt_orphans()
    house = House.for_user()
    try:
        reply = house.handle(client, payload, args.request_id)
    except PayloadError as error:
        reply = _unreadable(error, payload, house)
    finally:
        house.close()
    sys.stdout.buffer.write(reply.stdout)
    sys.stdout.buffer.flush()
    sys.stderr.buffer.write(reply.stderr)
    return reply.exit_code


def _unreadable(error: PayloadError, payload: bytes, house: House) -> Reply:
    """
    A payload that is not an event changes nothing, except where a policy stands guard: there somebody could hide a
    call from it by sending what we cannot read. A stop is never refused for that.
    """
    ends_turn = any(f'"{name}"'.encode() in payload for name in NEVER_BLOCKED_BY_FAILURE)
    code = 2 if house.fails_closed(os.getcwd()) and not ends_turn else 1
    return Reply(stderr=f"snell: {error}\n".encode("utf-8", "replace"), exit_code=code)
