"""
Read and write agents: their effort, status, coordinator and lease.

The id of an agent comes from its environment (AGENT_ID); a process id never identifies an owner.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from snell.model.events import Event, text_in
from snell.model.protocols import Transaction
from snell.work.errors import WorkError, invalid
from snell.work.rows import Record, WorkTable, now_ms, update, upsert

_AGENTS = WorkTable(
    "agents",
    "id label claims targeted_claims manages parent effort_id status status_at pane signal holder held_until",
    "agent",
)
_FLEET = WorkTable(
    "fleet_status",
    "id label status status_at parent manages pane holder held_until effort_id skill ordinal current_phase"
    " lifecycle task_id title session_id heartbeat_counter context_usage last_heartbeat",
)

# By urgency: the first status that one of several agents has is shown for all of them.
STATUSES = ("error", "attention", "working", "checked", "done", "idle")
WAKES = frozenset({"error", "attention", "done"})  # statuses that a coordinator is told at once
LEASE_MS = 30_000
_ATTENTION = frozenset({"permission_prompt", "idle_prompt", "elicitation_dialog"})
_STATUS_AFTER = {
    "SessionStart": "idle",
    **dict.fromkeys(("UserPromptSubmit", "PreToolUse", "PostToolUse"), "working"),
    "PermissionRequest": "attention",
    **dict.fromkeys(("Stop", "SessionEnd"), "done"),
}


class Caller(Struct, frozen=True, kw_only=True):
    """The calling agent, as its environment names it."""

    agent_id: str = ""
    parent: str = ""
    manages: str = ""
    claims: str = ""
    targeted_claims: str = ""


_VARIABLES = {name: f"AGENT_{name.upper()}" for name in Caller.__struct_fields__[1:]}


def caller_in(env: Mapping[str, str]) -> Caller:
    """Return the agent of an environment; without an id of its own it has no id."""
    agent_id = env.get("AGENT_ID", "")
    if not agent_id or agent_id == "default":
        return Caller()
    return Caller(agent_id=agent_id, **{name: env.get(variable, "") for name, variable in _VARIABLES.items()})


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
    given = {"label": label, "claims": claims, "targeted_claims": targeted_claims, "manages": manages}
    upsert(tx, "agents", {"id": id}, {**given, "parent": parent, "effort_id": effort_id}, {})
    return _AGENTS.change(tx, id, pane=pane) if pane else get(tx, id)


def bind(tx: Transaction, agent_id: str, effort_id: int) -> None:
    """Register that an agent with an id of its own works on an effort, on this machine."""
    if agent_id and agent_id != "default":
        clear_expired_lease(tx, find(tx, agent_id))
        register(tx, agent_id, effort_id=effort_id)


def get(tx: Transaction, id: str) -> Record:  # noqa: A002 - the name in the protocol
    return _AGENTS.require(find(tx, id), id)


def find(tx: Transaction, id_: str) -> Record | None:
    return _AGENTS.first(tx, "WHERE id = ?", id_)


def list_(tx: Transaction, status: str | None = None) -> list[Record]:
    return _AGENTS.matching(tx, "id", status=status)


def find_by_effort(tx: Transaction, effort_id: int) -> list[Record]:
    return _AGENTS.matching(tx, "id", effort_id=effort_id)


def update_status(tx: Transaction, id: str, status: str) -> Record:  # noqa: A002 - the name in the protocol
    if status not in STATUSES:
        raise invalid(f"status: must be one of {', '.join(STATUSES)}")
    return _AGENTS.change(tx, id, status=status, status_at=now_ms())


def fleet(tx: Transaction) -> list[Record]:
    """Return all agents with a valid lease or none, with their effort and open session."""
    return _FLEET.read(tx, "WHERE holder = '' OR held_until > ? ORDER BY id", now_ms())


def signal(tx: Transaction, agent: Record, status: str, text: str = "") -> str | None:
    """Store a signal for the coordinator of an agent, if it has one; returns its id."""
    coordinator = coordinator_of(tx, agent)
    if coordinator is None:
        return None
    waiting = coordinator["signal"] if isinstance(coordinator["signal"], list) else []
    sent = {"agent": agent["id"], "status": status, "text": text, "at": now_ms()}
    update(tx, "agents", "id", coordinator["id"], {"signal": [*waiting, sent][-100:]})
    return str(coordinator["id"])


def status_after(event: str, payload: Mapping[str, Any], trouble: Any = "") -> str | None:
    """Return the agent's status after an event; None if the event does not change it."""
    if event == "Notification":
        return "attention" if payload.get("notification_type") in _ATTENTION else None
    if event == "PostToolUseFailure":
        return None if payload.get("is_interrupt") is True else "error"
    return "error" if event == "Stop" and trouble else _STATUS_AFTER.get(event)


def set_status(
    tx: Transaction, caller: Caller, status: str, effort_id: int | None = None, pane: str = ""
) -> Record | None:
    """
    Set the status of the calling agent and register it; an agent without an id of its own is not registered.

    Returns the agent if its status changed, with the coordinator that was signalled; else None.
    """
    if not caller.agent_id:
        return None
    known = find(tx, caller.agent_id)
    clear_expired_lease(tx, known)
    if known and known["status"] == status and (not pane or known["pane"] == pane):
        return None
    given = {name: getattr(caller, name) or None for name in _VARIABLES}
    register(tx, caller.agent_id, effort_id=effort_id, pane=pane, **given)
    agent = update_status(tx, caller.agent_id, status)
    signalled = signal(tx, agent, status) if status in WAKES else None
    return {**agent, "before": known["status"] if known else "idle", "signalled": signalled}


def teammate_idle(tx: Transaction, event: Event, caller: Caller) -> Record:
    """Set the teammate that an event names to done and signal its coordinator."""
    teammate = find(tx, text_in(event.payload, "teammate_name"))
    if teammate is None:
        return {"updated": False, "signalled": None}
    update_status(tx, teammate["id"], "done")
    return {"updated": True, "signalled": signal(tx, teammate, "done", text_in(event.payload, "team_name"))}


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


def most_urgent(statuses: list[str]) -> str:
    """Return the most urgent of several statuses."""
    return min(statuses, key=STATUSES.index, default="idle")


def _names(manages: Any) -> list[str]:
    if isinstance(manages, str):
        return [name for name in manages.replace(",", " ").split() if name]
    return [each for each in manages if isinstance(each, str)] if isinstance(manages, list) else []
