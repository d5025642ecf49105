"""Read the folders that the setting `packs` names: Claude Code plugins; packs of Snell are only listed."""

import os
from pathlib import Path

from msgspec import Struct

from snell.model.errors import SettingsError
from snell.model.hooks import Scope
from snell.settings.file_digests import FileStamp, watch_file
from snell.settings.packs import hook_files
from snell.settings.parse import bytes_of, parse_file, parse_tree, read_tree
from snell.settings.parse_types import PackSource, Parsed, ParseState, Value
from snell.settings.value_tree import InvalidValueError, Node, Problem, plain

MANIFEST = ".claude-plugin/plugin.json"
HOOKS = "hooks/hooks.json"


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
        message, advice = f"`{folder}` is neither a pack nor a plugin", f"it needs a pack.toml or {HOOKS}"
        problem = Problem(named_by.file, max(named_by.line, 1), message, advice)
        return PackFolder((Parsed(problems=(problem,)),), files=files)
    return _plugin(root, extra_events, files)


def _pack_stamps(root: Path) -> tuple[FileStamp, ...]:
    """Return stamps of everything that changes with a pack: manifest, hooks, and the folder itself."""
    before = (watch_file(root / "pack.toml"), watch_file(root))
    try:
        return (*before, *(watch_file(path) for path in hook_files(root)))
    except SettingsError:
        return before  # the hook loader reports the problem


def _plugin(root: Path, extra_events: frozenset[str], files: tuple[FileStamp, ...]) -> PackFolder:
    manifest_state = _parse_state(root, root / MANIFEST, root.name, extra_events)
    manifest = _manifest(root / MANIFEST, manifest_state)
    given = manifest["name"].value if "name" in manifest else ""
    name = given if given and isinstance(given, str) else root.name
    parsed = [Parsed(problems=tuple(manifest_state.problems))]
    for path in _hook_files(manifest, root):
        files += (watch_file(path),)
        parsed.append(parse_file(path, _parse_state(root, path, name, extra_events)))
    inline = manifest.get("hooks")
    if inline and inline.is_table:
        tree = inline if "hooks" in inline.value else Node({"hooks": inline}, inline.line)
        parsed.append(parse_tree(lambda: tree, _parse_state(root, root / MANIFEST, name, extra_events)))
    return PackFolder(tuple(parsed), files=files)


def _manifest(path: Path, state: ParseState) -> dict[str, Node]:
    data = bytes_of(path, state)
    if not isinstance(data, bytes):
        return {}
    try:
        node = read_tree(data, str(path))
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
