"""
The memories of a house, as calls, the MCP server and the daemon's timer use them.

What comes in is redacted here, whoever sends it. The inbox is emptied before something is remembered or recalled, so
that what a hook captured a moment ago is found. A model that makes vectors is asked outside of any transaction, and
when it does not answer, the offline vectors do the work and the model's are added later.
"""

import contextlib
import hashlib
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
from snell.memory.inbox import Inbox
from snell.memory.inbox_entry import decode_entry, draft_of
from snell.memory.project_identity import came_along, checkout_of, earlier_name, has_to_come_along, project_of
from snell.memory.re_embedding import AT_ONCE, re_embed
from snell.memory.recall import ALPHA, DENSE_ALPHA, Question, nearby, recall
from snell.memory.remember import SIMILAR, add_dense, assess, store_assessed, without_dense
from snell.memory.shortlist import bump, shortlist_of
from snell.memory.signals import classify
from snell.memory.types import Draft, Found, Kept, NotRememberedError
from snell.memory.validation import clean_draft
from snell.model.errors import SnellError, StoreBusyError, StoreError
from snell.model.protocols import Database, Transaction
from snell.redact import find, is_too_secret, redact, redact_data
from snell.system.paths import Places

T = TypeVar("T")

EXPLICIT = 0.95  # the signal of a text that somebody asked to have remembered
NOTICES = 100
DRAIN_FILES, DRAIN_SECONDS = 200, 0.5  # at most, before somebody who waits gets an answer
SLICE = 200, 0.2  # files and seconds of one look of the timer
EMBEDDED_AT_ONCE, CATCH_UP_SECONDS = 32, 2.0
RENEW_SECONDS, RENEW_AT_START = 1.0, 0.2  # for vectors of an earlier make: each time the timer looks, and at first use
SLOW, LEFT_ALONE = 1.0, 60.0  # seconds: a failure that took so long, and how long nobody asks then
PATIENCE, TRIED_AGAIN = 5.0, 0.05  # seconds that somebody waits for another program, and between two tries
FOLDERS = 200  # whose project's name is known to be followed
READ_SECONDS = 1.0  # of a transcript, each time the timer looks


class Drained(Struct, kw_only=True):
    """What became of the files in the inbox."""

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
        self.problem = ""  # why the model's vectors are missing, if they are
        self.captures: Callable[[str], bool] = lambda _folder: True
        self.has_more = False  # of a transcript that is too long for one look
        self.is_behind = False  # more waits than one look took in, and looking again would help
        self.is_renewed = False  # no offline vector is of an earlier make
        self._stuck: set[Path] = set()
        self._followed: dict[str, project_renames.Checkout] = {}
        self._folders: dict[str, _Folder] = {}  # as they are while the inbox is being emptied
        self._not_before = 0.0  # when a model that did not answer is asked again

    def run(self, work: Callable[[Transaction], T]) -> T:
        """
        Any of the functions of `snell.memory` in a transaction. Whoever asked waits for it, so another program that
        writes gets some time; not in the transaction itself, since events use the same connection meanwhile.
        """
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return self.database.run(work)
            except BaseException as error:
                # What lists have read of this transaction was not kept.
                shortlist_of(self.database).clear()
                if not isinstance(error, StoreBusyError) or time.monotonic() >= until:
                    raise
            time.sleep(TRIED_AGAIN)

    def read(self, work: Callable[[Transaction], T]) -> T:
        """The same for work that changes nothing: it waits for nobody."""
        return self.database.run(work, only_reads=True)

    def come_along(self, folder: str) -> None:
        """What the folder's project knew under another name, before its remote came, changed or went, is still its."""
        if self.read(lambda tx: has_to_come_along(tx, folder)):
            self.run(lambda tx: came_along(tx, folder))

    def remember(self, draft: Draft, *, similar: float = SIMILAR) -> Kept:
        """Keep a text that somebody asked to have remembered."""
        self.drain()
        safe = self.redact_draft(draft)
        signal = max(safe.signal, classify(safe.content[:10_000]).score, EXPLICIT)
        return self._kept(replace(safe, signal=signal), similar)

    def recall(self, question: Question, *, is_use: bool = True) -> list[Found]:
        """The memories that answer a question; being found counts as use."""
        self.drain()
        question = replace(question, text=redact(question.text[:10_000]))
        if self.embedder and question.alpha > 0 and (vectors := self._embedded([question.text])):
            alpha = DENSE_ALPHA if question.alpha == ALPHA else question.alpha
            question = replace(question, dense=vectors[0], dense_model=self.embedder.name, alpha=alpha)
        lists = shortlist_of(self.database), shortlist_of(self.database, "dense_signature")
        found = self.read(lambda tx: recall(tx, question, *lists))
        if is_use and found:
            with contextlib.suppress(StoreBusyError):  # what was found is worth more than that it is counted
                self.database.run(lambda tx: rows.touch(tx, [each.memory.id for each in found]))
        return found

    def nearby(self, memory_id: str, limit: int = 5, project: str = "") -> list[Found]:
        """The memories that are most like this one."""
        _check_limit(limit)
        return self.read(lambda tx: nearby(tx, memory_id, shortlist_of(self.database), limit=limit, project=project))

    def redact_draft(self, draft: Draft) -> Draft:
        """The draft without secrets in any of its fields; one that is mostly secret is refused."""
        draft = clean_draft(draft)
        if is_too_secret(draft.content, find(draft.content)):
            raise NotRememberedError("the text is mostly secret, so none of it is kept")
        return replace(
            draft,
            content=redact(draft.content),
            tags=tuple(redact(tag) for tag in draft.tags),
            metadata=redact_data(draft.metadata),
            source=redact(draft.source),
            agent=redact(draft.agent),
            project=redact(draft.project),
            idempotency_key=_without_secret(draft.idempotency_key),
        )

    def drain(self, files: int = DRAIN_FILES, seconds: float = DRAIN_SECONDS) -> Drained:
        """
        Remember what waits in the inbox, the oldest first, within these limits.

        INVARIANT: a file leaves the inbox after its transaction; one that comes twice is an exact duplicate.
        """
        drained = Drained()
        if not self.inbox:
            return drained
        until = time.monotonic() + seconds
        self._folders = {}
        with self.inbox.emptying() as is_ours:
            waiting = self.inbox.waiting(files) if is_ours else []
            for path in waiting:
                if path not in self._stuck and not self._took(path, drained):
                    break
                if time.monotonic() > until:
                    break
        drained.left = self.inbox.count() if waiting else 0
        return drained

    def look_after(self, *, is_first: bool = False, goes_on: bool = False) -> Drained:
        """
        What the daemon's timer does: empty the inbox, tidy it, let the model catch up.

        The first time no transcript is read: that is also how a daemon takes its leave, and then it has to end. One
        that goes on with what was left a moment ago need not tidy up again.
        """
        drained = self.drain(*SLICE)
        self.is_behind = drained.left > 0 and bool(drained.statuses)
        if goes_on and self.is_behind:
            return drained
        if self.inbox:
            self.read_on(is_first=is_first)
            drained.problems += self.inbox.tidy(_is_whole)
        self.renew()
        self.catch_up()
        return drained

    def renew(self, seconds: float = RENEW_SECONDS) -> int:
        """Make offline vectors of an earlier make anew, for about so long; returns how many."""
        until, number = time.monotonic() + seconds, 0
        while not self.is_renewed and time.monotonic() < until:
            done = self.run(re_embed)
            number, self.is_renewed = number + done, done < AT_ONCE
        if number:
            self.run(bump)  # once: each list of signatures is then read again as a whole
        return number

    def read_on(self, *, is_first: bool = False) -> None:
        """Transcripts that were too long for the time of one event; unless capturing was switched off there."""
        from snell.memory.transcript_capture import read_the_rest

        inbox = self.inbox
        assert inbox
        self.has_more = inbox.count("unread") > 0
        if is_first or not self.has_more:
            return
        self.has_more = read_the_rest(inbox.root.parent, READ_SECONDS, self.captures)

    def catch_up(self, seconds: float = CATCH_UP_SECONDS) -> int:
        """Let the model see memories that it has not seen yet, for about so long; returns how many."""
        if not self.embedder or not self.read(lambda tx: tx.rows("SELECT 1 FROM memories LIMIT 1")):
            return 0
        until, seen = time.monotonic() + seconds, 0
        self._embedded([])  # one on this machine is warm when the next prompt comes
        while (number := self._catch_up_once(self.embedder.name)) and time.monotonic() < until:
            seen += number
        if seen + number:  # rows that a list has looked at already; reading them again takes a while, so once
            shortlist_of(self.database, "dense_signature").clear()
        return seen + number

    def _catch_up_once(self, name: str) -> int:
        unseen = self.read(lambda tx: without_dense(tx, name, EMBEDDED_AT_ONCE))
        vectors = self._embedded([content for _, content in unseen]) if unseen else None
        if not vectors:
            return 0
        pairs = [(id_, vector) for (id_, _), vector in zip(unseen, vectors, strict=True)]
        self.run(lambda tx: add_dense(tx, name, pairs))
        return len(pairs)

    def _kept(self, draft: Draft, similar: float) -> Kept:
        """What takes long is looked up while others write, and only what comes of it is written."""
        shortlist = shortlist_of(self.database)
        weighed = self.read(lambda tx: assess(tx, draft, shortlist, similar=similar))
        if weighed.changes_nothing:
            return weighed.kept
        return self.run(lambda tx: store_assessed(tx, weighed, shortlist, similar=similar))

    def _took(self, path: Path, drained: Drained) -> bool:
        """Take care of one file; False when there is no point in going on now."""
        assert self.inbox
        try:
            kept = self._kept(self._draft_in(path), SIMILAR)
            drained.statuses[kept.status] += 1
            self.notices.append(f"{kept.status} {kept.id}".strip())
            return self._moved(path, self.inbox.mark_done)
        except FileNotFoundError:
            return True
        except StoreError as error:
            drained.problems.append(str(error))
            return False
        except (SnellError, OSError) as error:
            drained.statuses["failed"] += 1
            drained.problems.append(f"{path.name}: {error}")
            return self._moved(path, self.inbox.strike)

    def _draft_in(self, path: Path) -> Draft:
        from snell.memory.inbox_entry import LARGEST
        from snell.system.files import read_capped

        waiting = decode_entry(read_capped(path, LARGEST, follow_links=False))
        folder = self._folder(waiting.project_root_dir)
        if waiting.project and self.read(lambda tx: _was_called(tx, folder, waiting.project)):
            waiting = replace(waiting, project="")  # the project got another name while it waited
        # Any program may put a file here, so what it says is redacted like everything else.
        return self.redact_draft(draft_of(waiting, folder.project))

    def _folder(self, path: str) -> "_Folder":
        """Where a capture was made; looked up once for all that wait, since that reads files."""
        known = self._folders.get(path)
        if known:
            return known
        checkout = checkout_of(path)
        if self._followed.get(path) != checkout:
            self.come_along(path)  # before anything is kept under a new name
            self._followed = {**self._followed, path: checkout} if len(self._followed) < FOLDERS else {}
        self._folders[path] = folder = _Folder(checkout, project_of(path), earlier_name(path))
        return folder

    def _moved(self, path: Path, move: Callable[[Path], object]) -> bool:
        """A file that can be read and not moved must not be taken up for ever."""
        try:
            move(path)
        except OSError:
            self._stuck.add(path)
        return True

    def _embedded(self, texts: Sequence[str]) -> list[bytes] | None:
        assert self.embedder
        begin = time.monotonic()
        if begin < self._not_before:
            return None
        try:
            vectors = self.embedder.embed(texts)
        except EmbeddingError as error:
            self.problem = str(error)
            if time.monotonic() - begin > SLOW:  # whoever recalls next should not wait as long for nothing
                self._not_before = time.monotonic() + LEFT_ALONE
            return None
        self.problem = "" if texts else self.problem
        return vectors


class _Folder(Struct, frozen=True):
    checkout: project_renames.Checkout
    project: str
    earlier: str


def _was_called(tx: Transaction, folder: _Folder, name: str) -> bool:
    return name == folder.earlier or project_renames.was_called(tx, folder.checkout.repository, name)


def memories_of(runtime: Any) -> Memories:
    """The memories of this house: one object for as long as it is used."""
    known = _KNOWN.get(runtime)
    if known is None:
        known = _KNOWN[runtime] = _made(runtime)
    return known


def has_to_catch_up(runtime: Any) -> bool:
    """Does this house's memory, if it was used already, ask a model, or have vectors to make anew?"""
    known = _KNOWN.get(runtime)
    return known is not None and (known.embedder is not None or not known.is_renewed)


_KNOWN: WeakKeyDictionary[Any, Memories] = WeakKeyDictionary()


def _made(runtime: Any) -> Memories:
    if runtime.database is None:
        raise SnellError("this house has no database, so it remembers nothing")
    from snell.llm.embeddings.endpoint import embedder_from

    memories = Memories(runtime.database, runtime.where.state / "memory" if runtime.where else None)
    where, env = runtime.where, dict(runtime.executor.around.env)
    memories.captures = lambda folder: is_captured(where, env, folder)
    try:
        memories.embedder = embedder_from(_options(where, env), where.state if where else None)
    except EmbeddingError as error:
        memories.problem = str(error)  # the offline vectors do the work meanwhile
    with contextlib.suppress(StoreError):  # whoever asks next is told
        memories.renew(RENEW_AT_START)
    return memories


def is_captured(where: Places | None, env: Mapping[str, str], folder: str) -> bool:
    """What a session said in this folder: it was captured when it was noted down, so only a clear word is a no."""
    options = _options(where, env, folder)
    return bool(options.get("capture", True)) and options.get("enabled") is not False


def _options(where: Places | None, env: Mapping[str, str], folder: str = "/") -> dict[str, Any]:
    """
    What the user says about the pack `remember`, or what holds in a folder. INVARIANT: no project has a say in where
    texts are sent, so for that only the user's own settings are read.
    """
    from snell.settings.builtin_packs import builtin_packs
    from snell.settings.load import load

    own = dict(builtin_packs()["remember"].options)
    if where is None:
        return own
    said = load(where, Path(folder if os.path.isabs(folder) else "/"), env).value("pack") or {}
    return {**own, **said.get("remember", {})}


def _check_limit(limit: int) -> None:
    if not 1 <= limit <= 100:
        raise NotRememberedError(f"the limit is {limit}, not a number from 1 to 100")


def _without_secret(key: str) -> str:
    """Two secrets have the same placeholder, and two keys must stay two."""
    return key if redact(key) == key else hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


def _is_whole(data: bytes) -> bool:
    try:
        decode_entry(data)
    except NotRememberedError:
        return False
    return True
