"""
Limit what model hooks use: tokens per session, and cost per day. Events without a session share one budget a day.

The counts are in a small file of the user, so that a restart of the daemon does not reset them. Without files (an
embedded runtime), or when the file cannot be written, they are kept in memory. A file that cannot be read is treated
as empty, since a broken counter must not stop the work.
"""

import contextlib
import os
import threading
import time
from pathlib import Path

import msgspec

from snell.llm.messages import ModelError, Turn
from snell.model.context import HandlerSettings, ModelSettings
from snell.system.files import FileError, file_lock, struct_or_none, write_atomically

SESSIONS = 500  # sessions that are kept
_LONGEST_FILE = 1_000_000
_LOCK_SECONDS = 0.5  # short, because the caller waits for an answer that is ready


class TokenBudget(msgspec.Struct):
    day: str = ""
    cost: float = 0.0
    sessions: dict[str, int] = {}


def check(settings: HandlerSettings, session: str) -> None:
    """Raise ModelError when the session or the day has used its budget."""
    model, name = settings.model, _budget_name(session)
    budgets = [_read(settings), *([_in_memory.get(settings.state, TokenBudget())] if settings.state else [])]
    if sum(each.sessions.get(name, 0) for each in budgets) >= model.max_session_tokens:
        who = "this session has used its" if session else "events without a session have used today's"
        raise ModelError("launch", f"{who} {model.max_session_tokens:,} tokens; see `model.max_session_tokens`")
    cost = sum(each.cost for each in budgets if each.day == _today())
    if model.max_daily_cost and cost >= model.max_daily_cost:
        raise ModelError("launch", f"model hooks have cost {cost:.2f} today; see `model.max_daily_cost`")


def add(settings: HandlerSettings, session: str, turn: Turn) -> None:
    """Add the usage of an answer; in memory if the file cannot be written, so that the answer is not lost."""
    with _lock:
        try:
            with _file_lock(settings):
                budget = _with(_read(settings), session, turn, settings.model)
                if settings.state:
                    write_atomically(_path(settings), msgspec.json.encode(budget), sync=False)
                else:
                    _in_memory[""] = budget
        except (OSError, FileError):
            known = _in_memory.get(settings.state, TokenBudget())
            _in_memory[settings.state] = _with(known, session, turn, settings.model)


def _with(budget: TokenBudget, session: str, turn: Turn, model: ModelSettings) -> TokenBudget:
    today = _today()
    spent = budget.cost if budget.day == today else 0.0
    sessions = dict(budget.sessions)
    name = _budget_name(session)
    tokens = sessions.pop(name, 0) + turn.input_tokens + turn.output_tokens
    kept = dict([*sessions.items(), (name, tokens)][-SESSIONS:])
    cost = (turn.input_tokens * model.input_price + turn.output_tokens * model.output_price) / 1_000_000
    return TokenBudget(today, spent + cost, kept)


_lock = threading.Lock()
_in_memory: dict[str, TokenBudget] = {}


def _budget_name(session: str) -> str:
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
    return struct_or_none(_path(settings), TokenBudget, _LONGEST_FILE) or TokenBudget()
