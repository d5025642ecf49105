"""The index of built-in packs, by which the daemon knows their hooks before it imports them."""

import tomllib
from importlib import import_module

from snell.settings.pack_index import INDEX as PACK_INDEX
from snell.settings.pack_index import index_of
from snell.settings.packs import FOLDER, MANIFEST, hook_files

__all__ = ["PACK_INDEX", "pack_index"]


def pack_index() -> str:
    """Return the text of the index: a line for each pack."""
    folders = sorted(path.parent for path in FOLDER.glob(f"*/{MANIFEST}"))
    lines = []
    for folder in folders:
        manifest = tomllib.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        modules = {path.stem: import_module(f"snell.packs.{folder.name}.{path.stem}") for path in hook_files(folder)}
        lines.append(index_of(folder.name, manifest, modules, folder))
    return "{\n" + ",\n".join(lines) + "\n}\n"
