"""The clients on this machine, and when each client and hook was last active: one that never runs goes unnoticed."""

from collections.abc import Iterator
from contextlib import closing
from typing import cast

from msgspec import Struct

from snell.cli.active_hooks import active_hooks, folder_context
from snell.cli.follow_decisions import runs_in
from snell.cli.health import Check, Installation, Status
from snell.cli.terminal import plural, time_ago
from snell.model.protocols import Transaction
from snell.records.decisions import SELF_TEST
from snell.runtime.app import database_of
from snell.settings.load import load
from snell.setup.status import client_checks

DECISIONS, TRACES = 20_000, 2_000  # how many recent ones are read
SHOWN = 40
OURS = ("person",)  # commands typed by a person, not a client


class HookActivity(Struct):
    last: int = 0
    times: int = 0
    failures: int = 0
    failed_last: bool = False


def activity_checks(installation: Installation) -> Iterator[Check]:
    if not (installation.where.state / "snell.db").exists():
        yield Check("last fired", "ok", "no events yet")
        return
    with closing(database_of(installation.where)) as database:
        clients, hooks = database.run(lambda tx: (events_by_client(tx), _hooks(tx)), only_reads=True)
    if not clients:
        advice = "`snell setup` connects your clients; then run a tool in one of them"
        yield Check("last fired", "warn", "no client has sent an event yet", advice)
    for name, (last, times) in clients.items():
        yield Check(f"client {name}", "ok", f"last event {time_ago(last)}, {plural(times, 'recent event')}")
    yield from (_hook_check(*each) for each in sorted(hooks.items(), key=lambda item: -item[1].last)[:SHOWN])


def _hook_check(name: str, fired: HookActivity) -> Check:
    detail = f"last run {time_ago(fired.last)}, {plural(fired.times, 'recent run')}"
    detail += f", {fired.failures} failed" if fired.failures else ""
    if not fired.failed_last:
        return Check(f"hook {name}", "ok", detail)
    advice = f"`snell log --hook {name}`, then `snell why ID`"
    return Check(f"hook {name}", "warn", f"{detail}, including the last one", advice)


def events_by_client(tx: Transaction) -> dict[str, tuple[int, int]]:
    """Return by client the time of its last event and the number of its recent events."""
    newest = "(SELECT COALESCE(MAX(seq), 0) FROM decisions)"
    sql = (
        f"SELECT client, MAX(at), COUNT(*) FROM decisions WHERE seq > {newest} - ? AND event <> ?"
        " GROUP BY client ORDER BY 2 DESC"
    )
    rows = tx.rows(sql, DECISIONS, SELF_TEST)
    return {name.replace("_", "-"): (last, times) for name, last, times in rows if name and name not in OURS}


def _hooks(tx: Transaction) -> dict[str, HookActivity]:
    sql = (
        "SELECT d.at, t.body, t.late FROM traces t JOIN decisions d ON d.id = t.decision_id"
        " WHERE t.seq > (SELECT COALESCE(MAX(seq), 0) FROM traces) - ? ORDER BY t.seq"
    )
    found: dict[str, HookActivity] = {}
    for at, body, late in tx.rows(sql, TRACES):
        for run in runs_in(body, late):
            fired = found.setdefault(str(run["hook"]), HookActivity())
            fired.failed_last = "failure" in run
            fired.last, fired.times, fired.failures = at, fired.times + 1, fired.failures + fired.failed_last
    return found


def clients_checks(installation: Installation) -> Iterator[Check]:
    """Yield one line per client on this machine, and one per problem with it."""
    where, cwd, env = installation.where, installation.cwd, installation.env
    loaded = load(where, cwd, env)
    hooks = active_hooks(folder_context(where, cwd, env), loaded)
    for name, status, detail, advice in client_checks(env, cwd, loaded, hooks):
        yield Check(name, cast(Status, status), detail, advice)
