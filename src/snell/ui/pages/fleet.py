"""Fleet: all agents, most urgent first, with their effort, phase, context use and claims."""

from typing import Any

from snell.model.protocols import Transaction
from snell.ui.site import Query, Site
from snell.work.agents import STATUSES, fleet, list_


def show(site: Site, query: Query) -> dict[str, Any]:
    def read(tx: Transaction) -> list[dict[str, Any]]:
        claims = {each["id"]: each for each in list_(tx)}
        return [{**each, **_claims(claims.get(each["id"], {}))} for each in fleet(tx)]

    agents = sorted(site.store.run(read), key=lambda each: (_urgency(each["status"]), each["id"]))
    counts = {status: sum(each["status"] == status for each in agents) for status in STATUSES}
    return {"agents": agents, "counts": {status: number for status, number in counts.items() if number}}


def _urgency(status: str) -> int:
    return STATUSES.index(status) if status in STATUSES else len(STATUSES)


def _claims(agent: dict[str, Any]) -> dict[str, str]:
    return {name: _words(agent.get(name)) for name in ("claims", "targetedClaims", "manages", "signal")}


def _words(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(each if isinstance(each, str) else _signal(each) for each in value)
    return "" if value is None else str(value)


def _signal(each: Any) -> str:
    if not isinstance(each, dict):
        return str(each)
    return " ".join(str(each[name]) for name in ("agent", "status", "text") if each.get(name))
