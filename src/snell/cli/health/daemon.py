"""The running daemon: its version, its journal and its optional services."""

from collections.abc import Iterator, Mapping
from typing import Any

from snell.cli.health import Check, Installation
from snell.daemon.client import DaemonError, HungDaemonError, ask
from snell.system.version import our_version


def checks(installation: Installation) -> Iterator[Check]:
    try:
        status = ask(installation.where.run, "status")
    except HungDaemonError as error:
        yield Check(
            "daemon", "fail", str(error.message), "`snell daemon stop` kills it; the next hook starts a new one"
        )
        return
    except DaemonError as error:
        yield Check(
            "daemon",
            "warn",
            str(error.message),
            "the next hook starts one; if it does not, `snell daemon run` shows why",
        )
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
        yield Check(
            "journal",
            "fail",
            describe_journal_problem(journal),
            "fix that; waiting decisions are then written by themselves",
        )
    yield from _optional_services(status)


def describe_journal_problem(journal: Mapping[str, Any]) -> str:
    """Return why the journal cannot be written, and how many decisions wait or were lost."""
    lost = f"; {journal['lost']} decisions were lost, because the queue was full" if journal["lost"] else ""
    waiting = f"; {journal['waiting']} decisions are waiting to be written" if journal["waiting"] else ""
    return (journal["problem"] or "the journal could not be written for some time") + waiting + lost


def _optional_services(status: Mapping[str, Any]) -> Iterator[Check]:
    if http := status.get("http"):
        if http.get("problem"):
            yield Check(
                "http endpoint", "fail", http["problem"], "choose another `port` in `[http]`, then `snell daemon stop`"
            )
        else:
            yield Check("http endpoint", "ok", f"{http['address']}, {http['refused']} requests refused")
    if database := status.get("database"):
        waiting = f"{database['address']}, {database['waiting']} decisions not sent yet"
        if database["problem"]:
            yield Check(
                "database",
                "warn",
                f"{waiting}; {database['problem']}",
                "nothing is lost: they are sent when the database is reachable again",
            )
        else:
            yield Check("database", "ok", waiting)
