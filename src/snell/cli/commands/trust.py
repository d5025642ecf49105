"""Review a project's hooks, skills and notes, and approve their exact content. No file is executed for that."""

import argparse
import difflib
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from snell.cli.active_hooks import folder_context
from snell.cli.confirmation import confirm, require_person
from snell.cli.terminal import escape, plural, print_json
from snell.engine.explain import wrap
from snell.model.errors import SnellError, TrustError
from snell.settings.locate import folder_with_texts, locate
from snell.settings.pins import Pin
from snell.settings.trust import Review, ReviewItem, approve, review, revoke, status
from snell.system.files import read_capped
from snell.system.paths import HomeInProjectError, Places, approve_home, places
from snell.testing.hook_source import hooks_in, source_problems

MOST_LINES = 60  # of a file that are shown
LARGEST = 1_000_000


def run(args: argparse.Namespace) -> int:
    env = dict(os.environ)
    where = _places(env, args.code)
    root = _root(args.path, where, env)
    if args.revoke:
        number = revoke(where, root)
        print(f"revoked {plural(number, 'approval')} of {root}")
        return 0
    found = review(where, root, env)
    if args.json:
        print_json(found)
    elif not args.hash:
        _show(found, status(where, root).approved)
    if args.list or (args.json and not args.hash):
        return 0
    if args.hash:
        return _approve(where, root, args.hash, env, args.code)
    return _ask(found, where, root, env, args.code)


def _places(env: dict[str, str], code: str) -> Places:
    """Return the user's folders; ask about a SNELL_HOME that is inside a project."""
    try:
        return places(env)
    except HomeInProjectError as error:
        require_person(env, "approving SNELL_HOME", code, error.message)
        print(error.message)
        if not confirm("Use its settings and approvals as your own from now on?", code):
            raise
        approve_home(env)
        return places(env)


def _ask(found: Review, where: Places, root: Path, env: dict[str, str], code: str) -> int:
    if found.is_approved:
        print("everything is approved" if found.items else "there is nothing to approve")
        return 0
    _require_person(env, root, [found.digest], code)
    if not confirm("Approve these, exactly as they are now?", code):
        print("nothing was approved")
        return 1
    return _approve(where, root, [found.digest], env, code)


def _approve(where: Places, root: Path, digests: list[str], env: dict[str, str], code: str) -> int:
    _require_person(env, root, digests, code)
    done = approve(where, root, digests, env)
    left = [item for item in done.items if item.state != "approved"]
    print(f"approved {len(done.items) - len(left)} of {len(done.items)}; a hook that changes must be approved again")
    for item in left:
        print(f"  not approved: {item.title} ({item.cannot or item.state})")
    for problem in folder_context(where, root, env).problems:
        print("\n".join(wrap(f"cannot load: {problem}")))
    return 0


def _require_person(env: dict[str, str], root: Path, digests: list[str], code: str) -> None:
    """Raise TrustError unless a person approves these digests: here, with a code, or in the policy of this machine."""
    subject = f"approve {' '.join(digests)} in {root}"
    require_person(env, "approving hooks", code, subject, {"trusted_digests": digests})


def _root(path: str | None, where: Places, env: dict[str, str]) -> Path:
    if path:
        return Path(path).resolve()
    project = locate(where, Path.cwd(), env).project
    root = project.root if project else folder_with_texts(Path.cwd(), env)
    if root is None:
        advice = "a project has a `.snell` folder, skills or agents of a client, a LOCAL.md or a mission.json"
        if Path("AGENTS.md").is_file():
            advice = f"clients read AGENTS.md themselves, Snell only in a project you approved; {advice}"
            raise TrustError("nothing here needs approval", advice=advice)
        raise TrustError("no project was found in this folder or above it", advice=advice)
    return root


def _show(found: Review, approved: tuple[Pin, ...]) -> None:
    print(f"{found.root} contains {plural(len(found.items), 'item')} to approve")
    for item in found.items:
        print(f"\n  {escape(item.title)}  [{item.state}]  {escape(item.file)}:{item.line}")
        for line in _details(item, Path(found.root), approved):
            print(f"      {escape(line)}".rstrip())
    for problem in found.problems:
        print("\n".join(wrap(str(problem))))
    print()


def _details(item: ReviewItem, root: Path, approved: tuple[Pin, ...]) -> Iterator[str]:
    if item.changes:
        changed = [f"the content of {each}" if each.startswith("`") else each for each in item.changes]
        yield f"changed since you approved it: {', '.join(changed)}"
        yield from _changed_fields(item, approved)
    if item.cannot:
        yield f"cannot be approved: {item.cannot}"
    if item.kind == "python":
        yield from _code(item, root)
        return
    if item.event:
        yield f"on {item.event}"
    yield from item.shows.splitlines() if not (item.changes and "text" in item.definition) else ()
    if item.pins:
        yield f"files: {', '.join(item.pins)}"
    if item.not_pinned:
        yield f"not covered by the approval: {', '.join(item.not_pinned)}"


def _changed_fields(item: ReviewItem, approved: tuple[Pin, ...]) -> Iterator[str]:
    """Yield the fields of a definition that have changed since it was approved."""
    pins = [pin for pin in approved if (pin.kind, pin.file, pin.title) == (item.kind, item.file, item.title)]
    old = pins[0].definition if pins else {}
    for name in dict.fromkeys((*old, *item.definition)) if old else ():
        was, is_ = _json(old.get(name)), _json(item.definition.get(name))
        if was != is_ and name == "text":
            before, after = (str(each.get(name, "")).splitlines() for each in (old, item.definition))
            yield from difflib.unified_diff(before, after, "as you approved it", "now", lineterm="")
        elif was != is_:  # as text, since tuples were stored as lists
            yield f"  {name} was {was}, is {is_}"


def _json(value: object) -> str:
    return "absent" if value is None else escape(msgspec.json.encode(value, order="sorted").decode())


def _code(item: ReviewItem, root: Path) -> Iterator[str]:
    """Yield the hooks of a Python file, and its code if it is not approved yet."""
    source = review_source(root / item.file)
    for problem in source.problems:
        yield f"cannot work: {problem.removeprefix(f'{root}/')}"
    for hook in source.hooks:
        yield f"hook {hook}"
    if item.state != "approved":
        yield from (f"| {line}" for line in source.lines)
        if source.further:
            yield f"| ... and {source.further} more lines in {item.file}"


class SourceReview(Struct, frozen=True):
    lines: tuple[str, ...] = ()  # at most MOST_LINES
    further: int = 0  # the number of lines after these
    hooks: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def review_source(path: Path) -> SourceReview:
    """Return what a person should see of a Python file before approving it: its text, hooks and mistakes."""
    try:
        source = read_capped(path, LARGEST)
    except (OSError, SnellError) as error:
        return SourceReview(problems=(f"cannot be shown: {error}",))
    lines = [line.removesuffix("\r").expandtabs(4) for line in source.decode("utf-8", "replace").split("\n")]
    while lines and not lines[-1].strip():
        lines.pop()
    hooks = tuple(f"{name} {role} {', '.join(events)}" for name, role, events in hooks_in(source))
    problems = tuple(source_problems(path, source))
    return SourceReview(tuple(lines[:MOST_LINES]), max(len(lines) - MOST_LINES, 0), hooks, problems)
