"""A BERT of two layers and eight numbers, whose weights a reader can work out, and its files."""

import json
import math
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

WIDTH, WIDE, LAYERS, HEADS, PLACES = 8, 16, 2, 2, 12
VOCABULARY = (
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "we", "use", "post", "##gres", "##q", "##l", "cafe", "for", "##s",
    "the", "data", "##base", "!", "数", ",", "##1", "db",
)  # fmt: skip
CONFIG = {
    "model_type": "bert",
    "hidden_size": WIDTH,
    "intermediate_size": WIDE,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "max_position_embeddings": PLACES,
    "vocab_size": len(VOCABULARY),
    "type_vocab_size": 2,
    "hidden_act": "gelu",
    "layer_norm_eps": 1e-12,
}


def shapes() -> Iterator[tuple[str, tuple[int, ...]]]:
    yield "embeddings.word_embeddings.weight", (len(VOCABULARY), WIDTH)
    yield "embeddings.position_embeddings.weight", (PLACES, WIDTH)
    yield "embeddings.token_type_embeddings.weight", (2, WIDTH)
    yield from _both("embeddings.LayerNorm", (WIDTH,))
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}."
        for name in ("query", "key", "value"):
            yield from _both(f"{at}attention.self.{name}", (WIDTH, WIDTH))
        yield from _both(f"{at}attention.output.dense", (WIDTH, WIDTH))
        yield from _both(f"{at}attention.output.LayerNorm", (WIDTH,))
        yield from _both(f"{at}intermediate.dense", (WIDE, WIDTH))
        yield from _both(f"{at}output.dense", (WIDTH, WIDE))
        yield from _both(f"{at}output.LayerNorm", (WIDTH,))


def weights() -> dict[str, tuple[tuple[int, ...], list[float]]]:
    """Every tensor's shape and numbers: sines, so that none is like another."""
    found = {}
    for number, (name, shape) in enumerate(shapes()):
        around = 1.0 if name.endswith("LayerNorm.weight") else 0.0
        values = [around + 0.9 * math.sin(17.0 * number + 1.7 * at) for at in range(math.prod(shape))]
        found[name] = (shape, [struct.unpack("<f", struct.pack("<f", value))[0] for value in values])
    return found


def write(folder: Path, *, lead: str = "", config: Mapping[str, object] = CONFIG) -> Path:
    """The files of the model in this folder; `lead` stands before the name of each tensor."""
    folder.mkdir(parents=True, exist_ok=True)
    header, data = {}, b""
    for name, (shape, values) in weights().items():
        raw = struct.pack(f"<{len(values)}f", *values)
        header[lead + name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    return folder


def _both(name: str, shape: tuple[int, ...]) -> Iterator[tuple[str, tuple[int, ...]]]:
    yield f"{name}.weight", shape
    yield f"{name}.bias", shape[:1]
