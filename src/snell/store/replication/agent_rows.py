"""
Rows of agents on several machines: each machine publishes its own agents on a server and stores those of the others.

INVARIANT: only the machine that holds an agent's lease publishes it, so two machines never publish the same agent.
"""

from snell.model.protocols import Transaction
from snell.work import agents
from snell.work.errors import WorkError
from snell.work.rows import Record, now_ms

CHANNEL = "snell_fleet"
REMEMBERED_MS = 30 * 24 * 3_600_000  # how long an agent whose lease has ended is still listed
_PUBLISHED = ("id", "status", "statusAt", "parent", "manages")


def own_agents(tx: Transaction, host: str) -> list[Record]:
    """Return the agents of this machine, each with a label and the uid of its effort."""
    rows = [row for row in agents.fleet(tx) if row["holder"] in ("", host)]
    names = _effort_names(tx)
    published = [{**{name: row[name] for name in _PUBLISHED}, "label": _label(row)} for row in rows]
    return [{**each, "effort": names.get(row["effortId"])} for each, row in zip(published, rows, strict=True)]


def publish_agent(tx: Transaction, row: Record, host: str) -> bool:
    """Write an agent to the server; False while another machine holds its lease."""
    agents.register(tx, row["id"], label=row["label"], parent=row["parent"], manages=row["manages"])
    try:
        agents.claim(tx, row["id"], host)
    except WorkError:
        return False
    bound = "effort_id = (SELECT id FROM efforts WHERE uid = ?)"
    values = (row["status"], row["statusAt"], row["effort"], row["id"])
    tx.do(f"UPDATE agents SET status = ?, status_at = ?, {bound} WHERE id = ?", *values)
    return True


def other_agents(tx: Transaction, host: str) -> list[Record]:
    """Return the agents of other machines; one whose lease has ended may continue on any machine."""
    names, since = _effort_names(tx), now_ms() - REMEMBERED_MS
    found = [row for row in agents.list_(tx) if row["holder"] not in ("", host) and row["heldUntil"] > since]
    return [{**row, "effort": names.get(row["effortId"])} for row in found]


def store_other_agents(tx: Transaction, others: list[Record], host: str) -> None:
    """Store the agents of other machines. An agent of this machine stays until another machine holds its lease."""
    names, now = [row["id"] for row in others], now_ms()
    ours = {row["id"] for row in agents.list_(tx) if row["holder"] in ("", host)}
    for row in agents.list_(tx):
        if row["holder"] not in ("", host) and row["id"] not in names:
            tx.do("DELETE FROM agents WHERE id = ?", row["id"])
    for row in others:
        if row["id"] in ours and row["heldUntil"] <= now:
            continue
        agents.register(tx, row["id"], label=row["label"], parent=row["parent"], manages=row["manages"])
        tx.do(
            "UPDATE agents SET status = ?, status_at = ?, holder = ?, held_until = ?,"
            " effort_id = COALESCE((SELECT id FROM efforts WHERE uid = ?), effort_id) WHERE id = ?",
            *(row["status"], row["statusAt"], row["holder"], row["heldUntil"], row["effort"], row["id"]),
        )


def release_agents(tx: Transaction, host: str) -> None:
    """End the leases of this machine, so that its agents can continue elsewhere at once."""
    tx.do("UPDATE agents SET held_until = ? WHERE holder = ? AND held_until > ?", now_ms(), host, now_ms())


def _effort_names(tx: Transaction) -> dict[int, str]:
    bound = "SELECT id, uid FROM efforts WHERE uid IS NOT NULL AND id IN (SELECT effort_id FROM agents)"
    return dict(tx.rows(bound))


def _label(row: Record) -> str | None:
    parts = [row["skill"], row["currentPhase"], row["title"]]
    return " · ".join(part for part in parts if part) or row["label"]
