"""Read the folders that the setting `packs` names: Claude Code plugins; packs of Snell are only listed."""

import os
from pathlib import Path

from msgspec import Struct

from snell.model.errors import SettingsError
from snell.model.hooks import Scope
from snell.settings.file_watch import FileStamp, watch_file
from snell.settings.pack_manifest import hook_files
from snell.settings.parse import parse, parse_tree
from snell.settings.parse_types import Fault, Parsed, ParseState, Value
from snell.settings.read_file import bytes_of
from snell.settings.value_tree import Node, plain, text_of

MANIFEST = ".claude-plugin/plugin.json"
HOOKS = "hooks/hooks.json"


class PackSource(Struct, frozen=True):
    """A folder with a `pack.toml`, which the hook loader reads."""

    folder: str
    layer: str


class PackFolder(Struct, frozen=True):
    """The content of one folder: the files of a plugin, or the place of a pack."""

    parsed: tuple[Parsed, ...] = ()
    source: PackSource | None = None
    files: tuple[FileStamp, ...] = ()  # stamps from before the files were read


def folders_in(value: Value) -> list[str]:
    """Return the full paths in a `packs` setting; they are relative to the folder of its file."""
    folder = os.path.dirname(value.file) or os.sep
    return [os.path.normpath(os.path.join(folder, os.path.expanduser(each))) for each in value.value]


def read_pack_folder(folder: str, named_by: Value, extra_events: frozenset[str]) -> PackFolder:
    """Read the hooks of a plugin, or return the place of a pack."""
    root = Path(folder)
    if os.path.isfile(root / "pack.toml"):
        return PackFolder(source=PackSource(folder, named_by.layer), files=_pack_stamps(root))
    files = tuple(watch_file(root / name) for name in ("pack.toml", MANIFEST, HOOKS))
    if not os.path.isfile(root / MANIFEST) and not os.path.isfile(root / HOOKS):
        state = ParseState(named_by.file)
        message = f"`{folder}` is neither a pack nor a plugin"
        state.add_problem(named_by.line, message, f"it needs a pack.toml or {HOOKS}")
        return PackFolder((Parsed(problems=tuple(state.problems)),), files=files)
    further: list[FileStamp] = []
    parsed = tuple(_plugin(root, extra_events, further))
    return PackFolder(parsed, files=(*files, *further))


def _pack_stamps(root: Path) -> tuple[FileStamp, ...]:
    """Return stamps of everything that changes with a pack: manifest, hooks, and the folder itself."""
    before = (watch_file(root / "pack.toml"), watch_file(root))
    try:
        return (*before, *(watch_file(path) for path in hook_files(root)))
    except SettingsError:
        return before  # the hook loader reports the problem


def _plugin(root: Path, extra_events: frozenset[str], further: list[FileStamp]) -> list[Parsed]:
    manifest_state = _parse_state(root, root / MANIFEST, root.name, extra_events)
    manifest = _manifest(root / MANIFEST, manifest_state)
    name = _text(manifest, "name") or root.name
    parsed = [Parsed(problems=tuple(manifest_state.problems))]
    for path in _hook_files(manifest, root):
        state = _parse_state(root, path, name, extra_events)
        further.append(watch_file(path))
        data = bytes_of(path, state)
        parsed.append(parse(data, state) if isinstance(data, bytes) else Parsed(problems=tuple(state.problems)))
    inline = manifest.get("hooks")
    if inline and inline.is_table:
        tree = inline if "hooks" in inline.value else Node({"hooks": inline}, inline.line)
        parsed.append(parse_tree(lambda: tree, _parse_state(root, root / MANIFEST, name, extra_events)))
    return parsed


def _manifest(path: Path, state: ParseState) -> dict[str, Node]:
    from snell.settings.problems import InvalidValueError
    from snell.settings.read_json import read_json

    data = bytes_of(path, state)
    if data is None or isinstance(data, Fault):
        return {}
    try:
        node = read_json(text_of(data))
    except InvalidValueError as wrong:
        state.add_error(wrong)
        return {}
    return node.value if node and node.is_table else {}


def _hook_files(manifest: dict[str, Node], root: Path) -> list[Path]:
    """Return the usual file, and those that the manifest names inside the plugin."""
    named = plain(manifest["hooks"]) if "hooks" in manifest else []
    names = [HOOKS, *([named] if isinstance(named, str) else named if isinstance(named, list) else [])]
    paths = [Path(os.path.normpath(root / name)) for name in names if isinstance(name, str) and "\0" not in name]
    return list(dict.fromkeys(path for path in paths if path.is_relative_to(root)))


def _parse_state(root: Path, path: Path, name: str, extra_events: frozenset[str]) -> ParseState:
    return ParseState(
        str(path),
        layer=f"plugin:{name}",
        scope=Scope.PLUGIN,
        folder=str(root),
        plugin_root=str(root),
        extra_events=extra_events,
        is_foreign=True,
    )


def _text(table: dict[str, Node], name: str) -> str:
    node = table.get(name)
    return node.value if node and isinstance(node.value, str) else ""
