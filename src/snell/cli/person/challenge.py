"""Ask for letters that are shown on the controlling terminal, to be typed there."""

import os
import secrets
import select
import termios
import time
from contextlib import suppress

from snell.cli.person.process_chain import chain_of
from snell.cli.person.tmux import is_typed, pane_of

LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"  # without those that look like digits
COUNT = 6
SECONDS = 120.0
MOST = 200  # bytes of an answer


def passes_challenge(what: str) -> bool:
    """Show letters on the terminal; return whether they were typed there in time, and not sent by a command."""
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        began, letters = time.time(), "".join(secrets.choice(LETTERS) for _ in range(COUNT))
        with suppress(termios.error):
            termios.tcflush(terminal, termios.TCIFLUSH)  # what was typed, or sent, before it was shown
        text = f"{what}: an agent may be able to type in this terminal too.\nType {letters} to go on: "
        os.write(terminal, text.encode("utf-8", "replace"))
        answer = _read_line(terminal)
    except OSError:
        return False
    finally:
        os.close(terminal)
    pane = pane_of(chain_of(os.getpid()))
    return secrets.compare_digest(answer, letters) and (pane is None or is_typed(*pane, began))


def _read_line(terminal: int) -> str:
    """Return the typed line in capitals; empty if none came in time."""
    if not select.select([terminal], [], [], SECONDS)[0]:
        return ""
    return os.read(terminal, MOST).decode("ascii", "replace").strip().upper().encode("ascii", "ignore").decode()
