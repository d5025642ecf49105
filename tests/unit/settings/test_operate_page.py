"""The settings that the page on operating shows are settings."""

import re
from pathlib import Path

import pytest

from snell.model.hooks import Scope
from snell.settings.parse import parse
from snell.settings.parse_types import ParseState, Value

PAGE = Path(__file__).resolve().parents[3] / "docs/howto/operate.md"
BLOCKS = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def read(text: str, layer: str = "user") -> tuple[dict[str, object], list[str]]:
    reading = ParseState("snell.toml", layer=layer, scope=Scope.SESSION, folder="/", extra_events=frozenset())
    parsed = parse(text.encode(), reading)
    values: tuple[Value, ...] = parsed.values
    return {value.name: value.value for value in values}, [each.message for each in parsed.problems]


def test_the_blocks_of_the_page_are_read_without_complaint():
    assert [read(block) for block in BLOCKS] == [
        ({"store_megabytes": 500}, []),
        ({"http": {"enabled": True, "port": 8744}}, []),
        ({"database": "postgresql://ann@db.example/team"}, []),
    ]


@pytest.mark.parametrize("layer", ["project", "local"])
def test_a_project_may_set_none_of_them(layer):
    assert [bool(read(block, layer)[1]) for block in BLOCKS] == [True] * 3
    assert [read(block, layer)[0] for block in BLOCKS] == [{}] * 3


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("http = true", "`http` must be a table, not true or false"),
        ("[http]\nport = 80", "`port` of `http` cannot be `80`"),
        ("[http]\nport = 70000", "`port` of `http` cannot be `70000`"),
        ('[http]\nport = "8744"', "`port` of `http` cannot be `8744`"),
        ("[http]\nport = true", "`port` of `http` cannot be `True`"),
        ('[http]\nenabled = "yes"', "`enabled` of `http` must be true or false"),
        ('[http]\nhost = "0.0.0.0"', "`http` has no `host`"),
        ("database = 3", "`database` must be text, not a number"),
    ],
)
def test_what_cannot_be_meant_is_said(text, complaint):
    assert read(text) == ({}, [complaint])
