"""
The house: everything assembled once, then one way through it.

    payload -> client.decode -> Event -> book -> decide -> Decision -> client.encode -> Reply
                                                     \\-> journal, watchers (after the reply)
"""

import os
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from snell.engine.book import Book, Switches
from snell.engine.decide import decide
from snell.engine.held_notes import hold
from snell.engine.record import late_run, record_of
from snell.engine.schemas import TOOL_SCHEMAS, Schema, validator
from snell.handlers.command import Surroundings
from snell.handlers.python import Worker
from snell.kit.rules import holds
from snell.machine.paths import Places, places
from snell.machine.processes import end_background_runs
from snell.model.decision import Decision, Outcome, Reason
from snell.model.effects import Note
from snell.model.events import Event
from snell.model.hooks import Hook, Scope
from snell.model.ports import Client, Reply, Store
from snell.model.tools import names_of
from snell.runtime.crew import Crew
from snell.runtime.deliveries import Deliveries, delivery_key
from snell.runtime.drive import Deciding, drive, drive_async
from snell.runtime.journal import FileJournal, Journal, NoJournal
from snell.runtime.registry import OnSuccess, Registry
from snell.runtime.shelf import OnShelf, Shelf
from snell.stores.inmemory import InMemoryStore


class Place(Struct, frozen=True):
    """Where an event happens: the book that counts there, and a crew that knows its surroundings."""

    book: Book
    crew: Crew
    problems: tuple[str, ...] = ()
    decision_id: str = ""


class House:
    """Build one, use it for many events, close it."""

    def __init__(
        self,
        *,
        shelf: Shelf | None = None,
        store: Store | None = None,
        journal: Journal | None = None,
        worker: Worker | None = None,
        env: Mapping[str, str] | None = None,
        switches: Switches | None = None,
        schemas: Mapping[str, Schema] = TOOL_SCHEMAS,
    ) -> None:
        self.store = store or InMemoryStore()
        self.journal = journal or NoJournal()
        around = Surroundings(env=dict(os.environ if env is None else env), late=self._late)
        self.crew = Crew(worker, around)
        self._shelf = shelf
        self._switches = switches or Switches()
        self._validate = validator(schemas)
        self._registry = Registry()
        self._deliveries = Deliveries()
        self._books: dict[int, tuple[object, object, Book]] = {}

    @classmethod
    def embedded(cls, *hooks: Hook | Callable[..., Any], **options: Any) -> "House":
        """A house inside another program: no files, no settings, the program's own functions in its own process."""
        house = cls(**options)
        house.register(*hooks)
        return house

    @classmethod
    def for_user(cls, env: Mapping[str, str] | None = None, where: Places | None = None) -> "House":
        """The house that a person's settings describe."""
        env = dict(os.environ if env is None else env)
        where = where or places(env)
        worker = Worker(env)
        return cls(shelf=Shelf(where, env, worker), journal=FileJournal(where.state), worker=worker, env=env)

    def handle(self, client: Client, payload: bytes, request_id: str = "") -> Reply:
        """One payload in, one reply out."""
        return client.encode(self.decide(client.decode(payload), request_id))

    def decide(self, event: Event, request_id: str = "") -> Decision:
        """Decide one event and wait for it."""
        key = delivery_key(event, request_id)
        earlier = self._deliveries.earlier(key)
        if earlier:
            return earlier
        place = self.place_of(event, _new_id())
        return self._finish(drive(self._deciding(event, place), place.crew), place, key)

    async def decide_async(self, event: Event, request_id: str = "") -> Decision:
        """Decide one event without blocking the loop."""
        key = delivery_key(event, request_id)
        earlier = self._deliveries.earlier(key)
        if earlier:
            return earlier
        place = self.place_of(event, _new_id())
        return self._finish(await drive_async(self._deciding(event, place), place.crew), place, key)

    def register(
        self,
        *hooks: Hook | Callable[..., Any],
        scope: Scope = Scope.SESSION,
        group: str = "",
        session_id: str = "",
        on_success: OnSuccess | None = None,
    ) -> list[Hook]:
        """Add hooks at run time: ready-made ones, or functions with a role decorator."""
        return self._registry.add(*hooks, scope=scope, group=group, session_id=session_id, on_success=on_success)

    def unregister(self, *, layer: str = "", group: str = "", scope: Scope | None = None) -> int:
        """Take back what was registered, by where it came from, by group or by scope; returns how many."""

        def goes(hook: Hook) -> bool:
            by_name = (layer and hook.source.layer == layer) or (group and hook.group == group)
            return bool(by_name) or (scope is not None and hook.scope is scope)

        return self._registry.remove(goes)

    def start_skill(self, path: Path, session_id: str, cwd: str, *, is_agent: bool = False) -> list[str]:
        """Let the hooks in a skill's or agent's front matter count for a session; returns what is wrong with them."""
        if not self._shelf:
            raise TypeError("an embedded house has no settings to look skills up in; register their hooks yourself")
        found = self._shelf.skill(path, cwd, is_agent=is_agent)
        self.end_skill(path, session_id)  # a skill that starts twice has its hooks once
        self.register(*found.hooks, group=_skill_group(path, session_id), session_id=session_id)
        return [str(each) for each in found.problems]

    def end_skill(self, path: Path, session_id: str) -> int:
        """Take a skill's hooks back; returns how many."""
        return self.unregister(group=_skill_group(path, session_id))

    def forget_session(self, session_id: str) -> None:
        """Drop a session's marks and the hooks that were registered for it."""
        self.store.drop(f"session:{session_id}")
        if session_id:
            self._registry.remove(lambda hook: hook.session_id == session_id)

    def place_of(self, event: Event, decision_id: str = "") -> Place:
        """What counts where this event happens."""
        on_shelf = self._shelf.hooks_for(event) if self._shelf else None
        book = self._book(on_shelf)
        if not on_shelf:
            return Place(book, self.crew, tuple(book.problems), decision_id)
        around = replace(
            self.crew.around,
            project_dir=on_shelf.project_dir,
            late=lambda hook, at, outcome: self._late(hook, at, outcome, decision_id),
        )
        return Place(book, self.crew.on(around), (*on_shelf.problems, *book.problems), decision_id)

    def problems_for(self, event: Event) -> tuple[str, ...]:
        """What is wrong with the settings and hooks that count here."""
        return self.place_of(event).problems

    def fails_closed(self, cwd: str = "") -> bool:
        """Must what cannot even be read be refused? Yes, where a policy hook that blocks on failure stands guard."""
        hooks = self.place_of(Event(name="PreToolUse", payload={"cwd": cwd})).book.hooks()
        return any(hook.scope is Scope.POLICY and hook.can_judge and hook.failure_policy == "block" for hook in hooks)

    def record_of(self, decision: Decision, place: Place | None = None) -> dict[str, Any]:
        """Everything there is to know about a decision of this house."""
        place = place or self.place_of(decision.event)
        return record_of(decision, place.book.considered(decision.event, self.store), place.problems)

    def close(self) -> None:
        """Wait for the watchers, then end every process that is still ours."""
        self.crew.close()
        end_background_runs()

    def _book(self, on_shelf: OnShelf | None) -> Book:
        """The book of these settings and what is registered now; built anew only when one of the two changed."""
        registered = self._registry.hooks
        known = self._books.get(id(on_shelf))
        if known and known[0] is on_shelf and known[1] is registered:
            return known[2]
        hooks = _with_own_ids((*(on_shelf.hooks if on_shelf else ()), *registered))
        book = Book(hooks, switches=on_shelf.switches if on_shelf else self._switches, condition=_condition)
        self._books = {key: each for key, each in self._books.items() if each[1] is registered}
        self._books[id(on_shelf)] = (on_shelf, registered, book)
        return book

    def _deciding(self, event: Event, place: Place) -> Deciding:
        return decide(event, place.book, self.store, self._validate)

    def _finish(self, decision: Decision, place: Place, key: str) -> Decision:
        decision = replace(decision, id=place.decision_id)
        self._deliveries.keep(key, decision)
        event = decision.event
        if not isinstance(self.journal, NoJournal):
            self.journal.record(self.record_of(decision, place))
        self._registry.call_on_success(decision)
        watchers = tuple(
            hook for hook in place.book.pick(event, self.store).watchers if place.book.applies(hook, event)
        )
        if watchers:
            place.crew.later(lambda: self._watch(watchers, event, place))
        if event.name == "SessionEnd":
            self.forget_session(event.session_id)
        return decision

    def _watch(self, watchers: tuple[Hook, ...], event: Event, place: Place) -> None:
        for hook, outcome in zip(watchers, place.crew.run(watchers, event), strict=True):
            self._late(hook, event, outcome, place.decision_id)

    def _late(self, hook: Hook, event: Event, outcome: Outcome, decision_id: str = "") -> None:
        """Notes of a background hook go out with the next event; its verdict comes too late to count."""
        self.journal.add_late(decision_id, late_run(hook, outcome))
        notes = [Reason(hook.id, effect.text) for effect in outcome.effects if isinstance(effect, Note)]
        if notes and hook.role != "watches":
            hold(event, notes, self.store, until="event")


def _with_own_ids(hooks: Iterable[Hook]) -> list[Hook]:
    """INVARIANT: an id names one hook, since marks and traces go by it."""
    seen: dict[str, int] = {}
    named = []
    for hook in hooks:
        times = seen[hook.id] = seen.get(hook.id, 0) + 1
        named.append(hook if times == 1 else replace(hook, id=f"{hook.id}#{times}"))
    return named


def _condition(rule: str, event: Event) -> bool:
    names = names_of(event.tool, event.tool_name)
    return holds(rule, names, event.tool_input, event.kind, cwd=event.cwd, home=os.path.expanduser("~"))


def _skill_group(path: Path, session_id: str) -> str:
    return f"skill:{os.path.realpath(path)}:{session_id}"


def _new_id() -> str:
    """Time first, so that ids sort; random enough for one machine."""
    return f"{time.time_ns() // 1_000_000:x}-{os.urandom(4).hex()}"
