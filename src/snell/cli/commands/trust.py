"""Review a project's hooks, skills and notes, and approve their exact content."""

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from snell.cli.confirmation import confirm, require_person
from snell.cli.python_source import review_source, visible
from snell.cli.table import plural
from snell.engine.explain import wrap
from snell.model.errors import TrustError
from snell.settings.locate import folder_with_notes, locate
from snell.settings.pins import Pin
from snell.settings.trust import Review, ReviewItem, approve, review, revoke, status
from snell.system.paths import Places, places

EXAMPLE = "snell trust"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", nargs="?", help="the project's folder (default: the project of the current folder)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--list", action="store_true", help="only list what needs approval")
    what.add_argument("--revoke", action="store_true", help="revoke all approvals of the project")
    what.add_argument("--hash", metavar="DIGEST", action="append", help="approve exactly this content without asking")
    parser.add_argument("--json", action="store_true", help="print the review as JSON")


def run(args: argparse.Namespace) -> int:
    env = dict(os.environ)
    where = places(env)
    root = _root(args.path, where, env)
    if args.revoke:
        number = revoke(where, root)
        print(f"revoked {plural(number, 'approval')} of {root}")
        return 0
    found = review(where, root, env)
    if args.json:
        print(msgspec.json.encode(found).decode())
    elif not args.hash:
        _show(found, status(where, root).approved)
    if args.list or (args.json and not args.hash):
        return 0
    if args.hash:
        return _approve(where, root, args.hash, env)
    return _ask(found, where, root, env)


def _ask(found: Review, where: Places, root: Path, env: dict[str, str]) -> int:
    if found.is_approved:
        print("everything is approved" if found.items else "there is nothing to approve")
        return 0
    require_person(env, "approving hooks")
    if not confirm("Approve these, exactly as they are now?"):
        print("nothing was approved" + ("" if sys.stdin.isatty() else _without_terminal(found)))
        return 1
    return _approve(where, root, [found.digest], env)


def _approve(where: Places, root: Path, digests: list[str], env: dict[str, str]) -> int:
    require_person(env, "approving hooks")
    done = approve(where, root, digests, env)
    left = [item for item in done.items if item.state != "approved"]
    print(f"approved {len(done.items) - len(left)} of {len(done.items)}; a hook that changes must be approved again")
    for item in left:
        print(f"  not approved: {item.title} ({item.cannot or item.state})")
    return 0


def _root(path: str | None, where: Places, env: dict[str, str]) -> Path:
    if path:
        return Path(path).resolve()
    project = locate(where, Path.cwd(), env).project
    root = project.root if project else folder_with_notes(Path.cwd(), env)
    if root is None:
        advice = "a project has a `.snell` folder or a LOCAL.md"
        raise TrustError("no project was found in this folder or above it", advice=advice)
    return root


def _without_terminal(found: Review) -> str:
    return f"; without a terminal: snell trust --hash {found.digest}"


def _show(found: Review, approved: tuple[Pin, ...]) -> None:
    print(f"{found.root} contains {plural(len(found.items), 'item')} to approve")
    for item in found.items:
        print(f"\n  {visible(item.title)}  [{item.state}]  {visible(item.file)}:{item.line}")
        for line in _details(item, Path(found.root), approved):
            print(f"      {visible(line)}".rstrip())
    for problem in found.problems:
        print("\n".join(wrap(str(problem))))
    print()


def _details(item: ReviewItem, root: Path, approved: tuple[Pin, ...]) -> Iterator[str]:
    if item.changes:
        yield f"changed since you approved it: {', '.join(map(_describe, item.changes))}"
        yield from _changed_fields(item, approved)
    if item.cannot:
        yield f"cannot be approved: {item.cannot}"
    if item.kind == "python":
        yield from _code(item, root)
        return
    if item.event:
        yield f"on {item.event}"
    yield from item.shows.splitlines()
    if item.pins:
        yield f"files: {', '.join(item.pins)}"


def _describe(change: str) -> str:
    return f"the content of {change}" if change.startswith("`") else change


def _changed_fields(item: ReviewItem, approved: tuple[Pin, ...]) -> Iterator[str]:
    """Yield the fields of a definition that have changed since it was approved."""
    pins = [pin for pin in approved if (pin.kind, pin.file, pin.title) == (item.kind, item.file, item.title)]
    old = pins[0].definition if pins else {}
    for name in dict.fromkeys((*old, *item.definition)) if old else ():
        was, is_ = _json(old.get(name)), _json(item.definition.get(name))
        if was != is_:  # as text, since tuples were stored as lists
            yield f"  {name} was {was}, is {is_}"


def _json(value: object) -> str:
    return "absent" if value is None else visible(msgspec.json.encode(value, order="sorted").decode())


def _code(item: ReviewItem, root: Path) -> Iterator[str]:
    """Yield the hooks of a Python file, and its code if it is not approved yet."""
    source = review_source(root / item.file)
    if source.problem:
        yield source.problem
    for hook in source.hooks:
        yield f"hook {hook}"
    if item.state != "approved":
        yield from (f"| {line}" for line in source.lines)
        if source.further:
            yield f"| ... and {source.further} more lines in {item.file}"
