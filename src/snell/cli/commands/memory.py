"""Remember, recall, and look after what agents remember."""

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from snell.cli.call_operation import call_operation
from snell.cli.colours import Colours
from snell.cli.confirmation import require_person
from snell.cli.memory_switch import is_on
from snell.memory.corrections import MARK as CORRECTED_BY
from snell.memory.map_drawing import brief
from snell.memory.validation import one_line
from snell.model.errors import SnellError
from snell.system.paths import places

EXAMPLE = 'snell memory recall "which database did we choose"'

Show = Callable[[Mapping[str, Any]], None]


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("verb", nargs="?", choices=sorted(_VERBS), help="what to do")
    parser.add_argument("what", nargs="*", help="the text, the question, the ids, the file or the namespace")
    parser.add_argument("--project", default="", help="whose memories (default: this folder's; `*`: everybody's)")
    parser.add_argument("--namespace", default="", help="only this namespace; for `remember`: where to put it")
    parser.add_argument("--tag", action="append", default=[], help="a tag for `remember`; may come again")
    parser.add_argument("--importance", type=float, default=0.5, help="0 to 1, for `remember`")
    parser.add_argument("--limit", type=int, help="how many at most; of a journey or a walk: how many steps")
    parser.add_argument(
        "--format", default="", help="of the file: json or csv (default: by its name); of a map: svg, mermaid or json"
    )
    parser.add_argument("--yes", action="store_true", help="really do it: delete, decay and import only look otherwise")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")


def run(args: argparse.Namespace) -> int:
    _check(args)
    if args.verb == "browse":
        from snell.cli.memory_browser import browse

        return browse(lambda query: _asked("recall" if query else "list", args, query), sys.stdin, sys.stdout)
    if args.verb == "drain":
        return _drain(args)
    if args.verb in _FOR_PEOPLE and args.yes:
        require_person(os.environ, f"`snell memory {args.verb} --yes`")
    answer = _asked(args.verb, args, " ".join(args.what))
    if args.verb == "stats":
        answer = {**answer, "capturing": is_on(places(os.environ), Path.cwd(), os.environ)}
    if args.json:
        print(msgspec.json.encode(answer).decode())
    elif args.verb == "map" and args.what:
        _write_map(answer, args.what[0])
    else:
        _VERBS[args.verb][1](answer)
    if args.verb == "forget" and answer["missing"]:
        return 1
    return 0 if answer.get("status", "stored") in ("stored", "rejected_exact", "healthy") else 1


def _check(args: argparse.Namespace) -> None:
    """What can be told before anybody is asked."""
    if args.verb is None:
        raise SnellError(f"`snell memory` needs a verb: {', '.join(sorted(_VERBS))}", advice=f"try `{EXAMPLE}`")
    if args.limit is not None and args.limit < 1:
        raise SnellError(f"the limit is {args.limit}, and one is the least")
    if args.verb == "journey" and len(args.what) != 2:
        raise SnellError("a journey has a start and an end", advice="name two ids, as `snell memory list` shows them")
    if args.verb in ("export", "import") and not (len(args.what) == 1 and args.what[0].strip()):
        raise SnellError(
            f"`snell memory {args.verb}` needs the name of one file", advice="name it, such as memories.json"
        )
    if args.verb == "map" and len(args.what) > 1:
        raise SnellError("a map goes into one file", advice="name one, or none to see it here")


def _drain(args: argparse.Namespace) -> int:
    """A part at a time, so that nobody else waits long; until nothing is left or nothing gets better."""
    statuses: Counter[str] = Counter()
    left = -1
    while True:
        answer = _asked("drain", args, "")
        statuses.update(answer["statuses"])
        if not answer["left"] or answer["left"] == left:
            break
        left = answer["left"]
        if sys.stderr.isatty():
            print(f"\r{left} left ", end="", file=sys.stderr, flush=True)
    told = {"statuses": dict(statuses), "problems": answer["problems"], "left": answer["left"]}
    print(msgspec.json.encode(told).decode()) if args.json else _show_drained(told)
    return 1 if answer["left"] else 0


def _asked(verb: str, args: argparse.Namespace, text: str) -> dict[str, Any]:
    where = {"project": args.project, "namespace": args.namespace}
    limit = {} if args.limit is None else {"limit": args.limit}
    command, _show, given = _VERBS[verb]
    name = command if "." in command else f"memory.{command}"
    answer = call_operation(name, {**where, **limit, **given(args, text)})
    return dict(answer)


def _remember(args: argparse.Namespace, text: str) -> dict[str, Any]:
    content = sys.stdin.read() if text == "-" else text
    return {"content": content, "tags": args.tag, "importance": args.importance, "source": "snell memory"}


def _names(args: argparse.Namespace, _text: str) -> dict[str, Any]:
    old, new = (*args.what, "", "")[:2]
    return {"old_namespace": old, "new_namespace": new}


def _show_kept(answer: Mapping[str, Any]) -> None:
    said = {
        "stored": "remembered",
        "rejected_exact": "known already, word for word",
        "rejected_similar": "known already, in other words",
        "potential_duplicate": "not stored: something very like it is known",
        "rejected_quality": "not stored: it tells too little; say what it is about and why",
    }
    older = f", in place of {answer['supersedes']}" if answer.get("supersedes") else ""
    print(f"{said[answer['status']]} {answer['id']}{older}".rstrip())


def _show_memories(answer: Mapping[str, Any]) -> None:
    if not answer["memories"]:
        print("nothing is known about that here; `--project '*'` asks everywhere")
    for each in answer["memories"]:
        print(render_memory(each, Colours.for_stdout(), time.time()))


def render_memory(memory: Mapping[str, Any], paint: Colours, now: float) -> str:
    """One memory on two lines."""
    age = _counted(round(max(0.0, now - memory["created_at"] / 1000) / 86_400), "day")
    fit = f"{memory['similarity']:.2f}  " if "similarity" in memory else ""
    tags = f"  #{' #'.join(memory['tags'])}" if memory["tags"] else ""
    newer = memory.get("metadata", {}).get(CORRECTED_BY)
    corrected = f", corrected by {newer}" if newer else ""
    head = f"{fit}{memory['id']}  {memory['namespace']}  {age} old{corrected}, from {memory['source']}{tags}"
    return f"{paint.dim(one_line(head))}\n  {one_line(memory['content'][:400])}"


def _show_drained(answer: Mapping[str, Any]) -> None:
    statuses = answer["statuses"]
    print(f"{_counted(sum(statuses.values()), 'capture')} taken up" if statuses else "no capture was waiting")
    print("".join(f"{_row(name, number)}\n" for name, number in statuses.items()), end="")
    print("".join(f"problem: {_plain(each)}\n" for each in answer["problems"]), end="")
    if answer["left"]:
        print(f"{_counted(answer['left'], 'capture')} still waiting")


def _show_forgotten(answer: Mapping[str, Any]) -> None:
    _show_table({name: answer[name] for name in ("forgotten", "missing")})
    if answer.get("captures"):
        print(f"{_counted(answer['captures'], 'capture')} of the same text went too")
    if answer.get("not_searched"):
        older, folder = _counted(answer["not_searched"], "older capture"), places(os.environ).state / "memory"
        print(f"not looked at: {older} in `{folder}`; what was taken in goes after a week")


def _counted(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def _show_stats(answer: Mapping[str, Any]) -> None:
    """A daemon of an earlier version does not say all of it."""
    place = answer["project"] or "no project"
    print(f"{_counted(answer['memories'], 'memory', 'memories')} of {'all projects' if place == '*' else place}")
    for name, number in answer["namespaces"].items():
        print(f"  {number:6}  {name}")
    print(
        "capturing is on here" if answer["capturing"] else "capturing is off here; `snell setup --memory` turns it on"
    )
    if unread := answer.get("unread_bytes"):
        print(f"{unread / 1e6:,.1f} MB of transcripts are still to be read; the daemon does it")
    if answer.get("waiting"):
        print(f"{_counted(answer['waiting'], 'capture')} to be taken in; `snell memory drain` does it")
    if answer.get("quarantined"):
        print(f"{_counted(answer['quarantined'], 'capture')} failed three times; `snell memory health` says more")
    if answer.get("overlong_lines"):
        print(f"left out: {_counted(answer['overlong_lines'], 'line')} of transcripts over 1 MB")
    if answer.get("problem"):
        print(f"no vectors of the model: {answer['problem']}")


def _show_table(answer: Mapping[str, Any]) -> None:
    for name, value in answer.items():
        if isinstance(value, dict):
            print("\n".join(_row(each, its) for each, its in value.items()) or f"no {name}")
        elif isinstance(value, list):
            print("".join(f"{name}: {_plain(each)}\n" for each in value[:20]), end="")
        elif name == "content":
            print("\n".join(f"  {one_line(line)}" for line in str(value).splitlines()))
        else:
            print(f"{name}: {_plain(value)}")


def _row(name: str, value: Any) -> str:
    """Counts stand in a column; anything else is named first, since only numbers can be lined up."""
    is_count = isinstance(value, int | float) and not isinstance(value, bool)
    return f"  {value:6}  {one_line(name)}" if is_count else f"  {one_line(name)}: {_plain(value)}"


def _plain(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return one_line(text)


def _show_dry(answer: Mapping[str, Any]) -> None:
    _show_table(answer)
    if answer.get("dry_run"):
        print("nothing was changed; add --yes to do it")


def _ends(args: argparse.Namespace, _text: str) -> dict[str, Any]:
    start, end = (*args.what, "", "")[:2]
    return {"start_id": start, "end_id": end, **_steps(args)}


def _steps(args: argparse.Namespace) -> dict[str, Any]:
    return {} if args.limit is None else {"steps": args.limit}


def _show_results(answer: Mapping[str, Any]) -> None:
    for each in answer["results"]:
        print(f"{each['status']}  {each['content']}")
    print(f"{answer['stored']} remembered")


def _show_way(answer: Mapping[str, Any]) -> None:
    for each in answer["stops"]:
        print(f"{each['part']:4.0%}  {each['id']}  {brief(each['content'], 90)}")
    if answer["remark"]:
        print(answer["remark"])


def _show_regions(answer: Mapping[str, Any]) -> None:
    for each in answer["regions"]:
        print(f"{each['size']:6}  {', '.join(each['keywords'])}\n        {brief(each['typical'], 90)}")
    print(f"{len(answer['alone']):6}  in no region")
    if answer["remark"]:
        print(answer["remark"])


def _show_map(answer: Mapping[str, Any]) -> None:
    print(_drawing(answer), end="")
    if answer["remark"]:
        print(answer["remark"], file=sys.stderr)  # a picture is often sent into a file


def _write_map(answer: Mapping[str, Any], name: str) -> None:
    path = Path(name).expanduser()
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(_drawing(answer))
    except FileExistsError:
        raise SnellError(f"`{path}` is there already", advice="choose another name, or remove it first") from None
    except OSError as error:
        raise SnellError(f"`{path}` cannot be written: {(error.strerror or str(error)).lower()}") from None
    print(path)
    if answer["remark"]:
        print(answer["remark"], file=sys.stderr)


def _drawing(answer: Mapping[str, Any]) -> str:
    return str(answer.get("drawing") or f"{msgspec.json.encode(answer).decode()}\n")


def _by_name(what: list[str]) -> str:
    """The format of a map, by the file that it goes into."""
    ending = Path(what[0]).suffix.lower() if what else ""
    return {".json": "json", ".mmd": "mermaid", ".mermaid": "mermaid", ".md": "mermaid"}.get(ending, "svg")


_FOR_PEOPLE = ("delete-namespace", "import", "decay", "consolidate")

# What a person types -> the remote call, how its answer is shown, what it is given.
_Given = Callable[[argparse.Namespace, str], dict[str, Any]]
_VERBS: Mapping[str, tuple[str, Show, _Given]] = {
    "remember": ("remember", _show_kept, _remember),
    "recall": ("recall", _show_memories, lambda _args, text: {"query": text}),
    "nearby": ("nearby", _show_memories, lambda _args, text: {"memory_id": text}),
    "list": ("list", _show_memories, lambda _args, _text: {}),
    "show": ("get", _show_table, lambda _args, text: {"memory_id": text}),
    "forget": ("forget_batch", _show_forgotten, lambda args, _text: {"memory_ids": args.what}),
    "namespaces": ("namespaces", _show_table, lambda _args, _text: {}),
    "rename-namespace": ("rename_namespace", _show_table, _names),
    "delete-namespace": (
        "delete_namespace",
        _show_dry,
        lambda args, text: {"namespace": text, "confirm": args.yes, "dry_run": not args.yes},
    ),
    "reinforce": ("reinforce", _show_table, lambda args, _text: {"memory_ids": args.what}),
    "decay": ("decay", _show_dry, lambda args, _text: {"dry_run": not args.yes}),
    "stats": ("stats", _show_stats, lambda _args, _text: {}),
    "drain": ("drain", _show_drained, lambda _args, _text: {}),
    "export": ("export", _show_table, lambda args, text: {"output_path": text, "format": args.format}),
    "import": (
        "import",
        _show_dry,
        lambda args, text: {"source_path": text, "format": args.format, "dry_run": not args.yes},
    ),
    "health": ("tend.health", _show_table, lambda _args, _text: {"verbose": True}),
    "extract": (
        "tend.extract",
        _show_results,
        lambda args, text: {
            "text": sys.stdin.read() if text == "-" else text,
            "namespace": args.namespace or "extracted",
        },
    ),
    "consolidate": (
        "tend.consolidate",
        _show_dry,
        lambda args, text: {"namespace": text or args.namespace or "default", "dry_run": not args.yes},
    ),
    "journey": ("explore.journey", _show_way, _ends),
    "wander": ("explore.wander", _show_way, lambda args, text: {"start_id": text or None, **_steps(args)}),
    "regions": ("explore.regions", _show_regions, lambda _args, _text: {}),
    "map": ("explore.visualize", _show_map, lambda args, _text: {"format": args.format or _by_name(args.what)}),
    "browse": ("list", _show_memories, lambda _args, _text: {}),
}
