"""
Remember the files that a session has written and the secrets that it has read.

A script that one call writes and a later call runs is judged by its content. Sending data after a secret was read is
asked about.
"""

import re
from collections.abc import Mapping
from typing import Any

from snell.model.protocols import Store
from snell.packs.guard.judge import Judgement
from snell.packs.guard.known_names import pattern
from snell.packs.guard.known_values import SECRET, UNKNOWN, Value
from snell.packs.guard.rule import Finding
from snell.packs.guard.rules import AFTER_SECRET
from snell.packs.guard.rules.read_secret import RULE as COPY
from snell.packs.guard.secret_fingerprints import ADDING, has_piece, has_value
from snell.packs.guard.shell.interpreters import SHELLS
from snell.packs.guard.shell.network_transfers import is_local, sendings
from snell.packs.guard.shell.shell_state import Step
from snell.sdk.subjects import ToolCall
from snell.system.lazy_regex import lazy_regex

FILES, SECRETS = "guard/files", "guard/secrets"
MOST_FILES = 40
LONGEST_TEXT = 16_384

_SENDING_PROGRAMS = frozenset(
    ("curl", "wget", "http", "https", "xh", "nc", "ncat", "netcat", "socat", "scp", "rsync", "sftp", "ftp", "telnet")
)
_OTHER_NETWORK_PROGRAMS = frozenset(
    ("dig", "nslookup", "host", "drill", "ping", "ssh", "mail", "mailx", "sendmail", "gh", "git")
)
_NETWORK_PROGRAMS = _SENDING_PROGRAMS | _OTHER_NETWORK_PROGRAMS
_HEADER = lazy_regex(r"(?i:authorization|x-api-key|-token)\s*:|\s-u\s|--user\b")
_UPLOADS = pattern("uploads")


def known_files(marks: Store, session_id: str) -> dict[str, Value]:
    """Return the files that this session wrote, with their content."""
    kept = marks.get(f"session:{session_id}", FILES)
    if not isinstance(kept, Mapping):
        return {}
    return {path: Value(row[0], frozenset(row[1])) for path, row in kept.items() if _is_row(row)}


def record_files(marks: Store, session_id: str, written: Mapping[str, Value]) -> None:
    """Remember files that a call has written; the oldest are dropped first."""
    new = {
        path: (value.text[:LONGEST_TEXT], sorted(value.labels))
        for path, value in written.items()
        if not path.startswith("/dev/") and UNKNOWN not in path
    }
    if not new:
        return
    with ADDING:
        kept = marks.get(f"session:{session_id}", FILES)
        files = {**kept, **new} if isinstance(kept, dict) else new
        marks.put(f"session:{session_id}", FILES, dict(list(files.items())[-MOST_FILES:]))


def record_secret(marks: Store, session_id: str, name: str) -> None:
    with ADDING:
        kept = marks.get(f"session:{session_id}", SECRETS)
        names = [*kept, name] if isinstance(kept, list) else [name]
        marks.put(f"session:{session_id}", SECRETS, list(dict.fromkeys(names))[-10:])


def secrets_read(judgement: Judgement) -> list[str]:
    """Return the secrets that a command has printed or copied."""
    return [finding.secret for finding in judgement.findings if finding.secret]


def check_send_after_secret(marks: Store, session_id: str, steps: tuple[Step, ...]) -> Finding | None:
    """Ask when a session that has read a secret sends data to another machine."""
    senders = filter(_sends_data, steps) if _last_secret(marks, session_id) else iter(())
    sender = next(senders, None)
    return ask_after_secret(marks, session_id, sender.program) if sender else None


def _sends_data(step: Step) -> bool:
    is_sending = step.program in _SENDING_PROGRAMS and _sends(step)
    return is_sending or _UPLOADS.match(step.text) is not None or _code_connects(step, _SENDS)


def check_sent_value(marks: Store, session_id: str, command: str, steps: tuple[Step, ...]) -> Finding | None:
    """Stop a command that sends the value of a secret which the session has read."""
    may_connect = [step for step in steps if step.program in _NETWORK_PROGRAMS or step.code is not None]
    step = next(filter(_connects, may_connect), None)
    if step is None:
        return None
    if not has_value(marks, session_id, command):
        is_part = has_piece(marks, session_id, command)
        return AFTER_SECRET.ask(f"`{step.program}` is given {PART}") if is_part else None
    # Services take tokens in a header; only the user knows whether this is the right service.
    verdict = AFTER_SECRET.ask if _HEADER.search(command) else AFTER_SECRET.deny
    return verdict(f"`{step.program}` is given the value of a secret that this session has read")


PART = "what may be a part of a secret that this session has read"


def _connects(step: Step) -> bool:
    return (step.program in _NETWORK_PROGRAMS and not any(map(is_local, step.args))) or _code_connects(step)


def check_value_in_tool(marks: Store, session_id: str, call: ToolCall, *, sends: bool) -> Finding | None:
    """Stop a web or MCP tool that is given the value of a secret which the session has read."""
    if call.kind not in ("web", "mcp"):
        return None
    if not has_value(marks, session_id, call.input):
        is_part = (sends or call.kind == "web") and has_piece(marks, session_id, call.input)
        return AFTER_SECRET.ask(f"`{call.tool}` is given {PART}") if is_part else None
    verdict = AFTER_SECRET.deny if sends or call.kind == "web" else AFTER_SECRET.ask
    return verdict(f"`{call.tool}` is given the value of a secret that this session has read")


def ask_after_secret(marks: Store, session_id: str, sender: str) -> Finding | None:
    """Ask about a program or tool that sends data, if the session has read a secret."""
    secret = _last_secret(marks, session_id)
    return AFTER_SECRET.ask(f"`{sender}` sends data, and this session has read `{secret}`") if secret else None


def _last_secret(marks: Store, session_id: str) -> str:
    names = marks.get(f"session:{session_id}", SECRETS)
    return str(names[-1]) if isinstance(names, list) and names else ""


# Code of another language that connects to other machines, and that sends data there.
_CONNECTS = lazy_regex(r"https?://(?!localhost|127\.|0\.0\.0\.0|\[::1\])|\bsocket\b|smtplib|ftplib")
_SENDS = lazy_regex(r"\.(?:post|put|patch|sendall|sendmail|sendto)\(|\bmethod\W{1,4}(?:POST|PUT)|urlopen\([^)]*data")


def _code_connects(step: Step, how: re.Pattern[str] = _CONNECTS) -> bool:
    code = step.code.text if step.code is not None and step.program not in SHELLS else ""
    return bool(code) and _CONNECTS.search(code) is not None and how.search(code) is not None


def check_read_of_copy(marks: Store, session_id: str, call: ToolCall, path: str) -> Finding | None:
    """Ask when the client's own tool reads a file to which this session has copied a secret."""
    kept = known_files(marks, session_id).get(path) if call.kind == "read" else None
    if kept is None or not kept.has(SECRET):
        return None
    return COPY.ask(f"`{path}` is a copy of `{kept.detail(SECRET)}`, which holds secrets")


def _sends(step: Step) -> bool:
    if step.program not in ("curl", "wget", "http", "https", "xh"):
        return step.stdin is not None or step.program in ("scp", "rsync", "sftp")
    sending = sendings(step.program, step.words)
    has_body = len(sending.words) > 1 or bool(sending.files) or any(UNKNOWN in word.text for word in sending.words)
    return has_body and not is_local(sending.host)


def _is_row(row: Any) -> bool:
    return isinstance(row, list | tuple) and len(row) == 2 and isinstance(row[0], str) and isinstance(row[1], list)
