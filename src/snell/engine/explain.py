"""Explains the record of a decision to a user: the text of `snell why`."""

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from snell.model.catalogue import row_of

Record = Mapping[str, Any]
Mark = Callable[[str], str]  # highlights a text, where that is possible

WIDTH = 80
LONGEST_VALUE = 400
NAME_WIDTH = 32  # of the column of hooks; a longer name gets a line of its own

PASSES = {
    "rewrite": "rewriters, in turn",
    "judge": "judges and informers, together",
    "chain": "undeclared rewriters, each on the result of the one before",
    "turn": "all hooks, in turn, until one denies",
    "policy": "rewriters of the policy, again, on what others made of the input",
    "again": "again, on the rewritten input",
    "last": "for the last time, after a second pass of rewriters",
}
_IN_TURN = ("rewrite", "chain", "turn", "policy")  # each hook is a round of its own there


def explain(record: Record, mark: Mark = str) -> str:
    """Return the full explanation: the event, the hooks that ran, their outcomes, how they were combined."""
    return "\n".join(_lines(record, mark))


def headline(record: Record, mark: Mark = str) -> str:
    """Return the verdict and its reason in one line."""
    reason = _visible(record.get("reason", "").replace("\n", " / "))
    what = mark(_answer(record))
    return f"{what}: {reason}" if reason else what


def shorten(value: Any, limit: int = 160) -> str:
    """Return a value on one line."""
    if isinstance(value, dict):
        only = next(iter(value.values())) if len(value) == 1 else None
        value = only if only and isinstance(only, str) else ", ".join(f"{key}: {each}" for key, each in value.items())
    visible = _visible(" ".join(str(value).split()))
    return visible if len(visible) <= limit else f"{visible[: limit - 3]}..."


def wrap(text: str, indent: int = 2) -> list[str]:
    """Wrap a text to lines, the later ones indented further. What has no spaces is not broken, to be copied."""
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + 2),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _answer(record: Record) -> str:
    """Return the verdict and the other effects; `no opinion` alone only if no hook had any effect."""
    verdict = record["verdict"]
    parts = ["rewritten"] if record.get("changes") else []
    parts += ["ends the turn"] if record.get("stop") else []
    if verdict != "no_opinion":
        return ", ".join([verdict, *parts])
    counts = {word: len(record.get(name, ())) for name, word in _COUNTED.items()}
    parts += [f"{number} {word}{'' if number == 1 else 's'}" for word, number in counts.items() if number]
    return ", ".join(["no opinion", *parts]) if parts else "no opinion"


_COUNTED = {"notes": "note", "tells": "message", "env": "variable", "extras": "field", "failures": "failure"}


def _lines(record: Record, mark: Mark) -> Iterator[str]:
    tool = f" {record['tool']}" if record.get("tool") else ""
    yield f"{record['event']}{tool} from {record['client'].replace('_', '-')}   decision {record.get('id', '-')}"
    if "value" in record:
        yield from wrap(f"{row_of(record['event']).rewrites}: {_value(record['value'])}")
    first, *rest = wrap(f"answer: {headline(record)}")
    yield from (first.replace(_answer(record), mark(_answer(record)), 1), *rest)
    for flag in record.get("flags", ()):
        yield from wrap(f"about the payload: {flag}")
    if not record.get("cwd"):
        yield "  it has no `cwd`, so no hooks of a project are active"
    yield from _texts(record)
    yield from _rounds(record)
    yield from _late(record)
    yield from _list("not run", [f"{each['hook']}: {each['why']}" for each in record.get("not_run", ())])
    yield from _list("how the outcomes were combined", record.get("merge", ()))
    yield from _list("problems with the settings", record.get("problems", ()))


def _texts(record: Record) -> Iterator[str]:
    for change in record.get("changes", ()):
        because = f", because {change['because']}" if change["because"] else ""
        yield from wrap(f"rewritten by {change['hook']}{because}")
        yield from wrap(f"before: {_value(change['before'])}", 4)
        yield from wrap(f"after: {_value(change['after'])}", 4)
    for note in record.get("notes", ()):
        yield from wrap(f"note for the model, from {note['hook']}: {_value(note['text'])}")
    for tell in record.get("tells", ()):
        yield from wrap(f"shown to you, from {tell['hook']}: {_value(tell['text'])}")
    if stop := record.get("stop"):
        yield from wrap(f"{stop['hook']} ends the turn: {_value(stop.get('text', ''))}")
    for failure in record.get("failures", ()):
        yield from wrap(f"{failure['hook']} failed: {_near(_value(failure['text']), record)}")


def _rounds(record: Record) -> Iterator[str]:
    before = ""
    for each in record.get("rounds", ()):
        if each["pass"] != before or before not in _IN_TURN:
            yield f"  {PASSES.get(each['pass'], each['pass'])}"
        before = each["pass"]
        yield from _runs(each["runs"], record)


def _late(record: Record) -> Iterator[str]:
    if record.get("late"):
        yield "  after the reply"
        for run in record["late"]:
            yield from _runs([run], record, is_late=True)
            if failure := run.get("failure"):
                yield from wrap(_near(_value(failure["message"]), record), 6)


def _runs(runs: Iterable[Record], record: Record, *, is_late: bool = False) -> Iterator[str]:
    for run in runs:
        name = run["hook"]
        if len(name) > NAME_WIDTH:
            yield f"    {name}"
            name = ""
        row = f"    {name:<{NAME_WIDTH}} {run['role']:<10} {run.get('ms', 0):>8.1f} ms"
        result = result_of(run, is_late=is_late)
        if len(row) + 2 + len(result) <= WIDTH:
            yield f"{row}  {result}"
        else:
            yield from (row, *wrap(result, 6))
        layer, place = run.get("layer", run["scope"]), _near(run["source"], record)  # the file and its line
        yield from wrap(f"from {layer}" if place == layer else f"from {layer}, {place}", 6)
        for remark in run.get("remarks", ()):
            yield from wrap(_value(remark), 6)


def result_of(run: Record, *, is_late: bool = False) -> str:
    effects = "; ".join(shorten(effect) for effect in run.get("effects", ()))
    if failure := run.get("failure"):
        how = "failed with an exception" if failure["kind"] == "crash" else f"failed ({failure['kind']})"
        policy = run.get("on_failure", "")
        follows = "" if is_late else f"; {_ON_FAILURE[policy]} (on_failure = {policy})"
        return f"{how}{follows}" + (f"; {effects}" if effects else "")
    return effects or "no opinion"


_ON_FAILURE = {"allow": "ignored", "ask": "you are asked", "block": "blocked"}


def _list(title: str, items: Iterable[str]) -> Iterator[str]:
    for number, item in enumerate(items):
        if number == 0:
            yield f"  {title}"
        yield from wrap(item, 4)


def _near(text: str, record: Record) -> str:
    """Shorten paths below the event's folder."""
    cwd = record.get("cwd", "").rstrip("/")
    return text.replace(f"{cwd}/", "") if cwd else text


def _value(value: Any) -> str:
    return shorten(value, LONGEST_VALUE)


def _visible(text: str) -> str:
    """Replace characters that could move the cursor or hide text."""
    return "".join(char if char.isprintable() else "\ufffd" for char in text)
