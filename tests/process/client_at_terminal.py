"""
A stand-in for a coding client: it runs one hook in a shell, as clients do, and keeps what the hook answered.

Its standard error is the terminal of its session, whatever the other two are. The hook's command and the files for
the payload and the answer come in the environment, so that the command line is the client's own.
"""

import fcntl
import os
import subprocess
import termios
from pathlib import Path


def main() -> None:
    fcntl.ioctl(2, termios.TIOCSCTTY, 0)
    if os.environ.get("IN_BACKGROUND") and (child := os.fork()):
        os.waitpid(child, 0)
        return
    if os.environ.get("IN_BACKGROUND"):
        os.setpgid(0, 0)
    payload = Path(os.environ["PAYLOAD"]).read_bytes()
    done = subprocess.run(["sh", "-c", os.environ["HOOK"]], input=payload, capture_output=True, check=False)
    Path(os.environ["ANSWER"]).write_bytes(done.stdout)


main()
