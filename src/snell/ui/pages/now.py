"""Now: the newest decisions, live, with filters in the address."""

import time
from typing import Any

from snell.model.effects import Verdict
from snell.model.protocols import Transaction
from snell.settings.pause import current_pause
from snell.ui.decision_rows import FILTERS, WINDOW, clients, counts_since, find
from snell.ui.numbers import number_in
from snell.ui.site import Query, Site

DAY_MS = 86_400_000


def show(site: Site, query: Query) -> dict[str, Any]:
    asked = {name: query.get(name, "").strip() for name in FILTERS}
    before = number_in(query, "before")

    def read(tx: Transaction) -> dict[str, Any]:
        since = round(time.time() * 1000) - DAY_MS
        return {"found": find(tx, asked, before), "clients": clients(tx), "counts": counts_since(tx, since)}

    values = site.store.run(read)
    projects = sorted({each.project for each in values["found"].seen if each.project})
    return {
        **values,
        "asked": asked,
        "is_filtered": any(asked.values()),
        "before": before,
        "projects": projects,
        "verdicts": [str(each) for each in reversed(Verdict)],
        "window": WINDOW,
        "pause": str(current_pause(site.where) or ""),
    }
