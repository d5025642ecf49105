"""
What model hooks have used: tokens of each session, and money of the day. Events that belong to no session share one
budget a day, since there is no end of a session that would begin a new one.

Kept in a small file of the user's, so that starting the daemon anew does not start the count anew; in a house without
files, and when the file cannot be written, it is kept in memory. A file that cannot be read counts as empty, since a
broken counter must not stop the work.
"""

import contextlib
import os
import threading
import time
from pathlib import Path

import msgspec

from snell.llm.messages import ModelError, Turn
from snell.model.context import HandlerSettings, ModelSettings
from snell.system.files import FileError, file_lock, read_capped, write_atomically

SESSIONS = 500  # how many sessions are remembered
_LONGEST_FILE = 1_000_000
_LOCK_SECONDS = 0.5  # somebody waits for an answer that is already there


class TokenBudget(msgspec.Struct):
    day: str = ""
    cost: float = 0.0
    sessions: dict[str, int] = {}


def check(settings: HandlerSettings, session: str) -> None:
    """Raises when a session or the day has used up what it may."""
    model, name = settings.model, _counted_as(session)
    books = [_read(settings), *([_in_memory.get(settings.state, TokenBudget())] if settings.state else [])]
    if sum(book.sessions.get(name, 0) for book in books) >= model.max_session_tokens:
        who = "this session has used its" if session else "events without a session have used today's"
        raise ModelError("launch", f"{who} {model.max_session_tokens:,} tokens; see `model.max_session_tokens`")
    cost = sum(book.cost for book in books if book.day == _today())
    if model.max_daily_cost and cost >= model.max_daily_cost:
        raise ModelError("launch", f"model hooks have cost {cost:.2f} today; see `model.max_daily_cost`")


def add(settings: HandlerSettings, session: str, turn: Turn) -> None:
    """Note what an answer took, in memory if it cannot be written: the answer itself must not be lost over it."""
    with _lock:
        try:
            with _file_lock(settings):
                _write(settings, _with(_read(settings), session, turn, settings.model))
        except (OSError, FileError):
            _in_memory[settings.state] = _with(
                _in_memory.get(settings.state, TokenBudget()), session, turn, settings.model
            )


def _with(book: TokenBudget, session: str, turn: Turn, model: ModelSettings) -> TokenBudget:
    today = _today()
    spent = book.cost if book.day == today else 0.0
    sessions = dict(book.sessions)
    name = _counted_as(session)
    tokens = sessions.pop(name, 0) + turn.input_tokens + turn.output_tokens
    kept = dict([*sessions.items(), (name, tokens)][-SESSIONS:])
    return TokenBudget(today, spent + _cost(model, turn), kept)


_lock = threading.Lock()
_in_memory: dict[str, TokenBudget] = {}


def _cost(model: ModelSettings, turn: Turn) -> float:
    return (turn.input_tokens * model.input_price + turn.output_tokens * model.output_price) / 1_000_000


def _counted_as(session: str) -> str:
    return session or f"no session, {_today()}"


def _today() -> str:
    return time.strftime("%Y-%m-%d")


def _path(settings: HandlerSettings) -> Path:
    return Path(settings.state) / "model-usage.json"


def _file_lock(settings: HandlerSettings) -> contextlib.AbstractContextManager[object]:
    if not settings.state:
        return contextlib.nullcontext()
    os.makedirs(settings.state, mode=0o700, exist_ok=True)
    return file_lock(_path(settings).with_suffix(".lock"), _LOCK_SECONDS)


def _read(settings: HandlerSettings) -> TokenBudget:
    if not settings.state:
        return _in_memory.get("", TokenBudget())
    try:
        return msgspec.json.decode(read_capped(_path(settings), _LONGEST_FILE), type=TokenBudget)
    except (OSError, FileError, msgspec.DecodeError):
        return TokenBudget()


def _write(settings: HandlerSettings, book: TokenBudget) -> None:
    if settings.state:
        write_atomically(_path(settings), msgspec.json.encode(book), sync=False)
    else:
        _in_memory[""] = book
