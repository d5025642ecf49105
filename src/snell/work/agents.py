"""
Read and write agents: their effort, status, coordinator and lease.

The id of an agent comes from its environment (AGENT_ID); a process id never identifies an owner.
"""

from typing import Any

from snell.model.protocols import Transaction
from snell.work.errors import WorkError, invalid, not_found
from snell.work.rows import Record, json_of, now_ms, select, update

COLUMNS = "id label claims targeted_claims manages parent effort_id status status_at pane signal holder held_until"

# By urgency: the first status that one of several agents has is shown for all of them.
STATUSES = ("error", "attention", "working", "checked", "done", "idle")
WAKES = frozenset({"error", "attention", "done"})  # statuses that a coordinator is told at once
SETTLE_MS = 200  # how long a less urgent status must last before it is shown
LEASE_MS = 30_000


def register(
    tx: Transaction,
    id: str,  # noqa: A002 - the name in the protocol
    label: str | None = None,
    claims: Any = None,
    targeted_claims: Any = None,
    manages: Any = None,
    parent: str | None = None,
    effort_id: int | None = None,
    pane: str = "",
) -> Record:
    """Insert or update an agent; values that are not given stay."""
    if not id.strip():
        raise invalid("id: must not be empty")
    given = {
        "label": label,
        "claims": json_of(claims),
        "targeted_claims": json_of(targeted_claims),
        "manages": json_of(manages),
        "parent": parent,
        "effort_id": effort_id,
    }
    keep = ", ".join(f"{name} = COALESCE(excluded.{name}, agents.{name})" for name in given)
    tx.do(
        f"INSERT INTO agents (id, {', '.join(given)}, pane) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE"
        f" SET {keep}, pane = CASE WHEN excluded.pane = '' THEN agents.pane ELSE excluded.pane END",
        *(id, *given.values(), pane),
    )
    return get(tx, id)


def get(tx: Transaction, id: str) -> Record:  # noqa: A002 - the name in the protocol
    found = find(tx, id)
    if found is None:
        raise not_found("agent", id)
    return found


def find(tx: Transaction, id_: str) -> Record | None:
    found = select(tx, "agents", COLUMNS, "WHERE id = ?", id_)
    return found[0] if found else None


def list_(tx: Transaction, status: str | None = None) -> list[Record]:
    where, values = ("WHERE status = ?", [status]) if status is not None else ("", [])
    return select(tx, "agents", COLUMNS, f"{where} ORDER BY id", *values)


def find_by_effort(tx: Transaction, effort_id: int) -> list[Record]:
    return select(tx, "agents", COLUMNS, "WHERE effort_id = ? ORDER BY id", effort_id)


def update_status(tx: Transaction, id: str, status: str) -> Record:  # noqa: A002 - the name in the protocol
    if status not in STATUSES:
        raise invalid(f"status: must be one of {', '.join(STATUSES)}")
    if not tx.do("UPDATE agents SET status = ?, status_at = ? WHERE id = ?", status, now_ms(), id):
        raise not_found("agent", id)
    return get(tx, id)


def fleet(tx: Transaction) -> list[Record]:
    """Return all agents with a valid lease or none, with their effort and open session."""
    columns = (
        "id label status status_at parent manages pane holder held_until effort_id skill ordinal current_phase"
        " lifecycle task_id title session_id heartbeat_counter context_usage last_heartbeat"
    )
    return select(tx, "fleet_status", columns, "WHERE holder = '' OR held_until > ? ORDER BY id", now_ms())


def signal(tx: Transaction, agent: Record, status: str, text: str = "") -> str | None:
    """Store a signal for the coordinator of an agent, if it has one; returns its id."""
    coordinator = coordinator_of(tx, agent)
    if coordinator is None:
        return None
    waiting = coordinator["signal"] if isinstance(coordinator["signal"], list) else []
    sent = {"agent": agent["id"], "status": status, "text": text, "at": now_ms()}
    update(tx, "agents", "id", coordinator["id"], {"signal": [*waiting, sent][-100:]})
    return str(coordinator["id"])


def take_signals(tx: Transaction, id_: str) -> list[Any]:
    """Return the signals of a coordinator and delete them."""
    found = find(tx, id_)
    if found is None or not found["signal"]:
        return []
    update(tx, "agents", "id", id_, {"signal": None})
    return list(found["signal"])


def coordinator_of(tx: Transaction, agent: Record) -> Record | None:
    """Return the parent of an agent, else the agent that manages it."""
    if agent["parent"]:
        return find(tx, agent["parent"])
    managing = (each for each in list_(tx) if each["id"] != agent["id"] and agent["id"] in _names(each["manages"]))
    return next(managing, None)


def claim(tx: Transaction, id_: str, holder: str, lease_ms: int = LEASE_MS) -> Record:
    """
    Take or renew the lease on an agent. Raises LEASED while another holder has it.

    INVARIANT: one statement decides, so of two hosts that ask at once one is refused.
    """
    now = now_ms()
    taken = tx.do(
        "UPDATE agents SET holder = ?, held_until = ? WHERE id = ? AND (holder IN ('', ?) OR held_until < ?)",
        *(holder, now + lease_ms, id_, holder, now),
    )
    agent = get(tx, id_)
    if not taken:
        raise WorkError("LEASED", f"agent `{id_}` belongs to `{agent['holder']}` for now")
    return agent


def clear_expired_lease(tx: Transaction, agent: Record | None) -> None:
    """Free an agent whose lease of another machine has expired: it works on this machine now."""
    if agent and agent["holder"] and agent["heldUntil"] < now_ms():
        tx.do("UPDATE agents SET holder = '', held_until = 0 WHERE id = ?", agent["id"])


def release(tx: Transaction, id_: str, holder: str) -> bool:
    return tx.do("UPDATE agents SET holder = '', held_until = 0 WHERE id = ? AND holder = ?", id_, holder) == 1


def most_urgent(statuses: list[str]) -> str:
    """Return the most urgent of several statuses."""
    return min(statuses, key=STATUSES.index, default="idle")


def _names(manages: Any) -> list[str]:
    if isinstance(manages, str):
        return [name for name in manages.replace(",", " ").split() if name]
    return [each for each in manages if isinstance(each, str)] if isinstance(manages, list) else []
