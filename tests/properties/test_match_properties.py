"""What holds for every matcher text and every name."""

from contextlib import suppress
from functools import cache

import pytest
import regex
from hypothesis import assume, example, given
from hypothesis import strategies as st

from snell.engine.match import LONGEST_LIST, TYPES, Predicate, compile_matcher, guess_type
from snell.model.catalogue import CATALOGUE, EventRow, row_of
from snell.model.errors import PatternError
from tests.properties.strategies import many

TOOL = row_of("PreToolUse")
FILE = row_of("FileChanged")

plain = st.text("abAB01_-", min_size=1, max_size=6)
names = plain | st.sampled_from(("Bash", "bash", "BashOutput", "Read", "mcp__a__b", "a b", "ab\nab", "é", ""))
rows = st.sampled_from([*CATALOGUE.values(), row_of("FromTomorrow")])
# Pieces that make regular expressions, right and wrong. Long counts are left out: they only cost time.
PIECES = (
    *"abA1_-,|*+?.^$()[]{}~&/:\\é",
    *("{2}", "{1,3}", "\\d", "\\b", "\\p{L}", "\\1", "[^a]"),
    *(
        "(?:",
        "(?=",
        "(?<=",
        "(?P<n>a)",
        "(?P=n)",
        "(?R)",
        "(?1)",
        "(?i)",
        "(?u)",
        "(?L)",
        "(?V1)",
        "(?x)",
        "(?#",
        "(?>",
    ),
)
pieces = st.lists(st.sampled_from(PIECES), max_size=10).map("".join)
any_text = st.text(max_size=20).filter(lambda text: not regex.search(r"\{\s*\d{3}", text)) | pieces


@many
@given(any_text, st.none() | st.sampled_from((*TYPES, "glob", "")), rows, names | st.text(max_size=10))
@example("(?u)a", None, TOOL, "a")  # a flag that contradicts ours
@example("(?V1)[[a]--[b]]", None, TOOL, "a")
@example("(?R)?a", None, TOOL, "a" * 50)  # never ends by itself
@example("(a*)*b", None, TOOL, "a" * 50)
@example("(" * 400 + ")" * 400, None, TOOL, "a")
@example("*a" * 20 + "b", "wildcard", TOOL, "a" * 200)
def test_any_text_is_a_matcher_or_a_pattern_error(text: str, kind: str | None, row: EventRow, name: str) -> None:
    with suppress(PatternError):
        fits = compile_matcher(text, kind, row)
        assert fits is None or fits(name) in (True, False)


@pytest.mark.proves("S1-31")
@many
@given(st.sampled_from(("", "*", None)), rows)
def test_an_empty_matcher_a_star_or_none_at_all_fits_everything(text: str | None, row: EventRow) -> None:
    assert compile_matcher(text, None, row) is None


@pytest.mark.proves("S1-27")
@many
@given(plain, names)
def test_a_plain_name_fits_that_whole_name_only(text: str, name: str) -> None:
    assert predicate(text, None)(name) == (name == text)


@pytest.mark.proves("S1-28")
@many
@given(plain, names)
def test_a_plain_name_with_a_trailing_star_fits_by_prefix(text: str, name: str) -> None:
    assert predicate(f"{text}*", None)(name) == name.startswith(text)


@pytest.mark.proves("S1-29")
@many
@given(st.lists(plain | st.just(""), min_size=1, max_size=4), st.data(), names)
def test_a_list_fits_when_one_of_its_names_is_the_whole_name(parts: list[str], data: st.DataObject, name: str) -> None:
    spaced = [data.draw(st.sampled_from(("{}", " {}", "{} ", "  {} "))).format(part) for part in parts]
    text = spaced[0]
    for part in spaced[1:]:
        text += data.draw(st.sampled_from("|,")) + part
    assume(text not in ("", "*"))
    assert predicate(text, None)(name) == (name != "" and name in parts)


@many
@given(st.lists(plain, min_size=2, max_size=4), names)
def test_names_of_files_are_separated_by_bars_alone(parts: list[str], name: str) -> None:
    without_hyphens = [part.replace("-", "_") for part in parts]
    assert predicate("|".join(without_hyphens), None, FILE)(name) == (name in without_hyphens)
    assert guess_type(",".join(parts), FILE) == "regex"


@pytest.mark.proves("S1-30")
@many
@given(plain, names)
def test_special_characters_make_a_regular_expression_that_may_fit_anywhere(text: str, name: str) -> None:
    assert predicate(f"{text}.*", None)(name) == (text in name)
    assert predicate(f"^{text}", None)(name) == name.startswith(text)
    assert predicate(f"^{text}\\Z", None)(name) == (name == text)


@many
@given(pieces, names)
@example("ab*", "a")
@example("^ab?", "a")
@example("ab{0,2}", "a")
def test_a_regular_expression_fits_where_it_is_found(text: str, name: str) -> None:
    """Text that every fitting name must have is looked for first, which must not change the answer."""
    assume("$" not in text and not regex.search(r"\(\?[RuLV1]|\{\s*\d{3}", text))
    try:
        fits = predicate(text, "regex")
        expected = regex.search(text, name, regex.ASCII | regex.VERSION0, timeout=1) is not None
    except (PatternError, TimeoutError):
        return
    assert fits(name) == expected


@pytest.mark.proves("S1-32")
@many
@given(any_text, names)
def test_an_explicit_type_overrides_the_guess(text: str, name: str) -> None:
    parts = {part.strip() for part in text.replace(",", "|").split("|")} - {""}
    assert compile_matcher(text, "all", TOOL) is None
    assert predicate(text, "exact")(name) == (name == text)
    assert predicate(text, "or")(name) == (name in parts)
    assert predicate(text, "wildcard")(name) == globbed(text, name)
    assert predicate(regex.escape(text), "regex")(name) == (text in name)


@pytest.mark.proves("S1-32")
@many
@given(st.lists(plain, min_size=2, max_size=4), names)
def test_a_bar_among_special_characters_does_not_make_a_list(parts: list[str], name: str) -> None:
    assert predicate(f"^({'|'.join(parts)})$", None)(name) == (name in parts)


@many
@given(st.integers(1, 50), st.sampled_from((None, *TYPES)))
def test_a_pattern_that_is_too_long_is_refused(excess: int, kind: str | None) -> None:
    with pytest.raises(PatternError, match="characters"):
        compile_matcher("a." * (LONGEST_LIST + excess), kind, TOOL)


@many
@given(plain, st.text(max_size=8).filter(lambda kind: kind not in ("", *TYPES)))
def test_a_type_that_does_not_exist_is_refused(text: str, kind: str) -> None:
    with pytest.raises(PatternError, match="not a matcher type"):
        compile_matcher(text, kind, TOOL)


def predicate(text: str, kind: str | None, row: EventRow = TOOL) -> Predicate:
    made = compile_matcher(text, kind, row)
    assert made is not None
    return made


@cache
def globbed(pattern: str, name: str) -> bool:
    """A star is any number of characters, a question mark is one of them; everything else is itself."""
    if not pattern:
        return not name
    if pattern[0] == "*":
        return globbed(pattern[1:], name) or (name != "" and globbed(pattern, name[1:]))
    return name != "" and pattern[0] in ("?", name[0]) and globbed(pattern[1:], name[1:])
