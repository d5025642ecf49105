"""
What a case expects of the decision. Effects that are not named must not occur.

    expect = "no_opinion"                                   or allow, ask, defer, deny
    expect = { deny = "part of the reason" }
    expect = { rewrite = { command = "make test" }, note = ["one part", "another part"] }
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from snell.settings.value_tree import noun
from snell.testing.case_errors import CaseError, did_you_mean, table_of, text_of

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
        rewrite=_rewrite(written["rewrite"]) if "rewrite" in written else None,
        texts={key: _parts(written[key], key) for key in TEXTS if key in written},
        env={name: text_of(value, "env") for name, value in table_of(written.get("env", {}), "env").items()},
        extra=table_of(written.get("extra", {}), "extra"),
    )


def _parts(value: Any, key: str) -> Parts:
    return tuple(text_of(each, key) for each in (value if isinstance(value, list) else [value]))


def _rewrite(value: Any) -> Any:
    if isinstance(value, str) or (isinstance(value, dict) and value):
        return value
    advice = 'write { command = "make test" }, or the new text if a text is rewritten'
    raise CaseError("`rewrite` must be a table of the changed fields, or a text", key="rewrite", advice=advice)


def _advice(word: str) -> str:
    return did_you_mean(word, ("no_opinion", *KEYS), f"use no_opinion, {', '.join(KEYS)}")
