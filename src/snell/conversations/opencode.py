"""OpenCode: all sessions in one SQLite database. A sub-agent is a session of its own, with a parent."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from snell.conversations.record import Conversation, timestamp_of
from snell.model.events import as_table
from snell.system.files import is_own_file
from snell.system.json_input import json_or_none

PLACES = ("{data}/opencode/opencode.db",)
_SESSIONS = "SELECT id, parent_id, directory, version FROM session ORDER BY time_created"
_PROMPTS = 'SELECT COUNT(*) FROM message WHERE session_id = ? AND data LIKE \'%"role":"user"%\''
_PARTS = 'SELECT time_created, data FROM part WHERE session_id = ? AND data LIKE \'%"type":"tool"%\' ORDER BY id'


def read(path: Path) -> Iterator[Conversation]:
    import apsw

    if not is_own_file(str(path)):
        yield Conversation(client="opencode", session_id="", path=os.fspath(path), unread_lines=1)
        return
    try:
        database = apsw.Connection(
            f"file:{quote(os.fspath(path))}?mode=ro", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        )
        database.set_busy_timeout(2_000)
        yield from _sessions(database, path)
    except (apsw.Error, UnicodeDecodeError):  # another version of the client, with other tables; or a damaged file
        yield Conversation(client="opencode", session_id="", path=os.fspath(path), unread_lines=1)


def _sessions(database: Any, path: Path) -> Iterator[Conversation]:
    for session, parent, folder, version in list(database.execute(_SESSIONS)):
        found = Conversation(client="opencode", session_id=session, path=str(path))
        found.cwd, found.version = str(folder or ""), str(version or "")
        found.agents = {session} if parent else set()
        found.prompts = 0 if parent else database.execute(_PROMPTS, (session,)).fetchone()[0]
        for at, data in database.execute(_PARTS, (session,)):
            _add_part(found, as_table(json_or_none(data)), timestamp_of(at), session if parent else "")
        yield found


def _add_part(found: Conversation, part: Any, at: int, agent: str) -> None:
    if part.get("type") != "tool":
        return
    state = as_table(part.get("state"))
    call = found.call(str(part.get("callID") or ""), str(part.get("tool")), state.get("input"), at, agent)
    if state.get("status") in ("completed", "error"):
        call.end(timestamp_of(as_table(state.get("time")).get("end")), True if state["status"] == "completed" else None)
