"""
Match the calls in a client's record with the decisions about them.

Most clients give a call one number, in their record and to hooks. Where there is none, or another one, a call is found
by its session and input (the ledger keeps a hash), then by its tool and time. Each decision is used once.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from msgspec import Struct

from snell.clients import client_named
from snell.conversations.record import Conversation, RecordedCall
from snell.model.protocols import Database, Transaction
from snell.records.idempotency import args_hash
from snell.records.ledger import safe_id

TOGETHER_MS = 100  # calls of one answer of the model
MARGIN_MS = 600_000  # a call that was copied into another session still has about the time of its decision
CLOCK_MS = 3_000  # between the client's clock and ours, which round differently
_DECISIONS = (
    "SELECT decisions.seq, decisions.id, decisions.at, decisions.session_id, decisions.event, decisions.tool,"
    " decisions.tool_use_id, decisions.verdict, COALESCE(tool_calls.normalized_args_hash, ''),"
    " COALESCE(tool_calls.raw_tool_name, '') FROM decisions"
    " LEFT JOIN tool_calls ON tool_calls.decision_id = decisions.id AND tool_calls.decision_id <> ''"
    " WHERE decisions.client = ? AND decisions.at >= ? ORDER BY decisions.seq"
)
_AFTER = ("PostToolUse", "PostToolUseFailure")


class SeenEvent(Struct, frozen=True):
    """One decision, and what the ledger has about its call."""

    seq: int
    id: str
    at: int
    session_id: str
    event: str
    tool: str
    number: str
    verdict: str
    hashed: str
    raw_tool: str


class SeenCall(Struct, frozen=True):
    """The decision before a call, if there was one, and whether its end was reported."""

    before: SeenEvent | None = None
    is_end_seen: bool = False
    is_like_another: bool = False  # its event would be the same as that of a call which was seen


class SeenEvents:
    """The decisions about one client's events since a time."""

    def __init__(self, database: Database, client: str, since: int, *, numbers_agree: bool) -> None:
        def rows(tx: Transaction) -> list[SeenEvent]:
            return [SeenEvent(*row) for row in tx.rows(_DECISIONS, client, since - MARGIN_MS)]

        self.client, self.events = client, database.run(rows, only_reads=True)
        self._numbers_agree = numbers_agree
        self._names = _tool_names(client)
        self._by_number: dict[tuple[str, str], list[SeenEvent]] = defaultdict(list)
        self._without_number: dict[str, list[SeenEvent]] = defaultdict(list)  # by session; or with one that is no help
        self._repeated: set[str] = set()  # numbers that several calls of the conversation have
        self._used: set[str] = set()
        for each in self.events:
            if each.number:
                self._by_number[each.number, "end" if each.event in _AFTER else each.event].append(each)
            if each.event == "PreToolUse" and not (each.number and numbers_agree):
                self._without_number[each.session_id].append(each)
        for events in self._without_number.values():
            events.sort(key=lambda each: each.at)

    def match(self, conversation: Conversation) -> list[SeenCall]:
        """Return for each call of a conversation what was seen of it."""
        found: list[SeenCall | None] = [None] * len(conversation.calls)
        waiting = list(enumerate(conversation.calls))
        numbers = Counter(each.number for each in conversation.calls)
        self._repeated = {number for number, times in numbers.items() if times > 1}
        for is_same in (self._by_its_number, self._by_its_input_then, self._by_its_input, self._by_its_time):
            left = []
            for place, call in waiting:
                before = is_same(conversation, call)
                if before:
                    self._used.add(before.id)
                    found[place] = SeenCall(before, self._is_end_seen(conversation, call))
                else:
                    left.append((place, call))
            waiting = left
        pairs = zip(conversation.calls, found, strict=True)
        seen = [call for call, saw in pairs if saw and saw.before and not saw.before.number]
        return [
            saw or SeenCall(None, self._is_end_seen(conversation, call), self._is_like_another(call, seen))
            for call, saw in zip(conversation.calls, found, strict=True)
        ]

    def _is_like_another(self, call: RecordedCall, seen: Iterable[RecordedCall]) -> bool:
        """Return whether hooks cannot tell a call from one that they saw: the same at the same time, with no number."""
        same = (each for each in seen if each.tool == call.tool and each.given == call.given)
        return any(abs(each.at - call.at) <= TOGETHER_MS for each in same)

    def _by_its_number(self, conversation: Conversation, call: RecordedCall) -> SeenEvent | None:
        """Return the last decision about this number; in another session only at the same time."""
        if not self._numbers_agree or not call.number:
            return None
        return self._find_number(conversation, call, "PreToolUse")

    def _find_number(self, conversation: Conversation, call: RecordedCall, event: str) -> SeenEvent | None:
        same = self._by_number.get((call.number, event)) or self._by_number.get((safe_id(call.number), event)) or []
        here = [each for each in same if each.session_id in (conversation.session_id, *conversation.continues)]
        copied = [each for each in same if abs(each.at - call.at) < MARGIN_MS]
        if call.number in self._repeated:
            near = [each for each in here or copied if each.id not in self._used]
            return min(near, key=lambda each: abs(each.at - call.at), default=None)
        return next(reversed(here or copied), None)

    def _by_its_input_then(self, conversation: Conversation, call: RecordedCall) -> SeenEvent | None:
        """Return a decision about this input while the call was made: the same may be called again later."""
        return self._first(each for each in self._with_input(conversation, call) if _is_during(each, call))

    def _by_its_input(self, conversation: Conversation, call: RecordedCall) -> SeenEvent | None:
        return self._first(self._with_input(conversation, call))

    def _with_input(self, conversation: Conversation, call: RecordedCall) -> Iterator[SeenEvent]:
        hashes = {args_hash(call.given, each) for each in (call.tool, *self._names.get(call.tool, ()))}
        return (each for each in self._candidates(conversation, call) if each.hashed and each.hashed in hashes)

    def _by_its_time(self, conversation: Conversation, call: RecordedCall) -> SeenEvent | None:
        """Return a decision about the same tool between the beginning and the end of the call."""
        names = {call.tool, *self._names.get(call.tool, ())}
        return self._first(
            each
            for each in self._candidates(conversation, call)
            if names & {each.tool, each.raw_tool} and _is_during(each, call)
        )

    def _candidates(self, conversation: Conversation, call: RecordedCall) -> Iterator[SeenEvent]:
        """Yield decisions of about that time that may be about a call whose number says nothing."""
        events = self._without_number.get(call.hook_session or conversation.session_id, [])
        first = bisect_left(events, call.at - MARGIN_MS, key=lambda each: each.at)
        for each in events[first:]:
            if each.at > max(call.at, call.ended) + MARGIN_MS:
                return
            if each.id not in self._used:
                yield each

    def _is_end_seen(self, conversation: Conversation, call: RecordedCall) -> bool:
        return bool(self._numbers_agree and call.number and self._find_number(conversation, call, "end"))

    @staticmethod
    def _first(events: Iterable[SeenEvent]) -> SeenEvent | None:
        return next(iter(events), None)


def _is_during(event: SeenEvent, call: RecordedCall) -> bool:
    """Return whether a decision was made between the beginning and the end of a call."""
    return call.at - CLOCK_MS <= event.at <= max(call.ended, call.at) + CLOCK_MS


def _tool_names(client: str) -> dict[str, tuple[str, ...]]:
    """Return Claude Code's name for each tool of a client."""
    table = client_named(client).table
    tools = table.tools if table else {}
    return {name: (tool.name,) for name, tool in tools.items()}
