"""The script that makes the word table."""

import pytest

from scripts.build_word_table import forms_of, table_of, words_for
from snell.llm.embeddings.word_table import decode_table

np = pytest.importorskip("numpy")

OURS = ["file", "doctor", "doctors", "physician", "harbour", "kubernetes", "port", "sign in"]
WORDS = [*OURS, *(f"q{one}{other}q" for one in "abcdefghijklmnop" for other in "abcdefghijklmnop")]


def rows():
    """Two pairs that are near each other, the rest anywhere."""
    chance = np.random.default_rng(1)
    found = {word: chance.normal(size=384) for word in WORDS}
    for one, other in (("doctors", "doctor"), ("physician", "doctor"), ("port", "harbour")):
        found[one] = found[other] + 0.3 * chance.normal(size=384)
    return np.array([found[word] / np.linalg.norm(found[word]) for word in WORDS], dtype=np.float32)


def test_forms_of_a_word_become_one_stem_and_near_words_neighbours() -> None:
    table = decode_table(table_of(WORDS, rows()))
    assert table.stems[:6] == ("doctor", "fil", "harbour", "kubernet", "physician", "port")
    assert table.stems[-1] == "sign_in"
    assert (list(table.nearest("doctor")), list(table.nearest("port"))) == (["physician"], ["harbour"])
    assert table.nearest("kubernet") == {}
    assert len(table.direction("doctor")) == table.header.size == 128


def test_the_same_words_give_the_same_file() -> None:
    assert table_of(WORDS, rows()) == table_of(WORDS, rows())


def test_words_are_whole_in_lower_case_and_tell_something(tmp_path) -> None:
    pieces = ["[PAD]", "the", "Ships", "ships", "##ing", "of", "ab", "naïve", "b2b", "vessel"]
    (tmp_path / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    words = list(words_for(tmp_path))
    assert words[:2] == ["ships", "vessel"]
    assert {"sign in", "postgres", "voucher"} <= set(words)
    assert len(words) == len(set(words))


def test_a_word_without_a_stem_that_tells_something_is_left_out() -> None:
    assert forms_of(["boats", "boat", "used"]) == {"boat": [0, 1]}
