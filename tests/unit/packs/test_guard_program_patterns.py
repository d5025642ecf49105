"""The patterns by which the guard reads short programs: the words that stand for a pattern are in all that it finds."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from snell.packs.guard.shell import program_patterns
from snell.packs.guard.shell.program_patterns import WordPattern

PATTERNS = {name: each for name, each in vars(program_patterns).items() if isinstance(each, WordPattern)}


@pytest.mark.parametrize("name", PATTERNS)
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_every_text_that_a_pattern_matches_holds_one_of_its_words(name: str, data: st.DataObject):
    text = data.draw(st.from_regex(PATTERNS[name].pattern))
    assert any(word in text for word in PATTERNS[name].words), text


def test_a_text_without_the_words_is_not_searched():
    pattern = WordPattern("unlink", r"unlink|remove")
    assert (list(pattern.finditer("remove(x)")), pattern.search("remove(x)")) == ([], None)
    assert [found[0] for found in pattern.finditer("unlink(x); remove(y)")] == ["unlink", "remove"]
