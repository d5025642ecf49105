"""How the answers of operations look for people; one without a view is printed as its fields."""

import sys
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct

from snell.cli.templates import template
from snell.cli.terminal import fields_of, lines_of, print_json, visible_lines

Row = Mapping[str, Any]


class Table(Struct, frozen=True, forbid_unknown_fields=True):
    """Rows as a table: fields with their headings, a column that is shown only if a row has it, a text for no rows."""

    columns: Mapping[str, str]
    nothing: str = ""
    host: str = ""

    def text(self, answer: Any) -> str:
        rows = answer if isinstance(answer, list) else [answer]
        more = {self.host: "HOST"} if any(row.get(self.host) for row in rows) else {}
        return "\n".join(lines_of(rows, {**self.columns, **more})) if rows else self.nothing


def show(operation: str, answer: Any, *, as_json: bool) -> None:
    print_json(answer) if as_json else print(text_of(operation, answer))


def text_of(operation: str, answer: Any) -> str:
    view = _tables().get(operation)
    if isinstance(view, Table):
        return view.text(answer)
    return visible_lines(view.format_map(answer) if view else _view(operation)(answer))


def _view(operation: str) -> Callable[[Any], str]:
    if not operation.startswith("memory."):
        return VIEWS.get(operation, fields_of)
    from snell.cli import memory_view  # slow to import

    return memory_view.VIEWS.get(operation, fields_of)


@cache
def _tables() -> Mapping[str, Table | str]:
    """Return the views in `views.json`, by operation: a table, or a text with fields of the answer in braces."""
    found = msgspec.json.decode(template("views.json"), type=dict[str, Table | str])
    return {name: view for names, view in found.items() for name in names.split()}


def _effort_line(made: Row) -> str:
    effort, verb = made["effort"], "resumed" if made.get("resumed", True) else "started"
    text = f"effort {effort['id']} ({effort['skill']}, no {effort['ordinal']}) {verb} in {effort['taskId']}"
    from snell.work.phases import list_phases, phase_label  # slow to import, and few commands need it

    phases = [phase_label(each) for each in list_phases(effort["metadata"].get("phases"))]
    more = f"phases {', '.join(phases)}" if phases else made.get("skillProblem")
    return "\n".join(filter(None, (f"{text}, session {made['session']['id']}", more)))


def _run(run: Row) -> str:
    waits = f"  waiting for: {run['waiting_for']}" if run["waiting_for"] else ""
    driver = f"  leased by session {run['lease_owner']}" if run.get("lease_owner") else ""
    used = f"{run['steps']}/{run['max_steps']} steps, {run['calls']}/{run['max_calls']} calls"
    used += f", {run['tokens']:,}/{run['max_tokens']:,} tokens" if run.get("max_tokens") else ""
    return f"{run['run_id']}  {run['status']:<18} {used}, at most {run['max_minutes']} minutes{waits}{driver}"


def _loop(answer: Row) -> str:
    if "promise" not in answer:
        return f"session {answer['session']} has no loop"
    text = f"session {answer['session']}: until `{answer['promise']}`, round {answer['iteration']} of {answer['most']}"
    if problem := answer.get("problem"):
        print(f"the loop ends with the daemon, because it could not be stored: {problem}", file=sys.stderr)
    return text


VIEWS: Mapping[str, Callable[[Any], str]] = {
    **dict.fromkeys(("commands.effort.start", "commands.effort.resume"), _effort_line),
    "commands.session.dehydrate": lambda done: "\nwarning: ".join(
        [f"session {done['sessionId']} ended; the next one gets this payload", *done["warnings"]]
    ),
    "commands.effort.phase": lambda moved: f"{'now' if moved['changed'] else 'already'} in phase {moved['phase']}",
    **dict.fromkeys(("runs.start", "runs.show"), _run),
    "runs.list": lambda runs: "\n".join(map(_run, runs)) or "no runs yet; `snell runs start` starts one",
    **dict.fromkeys(
        ("runs.cancel", "runs.approve", "runs.finish", "runs.replay"),
        lambda answer: f"run {answer['run']}: {'done' if answer['changed'] else 'nothing changed'}",
    ),
    **dict.fromkeys(("loop.start", "loop.status"), _loop),
    "loop.stop": lambda answer: (
        f"loop of session {answer['session']} stopped" if answer["stopped"] else "no loop was running"
    ),
}
