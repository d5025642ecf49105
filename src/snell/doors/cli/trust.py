"""Approve what a project brings: look at it, then pin its exact bytes."""

import argparse
import os
from pathlib import Path

import msgspec

from snell.doors.person import asks_yes, require_person
from snell.machine.paths import Places, places
from snell.model.errors import TrustError
from snell.settings.locate import locate
from snell.settings.trust import Review, ReviewItem, approve, review, revoke

EXAMPLE = "snell trust"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", nargs="?", help="the project (default: the one around the current folder)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--list", action="store_true", help="only show what the project brings")
    what.add_argument("--revoke", action="store_true", help="take every approval back")
    what.add_argument("--hash", metavar="DIGEST", action="append", help="approve exactly this, without being asked")
    parser.add_argument("--json", action="store_true", help="print the review as JSON")


def run(args: argparse.Namespace) -> int:
    env = dict(os.environ)
    where = places(env)
    root = _root(args.path, where, env)
    if args.revoke:
        number = revoke(where, root)
        print(f"{number} approvals of {root} are taken back")
        return 0
    found = review(where, root, env)
    if args.json:
        print(msgspec.json.encode(found).decode())
    elif not args.hash:
        _show(found)
    if args.list or (args.json and not args.hash):
        return 0
    if args.hash:
        return _approve(where, root, args.hash, env)
    return _ask(found, where, root, env)


def _ask(found: Review, where: Places, root: Path, env: dict[str, str]) -> int:
    if found.is_approved:
        print("all of it is approved" if found.items else "there is nothing to approve")
        return 0
    require_person(env, "approving hooks")
    if not asks_yes("let these run, exactly as they are now?"):
        print(f"nothing was approved; without a terminal: snell trust --hash {found.digest}")
        return 1
    return _approve(where, root, [found.digest], env)


def _approve(where: Places, root: Path, digests: list[str], env: dict[str, str]) -> int:
    require_person(env, "approving hooks")
    done = approve(where, root, digests, env)
    left = [item for item in done.items if item.state != "approved"]
    print(f"approved {len(done.items) - len(left)} of {len(done.items)}; one changed byte makes a hook inert again")
    for item in left:
        print(f"  not approved: {item.title} ({item.cannot or item.state})")
    return 0


def _root(path: str | None, where: Places, env: dict[str, str]) -> Path:
    if path:
        return Path(path).resolve()
    project = locate(where, Path.cwd(), env).project
    if project is None:
        raise TrustError("there is no project around this folder", advice="a project has a `.snell` folder")
    return project.root


def _show(found: Review) -> None:
    print(f"{found.root} brings {len(found.items)} thing{'' if len(found.items) == 1 else 's'}")
    for item in found.items:
        print(f"\n  {item.title}  [{item.state}]  {item.file}:{item.line}")
        for line in _details(item):
            print(f"      {line}")
    for problem in found.problems:
        print(f"  {problem}")
    print()


def _details(item: ReviewItem) -> list[str]:
    lines = [f"on {item.event}"] if item.event else []
    lines += item.shows.splitlines()
    if item.changes:
        lines.append(f"changed since it was approved: {', '.join(item.changes)}")
    if item.cannot:
        lines.append(f"cannot be approved: {item.cannot}")
    if item.pins:
        lines.append(f"pins {', '.join(item.pins)}")
    return lines
