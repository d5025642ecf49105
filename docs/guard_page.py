"""The page on the guard's rules, from the rules themselves."""

import tomllib
from importlib import import_module
from pathlib import Path

from introspection import page

from snell.packs.guard import rules
from snell.packs.guard.rules import RULES


def guard() -> str:
    parts = [_rule(name) for name in RULES]
    return page(
        "The guard's rules",
        "`snell check command CMD` shows how the guard judges a command. Each rule can be set to `off`, "
        "`observe` (nothing is "
        "stopped, you get a message), `ask` or `enforce`:\n\n"
        '```toml\n[pack.guard]\npreset = "standard"       # or strict, relaxed\n\n'
        '[pack.guard.rules]\ngit-discard = "ask"\nenvironment = "off"\n```\n\n'
        "`snell allow`, run by a person at a terminal, shows the command that was denied last and allows exactly that "
        "command, once, in its session.\n\n"
        "The guard judges a command line in the input of every tool, under any name of tool and field. It judges it"
        " in the folder that the input names (`cwd`, `workdir`, `dir_path` and the like), and in the event's folder too"
        " where the client is not known to read that field. Text that no shell could read is asked about only in a tool"
        " that is a shell by its name.\n\n"
        "Within a session the guard remembers the files that were written, to judge them when they are run, which "
        "secrets were read, and a keyed fingerprint of their values, to recognise them when they would be "
        "sent. A value "
        "that was changed in between, other than by base64, is not recognised.\n\n"
        "`python3 dev.py bench dangerous_commands_flagged dangerous_commands_denied ordinary_commands_flagged` prints "
        "how often it is right, on commands that it was tuned with and on others.",
        *parts,
    )


def _rule(name: str) -> str:
    rule = RULES[name]
    says = _says(name)
    cases = tomllib.loads(Path(rules.__file__).with_name(f"{name.replace('-', '_')}.toml").read_text("utf-8"))
    stops = "\n".join(f"    {command}" for command in cases["flagged"])
    passes = "\n".join(f"    {command}" for command in cases["fine"])
    return f"## {name}\n\n{says}\n\nInstead: {rule.instead}.\n\nStopped:\n\n{stops}\n\nNot stopped:\n\n{passes}"


def _says(name: str) -> str:
    if RULES[name].about:
        return RULES[name].about
    module = import_module(f"snell.packs.guard.rules.{name.replace('-', '_')}")
    return " ".join((module.__doc__ or "").split())
