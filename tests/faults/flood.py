"""An agent in a hurry: `python -m tests.faults.flood HOME PROJECT EVENTS`."""

import json
import os
import socket
import sys

from snell.daemon.shim_connection import encode_request
from snell.daemon.wire import KEEPALIVE


def main(home: str, project: str, events: str) -> None:
    who = os.urandom(4).hex()
    for number in range(int(events)):
        call = {"command": "bad" if number % 100 == 0 else "ls -la", "description": "x" * 1500}
        event = {"hook_event_name": "PreToolUse", "session_id": who, "cwd": project, "tool_name": "Bash"}
        payload = json.dumps({**event, "tool_input": call}).encode()
        request_id, words = f"{who}{number:024x}".encode(), b"--client\0claude-code"
        frame = encode_request(request_id, b"0.0.1", project.encode(), words, b"", payload)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.connect(f"{home}/run/snell.sock")
            connection.sendall(frame)
            answer = b""
            while not answer.lstrip(KEEPALIVE):
                answer = connection.recv(65536)
                assert answer
            assert answer.lstrip(KEEPALIVE)[:4] == b"SNR1"


if __name__ == "__main__":
    main(*sys.argv[1:])
