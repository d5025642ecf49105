"""The daemon that answered: its version, and what it has besides."""

from collections.abc import Iterator, Mapping
from typing import Any

from snell.cli.health import Check, Visit
from snell.daemon.client import DaemonError, HungDaemonError, ask
from snell.system.version import our_version


def checks(visit: Visit) -> Iterator[Check]:
    try:
        status = ask(visit.where.run, "status")
    except HungDaemonError as error:
        yield Check(
            "daemon", "fail", str(error.message), "`snell daemon stop` ends it, and the next hook starts another"
        )
        return
    except DaemonError as error:
        yield Check(
            "daemon", "warn", str(error.message), "the next hook starts one; `snell daemon run` shows what keeps it"
        )
        return
    who = f"pid {status['pid']}, version {status['version']}, {status['served']} events"
    if status["version"] == our_version():
        yield Check("daemon", "ok", f"{who}, at {status['socket']}")
    else:
        detail = f"{who}, but this is version {our_version()}"
        yield Check("daemon", "warn", detail, "`snell daemon stop`; the next hook starts the right one")
    if status.get("shed"):
        detail = f"{status['shed']} traces of silent events were not kept in a flood"
        yield Check("daemon", "ok", detail)
    if (journal := status.get("journal")) and (journal["problem"] or journal["lost"]):
        yield Check("journal", "fail", trouble_with(journal), "mend that; what waits is written by itself then")
    yield from _annexes(status)


def trouble_with(journal: Mapping[str, Any]) -> str:
    """What cannot be written, and what becomes of it."""
    lost = f"; {journal['lost']} decisions found no room and are not on record" if journal["lost"] else ""
    waiting = f"; {journal['waiting']} decisions wait to be written" if journal["waiting"] else ""
    return (journal["problem"] or "the journal could not be written for a while") + waiting + lost


def _annexes(status: Mapping[str, Any]) -> Iterator[Check]:
    if http := status.get("http"):
        if http.get("problem"):
            yield Check(
                "http endpoint", "fail", http["problem"], "choose another `port` in `[http]`, then `snell daemon stop`"
            )
        else:
            yield Check("http endpoint", "ok", f"{http['address']}, {http['refused']} requests refused")
    if database := status.get("database"):
        waiting = f"{database['address']}, {database['waiting']} decisions wait on this machine"
        if database["problem"]:
            yield Check(
                "database", "warn", f"{waiting}; {database['problem']}", "nothing is lost; they follow when it is back"
            )
        else:
            yield Check("database", "ok", waiting)
