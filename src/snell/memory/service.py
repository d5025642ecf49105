"""
The memories of a runtime, as operations, the MCP server and the daemon's timer use them.

All input is redacted here, from every caller. The inbox is drained before anything is remembered or recalled, so that
what a hook captured a moment ago is found. An embedding model is called outside of any transaction; if it does not
answer, the offline vectors are used and the model's are added later.
"""

import contextlib
import os
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from msgspec import Struct, field
from msgspec.structs import replace

from snell.llm.embeddings import Embedder, EmbeddingError
from snell.memory import project_renames, rows
from snell.memory.inbox import Inbox, inbox_folder
from snell.memory.inbox_entry import LARGEST, decode_entry, draft_of, is_valid_entry
from snell.memory.project_identity import Checkout, checkout_of
from snell.memory.project_renames import follow_rename, needs_rename
from snell.memory.recall import ALPHA, DENSE_ALPHA, Question, nearby, recall
from snell.memory.remember import AT_ONCE, SIMILAR, add_dense, assess, re_embed, store_assessed, without_dense
from snell.memory.shortlist import bump, shortlist_of
from snell.memory.signals import classify
from snell.memory.types import Draft, Hit, StoreResult
from snell.memory.validation import redact_draft
from snell.model.errors import SnellError, StoreBusyError, StoreError
from snell.model.protocols import Database, Transaction
from snell.redact import redact
from snell.system.files import read_capped
from snell.system.paths import Places

T = TypeVar("T")

EXPLICIT = 0.95  # the signal of a text that a caller asked to remember
NOTICES = 100
DRAIN_FILES, DRAIN_SECONDS = 200, 0.5  # limits before a waiting caller gets its answer
SLICE = 200, 0.2  # files and seconds of one round of the timer
EMBEDDED_AT_ONCE, CATCH_UP_SECONDS = 32, 2.0
RE_EMBED_SECONDS, RE_EMBED_AT_START = 1.0, 0.2  # for outdated vectors: each round of the timer, and at first use
SLOW, PAUSE = 1.0, 60.0  # seconds: a failure that took so long, and how long the model is not called then
LOCK_SECONDS, RETRY_SECONDS = 5.0, 0.05  # seconds that a caller waits for another writer, and between two tries
FOLDERS = 200  # folders whose project's name is remembered
READ_SECONDS = 1.0  # of a transcript, in each round of the timer


class DrainResult(Struct, kw_only=True):
    """The result of draining the inbox."""

    statuses: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    left: int = 0


class Memories:
    """Remember, recall and the rest, over one database and one inbox."""

    def __init__(self, database: Database, inbox: Path | None = None, embedder: Embedder | None = None) -> None:
        self.database = database
        self.inbox = Inbox(inbox) if inbox else None
        self.embedder = embedder
        self.notices: deque[str] = deque(maxlen=NOTICES)
        self.compares_words = True  # a similar text is a duplicate only if it says the same
        self.problem = ""  # why the model's vectors are missing, if they are
        self.captures: Callable[[str], bool] = lambda _folder: True
        self.has_more = False  # a transcript is too long for one round
        self.is_behind = False  # more captures wait than one round takes, and another round would help
        self.is_current = False  # no offline vector is outdated
        self._stuck: set[Path] = set()
        self._followed: dict[str, Checkout] = {}
        self._checkouts: dict[str, Checkout] = {}  # while the inbox is being drained
        self._not_before = 0.0  # when a model that did not answer is called again

    def run(self, work: Callable[[Transaction], T]) -> T:
        """
        Run a function of `snell.memory` in a transaction. Since a caller waits for it, another writer gets some time,
        but not in the transaction itself, since events use the same connection meanwhile.
        """
        until = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                return self.database.run(work)
            except BaseException as error:
                # The lists have read rows of a transaction that failed.
                shortlist_of(self.database).clear()
                if not isinstance(error, StoreBusyError) or time.monotonic() >= until:
                    raise
            time.sleep(RETRY_SECONDS)

    def read(self, work: Callable[[Transaction], T]) -> T:
        """Run a function that changes nothing: it waits for no writer."""
        return self.database.run(work, only_reads=True)

    def follow_rename(self, folder: str) -> None:
        """Move memories to the project's current name, if its remote was added, changed or removed."""
        if self.read(lambda tx: needs_rename(tx, folder)):
            self.run(lambda tx: follow_rename(tx, folder))

    def remember(self, draft: Draft, *, similar: float = SIMILAR) -> StoreResult:
        """Store a text that a caller asked to remember."""
        self.drain()
        safe = redact_draft(draft)
        signal = max(safe.signal, classify(safe.content[:10_000]).score, EXPLICIT)
        return self._store(replace(safe, signal=signal), similar)

    def recall(self, question: Question) -> list[Hit]:
        """Return the memories that answer a question; being found counts as an access."""
        self.drain()
        question = replace(question, text=redact(question.text)[:10_000])
        if self.embedder and question.alpha > 0 and (vectors := self._embed([question.text])):
            alpha = DENSE_ALPHA if question.alpha == ALPHA else question.alpha
            question = replace(question, dense=vectors[0], dense_model=self.embedder.name, alpha=alpha)
        lists = shortlist_of(self.database), shortlist_of(self.database, "dense_signature")
        found = self.read(lambda tx: recall(tx, question, *lists))
        if found:
            with contextlib.suppress(StoreBusyError):  # the result matters more than the count
                self.database.run(lambda tx: rows.touch(tx, [each.memory.id for each in found]))
        return found

    def nearby(self, memory_id: str, limit: int = 5, project: str = "") -> list[Hit]:
        """Return the memories that are most similar to this one."""
        return self.read(lambda tx: nearby(tx, memory_id, shortlist_of(self.database), limit=limit, project=project))

    def drain(self, files: int = DRAIN_FILES, seconds: float = DRAIN_SECONDS) -> DrainResult:
        """
        Remember what waits in the inbox, the oldest first, within these limits.

        INVARIANT: a file leaves the inbox after its transaction; one that is processed twice is an exact duplicate.
        """
        drained = DrainResult()
        if not self.inbox:
            return drained
        until = time.monotonic() + seconds
        self._checkouts = {}
        with self.inbox.drain_lock() as is_ours:
            waiting = self.inbox.waiting(files) if is_ours else []
            for path in waiting:
                if path not in self._stuck and not self._process(path, drained):
                    break
                if time.monotonic() > until:
                    break
        drained.left = self.inbox.count() if waiting else 0
        return drained

    def maintain(self, *, is_first: bool = False, continues: bool = False) -> DrainResult:
        """
        Do one round of the daemon's timer: drain and tidy the inbox, read transcripts, compute vectors.

        The first round reads no transcript: it also runs when a daemon stops, and that must not take long. A round that
        continues the one a moment ago does not tidy up again.
        """
        drained = self.drain(*SLICE)
        self.is_behind = drained.left > 0 and bool(drained.statuses)
        if continues and self.is_behind:
            return drained
        if self.inbox:
            self.read_transcripts(is_first=is_first)
            drained.problems += self.inbox.tidy(is_valid_entry)
        self.re_embed_outdated()
        self.catch_up()
        return drained

    def re_embed_outdated(self, seconds: float = RE_EMBED_SECONDS) -> int:
        """Recompute outdated offline vectors, for about so long; returns how many."""
        until, number = time.monotonic() + seconds, 0
        while not self.is_current and time.monotonic() < until:
            done = self.run(re_embed)
            number, self.is_current = number + done, done < AT_ONCE
        if number:
            self.run(bump)  # once: each list of signatures is then read again completely
        return number

    def read_transcripts(self, *, is_first: bool = False) -> None:
        """Read transcripts that were too long for the time of one event; unless capturing was disabled there."""
        from snell.memory.transcript_capture import capture_unread

        inbox = self.inbox
        assert inbox
        self.has_more = inbox.count("unread") > 0
        if self.has_more and not is_first:
            self.has_more = capture_unread(inbox.root, READ_SECONDS, self.captures)

    def catch_up(self, seconds: float = CATCH_UP_SECONDS) -> int:
        """Embed memories that the model has not embedded yet, for about so long; returns how many."""
        if not self.embedder or not self.read(lambda tx: tx.rows("SELECT 1 FROM memories LIMIT 1")):
            return 0
        until, seen = time.monotonic() + seconds, 0
        self._embed([])  # a local model is then loaded when the next prompt comes
        while (number := self._catch_up_once(self.embedder.name)) and time.monotonic() < until:
            seen += number
        if seen + number:  # rows that a list has read already; reading them again takes a while, so once
            shortlist_of(self.database, "dense_signature").clear()
        return seen + number

    def _catch_up_once(self, name: str) -> int:
        missing = self.read(lambda tx: without_dense(tx, name, EMBEDDED_AT_ONCE))
        vectors = self._embed([content for _, content in missing]) if missing else None
        if not vectors:
            return 0
        pairs = [(id_, vector) for (id_, _), vector in zip(missing, vectors, strict=True)]
        self.run(lambda tx: add_dense(tx, name, pairs))
        return len(pairs)

    def _store(self, draft: Draft, similar: float) -> StoreResult:
        """Assess a draft while others may write, then store the result in a short transaction."""
        shortlist, compares = shortlist_of(self.database), self.compares_words
        assessment = self.read(lambda tx: assess(tx, draft, shortlist, similar=similar, compares_words=compares))
        if not assessment.reinstates and not assessment.kept.is_stored:
            return assessment.kept
        return self.run(lambda tx: store_assessed(tx, assessment, shortlist, similar=similar, compares_words=compares))

    def _process(self, path: Path, drained: DrainResult) -> bool:
        """Process one file; False when the store does not work, so that the rest can wait."""
        assert self.inbox
        try:
            kept = self._store(self._draft_in(path), SIMILAR)
            drained.statuses[kept.status] += 1
            self.notices.append(f"{kept.status} {kept.id}".strip())
            return self._move(path, self.inbox.mark_done)
        except FileNotFoundError:
            return True
        except StoreError as error:
            drained.problems.append(str(error))
            return False
        except (SnellError, OSError) as error:
            drained.statuses["failed"] += 1
            drained.problems.append(f"{path.name}: {error}")
            return self._move(path, self.inbox.mark_failed)

    def _draft_in(self, path: Path) -> Draft:
        entry = decode_entry(read_capped(path, LARGEST, follow_links=False))
        checkout = self._checkout(entry.project_root_dir)
        if entry.project and (
            entry.project == checkout.earlier_name
            or self.read(lambda tx: project_renames.was_called(tx, checkout.repository, entry.project))
        ):
            entry = replace(entry, project="")  # the project was renamed while it waited
        # Any program may put a file here, so it is redacted like every input.
        return redact_draft(draft_of(entry, checkout.project))

    def _checkout(self, path: str) -> Checkout:
        """Return the repository of a capture; determined once for all that wait, since that reads files."""
        known = self._checkouts.get(path)
        if known:
            return known
        self._checkouts[path] = checkout = checkout_of(path)
        if self._followed.get(path) != checkout:
            self.follow_rename(path)  # before anything is stored under a new name
            self._followed = {**self._followed, path: checkout} if len(self._followed) < FOLDERS else {}
        return checkout

    def _move(self, path: Path, move: Callable[[Path], object]) -> bool:
        """Move a file; one that cannot be moved is remembered, so that it is not processed for ever."""
        try:
            move(path)
        except OSError:
            self._stuck.add(path)
        return True

    def _embed(self, texts: Sequence[str]) -> list[bytes] | None:
        assert self.embedder
        begin = time.monotonic()
        if begin < self._not_before:
            return None
        try:
            vectors = self.embedder.embed(texts)
        except EmbeddingError as error:
            self.problem = str(error)
            if time.monotonic() - begin > SLOW:  # the next recall should not wait as long for nothing
                self._not_before = time.monotonic() + PAUSE
            return None
        self.problem = "" if texts else self.problem
        return vectors


def memories_of(runtime: Any) -> Memories:
    """Return the memories of this runtime: one object for as long as it is used."""
    known = _KNOWN.get(runtime)
    if known is None:
        known = _KNOWN[runtime] = _create(runtime)
    return known


def has_to_catch_up(runtime: Any) -> bool:
    """Whether this runtime's memory was used already and has a model to call or vectors to recompute."""
    known = _KNOWN.get(runtime)
    return known is not None and (known.embedder is not None or not known.is_current)


_KNOWN: WeakKeyDictionary[Any, Memories] = WeakKeyDictionary()


def _create(runtime: Any) -> Memories:
    if runtime.database is None:
        raise SnellError("this runtime has no database, so it stores no memories")
    from snell.llm.embeddings.endpoint import embedder_from

    where, env = runtime.where, dict(runtime.env)
    options = _options(where, env)
    memories = memories_in(runtime.database, where, env, options)
    try:
        memories.embedder = embedder_from(options, where.state if where else None)
    except EmbeddingError as error:
        memories.problem = str(error)  # the offline vectors are used meanwhile
    with contextlib.suppress(StoreError):  # the next caller gets the error
        memories.re_embed_outdated(RE_EMBED_AT_START)
    return memories


def memories_in(
    database: Database, where: Places | None, env: Mapping[str, str], options: Mapping[str, Any] | None = None
) -> Memories:
    """Return the memories of a user in this database, with the options of the user's settings, without a model."""
    options = options or _options(where, env)
    memories = Memories(database, inbox_folder(where.state, options.get("inbox")) if where else None)
    memories.captures = lambda folder: is_captured(where, env, folder)
    memories.compares_words = options.get("duplicates") != "similar"
    return memories


def is_captured(where: Places | None, env: Mapping[str, str], folder: str) -> bool:
    """Whether to go on capturing a session of this folder; it was enabled before, so only an explicit no counts."""
    options = _options(where, env, folder)
    return bool(options.get("capture", True)) and options.get("enabled") is not False


def _options(where: Places | None, env: Mapping[str, str], folder: str = "/") -> dict[str, Any]:
    """
    Return the options of the pack `remember` for the user, or for a folder. INVARIANT: no project decides where texts
    are sent, so for that only the user's own settings are read.
    """
    from snell.settings.load import load
    from snell.settings.packs import builtin_packs

    own = dict(builtin_packs()["remember"].options)
    if where is None:
        return own
    options = load(where, Path(folder if os.path.isabs(folder) else "/"), env).value("pack") or {}
    return {**own, **options.get("remember", {})}
