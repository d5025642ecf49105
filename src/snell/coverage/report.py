"""
Judge every call that a client recorded, and sum up what hooks did not see.

Only two results are holes: `missed`, and `ran_anyway` for a call that a hook refused. Where the record does not tell
enough, the call is `unknown`, with the reason; nothing is counted as seen without a decision.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec
from msgspec import Struct

from snell.cli.terminal import plural
from snell.clients import client_named, client_names
from snell.conversations import READERS, conversations_of, has_files
from snell.conversations.record import Conversation, RecordedCall
from snell.coverage.installation import SetUp, find_set_up
from snell.coverage.seen_events import SeenCall, SeenEvents
from snell.model.protocols import Database
from snell.records.retention import DAY_MS, DECISION_DAYS
from snell.redact import redact
from snell.setup.plan import Site, find_client
from snell.system.files import is_own_file
from snell.system.paths import Places

Result = Literal["seen", "missed", "ran_anyway", "not_run", "unreported", "unknown"]
HOLES = ("missed", "ran_anyway")
LONGEST_INPUT = 120  # characters that are shown
NOT_SET_UP = "Snell is not set up in this client"
NO_RECORD = "Snell cannot read a record of this client's calls"


class JudgedCall(Struct, frozen=True, kw_only=True):
    """One call of a client, and what hooks saw of it."""

    session_id: str
    tool: str
    result: Result
    why: str = ""
    number: str = ""
    agent: str = ""
    at: int = 0
    given: str = ""  # the beginning of its input, without secrets
    decision: str = ""


class ClientReport(Struct, frozen=True, kw_only=True):
    """What one client did, and what hooks saw of it."""

    client: str
    conversations: int = 0
    calls: tuple[JudgedCall, ...] = ()
    remarks: tuple[str, ...] = ()  # more that is wrong: silence, events that never came, sub-agents without hooks
    cause: str = ""  # of the holes, where it can be found
    advice: str = ""
    unknown: str = ""  # why nothing can be known

    @property
    def counts(self) -> Counter[str]:
        return Counter(each.result for each in self.calls)

    @property
    def holes(self) -> list[JudgedCall]:
        return [each for each in self.calls if each.result in HOLES]


class ReportScope(Struct, frozen=True, kw_only=True):
    """The times, session and client that a report is limited to."""

    since: int
    now: int
    session: str = ""  # the beginning of its id
    client: str = ""


def build_report(asked: ReportScope, site: Site, where: Places, database: Database) -> list[ClientReport]:
    """Return one report for each client that is on this machine."""
    return [
        _client_report(name, asked, site, where, database)
        for name in client_names()
        if name != "generic" and (name == asked.client if asked.client else _is_here(name, site))
    ]


def _is_here(client: str, site: Site) -> bool:
    return has_files(client, site) if client in READERS else find_client(client_named(client).install, site).is_here


def _client_report(client: str, asked: ReportScope, site: Site, where: Places, database: Database) -> ClientReport:
    if client not in READERS:
        return ClientReport(client=client, unknown=NO_RECORD)
    set_up = find_set_up(client, site, where, database)
    seen = SeenEvents(database, client, asked.since, numbers_agree=READERS[client])
    judged: list[JudgedCall] = []
    found: list[Conversation] = []
    known: set[tuple[str, int | str]] = set()
    for conversation in conversations_of(client, site, asked.since):
        calls = [each for each in conversation.calls if _is_in_period(each, asked.since)]
        calls = [each for each in calls if not _is_copy(conversation, each, known)]
        is_wanted = conversation.session_id.startswith(asked.session)
        if is_wanted and (calls or conversation.unread_lines):
            conversation = msgspec.structs.replace(conversation, calls=calls)
            found.append(conversation)
            judged += judge_calls(conversation, seen.match(conversation), set_up, asked.now)
    holes = any(each.result in HOLES for each in judged)
    remarks = (*_unread(found), *_sub_agents(judged), *_note_silent_client(found, judged, seen, set_up))
    remarks = (*remarks, *(_missing_events(found, judged, seen, set_up)))
    is_shown = holes or any("never came" in each for each in remarks)
    return ClientReport(
        client=client,
        conversations=len({each.session_id for each in found}),
        calls=tuple(judged),
        remarks=remarks,
        cause=set_up.cause if is_shown else "",
        advice=set_up.advice if is_shown else "",
    )


def _is_in_period(call: RecordedCall, since: int) -> bool:
    return call.at >= since or not call.at  # one without a time is counted as unknown


def _is_copy(conversation: Conversation, call: RecordedCall, known: set[tuple[str, int | str]]) -> bool:
    """Return whether this call was counted in an earlier file: a session that continues another repeats its calls."""
    if not call.number or not call.at:
        return False
    keys = {(call.number, call.at), *((call.number, session) for session in conversation.continues)}
    is_known = not keys.isdisjoint(known)
    known.update(((call.number, call.at), (call.number, conversation.session_id)))
    return is_known


def judge_calls(conversation: Conversation, seen: Iterable[SeenCall], set_up: SetUp, now: int) -> Iterator[JudgedCall]:
    """Yield the result of each call of a conversation."""
    begins = set_up.since(conversation.cwd)
    for call, saw in zip(conversation.calls, seen, strict=True):
        result, why = _judge(call, saw, _why_unknown(conversation, call, begins, now))
        yield JudgedCall(
            session_id=conversation.session_id,
            tool=call.tool,
            result=result,
            why=why,
            number=call.number,
            agent=call.agent,
            at=call.at,
            given=_shown_input(call) if result != "seen" else "",
            decision=saw.before.id if saw.before else "",
        )


def _judge(call: RecordedCall, saw: SeenCall, unknown: str) -> tuple[Result, str]:
    if saw.before:
        return _judge_seen(call, saw)
    if call.ran is False:
        return "not_run", call.why
    if call.unreported:
        return "unreported", call.unreported
    if saw.is_like_another:
        return (
            "unknown",
            "hooks saw one like it at the same time, and the client gives them nothing to tell the two apart",
        )
    if unknown:
        return "unknown", unknown
    if call.ran is None and not saw.is_end_seen:
        return "unknown", call.why or "the record has no result: it is still running, or was interrupted"
    usual = "hooks saw only its end" if saw.is_end_seen else "it ran, and no hook was asked"
    return "missed", call.hook_failure or usual


def _why_unknown(conversation: Conversation, call: RecordedCall, begins: int | None, now: int) -> str:
    """Return why a call cannot have a decision that is still there; empty if it can."""
    if begins is None:
        return NOT_SET_UP
    if not conversation.session_id:
        return "the record does not say of which session it was"
    if not call.at:
        return "the record does not say when it was"
    if call.at < begins:
        return "it was before Snell was set up in this client"
    return f"decisions are kept for {DECISION_DAYS} days" if call.at < now - DECISION_DAYS * DAY_MS else ""


def _judge_seen(call: RecordedCall, saw: SeenCall) -> tuple[Result, str]:
    """Judge a call with a decision: did the client wait for the answer, and keep to it?"""
    assert saw.before
    lost = f"; {call.hook_failure}" if call.hook_failure else ""
    if saw.before.verdict == "deny" and call.ran:
        return "ran_anyway", f"a hook refused it, and it ran{lost}"
    if call.hook_failure and call.ran:
        return "missed", f"it ran without the answer: {call.hook_failure}"
    return "seen", ""


def _shown_input(call: RecordedCall) -> str:
    given = call.given
    if isinstance(given, dict):
        named = (given.get(name) for name in ("command", "cmd", "file_path", "path", "absolute_path", "url", "prompt"))
        given = next((each for each in named if isinstance(each, str)), given)
    text = given if isinstance(given, str) else msgspec.json.encode(given).decode()
    return " ".join(redact(text[: LONGEST_INPUT * 4]).split())[:LONGEST_INPUT]


def _unread(found: Iterable[Conversation]) -> Iterator[str]:
    for each in found:
        if each.unread_lines and not is_own_file(each.path):
            yield f"`{each.path}` is a link, or not a file of this user: not compared"
        elif each.unread_lines:
            parts = plural(each.unread_lines, "part")
            yield f"{parts} of `{each.path}` too long, damaged or of an unknown form: not compared"


def _sub_agents(judged: Iterable[JudgedCall]) -> Iterator[str]:
    """Name each sub-agent of which no call was seen."""
    calls: dict[tuple[str, str], Counter[str]] = {}
    for each in judged:
        if each.agent:
            calls.setdefault((each.session_id, each.agent), Counter())[each.result] += 1
    for (session, agent), counts in calls.items():
        if counts["missed"] and not counts["seen"]:
            calls_made = plural(counts["missed"], "call")
            yield f"sub-agent `{agent}` of session {session} has no hooks: {calls_made}, none seen"


def _note_silent_client(
    found: Iterable[Conversation], judged: Iterable[JudgedCall], seen: SeenEvents, set_up: SetUp
) -> Iterator[str]:
    """Say that the client called no hook in all its latest conversations, and whether it was updated before."""
    heard = {each.session_id for each in seen.events}
    last = max((each.at for each in seen.events), default=0)
    missed = {each.session_id for each in judged if each.result == "missed" and each.at > last}
    silent = [each for each in found if each.session_id in missed - heard]
    if not silent or set_up.since(silent[-1].cwd) is None:
        return
    before, after = _version([each for each in found if each.session_id in heard]), _version(silent)
    update = f"; it was updated from {before} to {after}" if before and after and before != after else ""
    since = "in the time compared" if not last else "since its last event"
    yield f"it has been silent {since}: {plural(len(silent), 'conversation')} without any event{update}"


def _version(conversations: Iterable[Conversation]) -> str:
    """Return the client's version in the latest of these conversations."""
    latest = max(conversations, key=lambda each: max((call.at for call in each.calls), default=0), default=None)
    return latest.version if latest else ""


def _missing_events(
    found: Iterable[Conversation], judged: Iterable[JudgedCall], seen: SeenEvents, set_up: SetUp
) -> Iterator[str]:
    """Name the events that must have happened, that set-up registers, and of which none ever came."""
    heard = {each.session_id for each in seen.events}
    here = [each for each in found if each.session_id in heard]  # of the others, every call is missed
    came = Counter("PostToolUse" if each.event.startswith("PostToolUse") else each.event for each in seen.events)
    ran = {each.number for each in judged if each.result == "seen"}
    expected = {
        "UserPromptSubmit": sum(each.prompts for each in here),
        "PostToolUse": sum(1 for each in here for call in each.calls if call.ran and call.number in ran),
        "SubagentStart": sum(len(each.agents) for each in here),
    }
    for event, times in expected.items():
        if times and not came[event] and event in set_up.events:
            yield f"`{event}` never came, and should have {plural(times, 'time')}"
