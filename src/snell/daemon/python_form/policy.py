"""
The reply of `snell-hook` when Snell cannot decide: deny or no opinion, in the client's format.

native/snell-hook.c does the same with the same table, shim_forms.txt.
"""

import posix

from snell.daemon.shim_connection import NoDaemonError, write_all

TABLE = __file__.rpartition("/python_form/")[0] + "/shim_forms.txt"
USUAL = ["generic", "*", "1", "exit 2", ""]  # also used if the table is missing


class Policy:
    """The reply formats of the calling client for its event."""

    def __init__(self, arguments: list[bytes], payload: bytes) -> None:
        self.arguments = arguments
        name = _event_in(payload) or self._option(b"--event")
        _, _, codes, refusal, self.neutral = _form(_plain(self._client()), _plain(name))
        fails_closed = b"--fail-closed" in arguments and b"--rewake" not in arguments
        self.refusal = refusal if fails_closed and refusal != "-" else ""
        self.takes_other_codes = codes == "1"

    def is_decision(self, code: int, out: bytes) -> bool:
        """Return whether an exit code and an output are a complete decision for this client."""
        if code not in (0, 2):
            return not self.refusal and self.takes_other_codes
        if code == 2:  # a broken Python exits with 2 too, and some clients read only the output
            return self.refusal in ("", "exit 2") or out != b""
        if not out:
            return not self.neutral
        return _is_complete(out) if out.startswith(b"{") else not self.refusal

    def answer(self, trouble: NoDaemonError) -> int:
        """Print that Snell could not decide, in the client's format; return the exit code."""
        denied = "denied, because Snell could not check it (--fail-closed): "
        before = denied if self.refusal else "not checked, because Snell could not run: "
        line = b"snell-hook: " + before.encode() + trouble.text
        write_all(2, line + b"\n")
        if self.refusal == "exit 2":
            return 2
        reason = "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else "?" for byte in line)
        write_all(1, (self.refusal or self.neutral).replace("@REASON@", reason).encode())
        return 0

    def _client(self) -> bytes:
        named = self._option(b"--client")
        for before, word in zip((b"", *self.arguments), self.arguments, strict=False):
            if not named and not word.startswith(b"-") and before not in (b"--event", b"--request-id"):
                named = word
        return named

    def _option(self, name: bytes) -> bytes:
        value = b""
        for before, word in zip((b"", *self.arguments), self.arguments, strict=False):
            if before == name:
                value = word
            elif word.startswith(name + b"="):
                value = word[len(name) + 1 :]
        return value


def _form(client: str, event: str) -> list[str]:
    try:
        table = posix.read(posix.open(TABLE, posix.O_RDONLY | posix.O_CLOEXEC), 1 << 20).decode()
    except OSError:
        return USUAL
    rows = [line.split("\t") for line in table.splitlines() if line.count("\t") == len(USUAL) - 1]
    for name in (client, "generic"):
        for row in rows:
            if name in row[0].split() and (row[1] == "*" or event in row[1].split()):
                return row
    return USUAL


def _event_in(payload: bytes) -> bytes:
    try:
        from snell.system.event_name import event_name_given
    except ImportError:
        return b""
    return event_name_given(payload).encode()


def _plain(name: bytes) -> str:
    return "".join(letter for letter in name.decode("ascii", "replace").lower() if letter.isalnum())


def _is_complete(text: bytes) -> bool:
    """Return whether every string, list and object in a JSON text is closed."""
    depth, is_text, is_escaped = 0, False, False
    for byte in text:
        if is_text:
            is_text = is_escaped or byte != 0x22
            is_escaped = not is_escaped and byte == 0x5C
        elif byte == 0x22:
            is_text = True
        else:
            depth += (byte in b"{[") - (byte in b"}]")
    return depth == 0 and not is_text
