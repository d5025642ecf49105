"""
Another program's file as a tree in our words.

Entries that run `snell-hook` are left out: they are how that client calls us. A command keeps the name of the event
that it stood under, so that it can be asked as it always was.
"""

import re
import shlex
from collections.abc import Mapping

from snell.settings.client_hook_files import FORMS, ForeignEvent, ForeignForm
from snell.settings.parse_types import Reading
from snell.settings.schema import fold_spelling
from snell.settings.snell_commands import runs_shim
from snell.settings.value_tree import Node, plain


def translate_tree(root: Node | None, reading: Reading) -> Node | None:
    """The file's tree in our words, without what is ours already."""
    client = reading.layer.partition(":")[0]
    form = FORMS.get(client)
    if root is None or form is None or not root.is_table or "hooks" not in root.value:
        return root
    hooks = root.value["hooks"]
    if not hooks.is_table:
        return root
    off = _switched_off(root) if client == "gemini" else frozenset()
    lists: dict[str, Node] = {}
    for native, node in hooks.value.items():
        if (client, native) not in _NO_EVENTS:
            _take(_Under(client, form, native, off), node, lists, reading)
    rest = {"disable_all_hooks": Node(True, root.line)} if off is None else {}
    return Node({**root.value, **rest, "hooks": Node(lists, hooks.line)}, root.line)


# What else stands among a client's events: switches, and which hooks the user has reviewed.
_NO_EVENTS = frozenset({("codex", "state"), ("gemini", "enabled"), ("gemini", "disabled"), ("gemini", "notifications")})


def _switched_off(root: Node) -> frozenset[str] | None:
    """The hooks that Gemini CLI does not run, by name or command; None: all of them."""
    names: set[str] = set()
    for switches in (root.value.get("hooksConfig"), root.value.get("hooks")):
        found = plain(switches) if switches is not None and switches.is_table else {}
        if found.get("enabled") is False:
            return None
        listed = found.get("disabled")
        names |= {each for each in listed if isinstance(each, str)} if isinstance(listed, list) else set()
    return frozenset(names)


class _Under:
    """Where an entry stands: in which client's file, and under which of its events."""

    def __init__(self, client: str, form: ForeignForm, native: str, off: frozenset[str] | None) -> None:
        self.client, self.form, self.native, self.off = client, form, native, off or frozenset()
        self.event: ForeignEvent | None = form.event(native)


def _take(under: _Under, node: Node, lists: dict[str, Node], reading: Reading) -> None:
    if under.native in under.form.lacks:
        reading.complain(node.line, f"nothing elsewhere is like `{under.native}`; its hooks are left out", "", "hint")
        return
    for name in under.event.here if under.event else (under.native,):
        made = _list(node, under)
        before = lists.get(name)
        both = before is not None and before.is_list and made.is_list
        lists[name] = Node([*before.value, *made.value], before.line) if before is not None and both else made


def _list(node: Node, under: _Under) -> Node:
    if not node.is_list:
        return node
    entries = [_entry(each, under) for each in node.value if not runs_shim(_alone(each))]
    return Node([each for each in entries if each is not None], node.line)


def _alone(node: Node) -> object:
    """An entry without the handlers that it groups; those are looked at one by one."""
    given = plain(node)
    return {name: value for name, value in given.items() if name != "hooks"} if isinstance(given, dict) else given


def _entry(node: Node, under: _Under) -> Node | None:
    if not node.is_table:
        return node
    inner = node.value.get("hooks")
    if inner is None or not inner.is_list:
        return _handler(node, node.value.get("matcher"), under)
    matcher = node.value.get("matcher")
    kept = [_handler(each, matcher, under) for each in inner.value if not runs_shim(plain(each))]
    if inner.value and not kept:
        return None
    rest = {name: each for name, each in node.value.items() if name not in ("matcher", "matcher_type")}
    return Node({**rest, "hooks": Node(kept, inner.line)}, node.line)


def _handler(node: Node, matcher: Node | None, under: _Under) -> Node:
    """One handler with everything that decides when and how it runs."""
    if not node.is_table:
        return node
    form = under.form
    fields = {_key(name, form): each for name, each in node.value.items()}
    if "bash" in fields and "command" not in fields:
        fields["command"] = fields.pop("bash")
    if form.seconds and "command" in fields and not _LIMITS & {fold_spelling(name) for name in fields}:
        fields["timeout"] = Node(form.seconds, node.line)
    if form.has_folders:
        fields = _in_its_folder(fields)
    if under.event and under.event.kinds:
        fields["kinds"] = Node([Node(kind, node.line) for kind in under.event.kinds], node.line)
    if (closed := fields.pop("failClosed", None)) and closed.value is True:
        fields["on_failure"] = Node("block", closed.line)
    if under.off & {each.value for key in ("name", "command") if (each := fields.get(key)) and not each.is_table}:
        fields["enabled"] = Node(False, node.line)
    fields.pop("matcher", None)
    speaks = form.has_voice and under.event is not None and "command" in fields
    if speaks:
        fields["written_for"] = Node(f"{under.client}:{under.native}", node.line)
    if matcher is None:
        return Node(fields, node.line)
    if isinstance(matcher.value, str) and speaks:
        fields["their_matcher"] = matcher
    elif isinstance(matcher.value, str):
        fields["matcher"] = Node(_everywhere(matcher.value, form.tools), matcher.line)
    else:
        fields["matcher"] = matcher
    return Node(fields, node.line)


_LIMITS = frozenset(map(fold_spelling, ("timeout", "timeout_sec", "timeout_ms")))


def _in_its_folder(fields: dict[str, Node]) -> dict[str, Node]:
    """`cwd` and `env` of an entry, as the shell would be told them."""
    kept = {name: each for name, each in fields.items() if name not in ("cwd", "env")}
    command, folder, env = (fields.get(name) for name in ("command", "cwd", "env"))
    if command is None or not isinstance(command.value, str) or (folder is None and env is None):
        return kept
    before = ""
    if env is not None and env.is_table:
        words = [f"{name}={shlex.quote(str(each.value))}" for name, each in env.value.items() if name.isidentifier()]
        before = f"export {' '.join(words)}; " if words else ""
    if folder is not None and isinstance(folder.value, str) and folder.value:
        before += f"cd -- {shlex.quote(folder.value)} && "
    return {**kept, "command": Node(f"{before}{command.value}", command.line)}


def _everywhere(matcher: str, tools: Mapping[str, str]) -> str:
    """The matcher with Claude Code's names of the same tools beside the client's own."""
    if not tools:
        return matcher
    is_list = re.fullmatch(r"[\w|-]+", matcher)
    both = "{}|{}" if is_list else "(?:{}|{})"
    names = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, tools))})(?![\w-])")
    return names.sub(lambda found: both.format(found[0], tools[found[0]]), matcher)


def _key(name: str, form: ForeignForm) -> str:
    return "timeout_ms" if name == "timeout" and form.in_milliseconds else name
