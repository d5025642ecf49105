"""One fleet over two machines and a real PostgreSQL."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from snell.store.postgres import PostgresDatabase
from snell.store.replication.replicator import Replicator
from snell.store.replication.work import SharedWork, host_name
from snell.store.sqlite import SqliteDatabase
from snell.work import agents, effort_commands
from tests.waiting import wait_until

pytestmark = pytest.mark.process


class Host:
    def __init__(self, folder: Path, name: str, server: PostgresDatabase, every: float) -> None:
        self.local = SqliteDatabase(folder / f"{name}.db")
        self.server = server
        self.share = SharedWork(self.local, server, name)
        self.share.every = every
        self.loop = Replicator(self.share)

    def status(self, agent: str, status: str) -> None:
        def change(tx):
            agents.register(tx, agent)
            agents.update_status(tx, agent, status)

        self.local.run(change)

    def fleet(self) -> dict[str, tuple[str, str]]:
        return {row["id"]: (row["status"], row["holder"]) for row in self.local.run(agents.fleet)}


@pytest.fixture
def hosts(tmp_path: Path, on_postgres: Callable[[str], PostgresDatabase]) -> Iterator[tuple[Host, Host]]:
    """Two that look by themselves once a minute: what is seen sooner was notified."""
    one, two = (Host(tmp_path, name, on_postgres("fleet"), 60.0) for name in ("one", "two"))
    yield one, two
    for host in (one, two):
        host.loop.stop()
        host.local.close()
        host.server.close()


def test_each_machine_sees_the_agents_of_the_other_and_speaks_for_its_own(hosts: tuple[Host, Host]):
    one, two = hosts
    one.local.run(lambda tx: effort_commands.start_effort(tx, "/p", "ann", "Parser", "fix"))
    one.status("ann", "working")
    two.status("bob", "attention")
    for host in (one, two, one):
        host.share.exchange()
    assert one.fleet() == {"ann": ("working", ""), "bob": ("attention", "two")}
    assert two.fleet() == {"ann": ("working", "one"), "bob": ("attention", "")}
    assert two.local.run(lambda tx: agents.get(tx, "ann"))["label"] == "fix · Parser"
    one.status("ann", "done")
    two.share.exchange()
    assert two.fleet()["ann"] == ("working", "one")
    one.share.exchange()
    two.share.exchange()
    assert two.fleet()["ann"] == ("done", "one")


def test_two_machines_never_speak_for_the_same_agent(hosts: tuple[Host, Host]):
    one, two = hosts
    for host in hosts:
        host.status("ann", "working")
    turns = [threading.Thread(target=host.share.exchange) for host in hosts]
    for turn in turns:
        turn.start()
    for turn in turns:
        turn.join(60)
    (holder,) = [row["holder"] for row in one.server.run(agents.list_)]
    taken = {"one": one.share.leased_elsewhere, "two": two.share.leased_elsewhere}
    assert taken == {holder: [], "two" if holder == "one" else "one": ["ann"]}


def test_a_change_is_heard_at_once(hosts: tuple[Host, Host]):
    one, two = hosts
    two.loop.start()
    one.status("ann", "error")

    def arrived() -> bool:
        one.share._sent = []  # told again, until the other one's ear is there
        one.share.exchange()
        return two.fleet().get("ann") == ("error", "one")

    assert wait_until(arrived, 30)
    one.status("ann", "done")
    one.share.exchange()
    assert wait_until(lambda: two.fleet()["ann"] == ("done", "one"), 30)


def test_a_machine_has_a_name_for_each_home():
    names = {host_name(Path(folder)) for folder in ("/a", "/b", "/a")}
    assert len(names) == 2
