"""Projects of several kinds, laid out in a folder, and what a command becomes in them."""

import os
from pathlib import Path

from snell.packs.toolchain.rewrite_line import redirect_line

MAKE = {"Makefile": ".PHONY: test build lint e2e smoke\ntest build lint e2e smoke:\n\t./x\n"}
CARGO = {"Cargo.toml": "[package]\n"}
GO = {"go.mod": "module x\n"}
SCRIPTS = '{"scripts": {"test": "a", "build": "b", "lint": "c", "e2e": "d", "smoke": "e"}}'
PNPM = {"package.json": SCRIPTS, "pnpm-lock.yaml": ""}
YARN = {"package.json": SCRIPTS, "yarn.lock": ""}
NPM = {"package.json": SCRIPTS, "package-lock.json": ""}
PYTHON = {"pyproject.toml": "[project]\n"}
UV = {**PYTHON, "uv.lock": ""}


def lay_out(folder: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return str(folder)


def becomes(folder: Path, files: dict[str, str], command: str, cwd: str = "") -> str | None:
    root = lay_out(folder, files)
    return redirect_line(command, os.path.join(root, cwd).rstrip("/"), ceiling=root).command
