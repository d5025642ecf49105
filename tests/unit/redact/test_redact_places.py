"""Secrets of every format in every place, names in many languages, and what must stay as it is."""

import random

import pytest

from snell.redact import redact, scan
from tests.seeds import draw_seed
from tests.unit.redact import keyword_places, lookalikes, places
from tests.unit.redact.measured_secrets import formats, leaks, password, value_of


@pytest.fixture(params=[True, False], ids=["re2", "standard library"])
def engine(request):
    scan.use_re2(request.param)
    yield
    scan.use_re2(True)


def share(results: list[bool]) -> float:
    return 100 * sum(results) / len(results)


@pytest.mark.parametrize("place", places.PLACES)
def test_99_percent_of_the_known_formats_are_removed_in_each_place(place, engine):
    draw = random.Random(draw_seed())
    values = [value_of(notation, draw) for notation in formats().values()]
    texts = [(value, text) for value in values for text in places.PLACES[place](value)]
    kept = [text for value, text in texts if leaks(value, redact(text))]
    assert 100 - 100 * len(kept) / len(texts) >= 99, kept[:5]


@pytest.mark.parametrize("place", keyword_places.TEMPLATES)
def test_named_secrets_are_removed_in_each_place(place):
    draw = random.Random(draw_seed())
    texts = keyword_places.TEMPLATES[place] * 12
    drawn = [(text, value_of("{a43}", draw) if "{s}" in text else password(draw)) for text in texts]
    kept = [(text, value) for text, value in drawn if leaks(value, redact(text.format(v=value, s=value)))]
    assert 100 - 100 * len(kept) / len(drawn) >= (85 if place == "data" else 95), kept[:5]  # `data` has a table


def test_95_percent_of_all_named_secrets_are_removed(engine):
    draw = random.Random(draw_seed())
    texts = [text for group in keyword_places.TEMPLATES.values() for text in group if "{s}" not in text]
    drawn = [(text, password(draw)) for text in texts * 4]
    assert share([not leaks(value, redact(text.format(v=value))) for text, value in drawn]) >= 95


@pytest.mark.parametrize("language", keyword_places.NAMES)
def test_names_in_many_languages_are_known(language, engine):
    draw = random.Random(draw_seed())
    texts = [
        (value, text)
        for value in [password(draw) for _ in range(4)]
        for text in keyword_places.in_languages(value)[language]
    ]
    assert share([not leaks(value, redact(text)) for value, text in texts]) >= 90


def test_named_secrets_inside_another_format_are_removed(engine):
    draw = random.Random(draw_seed())
    values = [password(draw) for _ in range(6)]
    kept = [text for value in values for text in keyword_places.nested(value) if leaks(value, redact(text))]
    assert kept == []


@pytest.mark.parametrize(("encoding", "least"), [("base64", 98), ("hex", 74)])
def test_encoded_secrets_are_removed(encoding, least):
    draw = random.Random(draw_seed())
    values = [value_of(notation, draw) for notation in formats().values()]
    texts = [text for value in values for text in places.encoded(value)[encoding]]
    assert share(["[redacted:" in redact(text) for text in texts]) >= least


@pytest.mark.parametrize("kind", ["hash", "uuid", "picture", "minified", "lock file", "fixed"])
def test_texts_that_only_look_like_secrets_stay_as_they_are(kind, engine):
    texts = lookalikes.drawn(random.Random(draw_seed()))[kind]
    changed = [redact(text) for text in texts if redact(text) != text]
    assert 100 * len(changed) <= len(texts), changed[:5]
