"""
Agents on several machines: each machine tells a shared server about its own, and keeps what it hears of the others'.

INVARIANT: an agent is told about by the machine that has its lease, so two machines never speak for the same one.
"""

from snell.model.protocols import Transaction
from snell.work import agents
from snell.work.errors import WorkError
from snell.work.rows import Record, now_ms

CHANNEL = "snell_fleet"
REMEMBERED_MS = 30 * 24 * 3_600_000  # how long it is known what an agent worked on whose lease has ended
_TOLD = ("id", "status", "statusAt", "parent", "manages")


def own_agents(tx: Transaction, host: str) -> list[Record]:
    """The agents of this machine, with what they work on in a word, and its name everywhere."""
    rows = [row for row in agents.fleet(tx) if row["holder"] in ("", host)]
    names = _effort_names(tx)
    told = [{**{name: row[name] for name in _TOLD}, "label": _label(row)} for row in rows]
    return [{**each, "effort": names.get(row["effortId"])} for each, row in zip(told, rows, strict=True)]


def publish_agent(tx: Transaction, row: Record, host: str) -> bool:
    """Keep an agent on the server; False while another machine has its lease."""
    agents.register(tx, row["id"], label=row["label"], parent=row["parent"], manages=row["manages"])
    try:
        agents.claim(tx, row["id"], host)
    except WorkError:
        return False
    tx.do(
        "UPDATE agents SET status = ?, status_at = ?, effort_id = (SELECT id FROM efforts WHERE uid = ?) WHERE id = ?",
        *(row["status"], row["statusAt"], row["effort"], row["id"]),
    )
    return True


def other_agents(tx: Transaction, host: str) -> list[Record]:
    """The agents that other machines told of; those whose lease has ended may go on anywhere."""
    names, since = _effort_names(tx), now_ms() - REMEMBERED_MS
    found = [row for row in agents.list_(tx) if row["holder"] not in ("", host) and row["heldUntil"] > since]
    return [{**row, "effort": names.get(row["effortId"])} for row in found]


def store_other_agents(tx: Transaction, heard: list[Record], host: str) -> None:
    """What was heard of others, beside our own. One of ours stays ours until its lease is somebody else's."""
    names, now = [row["id"] for row in heard], now_ms()
    ours = {row["id"] for row in agents.list_(tx) if row["holder"] in ("", host)}
    for row in agents.list_(tx):
        if row["holder"] not in ("", host) and row["id"] not in names:
            tx.do("DELETE FROM agents WHERE id = ?", row["id"])
    for row in heard:
        if row["id"] in ours and row["heldUntil"] <= now:
            continue
        agents.register(tx, row["id"], label=row["label"], parent=row["parent"], manages=row["manages"])
        tx.do(
            "UPDATE agents SET status = ?, status_at = ?, holder = ?, held_until = ?,"
            " effort_id = COALESCE((SELECT id FROM efforts WHERE uid = ?), effort_id) WHERE id = ?",
            *(row["status"], row["statusAt"], row["holder"], row["heldUntil"], row["effort"], row["id"]),
        )


def release_agents(tx: Transaction, host: str) -> None:
    """This machine goes: its agents may go on elsewhere at once."""
    tx.do("UPDATE agents SET held_until = ? WHERE holder = ? AND held_until > ?", now_ms(), host, now_ms())


def _effort_names(tx: Transaction) -> dict[int, str]:
    bound = "SELECT id, uid FROM efforts WHERE uid IS NOT NULL AND id IN (SELECT effort_id FROM agents)"
    return dict(tx.rows(bound))


def _label(row: Record) -> str | None:
    parts = [row["skill"], row["currentPhase"], row["title"]]
    return " · ".join(part for part in parts if part) or row["label"]
