"""Say in five lines what Snell will do once it is set up, and let a person choose a preset."""

import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from snell.cli.active_hooks import active_hooks, folder_context, packs_of
from snell.cli.setup.memory_switch import file_for
from snell.cli.terminal import Colours, fit, near_home, plural
from snell.cli.write_settings import write_settings
from snell.engine.explain import wrap
from snell.settings.load import PRESETS, PROFILES, load
from snell.system.paths import Places

# What the guard stops with a preset, and what it asks about; the rules are in `snell help guard`.
_DENIES = {
    "observe": "nothing; what it would have denied is recorded",
    "strict": "what destroys, leaks or takes over, and all that `balanced` asks about",
}
_DENIES_USUALLY = "what destroys, leaks or takes over: files, git history, databases, secrets, the system, Snell"
_ASKS = {
    "observe": "nothing; what it would have asked is recorded",
    "strict": "about calls of tools that it does not know",
}
_ASKS_USUALLY = "about what may: code from the network, commands that hide what they run, start-up files"
_STORED = "each call, without its secrets, and what was decided, in {state}{sent}"


def introduction(where: Places, cwd: Path, env: Mapping[str, str], preset: str) -> Iterator[str]:
    """Yield a heading and five lines: what runs, what is denied, what is asked, what is stored, and the preset."""
    with _places_with(preset, where, cwd, env) as chosen:
        loaded, paint = load(chosen, cwd, env), Colours.for_stdout()
        hooks = active_hooks(folder_context(chosen, cwd, env), loaded)
    packs = packs_of(hooks)
    guards = "guard" in packs
    is_sent = loaded.value("database") or "traces" in packs
    sent = ", and where your settings send it" if is_sent else "; nothing leaves this machine"
    others = " or ".join(f"`{name}`" for name in PRESETS if name != preset)
    yield paint.bold("What Snell will do")
    for name, text in {
        "runs": f"{plural(len(hooks), 'hook')} of {plural(len(packs), 'pack')}: {', '.join(packs)}",
        "denies": _DENIES.get(preset, _DENIES_USUALLY) if guards else "what your own hooks deny; the pack guard is off",
        "asks": _ASKS.get(preset, _ASKS_USUALLY) if guards else "about what your own hooks ask",
        "stores": _STORED.format(state=near_home(where.state), sent=sent),
        "preset": f"{preset}; `--preset` takes {others}; `snell settings` shows what is on",
    }.items():
        first, *rest = wrap(f"{name:<8} {text}")
        yield from (first.replace(name, paint.bold(name), 1), *(f"       {line}" for line in rest))
    yield ""


@contextmanager
def _places_with(preset: str, where: Places, cwd: Path, env: Mapping[str, str]) -> Iterator[Places]:
    """Yield the folders as they will be: with a copy of the settings that names another preset than now."""
    if preset == effective_preset(where, cwd, env):
        yield where
        return
    with tempfile.TemporaryDirectory(prefix="snell-setup-") as folder:
        chosen = replace(where, config=Path(folder, "config"))
        if where.config.is_dir():
            shutil.copytree(where.config, chosen.config, symlinks=True, ignore_dangling_symlinks=True)
        write_settings(file_for("user", chosen, cwd), (), {"profile": preset})
        yield chosen


def effective_preset(where: Places, cwd: Path, env: Mapping[str, str]) -> str:
    """Return the profile that the settings name, or the default."""
    return str(load(where, cwd, env).value("profile"))


def confirm_with_preset(question: str, preset: str) -> str | None:
    """Ask at the terminal; return the preset to use, which the answer may name, or None for no."""
    if not sys.stdin.isatty():
        return None
    others = [name for name in PRESETS if name != preset]
    for answer, name in {"y": preset, **{name: name for name in others}}.items():
        shown = f"{name}: " if answer == "y" else ""
        print(fit(f"  {answer:<9} {shown}{describe_preset(name)}", 12))
    try:
        answer = input(f"{question} [y/N, or {' / '.join(others)}] ").strip().lower()
    except EOFError:
        return None
    return preset if answer in ("y", "yes") else answer if answer in others else None


def describe_preset(name: str) -> str:
    """Return the first line of a preset's file."""
    return (PROFILES / f"{name}.toml").read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")


def write_preset(where: Places, project: Path, name: str) -> None:
    """Write the preset into the person's own settings. Raises SetupError."""
    path = file_for("user", where, project)
    write_settings(path, (), {"profile": name})
    print(fit(f"preset: {name}, set in `{near_home(path)}`: {describe_preset(name)}"))
