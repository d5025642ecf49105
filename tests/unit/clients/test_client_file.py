"""The file of a client: what it may hold, and what an author of one is told about a mistake."""

from pathlib import Path

import pytest

from snell.clients.protocol import client_file
from snell.clients.protocol.client_file import read_client
from snell.model.errors import ClientError
from snell.model.protocols import Capabilities

TABLE = """
title = "Moonbase"
about = "Moonbase 1.0"

[protocol.answers]
PreToolUse = ["deny", "ask"]
Stop = { deny = "exit_2" }
SubagentStop = "Stop"

[install]
form = "groups"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(client_file, "FOLDER", tmp_path)
    read_client.cache_clear()
    return tmp_path


def test_what_a_client_can_do_follows_from_its_tables(folder: Path) -> None:
    (folder / "moonbase.toml").write_text(TABLE, encoding="utf-8")
    moonbase = read_client("moonbase")
    cannot = ("native", "rewrite", "output", "note", "prompt_block", "mcp", "rules")
    wanted = Capabilities(**dict.fromkeys(cannot, False))
    assert moonbase.capabilities == wanted
    assert moonbase.table.answers["SubagentStop"] == moonbase.table.answers["Stop"]


@pytest.mark.parametrize(
    ("written", "instead", "says"),
    [
        ("title =", "title", "Expected '=' after a key"),
        ('about = "Moonbase 1.0"', "", "required field `about`"),
        ('["deny", "ask"]', '["deny", "shout"]', "'shout'"),
        ('{ deny = "exit_2" }', '{ deni = "exit_2" }', "unknown field `deni`"),
        ('{ deny = "exit_2" }', '{ deny = { reason = "<reasons>" } }', "'REASONS'"),
        ('form = "groups"', 'form = "group"', "'group'"),
        ('form = "groups"', "matchers = 1", "unknown field `matchers`"),
        ("[install]", "[installs]", "unknown field `installs`"),
        ("[protocol.answers]", "[capabilities]\nfly = true\n[protocol.answers]", "unknown field `fly`"),
    ],
)
def test_a_mistake_in_a_table_is_refused_with_its_file(folder: Path, written: str, instead: str, says: str) -> None:
    (folder / "moonbase.toml").write_text(TABLE.replace(written, instead), encoding="utf-8")
    with pytest.raises(ClientError) as caught:
        read_client("moonbase")
    assert says in str(caught.value)
    assert str(folder / "moonbase.toml") in str(caught.value)
