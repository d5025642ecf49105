"""Build what decides: today's settings, other settings, one of the presets; with more hooks or without some."""

import argparse
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from snell.handlers.worker.client import Worker
from snell.model.catalogue import did_you_mean
from snell.model.errors import SnellError
from snell.replay.process import Variant
from snell.runtime.hook_loader import HookLoader
from snell.settings.locate import SettingsFile
from snell.settings.parse import read_file
from snell.system.files import read_capped
from snell.system.paths import Places

LARGEST = 1_048_576
_PROFILE = re.compile(r"^[ \t]*profile[ \t]*=.*\n?", re.MULTILINE)


def build_variant(args: argparse.Namespace, where: Places, env: Mapping[str, str], folder: Path) -> Variant:
    """Return the variant that the arguments describe; `folder` is for its settings. Raises SnellError."""
    for path in args.with_ or ():
        if not Path(path).exists():
            raise SnellError(f"`{path}` does not exist", advice="name a Python hook, a settings file or a pack")
    config = where.config
    if args.settings or args.preset:
        config = folder / "config"
        if where.config.is_dir():
            shutil.copytree(where.config, config, ignore_dangling_symlinks=True)
        else:
            config.mkdir(mode=0o700)
        if args.settings:
            _use_settings(Path(args.settings), config)
        if args.preset:
            _use_preset(args.preset, config)
    variant = Variant(
        where=where,
        config=str(config),
        scratch="",
        added=tuple(os.path.abspath(path) for path in args.with_ or ()),
        without=tuple(args.without or ()),
        runs_commands=args.run_commands,
    )
    _check_names(variant, env)
    return variant


def _use_settings(path: Path, config: Path) -> None:
    """Put a file in the place of the user's settings. Raises SnellError if it is not valid."""
    found = read_file(SettingsFile(path.absolute(), "user", must_exist=True))
    for problem in found.problems:
        if problem.severity == "error":
            raise SnellError(problem.message, where=f"{path}:{problem.line}", advice=problem.advice)
    for name in ("snell.toml", "snell.json", "hooks.toml"):
        (config / name).unlink(missing_ok=True)
    shutil.copyfile(path, config / f"snell{'.json' if path.suffix == '.json' else '.toml'}")


def _use_preset(name: str, config: Path) -> None:
    path = config / "snell.toml"
    text = read_capped(path, LARGEST).decode("utf-8", "replace") if path.exists() else ""
    path.write_text(f'profile = "{name}"\n{_PROFILE.sub("", text, count=1)}', encoding="utf-8")


def _check_names(variant: Variant, env: Mapping[str, str]) -> None:
    """Raise SnellError if a hook that is to be left out is not active here: it may be misspelt."""
    if not variant.without:
        return
    worker = Worker(env)
    try:
        hooks = HookLoader(variant.where, env, worker).load(os.getcwd(), "generic").hooks
    finally:
        worker.close()
    known = {name for hook in hooks for name in (hook.id, hook.id.rpartition("/")[2])}
    for name in variant.without:
        if name not in known:
            advice = did_you_mean(name, known, "`snell settings` lists the hooks")
            raise SnellError(f"no hook `{name}` is active in this folder", advice=advice)
