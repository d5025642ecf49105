"""Store, search and maintain what agents remember."""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from snell.cli.call_operation import call_operation
from snell.cli.confirmation import require_person
from snell.cli.memory_switch import is_on
from snell.cli.memory_view import (
    show_drained,
    show_dry_run,
    show_forgotten,
    show_map,
    show_memories,
    show_path,
    show_regions,
    show_results,
    show_stats,
    show_stored,
    show_table,
    write_map,
)
from snell.model.errors import SnellError
from snell.system.paths import places

EXAMPLE = 'snell memory recall "which database did we choose"'

Show = Callable[[Mapping[str, Any]], None]


def arguments(parser: argparse.ArgumentParser) -> None:
    verbs = "\n".join(f"  {name:<17} {_HELP[name]}" for name in _VERBS)
    parser.epilog = f"verbs:\n{verbs}\n\n{parser.epilog}"
    parser.add_argument("verb", nargs="?", choices=list(_VERBS), metavar="VERB", help="what to do, see below")
    parser.add_argument("what", nargs="*", help="the text, query, ids, file or namespace")
    parser.add_argument("--project", default="", help="the project (default: this folder's; `*`: all projects)")
    parser.add_argument("--namespace", default="", help="filter by namespace; for `remember`: store in this one")
    parser.add_argument("--tag", action="append", default=[], help="for `remember`: a tag; can be repeated")
    parser.add_argument("--importance", type=float, default=0.5, help="for `remember`: 0 to 1 (default: 0.5)")
    parser.add_argument("--limit", type=int, help="the maximum number; for `journey` and `wander`: of steps")
    parser.add_argument(
        "--format", default="", help="of the file: json or csv (default: by its name); for `map`: svg, mermaid or json"
    )
    parser.add_argument(
        "--yes", action="store_true", help=f"apply the change; without it {', '.join(_FOR_PEOPLE)} are dry runs"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(args: argparse.Namespace) -> int:
    _check(args)
    if args.verb == "browse":
        from snell.cli.memory_browser import browse

        return browse(lambda query: _call("recall" if query else "list", args, query), sys.stdin, sys.stdout)
    if args.verb == "drain":
        return _drain(args)
    if args.verb in _FOR_PEOPLE and args.yes:
        require_person(os.environ, f"`snell memory {args.verb} --yes`")
    answer = _call(args.verb, args, " ".join(args.what))
    if args.verb == "stats":
        answer = {**answer, "capturing": is_on(places(os.environ), Path.cwd(), os.environ)}
    if args.json:
        print(msgspec.json.encode(answer).decode())
    elif args.verb == "map" and args.what:
        write_map(answer, args.what[0])
    else:
        _VERBS[args.verb][1](answer)
    if args.verb == "forget" and answer["missing"]:
        return 1
    return 0 if answer.get("status", "stored") in ("stored", "rejected_exact", "healthy") else 1


def _check(args: argparse.Namespace) -> None:
    """Raise SnellError for arguments that cannot be right."""
    if args.verb is None:
        raise SnellError("`snell memory` needs a verb", advice=f"`snell memory --help` lists them; try `{EXAMPLE}`")
    if args.limit is not None and args.limit < 1:
        raise SnellError(f"--limit must be at least 1, not {args.limit}")
    if args.verb == "journey" and len(args.what) != 2:
        raise SnellError("`snell memory journey` needs two ids", advice="`snell memory list` shows them")
    if args.verb in ("export", "import") and not (len(args.what) == 1 and args.what[0].strip()):
        raise SnellError(f"`snell memory {args.verb}` needs one file name", advice="give one, such as memories.json")
    if args.verb == "map" and len(args.what) > 1:
        raise SnellError("`snell memory map` takes one file name", advice="give one, or none to print the map")


def _drain(args: argparse.Namespace) -> int:
    """Process the captures in parts, so that other requests are not delayed, until none is left or none succeeds."""
    statuses: Counter[str] = Counter()
    left = -1
    while True:
        answer = _call("drain", args, "")
        statuses.update(answer["statuses"])
        if not answer["left"] or answer["left"] == left:
            break
        left = answer["left"]
        if sys.stderr.isatty():
            print(f"\r{left} left ", end="", file=sys.stderr, flush=True)
    summary = {"statuses": dict(statuses), "problems": answer["problems"], "left": answer["left"]}
    print(msgspec.json.encode(summary).decode()) if args.json else show_drained(summary)
    return 1 if answer["left"] else 0


def _call(verb: str, args: argparse.Namespace, text: str) -> dict[str, Any]:
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


def _ends(args: argparse.Namespace, _text: str) -> dict[str, Any]:
    start, end = (*args.what, "", "")[:2]
    return {"start_id": start, "end_id": end, **_steps(args)}


def _steps(args: argparse.Namespace) -> dict[str, Any]:
    return {} if args.limit is None else {"steps": args.limit}


def _map_format(what: list[str]) -> str:
    """Return the format of a map by the ending of its file."""
    ending = Path(what[0]).suffix.lower() if what else ""
    return {".json": "json", ".mmd": "mermaid", ".mermaid": "mermaid", ".md": "mermaid"}.get(ending, "svg")


_FOR_PEOPLE = ("delete-namespace", "import", "decay", "consolidate")

# Verb -> the operation, the function that prints its result, and the function that makes its arguments.
_MakeArguments = Callable[[argparse.Namespace, str], dict[str, Any]]
_VERBS: Mapping[str, tuple[str, Show, _MakeArguments]] = {
    "remember": ("remember", show_stored, _remember),
    "recall": ("recall", show_memories, lambda _args, text: {"query": text}),
    "nearby": ("nearby", show_memories, lambda _args, text: {"memory_id": text}),
    "list": ("list", show_memories, lambda _args, _text: {}),
    "show": ("get", show_table, lambda _args, text: {"memory_id": text}),
    "forget": ("forget_batch", show_forgotten, lambda args, _text: {"memory_ids": args.what}),
    "namespaces": ("namespaces", show_table, lambda _args, _text: {}),
    "rename-namespace": ("rename_namespace", show_table, _names),
    "delete-namespace": (
        "delete_namespace",
        show_dry_run,
        lambda args, text: {"namespace": text, "confirm": args.yes, "dry_run": not args.yes},
    ),
    "reinforce": ("reinforce", show_table, lambda args, _text: {"memory_ids": args.what}),
    "decay": ("decay", show_dry_run, lambda args, _text: {"dry_run": not args.yes}),
    "stats": ("stats", show_stats, lambda _args, _text: {}),
    "drain": ("drain", show_drained, lambda _args, _text: {}),
    "export": ("export", show_table, lambda args, text: {"output_path": text, "format": args.format}),
    "import": (
        "import",
        show_dry_run,
        lambda args, text: {"source_path": text, "format": args.format, "dry_run": not args.yes},
    ),
    "health": ("tend.health", show_table, lambda _args, _text: {"verbose": True}),
    "extract": (
        "tend.extract",
        show_results,
        lambda args, text: {
            "text": sys.stdin.read() if text == "-" else text,
            "namespace": args.namespace or "extracted",
        },
    ),
    "consolidate": (
        "tend.consolidate",
        show_dry_run,
        lambda args, text: {"namespace": text or args.namespace or "default", "dry_run": not args.yes},
    ),
    "journey": ("explore.journey", show_path, _ends),
    "wander": ("explore.wander", show_path, lambda args, text: {"start_id": text or None, **_steps(args)}),
    "regions": ("explore.regions", show_regions, lambda _args, _text: {}),
    "map": ("explore.visualize", show_map, lambda args, _text: {"format": args.format or _map_format(args.what)}),
    "browse": ("list", show_memories, lambda _args, _text: {}),
}

_HELP: Mapping[str, str] = {
    "remember": "TEXT: store a fact; `-` reads it from standard input",
    "recall": "QUERY: search by words and by meaning",
    "nearby": "ID: show the most similar memories",
    "list": "list the newest memories",
    "show": "ID: show one memory",
    "forget": "ID ...: delete memories for good",
    "namespaces": "list the namespaces",
    "rename-namespace": "OLD NEW: rename a namespace",
    "delete-namespace": "NAMESPACE: delete all memories of a namespace (dry run without --yes)",
    "reinforce": "ID ...: raise the importance of memories",
    "decay": "reduce the importance of unused memories (dry run without --yes)",
    "stats": "count memories, and show what is not processed yet",
    "drain": "process waiting captures now",
    "export": "FILE: write memories to a new file",
    "import": "FILE: read memories from a file (dry run without --yes)",
    "health": "report problems of the memory",
    "extract": "TEXT: find and store the facts in a longer text; `-` reads standard input",
    "consolidate": "NAMESPACE: merge near duplicates (dry run without --yes)",
    "journey": "ID ID: show the memories between two others",
    "wander": "[ID]: walk randomly from memory to memory",
    "regions": "show clusters of memories",
    "map": "[FILE]: draw a map of the memories",
    "browse": "search interactively",
}
