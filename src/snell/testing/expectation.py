"""
What a case expects of the decision, and how the decision differs. Effects that are not named must not occur.

    expect = "no_opinion"                                   or allow, ask, defer, deny
    expect = { deny = "part of the reason" }
    expect = { rewrite = { command = "make test" }, note = ["one part", "another part"] }
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from snell.engine.explain import shorten
from snell.model.catalogue import did_you_mean
from snell.model.decision import Decision, Reason, Skipped
from snell.model.effects import Verdict
from snell.model.events import Event, json_equal
from snell.settings.value_tree import noun
from snell.testing.case_event import CaseError, CaseEvent, table_of, text_of

VERDICTS = ("no_opinion", "allow", "ask", "defer", "deny")
TEXTS = ("note", "tell", "stop", "failure")
TABLES = ("env", "extra")
KEYS = (*VERDICTS[1:], "rewrite", *TEXTS, *TABLES)

Parts = tuple[str, ...]


class Expectation(Struct, frozen=True):
    """The expected verdict, and for each other effect the parts of its text."""

    verdict: str = "no_opinion"
    reason: Parts = ()
    rewrite: Any = None  # the fields that change, or the new text
    texts: Mapping[str, Parts] = {}
    env: Mapping[str, str] = {}
    extra: Mapping[str, Any] = {}


def expectation_from(written: Any) -> Expectation:
    """Return the expectation that a word or a table describes. Raises CaseError."""
    if isinstance(written, str):
        written = "no_opinion" if written == "silent" else written  # the former word
        if written not in VERDICTS:
            raise CaseError(f"`{written}` cannot be expected", key="expect", advice=_advice(written))
        return Expectation(written)
    if not isinstance(written, dict) or not written:
        found = "an empty table" if written == {} else noun(written)
        advice = 'write "no_opinion", "deny" or { deny = "part of the reason" }'
        raise CaseError(f"`expect` must be a word or a table, not {found}", key="expect", advice=advice)
    return _from_table(written)


def _from_table(written: dict[str, Any]) -> Expectation:
    for key in written:
        if key not in KEYS:
            raise CaseError(f"`{key}` cannot be expected", key=key, advice=_advice(key))
    verdicts = [key for key in written if key in VERDICTS]
    if len(verdicts) > 1:
        message = f"a decision cannot be both {verdicts[0]} and {verdicts[1]}"
        raise CaseError(message, key=verdicts[1], advice="keep one of them")
    verdict = verdicts[0] if verdicts else "no_opinion"
    return Expectation(
        verdict,
        reason=_parts(written[verdict], verdict) if verdicts else (),
        rewrite=_checked_rewrite(written["rewrite"]) if "rewrite" in written else None,
        texts={key: _parts(written[key], key) for key in TEXTS if key in written},
        env={name: text_of(value, "env") for name, value in table_of(written.get("env", {}), "env").items()},
        extra=table_of(written.get("extra", {}), "extra"),
    )


def _parts(value: Any, key: str) -> Parts:
    return tuple(text_of(each, key) for each in (value if isinstance(value, list) else [value]))


def _checked_rewrite(value: Any) -> Any:
    if isinstance(value, str) or (isinstance(value, dict) and value):
        return value
    advice = 'write { command = "make test" }, or the new text if a text is rewritten'
    raise CaseError("`rewrite` must be a table of the changed fields, or a text", key="rewrite", advice=advice)


def _advice(word: str) -> str:
    return did_you_mean(word, ("no_opinion", *KEYS), f"use no_opinion, {', '.join(KEYS)}")


def differences(expected: Expectation, decision: Decision, event: Event, given: CaseEvent) -> list[str]:
    """Return the differences; none if the case passes. `event` is the event that was sent."""
    return [
        *_verdict(expected, decision),
        *_rewrite(expected, decision, event, given),
        *_texts(expected, decision),
        *_table("env", expected.env, decision.env),
        *_table("extra", expected.extra, decision.extras),
    ]


def hint(decision: Decision, not_run: Sequence[Skipped]) -> str:
    """Return a hint for a failed case: which hooks had no opinion or did not run, or how the results were merged."""
    runs = list(decision.runs())
    remarks = [f"`{hook.id}`: {remark}" for _, hook, outcome in runs for remark in outcome.remarks]
    if remarks:
        return "; ".join(remarks)
    if any(outcome.effects or outcome.failure for _, _, outcome in runs):
        steps = decision.merge
        return "; ".join(steps) if len(steps) > 1 or decision.verdict is Verdict.NO_OPINION else ""
    if runs:
        return f"{_join(dict.fromkeys(hook.id for _, hook, _ in runs))} had no opinion"
    skipped = [f"`{each.hook}` did not run: {each.why}" for each in not_run]
    return "; ".join(skipped) or f"no hook reacts to {decision.event.name}"


def in_words(decision: Decision, event: Event) -> str:
    """Describe the decision on one line."""
    verdict = decision.verdict.name.lower()
    parts = [] if verdict == "no_opinion" else [_with_text(verdict, decision.reason)]
    if decision.changes:
        parts.append(_with_text("rewrite", _as_json(decision.event.rewritable, event.cwd)))
    parts += [_with_text(name, text) for name in TEXTS if (text := _text(decision, name)) is not None]
    tables = {"env": decision.env, "extra": decision.extras}
    parts += [_with_text(name, _as_json(value, "")) for name, value in tables.items() if value]
    return ", ".join(parts) or "no_opinion"


def _with_text(what: str, text: str) -> str:
    return f"{what} `{shorten(text)}`" if text else what


def _verdict(expected: Expectation, decision: Decision) -> Iterator[str]:
    happened = decision.verdict.name.lower()
    if happened != expected.verdict:
        wanted = f"{expected.verdict} with {_join(expected.reason)}" if any(expected.reason) else expected.verdict
        yield f"expected {wanted}, got {_with_text(happened, decision.reason)}"
    else:
        yield from _missing(f"the reason of the {happened}", expected.reason, decision.reason)


def _rewrite(expected: Expectation, decision: Decision, event: Event, given: CaseEvent) -> Iterator[str]:
    after = decision.event.rewritable
    if expected.rewrite is None:
        if decision.changes:
            who = _join(dict.fromkeys(change.hook for change in decision.changes))
            yield f"{who} rewrote it to `{_as_json(after, event.cwd)}`, which was not expected"
        return
    wanted = _expected_value(expected.rewrite, event, given)
    if not decision.changes:
        yield f"expected a rewrite to `{_as_json(wanted, event.cwd)}`, there was none"
    elif not json_equal(wanted, after):
        yield f"expected a rewrite to `{_as_json(wanted, event.cwd)}`, got `{_as_json(after, event.cwd)}`"


def _expected_value(rewrite: Any, event: Event, given: CaseEvent) -> Any:
    """Return the complete expected value: the one that was sent, with the named fields replaced."""
    before = event.rewritable
    if not isinstance(rewrite, dict):
        return rewrite
    fields = (
        given.complete_fields(given.input_fields(rewrite), event.cwd) if event.row.rewrites == "tool_input" else rewrite
    )
    return {**before, **fields} if isinstance(before, dict) else fields


def _texts(expected: Expectation, decision: Decision) -> Iterator[str]:
    for name in TEXTS:
        happened = _text(decision, name)
        if name not in expected.texts:
            if happened is not None:
                yield f"unexpected {name}: `{shorten(happened)}`"
        elif happened is None:
            yield f"expected a {name} with {_join(expected.texts[name])}, there was none"
        else:
            yield from _missing(f"the {name}", expected.texts[name], happened)


def _text(decision: Decision, name: str) -> str | None:
    if name == "stop":
        return decision.stop.text if decision.stop else None
    given: list[Reason] = [each for each in getattr(decision, f"{name}s") if each.hook != "snell"]  # not its warnings
    texts = (f"{reason.hook}: {reason.text}" if name == "failure" else reason.text for reason in given)
    return "\n".join(texts) if given else None


def _table(name: str, expected: Any, happened: Any) -> Iterator[str]:
    for key in expected:
        if key not in happened:
            yield f"expected {name} `{key}`, it was not set"
        elif not json_equal(expected[key], happened[key]):
            yield f"{name} `{key}` is `{shorten(happened[key])}`, expected `{shorten(expected[key])}`"
    for key in happened:
        if key not in expected:
            yield f"{name} `{key}` was set to `{shorten(happened[key])}`, which was not expected"


def _missing(what: str, parts: Parts, text: str) -> Iterator[str]:
    missing = [part for part in parts if part not in text]
    if missing:
        yield f"{what} does not contain {_join(missing)}: " + (f"`{shorten(text)}`" if text else "it is empty")


def _join(words: Iterable[str]) -> str:
    return " and ".join(f"`{word}`" for word in words)


def _as_json(value: Any, cwd: str) -> str:
    """Return a value as JSON, without the path of the temporary folder."""
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return shorten(text.replace(f"{cwd}/", "") if cwd else text)
