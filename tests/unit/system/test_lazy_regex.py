"""Patterns that are compiled when they are first used."""

import re

import pytest

from snell.system.lazy_regex import lazy_regex


def test_it_does_what_a_compiled_one_does() -> None:
    found = lazy_regex(r"(b)(c)?", re.IGNORECASE)
    match = found.search("aBc")
    assert match is not None
    assert (match.groups(), found.sub("-", "abca"), found.groups, found.pattern) == (("B", "c"), "a-a", 2, r"(b)(c)?")


def test_a_mistake_shows_when_it_is_used_and_not_before() -> None:
    wrong = lazy_regex("(")
    with pytest.raises(re.error):
        wrong.match("x")


def test_it_has_nothing_that_a_pattern_has_not() -> None:
    with pytest.raises(AttributeError):
        lazy_regex("x").no_such_thing  # type: ignore[attr-defined] # noqa: B018 - that is the test
