"""`snell memory` shows ways, regions and maps, as the MCP tools do."""

from xml.etree import ElementTree

import pytest

FACTS = [
    "We decided to use PostgreSQL for the orders database because SQLite locked under load",
    "The orders table of the database needs an index on customer_id",
    "Use a transaction for every change to the orders table in PostgreSQL",
    "The CI pipeline runs the tests on every push with GitHub Actions",
    "The CI pipeline fails when coverage of the tests falls below 85 percent",
    "Flaky tests in the CI pipeline are quarantined for a week",
]


@pytest.fixture
def ids(snell):
    said = [snell("memory", "remember", text) for text in FACTS]
    assert [code for code, _, _ in said] == [0] * len(FACTS)
    return [out.split()[-1] for _, out, _ in said]


def test_ways_regions_and_maps_can_be_looked_at(snell, ids):
    code, way, _ = snell("memory", "journey", ids[0], ids[-1], "--limit", "4")
    assert (code, way.splitlines()[0], len(way.splitlines())) == (0, f"  0%  {ids[0]}  {FACTS[0]}", 4)
    assert len(snell("memory", "wander", ids[0], "--limit", "2")[1].splitlines()) == 3
    regions = snell("memory", "regions")[1].splitlines()
    assert [line.split()[0] for line in regions if line.strip()[0].isdigit()] == ["3", "3", "0"]
    picture = ElementTree.fromstring(snell("memory", "map")[1])
    assert picture.get("aria-label") == "6 memories in 2 regions"
    assert snell("memory", "map", "--format", "mermaid")[1].startswith("graph LR\n")


def test_a_map_goes_into_the_file_that_is_named(snell, ids, tmp_path):
    for name, begin in (("a.svg", "<svg"), ("a.mmd", "graph LR"), ("a.json", "{")):
        path = tmp_path / name
        assert snell("memory", "map", str(path))[:2] == (0, f"{path}\n")
        assert path.read_text().startswith(begin)
    code, _, err = snell("memory", "map", str(path))
    assert (code, "already exists" in err) == (1, True)


def test_memories_are_extracted_joined_and_their_health_told(snell, ids):
    code, out, _ = snell("memory", "extract", "-", given=b"Hello. We decided to use uv because pip was slow.")
    assert (code, out.splitlines()[-1]) == (0, "1 remembered")
    assert "dry run: nothing was changed; add --yes to apply" in snell("memory", "consolidate", "default")[1]
    code, out, err = snell("memory", "health")
    assert (code, out.splitlines()[0], err) == (0, "status: healthy", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["journey"], "the following arguments are required: start-id, end-id"),
        (["journey", "nope"], "the following arguments are required: end-id"),
        (["journey", "nope", "none"], "there is no memory `nope`"),
        (["wander", "--limit", "21"], "steps: expected a number <= 20"),
        (["map", "--format", "png"], "--format: unknown choice `png`; use one of"),
        (["extract"], "`text` is empty"),
        (["consolidate", "a/b"], "`a/b` is not a name for a namespace"),
    ],
)
def test_what_cannot_be_is_said(snell, words, message):
    code, _, err = snell("memory", *words)
    assert (code, message in err) == (1, True), err
