import re
from xml.etree import ElementTree

from snell.memory.clusters import Region, regions
from snell.memory.map_drawing import LEGEND, MOST_IN_MERMAID, WIDTH, brief, mermaid, svg
from snell.memory.map_layout import Layout, compute_layout
from snell.memory.types import Memory
from tests.unit.memory.landscape import MEMORIES, TEXTS, space

SVG = "{http://www.w3.org/2000/svg}"
NASTY = 'a "b" <script>alert(1)</script> ]] end --> & \x00\x07\ud800 \u2028 `c` #quot; | {x} %% \\'


def drawn(dimensions: int = 2) -> Layout:
    return compute_layout(space(), dimensions, [region.members for region in regions(space(), TEXTS)[0]])


def test_points_fill_a_box_and_what_is_alike_lies_together():
    points = drawn().points

    def apart(a: str, b: str) -> float:
        return sum((x - y) ** 2 for x, y in zip(points[a], points[b], strict=True)) ** 0.5

    assert set(points) == set(TEXTS)
    assert all(0 <= each <= 1 for point in points.values() for each in point)
    inside = max(apart("ci1", other) for other in ("ci2", "ci3", "ci4"))
    assert inside < min(apart("ci1", other) for other in ("db1", "db2", "db3", "db4", "tea"))


def test_no_two_points_lie_on_each_other_and_the_picture_is_always_the_same():
    points = list(drawn().points.values())
    assert len(set(points)) == len(points)
    assert drawn() == drawn()


def test_a_map_can_have_three_dimensions():
    assert {len(point) for point in drawn(3).points.values()} == {3}


def test_an_svg_has_a_dot_a_text_and_a_tooltip_for_each_memory_and_a_legend():
    found = regions(space(), TEXTS)[0]
    root = ElementTree.fromstring(svg(drawn(), MEMORIES, found))
    dots = [each for each in root.iter(f"{SVG}circle") if each.find(f"{SVG}title") is not None]
    assert len(dots) == len(TEXTS)
    told = {each.findtext(f"{SVG}title") for each in dots}
    assert "Ana's birthday is on the third of May (default, importance 0.50)" in told
    assert len({each.get("fill") for each in dots}) == 3
    assert any("pipeline" in (text.text or "") for text in root.iter(f"{SVG}text"))
    assert len(list(root.iter(f"{SVG}line"))) == len(drawn().edges)
    assert not list(ElementTree.fromstring(svg(drawn(), MEMORIES, found, edges=False)).iter(f"{SVG}line"))


def test_what_a_legend_says_ends_before_the_edge():
    many = Region(keywords=("infrastructure", "deployments", "kubernetes"), members=tuple(MEMORIES) * 300)
    root = ElementTree.fromstring(svg(drawn(), MEMORIES, [many]))
    (text,) = [each for each in root.iter(f"{SVG}text") if float(each.get("x")) == WIDTH + 38]
    assert text.text.endswith(f" ({len(many.members)})")
    assert float(text.get("x")) + 6.9 * len(text.text) <= WIDTH + LEGEND


def test_a_mermaid_chart_has_a_node_for_each_memory_inside_its_region():
    lines = mermaid(drawn(), MEMORIES, regions(space(), TEXTS)[0]).splitlines()
    assert lines[0] == "graph LR"
    assert sum(line.strip().startswith("subgraph") for line in lines) == 2
    assert sum(bool(re.match(r'\s+m\d+\["', line)) for line in lines) == len(TEXTS)
    assert sum("---|" in line for line in lines) == len(drawn().edges)


def test_nothing_in_a_memory_becomes_markup():
    memories = {"a": Memory(id="a", content=NASTY), "b": Memory(id="b", content="plain words")}
    layout = Layout({"a": (0.0, 0.0), "b": (1.0, 1.0)}, ())
    root = ElementTree.fromstring(svg(layout, memories, []))
    assert not list(root.iter(f"{SVG}script"))
    (node,) = (line for line in mermaid(layout, memories, []).splitlines() if line.startswith("  m1"))
    assert re.fullmatch(r'  m1\["[^"\[\]<>{}|`%&\\]*"\]', node)


def test_a_mermaid_chart_of_very_many_says_how_many_it_leaves_out():
    memories = {f"{n:03}": Memory(id=f"{n:03}", content=f"number {n}") for n in range(100)}
    layout = Layout(dict.fromkeys(memories, (0.5, 0.5)), ())
    assert f"%% {100 - MOST_IN_MERMAID} more are not shown" in mermaid(layout, memories, [])


def test_nothing_can_be_drawn():
    layout = compute_layout(space({}))
    assert ElementTree.fromstring(svg(layout, {}, [])).get("aria-label") == "0 memories in 0 regions"
    assert mermaid(layout, {}, []) == "graph LR\n"


def test_a_brief_text_is_one_line_and_ends_at_a_word():
    assert brief("one\n two\tthree") == "one two three"
    assert brief("several words that are too long for it", 20) == "several words that…"
    assert brief("x" * 50, 10) == "xxxxxxxxx…"
