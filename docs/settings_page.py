"""The page on settings: where the files live, and every key."""

from introspection import page, table

from snell.settings.handler_types import HandlerType, handler_types
from snell.settings.json_schema import DocsRow, docs_rows
from snell.settings.schema import fold_spelling
from snell.system.paths import POLICY_FILE

FILES = (
    ("policy", f"`{POLICY_FILE}`", "the machine's owner; its hooks go first, and their deny is final"),
    ("policy", "the file that `SNELL_POLICY` names", "added to the machine's own, never instead of it"),
    ("pack", "folders that `packs` names; installed packages with the entry point `snell.packs`", "whoever wrote them"),
    ("user", "`~/.config/snell/snell.toml` (also `snell.json`, `hooks.toml`)", "you, in every project"),
    ("project", "`.snell/snell.toml` (also `.json`) in the project", "everybody who works on it, after `snell trust`"),
    ("local", "`.snell/snell.local.toml` (also `.json`), not committed", "you, in this project, after `snell trust`"),
    ("project", "`.snell/hooks/*.py`, but none that begin with `_`", "Python hooks, after `snell trust`"),
)


def settings() -> str:
    return page(
        "Settings",
        "## Where the files are\n\nIn the order in which their hooks come:",
        table(("layer", "file", "who speaks there"), FILES),
        "With `SNELL_HOME` set, your own file is `$SNELL_HOME/config/snell.toml`; else `XDG_CONFIG_HOME` counts. The "
        "project is the nearest folder above the working directory that has a `.snell`; neither the home directory nor "
        "`/` can be one. A single value, such as `disable_all_hooks`, comes from the first of policy, local, project "
        "and user that has it; lists add up. `snell settings` shows which files were found, every value and every hook "
        "that counts, and where each came from.",
        "## Keys\n\nEvery key is accepted in snake_case, camelCase and kebab-case. An unknown key is reported with "
        "file, line and the nearest known one, and only its own entry is left out. A hook has the keys of one handler, "
        "in a table such as `[hooks.command]` or in the entry itself.",
        table(("where", "key", "type", "default", "what it does"), map(_row, docs_rows())),
        "## Handlers",
        table(("handler", "what runs", "default time limit"), map(_handler, handler_types().all)),
        "An installed package can add a type of handler by the entry point `snell.handlers`: the name of the type, and "
        "a module that has `TYPE` (a `HandlerType` with the keys of the settings) and `run(hook, event, context)`. The "
        "modules in `snell/handlers`, one for each row above, are written in the same way.",
    )


def _row(row: DocsRow) -> tuple[str, ...]:
    also = [
        name
        for name in dict.fromkeys(row.spellings)
        if fold_spelling(name) != fold_spelling(row.name) and name.islower()
    ]
    names = [name for name in also if "-" not in name]
    key = f"`{row.name}`" + (f" (also `{'`, `'.join(names)}`)" if names else "")
    return row.place, key, row.type, row.default or "-", row.help


def _handler(handler_type: HandlerType) -> tuple[str, ...]:
    return f"`{handler_type.name}`", handler_type.help, f"{handler_type.default_timeout:g} s"
