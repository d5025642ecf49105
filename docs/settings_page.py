"""The page on settings: where the files are, and every key."""

from introspection import page, table

from snell.model.catalogue import fold_name
from snell.settings.handler_types import HandlerType, handler_types
from snell.settings.json_schema import spellings
from snell.settings.load import PROFILES
from snell.settings.schema import HOOK_KEYS, TOP_KEYS, Key
from snell.system.paths import POLICY_FILE

FILES = (
    ("policy", f"`{POLICY_FILE}`", "the administrator; its hooks run first, and their deny is final"),
    (
        "policy",
        "the file that `SNELL_POLICY` names",
        "the administrator; added to the machine's policy, never instead of it",
    ),
    (
        "pack",
        "folders that `packs` names; installed packages with the entry point `snell.packs`",
        "the authors of the pack",
    ),
    ("user", "`~/.config/snell/snell.toml` (also `snell.json`, `hooks.toml`)", "you, for all projects"),
    ("user", "`~/.config/snell/hooks/*.py`, but none that begin with `_`", "you: Python hooks, for all projects"),
    ("project", "`.snell/snell.toml` (also `.json`) in the project", "the project's team, after your `snell trust`"),
    ("local", "`.snell/snell.local.toml` (also `.json`), not committed", "you, for this project, after `snell trust`"),
    (
        "project",
        "`.snell/hooks/*.py`, but none that begin with `_`",
        "the project's team: Python hooks, after your `snell trust`",
    ),
)


def settings() -> str:
    return page(
        "Settings",
        "## Where the files are\n\nIn the order in which their hooks run:",
        table(("layer", "file", "who writes it"), FILES),
        "With `SNELL_HOME` set, your own files are in `$SNELL_HOME/config`; otherwise "
        "`XDG_CONFIG_HOME` applies. The "
        "project is the nearest folder above the working directory that has a `.snell`; neither the home directory nor "
        "`/` can be one. Without a `.snell`, it is the nearest one with skills or agents of a client, a LOCAL.md or a "
        "mission.json, once you trust it. A single value, such as `disable_all_hooks`, comes from the first of policy, "
        "local, project and user that has it; lists add up. `snell settings` shows which files were found, every value "
        "and every hook that is active, and where each comes from.",
        "## Keys\n\nEvery key is accepted in snake_case, camelCase and kebab-case. An unknown key is reported with "
        "file, line and the nearest known key, and only its own entry is ignored. A hook has the keys of one handler, "
        "in a table such as `[hooks.command]` or in the entry itself.",
        table(
            ("where", "key", "type", "default", "what it does"),
            (_row(place, key) for place, key in _keys() if not key.ignored),
        ),
        "## Handlers",
        table(("handler", "what runs", "default time limit"), map(_handler, handler_types().all)),
        "An installed package can add a type of handler by the entry point `snell.handlers`: the name of the type, and "
        "a module that has `TYPE` (a `HandlerType` with the keys of the settings) and `run(hook, event, context)`. The "
        "modules in `snell/handlers`, one for each row above, are written in the same way.",
        "## The presets\n\n`snell setup` offers them; [set-up](../howto/set-up-clients.md#presets) says what they "
        "mean. `balanced` sets nothing, `observe` keeps what hooks answer from happening, and `strict` gives these "
        "values, over which every other setting wins:",
        f"```toml\n{_values_of_profile('strict')}```",
        "## The profile `seeds`\n\nWhere Snell's five design documents and a careful default differ, the default is "
        'the careful one. `profile = "seeds"` in your own settings, or in the policy, sets what the documents say. It '
        "gives these values, over which every other setting wins:",
        f"```toml\n{_values_of_profile('seeds')}```",
    )


def _values_of_profile(name: str) -> str:
    """Return the text of its file without the comment at its head."""
    return (PROFILES / f"{name}.toml").read_text(encoding="utf-8").partition("\n\n")[2]


def _keys() -> list[tuple[str, Key]]:
    """Return every key, and where it is written."""
    handlers = [(f"{each.name} handler", key) for each in handler_types().all for key in each.keys]
    tables = [(f"`{key.name}` table", inner) for key in TOP_KEYS for inner in key.inner]
    return [*(("settings", key) for key in TOP_KEYS), *(("hook", key) for key in HOOK_KEYS), *handlers, *tables]


def _row(place: str, key: Key) -> tuple[str, ...]:
    also = [name for name in spellings(key) if fold_name(name) != fold_name(key.name) and name.islower()]
    names = [name for name in also if "-" not in name]
    shown = f"`{key.name}`" + (f" (also `{'`, `'.join(names)}`)" if names else "")
    default = "" if key.default is None else str(key.default)
    default = default.lower() if isinstance(key.default, bool) else default
    return place, shown, key.type, "required" if key.is_required else default or "-", key.help


def _handler(handler_type: HandlerType) -> tuple[str, ...]:
    return f"`{handler_type.name}`", handler_type.help, f"{handler_type.default_timeout:g} s"
