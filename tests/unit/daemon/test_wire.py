"""The frames between `snell-hook` and the daemon, and what is refused."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snell.daemon.shim_connection import (
    LARGEST_ARGUMENTS,
    LARGEST_ENVIRONMENT,
    LARGEST_REPLY,
    LARGEST_STDIN,
    join_environment,
)
from snell.daemon.wire import LARGEST_REQUEST, Request, WireError
from tests.wire_client import Reply, encode

ID = "0123456789abcdef" * 2
REQUEST = Request("1 0.1.0", ID, "/home/me", ("--client", "cursor"), b"A=1\0B=2", b"{}")
FRAME = (
    b"SNL1"
    + struct.pack("<I", 95)
    + b"".join(
        struct.pack("<I", len(field)) + field
        for field in (b"1 0.1.0", ID.encode(), b"/home/me", b"--client\0cursor", b"A=1\0B=2", b"{}")
    )
)

words = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)
requests = st.builds(
    Request,
    version=st.just("1 0.1.0+local"),
    request_id=st.just(ID),
    cwd=words.map(lambda word: f"/{word}"),
    argv=st.lists(words, max_size=4).filter(lambda found: found != [""]).map(tuple),
    environment=st.binary(max_size=60),
    stdin=st.binary(max_size=60),
)


def test_a_request_is_these_bytes() -> None:
    assert encode(REQUEST) == FRAME


@given(requests, st.sampled_from([bytes, bytearray, memoryview]))
def test_a_request_comes_back_as_it_was(request: Request, kind: type) -> None:
    assert Request.decode(kind(encode(request))) == request


@given(st.integers(0, 255), st.binary(max_size=60), st.binary(max_size=60))
def test_a_reply_comes_back_as_it_was(code: int, out: bytes, err: bytes) -> None:
    assert Reply.decode(Reply(code, out, err).encode()) == Reply(code, out, err)


def test_a_reply_is_these_bytes() -> None:
    assert Reply(2, b"out", b"why").encode() == b"SNR1" + struct.pack("<III", 2, 3, 3) + b"outwhy"


def test_the_length_is_known_from_the_first_bytes_on() -> None:
    known = [Request.frame_length(FRAME[:end]) for end in range(len(FRAME) + 1)]
    assert known == [None] * 8 + [len(FRAME)] * (len(FRAME) + 1 - 8)


@given(st.binary(max_size=200))
def test_whatever_comes_is_a_request_or_a_wire_error(data: bytes) -> None:
    for frame in (data, b"SNL1" + struct.pack("<I", len(data)) + data):
        try:
            Request.decode(frame)
        except WireError:
            continue


def test_bytes_that_are_no_text_survive() -> None:
    request = Request("1 0", ID, "/caf\udce9", ("\udcff",), b"", b"")
    assert Request.decode(encode(request)) == request
    assert b"/caf\xe9" in encode(request)


def test_a_version_names_the_build() -> None:
    assert REQUEST.build == "0.1.0"


def test_of_a_variable_given_twice_the_first_counts() -> None:
    request = Request("1 0", ID, "", (), b"A=1\0B=x=y\0A=2\0nothing\0=C:\xe9", b"")
    assert request.variables() == {"A": "1", "B": "x=y", "": "C:\udce9"}
    assert Request("1 0", ID, "", (), b"", b"").variables() == {}


def test_an_environment_keeps_what_fits() -> None:
    assert join_environment([b"A=1", b"B=" + b"x" * LARGEST_ENVIRONMENT, b"C=3"]) == b"A=1\0C=3"
    exactly = b"A=" + b"x" * (LARGEST_ENVIRONMENT - 2)
    assert join_environment([exactly, b"B=2"]) == exactly


def with_field(number: int, data: bytes) -> bytes:
    fields = [b"1 0.1.0", ID.encode(), b"/", b"", b"", b"{}"]
    fields[number] = data
    rest = b"".join(struct.pack("<I", len(field)) + field for field in fields)
    return b"SNL1" + struct.pack("<I", len(rest)) + rest


def cut(length: int) -> bytes:
    """A frame whose announced length agrees with it, but ends early."""
    rest = FRAME[8 : 8 + length]
    return b"SNL1" + struct.pack("<I", len(rest)) + rest


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (b"GET ", "the frame begins with `GET `; begin it with `SNL1`"),
        (b"SNR1" + bytes(12), "the frame begins with `SNR1`; begin it with `SNL1`"),
        (b"\xff", "the frame begins with `\\xff`; begin it with `SNL1`"),
        (b"SNL1", "the frame has 4 bytes instead of at least its header"),
        (FRAME[:-1], "the frame has 102 bytes instead of 103"),
        (FRAME + b"x", "the frame has 104 bytes instead of 103"),
        (
            b"SNL1" + struct.pack("<I", LARGEST_REQUEST + 1),
            f"the request has {LARGEST_REQUEST + 1} bytes; send at most {LARGEST_REQUEST}",
        ),
        (cut(0), "the request ends before its version"),
        (cut(6), "the request ends inside its version"),
        (cut(11 + 20), "the request ends inside its request id"),
        (cut(94), "the request ends inside its standard input"),
        (b"SNL1" + struct.pack("<I", 96) + FRAME[8:] + b"x", "the request has 1 bytes after its last field"),
        (with_field(0, b"1"), "the version is `1`; send `PROTOCOL BUILD`, such as `1 0.1.0`"),
        (with_field(0, b"0 1"), "the version is `0 1`; send `PROTOCOL BUILD`, such as `1 0.1.0`"),
        (with_field(0, b"1 " + b"x" * 63), "the version has 65 bytes; send at most 64"),
        (with_field(1, b"x" * 32), f"the request id is `{'x' * 32}`; send 32 lower-case hex digits"),
        (with_field(1, b""), "the request id is ``; send 32 lower-case hex digits"),
        (with_field(2, b"here"), "the working directory is `here`; send an absolute path, or nothing"),
        (with_field(2, b"/a\0b"), "the working directory is `/a\\x00b`; send an absolute path, or nothing"),
        (with_field(2, b"/" * 4097), "the working directory has 4097 bytes; send at most 4096"),
        (
            with_field(3, b"x" * (LARGEST_ARGUMENTS + 1)),
            f"the list of arguments has {LARGEST_ARGUMENTS + 1} bytes; send at most {LARGEST_ARGUMENTS}",
        ),
        (
            with_field(4, b"x" * (LARGEST_ENVIRONMENT + 1)),
            f"the environment has {LARGEST_ENVIRONMENT + 1} bytes; send at most {LARGEST_ENVIRONMENT}",
        ),
        (
            with_field(5, b"x" * (LARGEST_STDIN + 1)),
            f"the standard input has {LARGEST_STDIN + 1} bytes; send at most {LARGEST_STDIN}",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_request_is_refused_in_words(frame: bytes, message: str) -> None:
    with pytest.raises(WireError) as refused:
        Request.decode(frame)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    "reply", [Reply(256), Reply(-1), Reply(0, bytes(LARGEST_REPLY), b"x")], ids=["code", "negative", "size"]
)
def test_a_reply_that_no_client_would_accept_is_not_encoded(reply: Reply) -> None:
    with pytest.raises(WireError):
        reply.encode()
