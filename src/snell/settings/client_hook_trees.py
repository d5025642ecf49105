"""
Translate the tree of another client's hook file into the form of Snell's settings.

Entries that run `snell-hook` are left out: through these the client calls Snell. A command keeps the client's name of
its event, so that Snell can emulate the client for it.
"""

import re
import shlex
from collections.abc import Mapping

from snell.settings.client_hook_files import CLIENT_FORMATS, ClientEvent, ClientFormat
from snell.settings.parse_types import ParseState
from snell.settings.schema import fold_spelling
from snell.settings.snell_commands import runs_shim
from snell.settings.value_tree import Node, plain


def translate_tree(root: Node | None, state: ParseState) -> Node | None:
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
        if (client, native) not in _NOT_EVENTS:
            _add_event(_Origin(client, form, native, off), node, lists, state)
    rest = {"disable_all_hooks": Node(True, root.line)} if off is None else {}
    return Node({**root.value, **rest, "hooks": Node(lists, hooks.line)}, root.line)


# Keys among a client's events that are not events: switches, and the hooks that the user has reviewed.
_NOT_EVENTS = frozenset(
    {("codex", "state"), ("gemini", "enabled"), ("gemini", "disabled"), ("gemini", "notifications")}
)


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


class _Origin:
    """The client and the event of an entry."""

    def __init__(self, client: str, form: ClientFormat, native: str, off: frozenset[str] | None) -> None:
        self.client, self.form, self.native, self.off = client, form, native, off or frozenset()
        self.event: ClientEvent | None = form.event(native)


def _add_event(origin: _Origin, node: Node, lists: dict[str, Node], state: ParseState) -> None:
    if origin.native in origin.form.lacks:
        state.add_problem(
            node.line, f"other clients have no event like `{origin.native}`, so its hooks are left out", "", "hint"
        )
        return
    for name in origin.event.names if origin.event else (origin.native,):
        made = _list(node, origin)
        before = lists.get(name)
        both = before is not None and before.is_list and made.is_list
        lists[name] = Node([*before.value, *made.value], before.line) if before is not None and both else made


def _list(node: Node, origin: _Origin) -> Node:
    if not node.is_list:
        return node
    entries = [_entry(each, origin) for each in node.value if not runs_shim(_without_handlers(each))]
    return Node([each for each in entries if each is not None], node.line)


def _without_handlers(node: Node) -> object:
    """Return an entry without the handlers that it groups, which are checked one by one."""
    given = plain(node)
    return {name: value for name, value in given.items() if name != "hooks"} if isinstance(given, dict) else given


def _entry(node: Node, origin: _Origin) -> Node | None:
    if not node.is_table:
        return node
    inner = node.value.get("hooks")
    if inner is None or not inner.is_list:
        return _handler(node, node.value.get("matcher"), origin)
    matcher = node.value.get("matcher")
    kept = [_handler(each, matcher, origin) for each in inner.value if not runs_shim(plain(each))]
    if inner.value and not kept:
        return None
    rest = {name: each for name, each in node.value.items() if name not in ("matcher", "matcher_type")}
    return Node({**rest, "hooks": Node(kept, inner.line)}, node.line)


def _handler(node: Node, matcher: Node | None, origin: _Origin) -> Node:
    """Return one handler with every key that decides when and how it runs."""
    if not node.is_table:
        return node
    fields = _with_command_keys({_key(name, origin.form): each for name, each in node.value.items()}, node, origin.form)
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
    if "bash" in fields and "command" not in fields:
        fields["command"] = fields.pop("bash")
    if form.seconds and "command" in fields and not _LIMITS & {fold_spelling(name) for name in fields}:
        fields["timeout"] = Node(form.seconds, node.line)
    return _in_its_folder(fields) if form.has_folders else fields


_LIMITS = frozenset(map(fold_spelling, ("timeout", "timeout_sec", "timeout_ms")))


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
    before = _exports(env) if env is not None and env.is_table else ""
    if folder is not None and isinstance(folder.value, str) and folder.value:
        before += f"cd -- {shlex.quote(folder.value)} && "
    return {**kept, "command": Node(f"{before}{command.value}", command.line)}


def _exports(env: Node) -> str:
    words = [f"{name}={shlex.quote(str(each.value))}" for name, each in env.value.items() if name.isidentifier()]
    return f"export {' '.join(words)}; " if words else ""


def _with_other_names(matcher: str, tools: Mapping[str, str]) -> str:
    """Add Claude Code's names of the tools to a matcher with the client's names."""
    if not tools:
        return matcher
    is_list = re.fullmatch(r"[\w|-]+", matcher)
    both = "{}|{}" if is_list else "(?:{}|{})"
    names = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, tools))})(?![\w-])")
    return names.sub(lambda found: both.format(found[0], tools[found[0]]), matcher)


def _key(name: str, form: ClientFormat) -> str:
    return "timeout_ms" if name == "timeout" and form.in_milliseconds else name
