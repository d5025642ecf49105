"""Connections: the first address that takes one, and no step that outlasts the deadline."""

import socket
import ssl
import subprocess
import threading
from contextlib import contextmanager, suppress

import pytest

from snell.system.deadline import CancelledError, Deadline, DeadlineExceededError
from snell.system.http_client import connect
from tests.stalling import HANG_SECONDS, black_hole, stalling

LONG = b"x" * 30_000_000


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    names = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    made = [
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
    ]
    more = ["-addext", "subjectAltName=DNS:localhost"]
    subprocess.run(["openssl", "req", "-x509", *made, *more, *names], check=True, capture_output=True)
    return folder


@contextmanager
def tls_server(folder, job):
    """A server that does one job with one encrypted connection."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            taken, _ = listener.accept()
            taken.settimeout(HANG_SECONDS)
            with taken, suppress(OSError), context.wrap_socket(taken, server_side=True) as secure:
                job(secure)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        thread.join(HANG_SECONDS)


def secured(port, folder, deadline):
    context = ssl.create_default_context(cafile=str(folder / "cert.pem"))
    return connect(["127.0.0.1"], port, deadline).start_tls(context, "localhost")


def test_the_next_address_is_tried_when_the_first_does_not_connect():
    with black_hole() as port, socket.create_server(("127.0.0.2", port)) as other:
        other.settimeout(HANG_SECONDS)
        mine = connect(["127.0.0.1", "127.0.0.2"], port, Deadline(HANG_SECONDS))
        theirs, _ = other.accept()
        with theirs:
            mine.write(b"hello")
            assert theirs.recv(5) == b"hello"
        mine.close()


def test_the_next_address_is_tried_when_the_first_refuses_or_cannot_be_reached():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        connect(["127.0.0.2", "255.255.255.255", "127.0.0.1"], port, Deadline(HANG_SECONDS)).close()


def test_when_every_address_fails_the_last_trouble_is_told():
    with pytest.raises(ConnectionRefusedError, match="connection refused"):
        connect(["127.0.0.1", "127.0.0.2"], 1, Deadline(HANG_SECONDS))
    with pytest.raises(OSError, match="it has no address"):
        connect([], 1, Deadline(HANG_SECONDS))


def test_addresses_that_never_answer_do_not_outlast_the_limit():
    with black_hole() as port, pytest.raises(DeadlineExceededError):
        connect(["127.0.0.1"] * 3, port, Deadline(0.6))


def test_connecting_can_be_cancelled():
    cancel = threading.Event()
    threading.Timer(0.1, cancel.set).start()
    with black_hole() as port, pytest.raises(CancelledError):
        connect(["127.0.0.1"], port, Deadline(HANG_SECONDS, cancel))


def test_a_handshake_that_stalls_can_be_cancelled_and_closes_the_connection():
    cancel = threading.Event()
    with stalling(cancel.set) as server:
        mine = connect(["127.0.0.1"], server.port, Deadline(HANG_SECONDS, cancel))
        with pytest.raises(CancelledError):
            mine.start_tls(ssl.create_default_context(), "localhost")
        assert server.is_left()


def test_a_write_that_stalls_can_be_cancelled():
    cancel = threading.Event()
    with stalling(cancel.set) as server:
        mine = connect(["127.0.0.1"], server.port, Deadline(HANG_SECONDS, cancel))
        with pytest.raises(CancelledError):
            mine.write(LONG)
        mine.close()
        assert server.is_left()


def test_an_encrypted_write_that_stalls_can_be_cancelled(certificate):
    cancel, is_over = threading.Event(), threading.Event()

    def stall(secure):
        secure.recv(1)
        cancel.set()
        is_over.wait(HANG_SECONDS)

    with tls_server(certificate, stall) as port:
        mine = secured(port, certificate, Deadline(HANG_SECONDS, cancel))
        with pytest.raises(CancelledError):
            mine.write(LONG)
        mine.close()
        is_over.set()


def test_much_can_be_sent_and_read_over_tls(certificate):
    def echo(secure):
        got = bytearray()
        while len(got) < len(LONG):
            got += secure.recv(1_000_000)
        secure.sendall(got)

    with tls_server(certificate, echo) as port:
        mine = secured(port, certificate, Deadline(HANG_SECONDS))
        mine.write(LONG)
        got = bytearray()
        while len(got) < len(LONG):
            got += mine.read(65_536)
        mine.close()
    assert got == LONG


def test_a_certificate_that_is_not_known_is_refused(certificate):
    with tls_server(certificate, lambda secure: None) as port, pytest.raises(ssl.SSLCertVerificationError):
        connect(["127.0.0.1"], port, Deadline(HANG_SECONDS)).start_tls(ssl.create_default_context(), "localhost")
