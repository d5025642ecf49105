"""A record of a decision in words, for a person who asks why."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Record = Mapping[str, Any]

_PASSES = {
    "rewrite": "rewriters, in turn",
    "judge": "judges and informers, together",
    "chain": "undeclared rewriters, in turn on what the one before left",
    "again": "again, on the rewritten input",
}


def explained(record: Record) -> str:
    """The whole story: what came, who was asked, what they said, how it added up."""
    return "\n".join(_lines(record))


def headline(record: Record) -> str:
    """One line: the verdict and its reason."""
    reason = record.get("reason", "").replace("\n", " / ")
    changed = "rewritten" if record.get("changes") else ""
    what = " ".join(part for part in (record["verdict"], changed) if part)
    if record["verdict"] == "silent":
        what = "no opinion, rewritten" if changed else "no opinion"
    return f"{what}: {reason}" if reason else what


def _lines(record: Record) -> Iterator[str]:
    tool = f" {record['tool']}" if record.get("tool") else ""
    yield f"{record['event']}{tool} from {record['client']}   decision {record.get('id', '-')}"
    if "value" in record:
        yield f"  what will happen: {shortened(record['value'])}"
    yield f"  answer: {headline(record)}"
    yield from _texts(record)
    yield from _rounds(record)
    if record.get("late"):
        yield "  after the answer"
        for run in record["late"]:
            yield from _runs([run])
            if failure := run.get("failure"):
                yield f"      {shortened(failure['message'])}"
    yield from _not_run(record)
    if record.get("merge"):
        yield "  how it adds up"
        yield from (f"    {step}" for step in record["merge"])
    if record.get("problems"):
        yield "  what is wrong with the settings here"
        yield from (f"    {problem}" for problem in record["problems"])


def _texts(record: Record) -> Iterator[str]:
    for change in record.get("changes", ()):
        yield f"  {change['hook']} rewrote {shortened(change['before'])}"
        yield f"    to {shortened(change['after'])}" + (f" because {change['because']}" if change["because"] else "")
    for note in record.get("notes", ()):
        yield f"  note for the model, from {note['hook']}: {shortened(note['text'])}"
    for tell in record.get("tells", ()):
        yield f"  shown to you, from {tell['hook']}: {shortened(tell['text'])}"
    if stop := record.get("stop"):
        yield f"  {stop['hook']} ends the turn: {stop.get('text', '')}"
    for failure in record.get("failures", ()):
        yield f"  {failure['hook']} could not do its job: {shortened(failure['text'])}"


def _rounds(record: Record) -> Iterator[str]:
    for each in record.get("rounds", ()):
        yield f"  {_PASSES.get(each['pass'], each['pass'])}"
        yield from _runs(each["runs"])


def _runs(runs: Iterable[Record]) -> Iterator[str]:
    for run in runs:
        yield f"    {run['hook']:<32} {run['scope']}/{run['role']:<10} {run.get('ms', 0):>8.1f} ms  {_said(run)}"
        yield from (f"      {remark}" for remark in run.get("remarks", ()))


def _said(run: Record) -> str:
    said = "; ".join(shortened(effect) for effect in run.get("effects", ()))
    if failure := run.get("failure"):
        means = {"allow": "so it does not count", "ask": "so you are asked", "block": "so it blocks"}
        return f"failed ({failure['kind']}), {means[run['on_failure']]}" + (f"; {said}" if said else "")
    return said or "no opinion"


def _not_run(record: Record) -> Iterator[str]:
    if record.get("not_run"):
        yield "  not run"
        yield from (f"    {each['hook']:<32} {each['why']}" for each in record["not_run"])


def shortened(value: Any, limit: int = 160) -> str:
    """A value on one line."""
    if isinstance(value, dict) and len(value) == 1 and isinstance(text := next(iter(value.values())), str):
        value = text
    line = " ".join(str(value).split())
    visible = "".join(char if char.isprintable() else "\ufffd" for char in line)
    return visible if len(visible) <= limit else f"{visible[: limit - 3]}..."
