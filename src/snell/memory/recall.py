"""
Search memories: by words, for names and identifiers; by vectors, for other wordings of the same; or both.

Words in nearly every memory are uninformative and slow, so each word's frequency is looked up first, up to a bound, and
only the informative ones are searched for. The results of both searches are ranked here, the same on every backend.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache, partial
from typing import Any

from msgspec import Struct

from snell.llm.embeddings.static_vectors import COMMON, cosines, vector_of
from snell.llm.embeddings.stems import content_terms, expressions, related_words, terms
from snell.llm.embeddings.word_table import word_table
from snell.memory.corrections import is_superseded
from snell.memory.rows import COLUMNS, from_row, get
from snell.memory.shortlist import Shortlist
from snell.memory.sql import rows_for, scope
from snell.memory.types import Hit, NotRememberedError
from snell.model.protocols import Transaction

FREQUENT = 1_000  # memories with a word; beyond that it is searched for only if no other word is rarer
FREQUENT_WEIGHT = 0.1
FEW = 100  # memories; among so few the frequency of related words says little, and is not looked up
MOST_TERMS = 16
MOST_OTHERS = 64  # related words that are searched for
CANDIDATES = 60  # from each search
ALPHA = 0.4  # 1 = by vectors alone, 0 = by words alone; the best value on the evaluation set
DENSE_ALPHA = 0.7  # the same with a model's vectors
USUAL_LENGTH = 40  # terms
PASSAGE = 80  # terms; a longer text scores as its best passage of this length
MOST_PASSAGES = 50
IN_A_LONG_TEXT = 0.95  # weight of a passage, compared with a text that contains nothing else
UNRELATED = 0.075  # a memory that shares no word with the question and scores less is unrelated
SUPERSEDED_WEIGHT = 0.85  # of a memory that was corrected since
RELATED = 0.6  # weight of a word of the same group, compared with the question's own


class Question(Struct, frozen=True, kw_only=True):
    """The question and where to search. A project of `*` is all of them."""

    text: str
    project: str
    namespace: str = ""
    limit: int = 5
    min_similarity: float = 0.0
    alpha: float = ALPHA
    dense: bytes = b""  # the question's vector, if a model made one
    dense_model: str = ""


class _Row(Struct):
    seq: int
    vector: bytes
    dense: bytes
    fields: tuple[Any, ...]
    by: set[str]


def recall(tx: Transaction, question: Question, shortlist: Shortlist, dense_list: Shortlist | None = None) -> list[Hit]:
    """Return the memories that answer best, the best first; none if all are unrelated."""
    if not question.text.strip():
        raise NotRememberedError("the question is empty", advice="name words to search for")
    wanted = _weigh_terms(tx, question.text)
    vector = vector_of(question.text, wanted.own)
    rows: dict[int, _Row] = {}
    if question.alpha < 1:
        _add(tx, rows, "words", _by_words(tx, question, wanted), question.dense_model)
    if question.alpha > 0:
        _add(tx, rows, "meaning", _near(tx, question, shortlist, vector), question.dense_model)
        if question.dense and dense_list:
            _add(tx, rows, "meaning", _near(tx, question, dense_list, question.dense), question.dense_model)
    newest = sorted(rows.values(), key=lambda row: -row.seq)
    meanings = _meanings(newest, question, vector)
    ranked = sorted(map(partial(_rank, question, wanted), newest, meanings), key=lambda each: -each[0])
    return [found for _, found in ranked if found.similarity >= _minimum_score(question, found)][: question.limit]


def nearby(tx: Transaction, memory_id: str, shortlist: Shortlist, *, limit: int = 5, project: str = "") -> list[Hit]:
    """Return the memories that are most similar to this one, in its own project unless another is named (`*`: all)."""
    own = get(tx, memory_id).project
    [(seq, vector)] = tx.rows("SELECT seq, vector FROM memories WHERE id = ?", memory_id)
    near = shortlist.near(tx, bytes(vector), project=project or own, most=CANDIDATES + limit)
    rows: dict[int, _Row] = {}
    _add(tx, rows, "meaning", [each for each in near if each != seq])
    near_rows = list(rows.values())
    near_by = cosines(bytes(vector), [row.vector for row in near_rows])
    scored = [
        Hit(from_row(row.fields), round(max(0.0, similarity), 4), "meaning")
        for row, similarity in zip(near_rows, near_by, strict=True)
    ]
    return sorted(scored, key=lambda each: -each.similarity)[:limit]


class _Wanted(Struct, frozen=True, dict=True):
    """The weights of the question's own terms, and for each the weights of related words, compared with itself."""

    own: dict[str, float]
    others: dict[str, dict[str, float]]
    searched: tuple[str, ...] = ()  # the most important related words
    frequent: frozenset[str] = frozenset()

    @cached_property
    def all(self) -> frozenset[str]:
        return frozenset(self.own).union(*self.others.values())


def _weigh_terms(tx: Transaction, question: str) -> _Wanted:
    """Return each term's weight, by how many memories have it. Each look-up is bounded, and so is their number."""
    total = int(tx.rows("SELECT coalesce(max(seq), 0) FROM memories")[0][0])
    terms_ = content_terms(question)[: 2 * MOST_TERMS]
    counts = {term: _count(tx, term) for term in terms_}
    others = {term: synonyms(term) for term in terms_[:MOST_TERMS]}
    for expression in expressions(terms(question)):
        for part in others.keys() & expression.split("_"):
            others[part] = others[part] | dict.fromkeys((expression, *related_words(expression)), RELATED)

    def weight(term: str) -> float:
        number = counts.get(term, 0)
        return FREQUENT_WEIGHT if number >= FREQUENT else math.log(1 + (total + 1) / (number + 0.5))

    own = {term: weight(term) * (0.5 if term in COMMON else 1.0) for term in terms_}
    searched = _strongest(own, others)
    if total >= FEW:
        counts |= {term: _count(tx, term) for term in searched if term not in counts}
        others = {
            term: {other: share * min(1.0, weight(other) / own[term]) for other, share in each.items()}
            for term, each in others.items()
        }
    return _Wanted(own, others, searched, frozenset(term for term, number in counts.items() if number >= FREQUENT))


def _strongest(own: dict[str, float], others: dict[str, dict[str, float]]) -> tuple[str, ...]:
    """Return the related words with the largest weights; as many as are searched for."""
    weights = {other: own[term] * share for term, each in others.items() for other, share in each.items()}
    return tuple(sorted(weights, key=lambda other: -weights[other])[:MOST_OTHERS])


@lru_cache(maxsize=20_000)
def synonyms(term: str) -> dict[str, float]:
    """Return words that match a search for this one, by the concept groups and by the word table, with their weight."""
    near = {} if term.isdigit() else word_table().nearest(term)  # another number is another version
    return near | {other: max(RELATED, near.get(other, 0.0)) for other in related_words(term)}


def _count(tx: Transaction, term: str) -> int:
    match = _MATCHES[tx.dialect]
    sql = f"SELECT count(*) FROM (SELECT 1 FROM memory_words WHERE {match} LIMIT {FREQUENT}) AS found"
    return int(tx.rows(sql, _query(tx, [term]))[0][0])


def _by_words(tx: Transaction, question: Question, wanted: _Wanted) -> list[int]:
    """Search for the question's own words, then for related ones: together these would hide the exact matches."""
    own = [term for term in wanted.own if term not in wanted.frequent]
    order = (_RANKS if own else _NEWEST)[tx.dialect]
    found = _matching(tx, question, own or list(wanted.own)[:MOST_TERMS], order)
    others = [term for term in wanted.searched if term not in wanted.frequent]
    return list(dict.fromkeys((*found, *_matching(tx, question, others, _RANKS[tx.dialect]))))


def _matching(tx: Transaction, question: Question, wanted: Sequence[str], order: str) -> list[int]:
    if not wanted:
        return []
    rowid = "rowid" if tx.dialect == "sqlite" else "seq"
    query = _query(tx, wanted)
    where, values = scope(question.project, question.namespace, "m.")
    ordering = [query] if "?" in order else []
    sql = f"SELECT m.seq FROM memory_words JOIN memories m ON m.seq = memory_words.{rowid} WHERE {_MATCHES[tx.dialect]}"
    found = tx.rows(f"{sql} AND {where} ORDER BY {order} LIMIT {CANDIDATES}", query, *values, *ordering)
    return [int(seq) for (seq,) in found]


# What differs between the backends: how words are searched for, and how well a row matches.
_MATCHES = {"sqlite": "memory_words MATCH ?", "postgres": "memory_words.words @@ CAST(? AS tsquery)"}
_NEWEST = {"sqlite": "memory_words.rowid DESC", "postgres": "memory_words.seq DESC"}
_RANKS = {"sqlite": "memory_words.rank", "postgres": "ts_rank(memory_words.words, CAST(? AS tsquery)) DESC, m.seq DESC"}


def _query(tx: Transaction, wanted: Iterable[str]) -> str:
    """Return the query. INVARIANT: terms contain letters, digits and underscores only, so none is an operator."""
    if tx.dialect == "sqlite":
        return " OR ".join(f'"{term}"' for term in wanted)
    return " | ".join(f"'{term}'" for term in wanted)


def _near(tx: Transaction, question: Question, shortlist: Shortlist, vector: bytes) -> list[int]:
    if not any(vector):
        return []
    place = {"project": question.project, "namespace": question.namespace}
    return shortlist.near(tx, vector, **place, most=CANDIDATES)


def _add(tx: Transaction, rows: dict[int, _Row], by: str, seqs: Sequence[int], model: str = "") -> None:
    """Add rows that were found; vectors of another model than `model` are ignored."""
    sql = f"SELECT seq, vector, dense, dense_model, {COLUMNS} FROM memories WHERE seq IN ({{}})"
    for seq, vector, dense, its_model, *fields in rows_for(tx, sql, [seq for seq in seqs if seq not in rows]):
        usable = bytes(dense) if dense and its_model == model else b""
        rows[int(seq)] = _Row(int(seq), bytes(vector), usable, tuple(fields), set())
    for seq in seqs:
        if seq in rows:
            rows[seq].by.add(by)


def _meanings(rows: Sequence[_Row], question: Question, vector: bytes) -> list[float]:
    """Return each similarity by the model's vector; by the offline one if the model has not embedded it yet."""
    offline = cosines(vector, [row.vector for row in rows])
    if question.dense:
        dense = cosines(question.dense, [row.dense for row in rows])
        offline = [by_model if row.dense else near for row, by_model, near in zip(rows, dense, offline, strict=True)]
    return [max(0.0, each) for each in offline]


def _rank(question: Question, wanted: _Wanted, row: _Row, meaning: float) -> tuple[float, Hit]:
    memory = from_row(row.fields)
    words = _word_score(f"{memory.content} {' '.join(memory.tags)}", wanted) if question.alpha < 1 else 0.0
    similarity = round(min(1.0, question.alpha * meaning + (1 - question.alpha) * words), 4)
    by = "both" if len(row.by) == 2 else "".join(row.by)
    weight = (0.9 + 0.1 * memory.importance) * (SUPERSEDED_WEIGHT if is_superseded(memory) else 1.0)
    return similarity * weight, Hit(memory, similarity, by)


def _minimum_score(question: Question, found: Hit) -> float:
    """
    Return the minimum score of a result; it is higher for one that was found by its vector only.

    With alpha = 1 (vectors only) every positive score is accepted, because names have no similar vectors.
    """
    is_far = found.by == "meaning" and question.alpha < 1
    return max(question.min_similarity, UNRELATED if is_far else 1e-9)


def _word_score(text: str, wanted: _Wanted) -> float:
    """
    Return the weighted share of the question's words that this text has, 0 to 1; a related word counts less.

    A long text scores as its best passage: the rest of it does not make the answer a worse one.
    """
    found = terms(text)
    score = _share(Counter([*found, *expressions(found)]), len(found), wanted)
    if len(found) <= PASSAGE:
        return score
    hits = [at for at, term in enumerate(found) if term in wanted.all]
    starts = _passage_starts(hits)
    passages = (_share(Counter(found[at : at + PASSAGE]), USUAL_LENGTH, wanted) for at in starts)
    return max(score, IN_A_LONG_TEXT * max(passages, default=0.0))


def _passage_starts(hits: Sequence[int]) -> list[int]:
    """Return the starts of at most MOST_PASSAGES passages that contain the hits; neighbours overlap by up to half."""
    starts: list[int] = []
    for at in hits:
        if not starts or at - starts[-1] >= PASSAGE // 2:
            starts.append(at)
    return starts[:MOST_PASSAGES]


def _share(counts: Counter[str], length: int, wanted: _Wanted) -> float:
    damping = 0.9 * (0.25 + 0.75 * length / USUAL_LENGTH)

    def presence(term: str) -> float:
        return min(1.0, counts[term] * 1.9 / (counts[term] + damping))

    total = 0.0
    for term, weight in wanted.own.items():
        others = wanted.others.get(term, {})
        near = max((others[other] * presence(other) for other in others.keys() & counts.keys()), default=0.0)
        total += weight * max(presence(term), near)
    return total / (sum(wanted.own.values()) or 1.0)
