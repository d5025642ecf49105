"""The running daemon: its version, its journal and its optional services."""

from collections.abc import Iterator, Mapping
from typing import Any

from snell.cli.health import Check, Installation
from snell.daemon.client import DaemonError, HungDaemonError, ask
from snell.system.version import our_version

_IF_HUNG = "`snell daemon stop` kills it; the next hook starts a new one"


def daemon_checks(installation: Installation) -> Iterator[Check]:
    try:
        status = ask(installation.where.run, "status")
    except DaemonError as error:
        is_hung = isinstance(error, HungDaemonError)
        advice = _IF_HUNG if is_hung else "the next hook starts one; if it does not, `snell daemon run` shows why"
        yield Check("daemon", "fail" if is_hung else "warn", error.message, advice)
        return
    who = f"pid {status['pid']}, version {status['version']}, {status['served']} events"
    if status["version"] == our_version():
        yield Check("daemon", "ok", f"{who}, at {status['socket']}")
    else:
        detail = f"{who}, but version {our_version()} is installed"
        yield Check("daemon", "warn", detail, "run `snell daemon stop`; the next hook starts the installed version")
    if status.get("shed"):
        detail = f"{status['shed']} traces of events without opinion were dropped under load"
        yield Check("daemon", "ok", detail)
    if (journal := status.get("journal")) and (journal["problem"] or journal["lost"]):
        advice = "fix that; waiting decisions are then written by themselves"
        yield Check("journal", "fail", describe_journal_problem(journal), advice)
    yield from _optional_services(status)


def describe_journal_problem(journal: Mapping[str, Any]) -> str:
    """Return why the journal cannot be written, and how many decisions wait or were lost."""
    lost = f"; {journal['lost']} decisions were lost, because the queue was full" if journal["lost"] else ""
    waiting = f"; {journal['waiting']} decisions are waiting to be written" if journal["waiting"] else ""
    return (journal["problem"] or "the journal could not be written for some time") + waiting + lost


def describe_unsent(database: Mapping[str, Any]) -> str:
    """Return how many rows of each kind the shared server does not have yet."""
    names = {"waiting": "decisions", "traces": "traces", "calls": "tool calls", "work": "rows of work"}
    counts = ", ".join(f"{database[key]:,} {name}" for key, name in names.items() if database.get(key))
    return f"{counts} not sent yet" if counts else "in sync"


def _optional_services(status: Mapping[str, Any]) -> Iterator[Check]:
    if http := status.get("http"):
        if problem := http.get("problem"):
            advice = "choose another `port` in `[http]`, then `snell daemon stop`"
            yield Check("http endpoint", "fail", problem, advice)
        else:
            yield Check("http endpoint", "ok", f"{http['address']}, {http['refused']} requests refused")
    if database := status.get("database"):
        detail = f"{database['address']}, {describe_unsent(database)}"
        if problem := database["problem"]:
            advice = "nothing is lost: they are sent when the database is reachable again"
            yield Check("database", "warn", f"{detail}; {problem}", advice)
        else:
            yield Check("database", "ok", detail)
