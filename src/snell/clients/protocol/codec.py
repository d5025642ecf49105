"""Make the functions of a client's module from its table."""

from collections.abc import Callable
from typing import NoReturn

from snell.clients.protocol.decode import decode_payload
from snell.clients.protocol.encode import encode_decision, encode_error
from snell.clients.protocol.table import ClientTable
from snell.model.decision import Decision
from snell.model.errors import PayloadError
from snell.model.events import Event
from snell.model.protocols import Reply

Decode = Callable[..., Event]
Encode = Callable[[Decision], Reply]
EncodeFailure = Callable[..., Reply]


def make_codec(table: ClientTable) -> tuple[Decode, Encode, EncodeFailure]:
    """Return `decode`, `encode` and `encode_failure` of a client that a table describes."""

    def decode(payload: bytes, event: str = "") -> Event:
        return decode_payload(table, payload, event)

    def encode(decision: Decision) -> Reply:
        return encode_decision(table, decision)

    def encode_failure(event: str, text: str, *, blocks: bool) -> Reply:
        return encode_error(table, event, text, blocks=blocks)

    return decode, encode, encode_failure


def without_hooks(title: str) -> tuple[Decode, Encode, EncodeFailure]:
    """Return the same functions for a client that has no hooks."""

    def decode(payload: bytes, event: str = "") -> NoReturn:
        raise PayloadError(f"{title} has no hooks, so this payload is not from it", advice="use `--client generic`")

    def encode(decision: Decision) -> Reply:
        return Reply()

    def encode_failure(event: str, text: str, *, blocks: bool) -> Reply:
        return Reply(stderr=text.encode("utf-8", "replace"), exit_code=2 if blocks else 0)

    return decode, encode, encode_failure
