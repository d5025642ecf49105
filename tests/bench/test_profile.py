"""`dev.py bench --profile` says where the time of one event goes."""

import re
from xml.etree import ElementTree

from bench import profile
from bench.commands import new_commands
from bench.flame import write_flame_graph


def test_the_profile_divides_the_time_before_and_after_the_reply_among_its_parts() -> None:
    found = profile.profile(is_new=True, events=64)
    assert set(found.whole) == {profile.BEFORE, profile.AFTER}
    for when, whole in found.whole.items():
        parts = [figure for (at, _), figure in found.parts.items() if at == when]
        assert abs(sum(parts) - whole) < 1, "each sample belongs to one part"
    assert (profile.BEFORE, "hook guard/guard") in found.parts
    assert (profile.AFTER, "hook ledger/record") in found.parts
    lines = list(profile.table({"new": found}))
    assert any(re.fullmatch(r"  hook guard/guard +\d+", line) for line in lines)


def test_the_flame_graph_is_an_image_with_a_box_for_each_function(tmp_path) -> None:
    path = tmp_path / "flame.svg"
    write_flame_graph(path, {("before", "a.py:f"): 3, ("before", "a.py:f", "b.py:<g>"): 1, ("after",): 4}, "all")
    root = ElementTree.parse(path).getroot()
    titles = [each.text for each in root.iter("{http://www.w3.org/2000/svg}title")]
    assert titles == ["all: 100.0%", "after: 50.0%", "before: 50.0%", "a.py:f: 50.0%", "b.py:<g>: 12.5%"]


def test_new_commands_are_new_and_the_same_in_every_run() -> None:
    first = [line for line, _ in zip(new_commands(), range(300), strict=False)]
    assert len(set(first)) == 300
    assert first == [line for line, _ in zip(new_commands(), range(300), strict=False)]
