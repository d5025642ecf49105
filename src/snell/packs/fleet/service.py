"""
Show the status of agents in tmux: a thread of the daemon reads it from the store, whichever program has set it.

A more urgent status is shown with the next round, a less urgent one when it has lasted a moment. The thread ends when
no pane is left; the next event of an agent in a pane starts another.
"""

import threading
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

from snell.model.protocols import Database, Transaction
from snell.packs.fleet.panes import is_address, is_looked_at, paint
from snell.work import agents
from snell.work.agents import STATUSES
from snell.work.errors import run_or_none
from snell.work.rows import Record

ROUND = 0.2  # seconds between two looks at the store

Shown = tuple[str, bool]  # status, and whether it is a coordinator's


def serve(database: Database, options: Mapping[str, Any]) -> None:
    """Show the panes of the agents in this database, now and until there are none."""
    with _LOCK:
        if id(database) not in _DISPLAYS:
            _DISPLAYS[id(database)] = Display(database)
            follow = threading.Thread(target=_follow, args=(_DISPLAYS[id(database)],), name="snell-panes", daemon=True)
            follow.start()
        _DISPLAYS[id(database)].options = options
        _DISPLAYS[id(database)].is_due.set()


class Display:
    """What the panes of one database show."""

    def __init__(self, database: Database, options: Mapping[str, Any] | None = None) -> None:
        self.database = database
        self.options = options or {}
        self.is_due = threading.Event()
        self._shown: dict[str, Shown] = {}
        self._calmer: dict[str, tuple[Shown, float]] = {}  # less urgent statuses that are not shown yet, and since when
        self._lost: set[str] = set()

    def refresh(self, now: float) -> bool:
        """Paint what has changed; returns whether there is a pane to paint."""
        rows = run_or_none(self.database, _with_panes, only_reads=True) if self.options.get("tmux") else []
        panes = {row["pane"]: row for row in rows or ()}
        for address, row in panes.items():
            self._show(address, (row["status"], bool(row["manages"])), now)
            if row["status"] == "attention" and self.options.get("checked_when_seen") and is_looked_at(address):
                run_or_none(self.database, partial(_check, row["id"]))
        return rows is None or bool(panes.keys() - self._lost)

    def _show(self, address: str, wanted: Shown, now: float) -> None:
        shown = self._shown.get(address)
        if wanted == shown:
            self._calmer.pop(address, None)
            return
        is_calmer = shown is not None and STATUSES.index(wanted[0]) > STATUSES.index(shown[0])
        if is_calmer and not self._has_lasted(address, wanted, now):
            return
        self._shown[address] = wanted
        is_there = paint(address, wanted[0], is_coordinator=wanted[1])
        self._lost = self._lost - {address} if is_there else self._lost | {address}

    def _has_lasted(self, address: str, wanted: Shown, now: float) -> bool:
        if self._calmer.get(address, (None,))[0] != wanted:
            self._calmer[address] = (wanted, now)
        return now - self._calmer[address][1] >= float(self.options.get("settle", 0))


def _follow(display: Display) -> None:
    while True:
        display.is_due.clear()
        has_panes = display.refresh(time.monotonic())
        with _LOCK:
            if not has_panes and not display.is_due.is_set():
                del _DISPLAYS[id(display.database)]
                return
        display.is_due.wait(ROUND)


def _with_panes(tx: Transaction) -> list[Record]:
    """Return the agents of this machine that have a pane; the last that used a pane comes last."""
    found = [row for row in agents.list_(tx) if is_address(row["pane"]) and not row["holder"]]
    return sorted(found, key=lambda row: row["statusAt"])


def _check(agent_id: str, tx: Transaction) -> None:
    if agents.get(tx, agent_id)["status"] == "attention":  # another program may have changed it meanwhile
        agents.update_status(tx, agent_id, "checked")


_DISPLAYS: dict[int, Display] = {}
_LOCK = threading.Lock()
