"""
Agents on several machines: each machine tells a shared server about its own, and keeps what it hears of the others'.

INVARIANT: an agent is told about by the machine that has its lease, so two machines never speak for the same one.
"""

from snell.model.ports import Transaction
from snell.work import agents
from snell.work.rows import Record, now_ms
from snell.work.trouble import WorkError

CHANNEL = "snell_fleet"
_TOLD = ("id", "status", "statusAt", "parent", "manages")


def own(tx: Transaction, host: str) -> list[Record]:
    """The agents of this machine, with what they work on in a word."""
    rows = [row for row in agents.fleet(tx) if row["holder"] in ("", host)]
    return [{**{name: row[name] for name in _TOLD}, "label": _label(row)} for row in rows]


def tell(tx: Transaction, row: Record, host: str) -> bool:
    """Keep an agent on the server; False while another machine has its lease."""
    agents.register(tx, row["id"], label=row["label"], parent=row["parent"], manages=row["manages"])
    try:
        agents.claim(tx, row["id"], host)
    except WorkError:
        return False
    tx.do("UPDATE agents SET status = ?, status_at = ? WHERE id = ?", row["status"], row["statusAt"], row["id"])
    return True


def others(tx: Transaction, host: str) -> list[Record]:
    """The agents that other machines told of, while their lease lasts."""
    return [row for row in agents.list_(tx) if row["holder"] not in ("", host) and row["heldUntil"] > now_ms()]


def keep(tx: Transaction, heard: list[Record], host: str) -> None:
    """What was heard of others, beside our own. One of ours stays ours until its lease is somebody else's."""
    names = [row["id"] for row in heard]
    for row in agents.list_(tx):
        if row["holder"] not in ("", host) and row["id"] not in names:
            tx.do("DELETE FROM agents WHERE id = ?", row["id"])
    for row in heard:
        agents.register(tx, row["id"], label=row["label"], parent=row["parent"], manages=row["manages"])
        tx.do(
            "UPDATE agents SET status = ?, status_at = ?, holder = ?, held_until = ? WHERE id = ?",
            *(row["status"], row["statusAt"], row["holder"], row["heldUntil"], row["id"]),
        )


def _label(row: Record) -> str | None:
    parts = [row["skill"], row["currentPhase"], row["title"]]
    return " · ".join(part for part in parts if part) or row["label"]
