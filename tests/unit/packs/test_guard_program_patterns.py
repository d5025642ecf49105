"""The patterns by which the guard reads short programs: the words that stand for a pattern are in all that it finds."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from snell.packs.guard.shell.program_patterns import Searcher, WordPattern, read_patterns

PATTERNS = {name: row for name, row in read_patterns().items() if row.words}


@pytest.mark.parametrize("name", PATTERNS)
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_every_text_that_a_pattern_matches_holds_one_of_its_words(name: str, data: st.DataObject):
    text = data.draw(st.from_regex(PATTERNS[name].expression))
    assert any(word in text for word in PATTERNS[name].words.split()), text


@pytest.mark.parametrize("name", read_patterns())
def test_every_pattern_of_the_table_compiles(name: str):
    assert re.compile(read_patterns()[name].expression)


def test_a_text_without_the_words_is_not_searched():
    searcher = Searcher(WordPattern(r"unlink|remove", "unlink"))
    assert (list(searcher.finditer("remove(x)")), searcher.search("remove(x)")) == ([], None)
    assert [found[0] for found in searcher.finditer("unlink(x); remove(y)")] == ["unlink", "remove"]
