"""The page on built-in packs, from their manifests and hooks."""

import inspect
from collections.abc import Iterator
from importlib import import_module

from introspection import first_line, page, table

from snell.sdk.decorators import declarations, declared_in
from snell.settings.packs import FOLDER, builtin_packs

INTRODUCTION = (
    "Packs come with Snell and run in its own process. You enable and configure each in a settings file; your own file "
    "has precedence over a project's, except that a project can disable memory for itself:\n\n"
    '```toml\n[pack.nudges]\nenabled = true\n\n[pack.tool_inputs]\nmode = "strict"\n```'
)


def packs() -> str:
    rows = (
        (f"[`{pack.name}`](#{pack.name})", "on" if pack.enabled else "off", pack.purpose)
        for pack in builtin_packs().values()
    )
    parts = (part for name in builtin_packs() for part in _pack(name))
    return page("Packs", INTRODUCTION, table(("pack", "by default", "what it is for"), rows), *parts)


def _pack(name: str) -> Iterator[str]:
    yield f"## {name}"
    hooks = []
    for path in builtin_packs()[name].files:
        module = import_module(f"snell.packs.{name}.{path.stem}")
        own = [each for each in declared_in(vars(module)).values() if each.__module__ == module.__name__]
        if own and (text := _without_title(inspect.getdoc(module) or "")):
            yield text
        hooks += [(f"`{name}/{each.__name__}`", _events(each), first_line(each)) for each in own]
    yield table(("hook", "on", "what it does"), hooks)
    manifest = (FOLDER / name / "pack.toml").read_text(encoding="utf-8")
    if options := manifest.partition("[options]")[2].strip():
        yield f"Options and their defaults:\n\n```toml\n{options}\n```"


def _events(function: object) -> str:
    return ", ".join(sorted({each.event for each in declarations(function)}))  # type: ignore[arg-type] # it is one


def _without_title(text: str) -> str:
    """Return the Why, What and Instead of a module as a list."""
    head, _, rest = text.partition("\n\n")
    if not rest.startswith("Why"):
        return ""
    lines: list[str] = []
    for line in rest.splitlines():
        word, _, more = line.partition(" ")
        if word in ("Why", "What", "Instead", "Escape"):
            lines.append(f"- *{word}.* {more.strip()}")
        elif line.strip() and lines:
            lines[-1] += f" {line.strip()}"
    return "\n".join([f"**{head}**", "", *lines])
