"""A real HTTP server on loopback that answers as a test wants and remembers what it was sent."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from msgspec import Struct


class Sent(Struct, frozen=True):
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Answer(Struct, frozen=True):
    body: bytes | str | dict[str, Any] = b""
    status: int = 200
    headers: dict[str, str] = {}
    drip: float = 0.0  # seconds between two bytes
    before: float = 0.0  # seconds before anything is said
    chunks: tuple[bytes, ...] = ()  # a body in pieces, instead of `body`

    @property
    def data(self) -> bytes:
        if isinstance(self.body, dict):
            return json.dumps(self.body).encode()
        return self.body.encode() if isinstance(self.body, str) else self.body


Script = Callable[[Sent], Answer]


class Listener(ThreadingHTTPServer):
    request_queue_size = 128  # with the usual five, the sixth caller at once waits a second


class Server:
    """Answers by its script: one answer for all, a list that is used up, or a function of the request."""

    def __init__(self, script: Script | list[Answer] | Answer, port: int = 0) -> None:
        self.sent: list[Sent] = []
        self._script = script
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._server = Listener(("127.0.0.1", port), self._handler())
        self._server.daemon_threads = True
        self.port = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, sent: Sent) -> Answer:
        with self._lock:
            self.sent.append(sent)
            if isinstance(self._script, Answer):
                return self._script
            if isinstance(self._script, list):
                return self._script.pop(0) if self._script else Answer("no more answers", 500)
        return self._script(sent)

    def _handler(self) -> type[BaseHTTPRequestHandler]:  # noqa: C901 - one server with many faults
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class calls it so
                """Nothing is printed."""

            def _serve(self) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                answer = server._answer(Sent(self.command, self.path, headers, self._body()))
                server._stop.wait(answer.before)
                try:
                    self._say(answer)
                except OSError:
                    self.close_connection = True

            def _body(self) -> bytes:
                if self.headers.get("transfer-encoding", "").lower() != "chunked":
                    return self.rfile.read(int(self.headers.get("content-length") or 0))
                parts = []
                while size := int(self.rfile.readline().partition(b";")[0], 16):
                    parts.append(self.rfile.read(size))
                    self.rfile.readline()
                self.rfile.readline()
                return b"".join(parts)

            def _say(self, answer: Answer) -> None:
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                if not answer.chunks:
                    self.send_header("content-length", str(len(answer.data)))
                else:
                    self.send_header("connection", "close")
                self.end_headers()
                if answer.drip:
                    for byte in answer.data:
                        self.wfile.write(bytes([byte]))
                        if server._stop.wait(answer.drip):
                            return
                for chunk in answer.chunks or ((answer.data,) if not answer.drip else ()):
                    self.wfile.write(chunk)

            do_POST = do_PUT = do_GET = _serve  # noqa: N815 - the base class calls them so

        return Handler


@contextmanager
def serving(script: Script | list[Answer] | Answer, port: int = 0) -> Iterator[Server]:
    server = Server(script, port)
    try:
        yield server
    finally:
        server.close()
