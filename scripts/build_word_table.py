"""
Make the word table that memories are searched with, `src/snell/llm/embeddings/word_table.bin`, from a MiniLM.

    .venv/bin/python -m scripts.build_word_table FOLDER [--seen FILE]

FOLDER holds the model's `config.json`, `vocab.txt` and `model.safetensors`. Its whole words, those of `concepts.txt`
and of `more_words.txt` go through the model one by one: three to ten minutes of one core, and with `--seen` what came
out is kept in FILE, so that the next time only new words do. Then

1. forms of one stem become one, the frequent ones with more weight;
2. what all single words have in common is taken away: their mean and, from directions, the two widest axes;
3. the 128 widest axes are kept, turned so that all are equally wide, in half a byte each;
4. each stem gets its nearest ones, by all numbers of the model.

The same model, words and numpy give the same file; another machine's arithmetic may round a few numbers otherwise.
"""

from __future__ import annotations

import argparse
import re
import sys
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).resolve().parent.parent
MEMORY = ROOT / "src" / "snell" / "llm" / "embeddings"
ABOUT = (
    "Derived from the weights of sentence-transformers/all-MiniLM-L6-v2 (Apache License 2.0) by"
    " scripts/build_word_table.py: directions of words, reduced and rounded, and which words are near each other."
)
SIZE, NEAR = 128, 24
COMMON_AXES = 2
WIDEST = 2.7  # standard deviations that half a byte reaches to
FREQUENT_FROM, RARE_FROM, DAMPING = 300, 6_000, 0.3  # the weight of a word by its place in the model's list
TURN = 3  # seed of the rotation


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Make the word table that memories are searched with.", allow_abbrev=False
    )
    parser.add_argument("folder", type=Path, help="where the files of a MiniLM are")
    parser.add_argument("--seen", type=Path, help="an .npz that keeps what the model made of the words")
    parser.add_argument("--out", type=Path, default=MEMORY / "word_table.bin")
    given = parser.parse_args()
    words = list(words_for(given.folder))
    data = table_of(words, seen(words, given.folder, given.seen))
    given.out.write_bytes(data)
    print(f"{given.out}: {len(data):,} bytes of {len(words):,} words")


def words_for(folder: Path) -> Iterator[str]:
    """Each word once: the model's own, the most frequent first, then ours. An expression has spaces."""
    from snell.llm.embeddings.stems import STOP_WORDS

    known = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")
    whole = [word for word in known if re.fullmatch("[a-z]{3,}", word)]
    ours = [*_lines(MEMORY / "concepts.txt"), *_lines(ROOT / "scripts" / "more_words.txt")]
    words = dict.fromkeys([*whole, *(word.replace("_", " ") for line in ours for word in line.split())])
    return (word for word in words if word not in STOP_WORDS)


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]


def seen(words: Sequence[str], folder: Path, kept: Path | None) -> Any:
    """What the model makes of each word: a row of numbers."""
    from snell.llm.embeddings import numpy_or_none
    from snell.llm.embeddings.minilm import model_in

    np = numpy_or_none()
    if np is None:
        sys.exit("this needs numpy: run `pip install '.[embed]'` in a clone of Snell")
    known: dict[str, Any] = {}
    if kept and kept.exists():
        found = np.load(kept)
        known = dict(zip(found["words"].tolist(), found["rows"], strict=True))
    new = [word for word in words if word not in known]
    known |= zip(new, map(model_in(folder).direction, new), strict=True)
    rows = np.array([known[word] for word in words], dtype=np.float32)
    if kept:
        np.savez(kept, words=np.array(words), rows=rows)
    return rows


def table_of(words: Sequence[str], rows: Any) -> bytes:
    """The file, from words and what the model made of them."""
    import numpy as np

    from snell.llm.embeddings.word_table import KIND, MOST_WORDS, Header

    forms = forms_of(words)
    stems = sorted(forms)
    if len(stems) > MOST_WORDS:
        sys.exit(f"{len(stems)} stems are more than the {MOST_WORDS} that a table can hold")
    merged = _unit(np.array([_merged(rows[forms[stem]], forms[stem]) for stem in stems]))
    centred = merged - merged.mean(axis=0)
    ranks = np.array([min(forms[stem]) for stem in stems])
    step = WIDEST / 7 / SIZE**0.5
    header = Header(KIND, ABOUT, len(stems), SIZE, NEAR, step)
    return encode_table(header, stems, _packed(_reduced(centred), ranks, step), _neighbours(_unit(centred)))


def encode_table(header: Any, stems: Sequence[str], rows: bytes, neighbours: bytes) -> bytes:
    """The bytes of a table: its header, with the checksum of the rest, and the rest."""
    rest = "".join(f"{stem}\n" for stem in stems).encode() + rows + neighbours
    header = msgspec.structs.replace(header, checksum=zlib.crc32(rest))
    return msgspec.json.encode(header) + b"\n" + rest


def forms_of(words: Sequence[str]) -> Mapping[str, list[int]]:
    """The numbers of the words that have a stem in common."""
    from snell.llm.embeddings.stems import STOP_WORDS, stem

    found: defaultdict[str, list[int]] = defaultdict(list)
    for number, word in enumerate(words):
        name = "_".join(map(stem, word.split()))
        if name not in STOP_WORDS and len(name) > 1:
            found[name].append(number)
    return found


def _merged(rows: Any, ranks: Sequence[int]) -> Any:
    import numpy as np

    weights = 1 / (np.array(ranks) + 500)
    return (rows * weights[:, None]).sum(axis=0) / weights.sum()


def _unit(rows: Any) -> Any:
    import numpy as np

    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def _reduced(rows: Any) -> Any:
    """Fewer numbers that keep most of what tells words apart."""
    import numpy as np

    axes = np.linalg.eigh(rows.T @ rows)[1][:, ::-1]  # the widest first
    rows = _unit(rows - (rows @ axes[:, :COMMON_AXES]) @ axes[:, :COMMON_AXES].T)
    axes = np.linalg.eigh(rows.T @ rows)[1][:, ::-1]
    turn = np.linalg.qr(np.random.default_rng(TURN).normal(size=(SIZE, SIZE)))[0]
    return _unit(rows @ axes[:, :SIZE] @ turn)


def _packed(rows: Any, ranks: Any, step: float) -> bytes:
    """A byte of weight and two numbers to a byte, for each row."""
    import numpy as np

    halves = (np.clip(np.round(rows / step), -7, 7) + 8).astype(np.uint8)
    bytes_ = halves[:, 0::2] << 4 | halves[:, 1::2]
    weights = np.clip((ranks + FREQUENT_FROM) / RARE_FROM, 0.05, 1) ** DAMPING
    packed: bytes = np.hstack([np.round(255 * weights).astype(np.uint8)[:, None], bytes_]).tobytes()
    return packed


def _neighbours(rows: Any) -> bytes:
    import numpy as np

    found = []
    for start in range(0, len(rows), 1_000):
        near = rows[start : start + 1_000] @ rows.T
        own = np.arange(start, start + len(near))
        near[np.arange(len(near)), own] = -1
        best = np.argsort(-near, axis=1, kind="stable")[:, :NEAR]
        found.append(_numbered(best, np.take_along_axis(near, best, axis=1), own).tobytes())
    return b"".join(found)


def _numbered(best: Any, cosines: Any, own: Any) -> Any:
    """The neighbour's number and a degree of nearness in two bytes; the stem's own number where none is near enough."""
    import numpy as np

    from snell.llm.embeddings.word_table import LEAST_NEAR, NEARER

    degrees = np.clip((cosines - LEAST_NEAR) // NEARER, 0, 3).astype(np.uint16)
    return np.where(cosines >= LEAST_NEAR, best << 2 | degrees, own[:, None] << 2).astype(">u2")


if __name__ == "__main__":
    main()
