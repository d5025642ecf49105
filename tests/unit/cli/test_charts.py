"""Bars say what they should, whatever the names and numbers are."""

import xml.etree.ElementTree as ET

from snell.cli.charts import Bar, Chart, shorten_middle, svg_charts, terminal_chart
from snell.cli.terminal import Colours

PLAIN = Colours(on=False)


def drawn(*bars: Bar, note: str = "") -> list[str]:
    return terminal_chart(Chart("calls", bars, note), PLAIN, width=10)[1:]


def test_parts_show_however_small_they_are_and_never_hide_that_something_went_well():
    assert drawn(Bar("a", 1000, failed=1, denied=1), Bar("b", 500), Bar("c", 1, failed=0.5), Bar("d", 1, failed=1)) == [
        "  a  ########-x",
        "  b  #####",
        "  c  #",
        "  d  x",
    ]
    assert drawn(Bar("a", 3, failed=3), Bar("b", 0)) == ["  a  xxxxxxxxxx", "  b"]


def test_nothing_and_what_was_left_out_are_said():
    assert drawn() == ["  nothing yet"]
    assert drawn(Bar("a", 1), note="and 2 more") == ["  a  ##########", "  and 2 more"]


def test_names_stand_in_one_column_and_tell_the_terminal_nothing():
    lines = drawn(Bar("\x1b[31mred\x07", 1), Bar("日本", 1), Bar("e\u0301", 1), Bar("n" * 80, 1))
    assert not any(char in "".join(lines) for char in "\x1b\x07")
    assert lines[0].startswith("  \ufffd[31mred\ufffd  ")
    assert [line.index("#") for line in lines] == [38, 38 - 2, 38 + 1, 38]  # wide ones take two places, accents none


def test_svg_is_well_formed_whatever_the_names_are():
    odd = [Bar("<b>&\x00\ud800\uffff", 2, 1, 0, "1 & 2"), Bar("", 0), Bar("x" * 500, 1e12, label="y" * 500)]
    root = ET.fromstring(svg_charts([Chart("calls", tuple(odd), "and 3 more"), Chart("none", ())]))
    texts = [each.text or "" for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"calls", "1 & 2", "and 3 more", "nothing yet"} <= set(texts)
    assert max(map(len, texts)) <= 60
    widths = [float(each.attrib["width"]) for each in root.iter("{http://www.w3.org/2000/svg}rect")]
    assert max(widths[1:]) <= 420.0


def test_a_long_name_keeps_both_its_ends():
    assert shorten_middle("mcp__a_server_of_ours__send_letters", 20) == "mcp__a_se…nd_letters"
    assert shorten_middle("Bash", 20) == "Bash"
    assert shorten_middle("查询全部用户的记录", 9) == "查…记录"
    assert shorten_middle("a\x1b[31mb", 20) == "a\N{REPLACEMENT CHARACTER}[31mb"
