"""A git repository whose configuration names a program wherever git can be told to run one."""

import subprocess
from pathlib import Path


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def hostile(repository: Path, ran: Path) -> Path:
    """A repository in which everything that git can be told to run is a trap, with a file changed."""
    trap = repository / "trap.sh"
    trap.write_text(f'#!/bin/sh\necho "$0 $1" >> {ran}\ncat\nexit 0\n', encoding="utf-8")
    trap.chmod(0o755)
    names = ("a.txt", "b.txt", "c.txt", "d.txt")
    attributes = ("filter=one", "filter=two diff=conv", "diff=ext", "filter=odd")
    for name in names:
        (repository / name).write_text("one\n", encoding="utf-8")
    git(repository, "add", *names)
    git(repository, "commit", "-qm", "second")
    inner = repository / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    (inner / "x").write_text("x\n", encoding="utf-8")
    git(inner, "add", "x")
    git(inner, "commit", "-qm", "inner")
    git(repository, "add", "inner")
    git(repository, "commit", "-qm", "third")
    rows = "".join(f"{name} {what}\n" for name, what in zip(names, attributes, strict=True))
    (repository / ".gitattributes").write_text(rows, encoding="utf-8")
    git(inner, "config", "core.fsmonitor", f"{trap} inner")
    for name, value in {
        "core.fsmonitor": "monitor",
        "diff.external": "external",
        "filter.one.clean": "clean",
        "filter.one.required": None,
        "filter.two.process": "process",
        "diff.conv.textconv": "textconv",
        "diff.ext.command": "command",
        "core.pager": "pager",
    }.items():
        git(repository, "config", name, f"{trap} {value}" if value else "true")
    hooks = repository / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    (hooks / "post-index-change").write_text(f"#!/bin/sh\n{trap} hook\n", encoding="utf-8")
    (hooks / "post-index-change").chmod(0o755)
    for name in names:
        (repository / name).write_text("two\n", encoding="utf-8")
    (inner / "x").write_text("y\n", encoding="utf-8")
    return repository
