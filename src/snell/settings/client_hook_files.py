"""
The hook files of other clients: their paths and formats, and their translation into the form of Snell's settings.

Entries that run `snell-hook` are left out: through these the client calls Snell. A command keeps the client's name of
its event, so that Snell can emulate the client for it.
"""

import os
import re
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from snell.model.catalogue import CATALOGUE, canonical, fold_name
from snell.settings.snell_commands import runs_shim
from snell.settings.value_tree import Node, plain

if TYPE_CHECKING:
    from snell.settings.parse_types import ParseState  # it imports the keys, whose choices are in this module


class ClientEvent(Struct, frozen=True):
    """
    The events of Snell that one event of a client corresponds to.

    In Snell, the failure of a tool is an event of its own. Cursor's `subagentStart` is an event before the agent's
    tool, because in other clients it cannot be denied after its start.
    """

    names: tuple[str, ...]
    kinds: tuple[str, ...] = ()  # of tools, when it is for some kinds only


class ClientFormat(Struct, frozen=True):
    """The hook files of one client and their format."""

    base: str  # below the home directory
    user: tuple[str, ...]
    project: tuple[str, ...]
    variable: str = ""  # the environment variable that replaces `base`
    events: Mapping[str, ClientEvent] = {}  # events whose names are not Snell's names in another spelling
    lacks: frozenset[str] = frozenset()  # events that no event of Snell corresponds to
    not_events: frozenset[str] = frozenset()  # keys among its events: switches, and the hooks that the user reviewed
    tools: Mapping[str, str] = {}  # its names of tools in matchers -> Claude Code's names
    in_milliseconds: bool = False
    has_comments: bool = False  # its JSON may have comments and trailing commas
    seconds: float = 0.0  # its default time limit of a command; 0 = Snell's
    is_emulated: bool = True  # its hooks get that client's input, and answer in its format
    has_folders: bool = False  # an entry may have `cwd` and `env`
    remark: str = ""

    def event(self, native: str) -> ClientEvent | None:
        """Return the events that an event of this client corresponds to; None when there are none."""
        if native in self.lacks:
            return None
        name = canonical(native)
        return self.events.get(native) or (ClientEvent((name,)) if name in CATALOGUE else None)


CLIENT_FORMATS: Mapping[str, ClientFormat] = msgspec.json.decode(
    Path(__file__).with_suffix(".json").read_bytes(), type=dict[str, ClientFormat]
)


def can_emulate(written_for: str) -> bool:
    """Whether this names an event of a client that Snell can emulate, such as `cursor:stop`."""
    client, _, native = written_for.partition(":")
    form = CLIENT_FORMATS.get(client)
    return form is not None and form.is_emulated and form.event(native) is not None


def user_files(name: str, home: Path, env: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the paths of a client's user files."""
    form = CLIENT_FORMATS[name]
    moved = env.get(form.variable, "") if form.variable else ""
    return _paths(Path(moved) if os.path.isabs(moved) else home / form.base, form.user)


def project_files(name: str, root: Path) -> tuple[Path, ...]:
    """Return the paths of a client's files in a project."""
    return _paths(root, CLIENT_FORMATS[name].project)


def _paths(base: Path, patterns: Iterable[str]) -> tuple[Path, ...]:
    """Expand the patterns; the files are not opened."""
    paths: list[Path] = []
    for pattern in patterns:
        paths += sorted(base.glob(pattern)) if "*" in pattern else [base / pattern]
    return tuple(paths)


def translate_tree(root: Node | None, state: "ParseState") -> Node | None:
    """Return the tree in the form of Snell's settings, without the entries of Snell."""
    client = state.layer.partition(":")[0]
    form = CLIENT_FORMATS.get(client)
    if root is None or form is None or not root.is_table or "hooks" not in root.value:
        return root
    hooks = root.value["hooks"]
    if not hooks.is_table:
        return root
    off = _disabled_hooks(root) if client == "gemini" else frozenset()
    lists: dict[str, Node] = {}
    for native, node in hooks.value.items():
        if native not in form.not_events:
            _add_event(_Origin(client, form, native, form.event(native), off or frozenset()), node, lists, state)
    rest = {"disable_all_hooks": Node(True, root.line)} if off is None else {}
    return Node({**root.value, **rest, "hooks": Node(lists, hooks.line)}, root.line)


def _disabled_hooks(root: Node) -> frozenset[str] | None:
    """Return the hooks that Gemini CLI does not run, by name or command; None: all of them."""
    names: set[str] = set()
    for switches in (root.value.get("hooksConfig"), root.value.get("hooks")):
        found = plain(switches) if switches is not None and switches.is_table else {}
        if found.get("enabled") is False:
            return None
        listed = found.get("disabled")
        names |= {each for each in listed if isinstance(each, str)} if isinstance(listed, list) else set()
    return frozenset(names)


class _Origin(Struct, frozen=True):
    """The client and the event of an entry."""

    client: str
    form: ClientFormat
    native: str  # the client's name of the event
    event: ClientEvent | None
    off: frozenset[str]  # names and commands of disabled hooks


def _add_event(origin: _Origin, node: Node, lists: dict[str, Node], state: "ParseState") -> None:
    if origin.native in origin.form.lacks:
        message = f"other clients have no event like `{origin.native}`, so its hooks are left out"
        state.add_problem(node.line, message, "", "hint")
        return
    made = node
    if node.is_list:
        entries = (_entry(each, origin) for each in node.value)
        made = Node([each for each in entries if each is not None], node.line)
    for name in origin.event.names if origin.event else (origin.native,):
        before = lists.get(name)
        both = before is not None and before.is_list and made.is_list
        lists[name] = Node([*before.value, *made.value], before.line) if before is not None and both else made


def _entry(node: Node, origin: _Origin) -> Node | None:
    """Return the entry with Snell's names; None for an entry of Snell, or a group of such entries."""
    given = plain(node)
    # The handlers that an entry groups are checked one by one.
    if runs_shim({**given, "hooks": ()} if isinstance(given, dict) else given):
        return None
    if not node.is_table:
        return node
    inner, matcher = node.value.get("hooks"), node.value.get("matcher")
    if inner is None or not inner.is_list:
        return _handler(node, matcher, origin)
    kept = [_handler(each, matcher, origin) for each in inner.value if not runs_shim(plain(each))]
    if inner.value and not kept:
        return None
    rest = {name: each for name, each in node.value.items() if name not in ("matcher", "matcher_type")}
    return Node({**rest, "hooks": Node(kept, inner.line)}, node.line)


def _handler(node: Node, matcher: Node | None, origin: _Origin) -> Node:
    """Return one handler with every key that decides when and how it runs."""
    if not node.is_table:
        return node
    fields = _with_command_keys(dict(node.value), node, origin.form)
    if origin.event and origin.event.kinds:
        fields["kinds"] = Node([Node(kind, node.line) for kind in origin.event.kinds], node.line)
    if (closed := fields.pop("failClosed", None)) and closed.value is True:
        fields["on_failure"] = Node("block", closed.line)
    if origin.off & {each.value for key in ("name", "command") if (each := fields.get(key)) and not each.is_table}:
        fields["enabled"] = Node(False, node.line)
    fields.pop("matcher", None)
    is_emulated = origin.form.is_emulated and origin.event is not None and "command" in fields
    if is_emulated:
        fields["written_for"] = Node(f"{origin.client}:{origin.native}", node.line)
    return Node({**fields, **_matcher_fields(matcher, origin.form, is_emulated=is_emulated)}, node.line)


def _with_command_keys(fields: dict[str, Node], node: Node, form: ClientFormat) -> dict[str, Node]:
    """Return the keys with the client's own keys of a command replaced by Snell's."""
    if form.in_milliseconds and "timeout" in fields:
        fields["timeout_ms"] = fields.pop("timeout")
    if "bash" in fields and "command" not in fields:
        fields["command"] = fields.pop("bash")
    if form.seconds and "command" in fields and not _LIMITS & {fold_name(name) for name in fields}:
        fields["timeout"] = Node(form.seconds, node.line)
    return _in_its_folder(fields) if form.has_folders else fields


_LIMITS = frozenset(map(fold_name, ("timeout", "timeout_sec", "timeout_ms")))


def _matcher_fields(matcher: Node | None, form: ClientFormat, *, is_emulated: bool) -> dict[str, Node]:
    if matcher is None:
        return {}
    if not isinstance(matcher.value, str):
        return {"matcher": matcher}
    if is_emulated:
        return {"their_matcher": matcher}
    return {"matcher": Node(_with_other_names(matcher.value, form.tools), matcher.line)}


def _in_its_folder(fields: dict[str, Node]) -> dict[str, Node]:
    """Replace `cwd` and `env` of an entry by shell commands before its own command."""
    kept = {name: each for name, each in fields.items() if name not in ("cwd", "env")}
    command, folder, env = (fields.get(name) for name in ("command", "cwd", "env"))
    if command is None or not isinstance(command.value, str) or (folder is None and env is None):
        return kept
    given = env.value.items() if env is not None and env.is_table else ()
    words = [f"{name}={shlex.quote(str(each.value))}" for name, each in given if name.isidentifier()]
    before = f"export {' '.join(words)}; " if words else ""
    if folder is not None and isinstance(folder.value, str) and folder.value:
        before += f"cd -- {shlex.quote(folder.value)} && "
    return {**kept, "command": Node(f"{before}{command.value}", command.line)}


def _with_other_names(matcher: str, tools: Mapping[str, str]) -> str:
    """Add Claude Code's names of the tools to a matcher with the client's names."""
    if not tools:
        return matcher
    is_list = re.fullmatch(r"[\w|-]+", matcher)
    both = "{}|{}" if is_list else "(?:{}|{})"
    names = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, tools))})(?![\w-])")
    return names.sub(lambda found: both.format(found[0], tools[found[0]]), matcher)
