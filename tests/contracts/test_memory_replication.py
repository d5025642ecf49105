"""What one machine of a team remembers the others know, over a real PostgreSQL; and what is forgotten is gone."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from snell.daemon.optional_services import OptionalServices
from snell.memory import rows, shared_rows
from snell.memory.project_identity import Checkout
from snell.memory.project_renames import follow
from snell.memory.recall import Question
from snell.memory.remember import remember
from snell.memory.service import Memories
from snell.memory.shortlist import Shortlist
from snell.memory.types import Draft
from snell.runtime.app import database_of
from snell.store.postgres import PostgresDatabase
from snell.store.replication.memories import SharedMemories
from snell.store.replication.replicator import Replicator
from snell.store.sqlite import SqliteDatabase
from snell.system.paths import Places
from tests.waiting import wait_until

pytestmark = pytest.mark.process

PROJECT = "example.com/team/shop"
UV = "We decided to use uv for packages, because pip was slow"
COOKIE = "The login cookie is called `sid_v2`, since `sid` was taken"


class Machine:
    def __init__(self, folder: Path, name: str, server: PostgresDatabase) -> None:
        self.local, self.server = SqliteDatabase(folder / f"{name}.db"), server
        self.memories = Memories(self.local)
        self.share = SharedMemories(self.local, server)
        self.share.every = 0.05
        self.loop = Replicator(self.share)
        self.works_on(PROJECT, f"{name}:1")

    def works_on(self, project: str, repository: str) -> None:
        self.local.run(lambda tx: follow(tx, Checkout(repository, "/somewhere", project)))

    def keep(self, text: str, project: str = PROJECT) -> str:
        kept = self.memories.remember(Draft(content=text, project=project, tags=("t",)))
        assert kept.is_stored
        return kept.id

    def knows(self, project: str = PROJECT) -> dict[str, str]:
        found = self.local.run(lambda tx: rows.list_memories(tx, project=project))
        return {memory.content: memory.source for memory in found}


@pytest.fixture
def machines(tmp_path: Path, on_postgres: Callable[..., PostgresDatabase]) -> Iterator[tuple[Machine, Machine]]:
    one, two = (Machine(tmp_path, name, on_postgres("memories")) for name in ("one", "two"))
    yield one, two
    for machine in (one, two):
        assert machine.loop.stop(10)
        machine.local.close()
        machine.server.close()


def test_what_one_remembers_the_other_recalls_and_knows_where_it_comes_from(machines) -> None:
    one, two = machines
    one.keep(UV)
    two.keep(COOKIE)
    for machine in (one, two, one):
        machine.share.exchange()
    assert one.knows() == {UV: "remember", COOKIE: "team:remember"}
    assert two.knows() == {UV: "team:remember", COOKIE: "remember"}
    (found, *_) = two.memories.recall(Question(text="which package manager", project=PROJECT))
    assert (found.memory.content, found.memory.tags) == (UV, ("t",))
    assert [machine.share.exchange() for machine in (one, two)] == [0, 0]
    assert one.server.run(rows.stats).memories == 2


def test_a_path_stays_and_a_project_comes_only_to_those_who_work_on_it(machines) -> None:
    one, two = machines
    one.keep(UV, "/home/ann/private")
    one.keep(COOKIE, "example.com/other/thing")
    one.share.exchange()
    two.share.exchange()
    assert two.local.run(rows.stats).memories == 0
    assert one.server.run(rows.stats).projects == {"example.com/other/thing": 1}
    two.works_on("example.com/other/thing", "two:2")
    two.share.exchange()
    assert two.knows("example.com/other/thing") == {COOKIE: "team:remember"}


def test_what_one_machine_forgets_all_forget_until_it_is_said_again(machines) -> None:
    one, two = machines
    id_ = one.keep(UV)
    one.keep(COOKIE)
    for machine in (one, two):
        machine.share.exchange()
    one.local.run(lambda tx: rows.forget(tx, [id_]))
    for machine in (one, two):
        machine.share.exchange()
    assert (set(one.knows()), set(two.knows()), one.server.run(rows.stats).memories) == ({COOKIE}, {COOKIE}, 1)
    assert [machine.share.exchange() for machine in (one, two)] == [0, 0]
    two.keep(UV)
    for machine in (two, one):
        machine.share.exchange()
    assert (set(one.knows()), set(two.knows())) == ({UV, COOKIE}, {UV, COOKIE})


def test_what_comes_from_the_team_is_looked_through_for_secrets(machines) -> None:
    one, two = machines
    secret = "gh" + "p_" + "q7Rz2Lw9Xk4Tn8Vb3Hd6Jm1Pc5Yg0FsAbCd9"
    texts = [f"The deploy needs {secret}, because the runner has no rights", secret, UV]

    def written_by_a_careless_one(tx) -> None:
        for text in texts:
            remember(tx, Draft(content=text, project=PROJECT), Shortlist(), similar=2.0, is_gated=False)

    one.server.run(written_by_a_careless_one)
    two.share.exchange()
    known = two.knows()
    assert (len(known), UV in known, any(secret in text for text in known)) == (2, True, False)


def test_a_server_that_was_away_gets_everything_later(machines, postgres) -> None:
    one, two = machines
    one.share.exchange()
    postgres.stop()
    try:
        one.loop.start()
        one.keep(UV)
        wait_until(lambda: "memories wait on this machine" in one.loop.problem)
        assert one.knows() == {UV: "remember"}
    finally:
        postgres.start()
    wait_until(lambda: not one.loop.problem)
    two.loop.start()
    wait_until(lambda: UV in two.knows())


def test_nothing_is_noted_down_where_nothing_is_shared(machines) -> None:
    one, _ = machines
    id_ = one.keep(UV)
    one.local.run(lambda tx: rows.forget(tx, [id_]))
    assert one.local.run(shared_rows.list_forgotten) == []
    one.share.exchange()
    one.local.run(lambda tx: shared_rows.set_sharing(tx, is_shared=False))
    again = one.keep(COOKIE)
    one.local.run(lambda tx: rows.forget(tx, [again]))
    assert one.local.run(shared_rows.list_forgotten) == []


def test_the_daemons_feed_shares_memories_if_the_settings_say_so(tmp_path: Path, postgres, on_postgres) -> None:
    database = f"feed_{tmp_path.name}"[:60].lower().replace("-", "_")
    with pytest.importorskip("psycopg").connect(postgres.address, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {database}")
    address = postgres.address.replace("dbname=postgres", f"dbname={database}")
    feeds = []
    for name, share in (("one", "true"), ("two", "true"), ("three", "false")):
        where = Places(tmp_path / name / "config", tmp_path / name / "state", tmp_path / name / "run")
        where.config.mkdir(parents=True)
        settings = f'database = "{address}"\n[pack.remember]\nenabled = true\nshare = {share}\n'
        (where.config / "snell.toml").write_text(settings, encoding="utf-8")
        local = database_of(where)
        checkout = Checkout(f"{name}:1", "/somewhere", PROJECT)
        local.run(lambda tx, at=checkout: follow(tx, at))
        feeds.append((OptionalServices(where, {}).feed, local))
    first, second, third = feeds
    Memories(first[1]).remember(Draft(content=UV, project=PROJECT))
    Memories(third[1]).remember(Draft(content=COOKIE, project=PROJECT))
    assert [feed.memories is None for feed, _ in feeds] == [False, False, True]
    assert [feed.memories.exchange() for feed, _ in (first, second)] == [1, 1]
    known = [local.run(lambda tx: rows.list_memories(tx, project=PROJECT)) for _, local in feeds]
    assert [[memory.content for memory in each] for each in known] == [[UV], [UV], [COOKIE]]
    for feed, local in feeds:
        feed.stop()
        local.close()
