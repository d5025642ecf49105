#!/usr/bin/env python3
"""
Run the checks, tests and tools of this project: python3 dev.py VERB.

The first call creates .venv from the locked requirements; later calls find its stamp file and start at once.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # PYTHONSAFEPATH and -I leave it out

from scripts.environment import BIN, EXE, PYTHON, ROOT, VENV, ensure_adapters, ensure_environment, find_uv, say, stop
from scripts.leftovers import adopt_orphans, end_leftovers, run_and_reap
from scripts.requirements import report
from scripts.test_runs import run_suite

VERBS = {
    "demo": "run the scripted coding session",
    "test": "run the tests; other arguments go to one pytest run",
    "adapters": "test the adapters against the real agent libraries, which go into an environment of their own",
    "lint": "check format, style, types and import rules",
    "bench": "measure, and compare with peers and limits",
    "docs": "regenerate the generated pages; --check only compares",
    "lock": "pin requirements/*.txt again; --upgrade moves to the newest versions",
    "requirements": "count covered, divergent and deferred requirements per seed",
    "wheel": "build the wheel into dist/",
}


def main() -> int:
    if sys.version_info < (3, 11):  # noqa: UP036 any Python may start this file
        stop(f"Python {sys.version.split()[0]} is too old: run this with Python 3.11 or newer")
    options, rest = parse_arguments()
    if options.verb == "requirements":  # reads data files only, so it needs no environment
        print(report(as_json=options.json))
        return 0
    if options.verb == "lock":  # must work when the lock is what is broken
        return lock(rest)
    ensure_environment()
    if options.verb == "test":
        return test(rest, nightly=options.nightly) if options.live is None else test_live(options.live, rest)
    verbs = {"adapters": adapters, "demo": demo, "lint": lint, "bench": bench, "docs": docs, "wheel": wheel}
    return verbs[options.verb](rest)


def parse_arguments() -> tuple[argparse.Namespace, list[str]]:
    """Return the options of dev.py itself, and the arguments that go to the program behind the verb."""
    parser = argument_parser()
    options, rest = parser.parse_known_args()
    if rest and options.verb == "requirements":  # there is no program behind it that could refuse them
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    return options, rest


def argument_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="dev.py", description=(__doc__ or "").strip(), allow_abbrev=False)
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    made = {
        verb: verbs.add_parser(verb, help=text, description=text, allow_abbrev=False) for verb, text in VERBS.items()
    }
    made["test"].add_argument("--nightly", action="store_true", help="also the long tests (SNELL_NIGHTLY=1)")
    live = "run only the conversations in real coding agents, installed with npm (default: in all known ones)"
    made["test"].add_argument("--live", nargs="*", metavar="CLIENT", help=live)
    made["requirements"].add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def demo(rest: Sequence[str]) -> int:
    return run(PYTHON, "-I", "-m", "snell", "demo", *rest)


def test(rest: Sequence[str], *, nightly: bool) -> int:
    left_out = ["not live"] if nightly else ["not nightly", "not live"]
    env = {"SNELL_NIGHTLY": "1"} if nightly else {}

    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # without cached bytecode every worker compiles every test again

    def pytest(words: Sequence[str]) -> int:
        return run(PYTHON, "-m", "pytest", *words, env=env)

    if rest:
        return pytest(["-m", " and ".join(left_out), *rest])
    adopt_orphans()
    return run_suite(pytest, " and ".join(left_out))


def adapters(rest: Sequence[str]) -> int:
    """Test the adapters; warnings of the agent libraries are not errors."""
    python = ensure_adapters()
    where = [] if any(word.startswith("tests/") for word in rest) else ["tests/adapters"]
    return run(python, "-m", "pytest", "-W", "default", *where, *rest, env={"PYTHONPATH": "src"})


def test_live(clients: Sequence[str], rest: Sequence[str]) -> int:
    """Run only the live tests, which install hundreds of megabytes once; without npm they are skipped."""
    env = {"SNELL_LIVE_CLIENTS": " ".join(clients)}
    adopt_orphans()
    return run(PYTHON, "-m", "pytest", "-m", "live", "-rs", "-n", "2", "tests/live", *rest, env=env) or end_leftovers()


def lint(rest: Sequence[str]) -> int:
    checks: dict[str, list[str | Path]] = {
        "format": [PYTHON, "-m", "ruff", "format", "--check", "."],
        "style": [PYTHON, "-m", "ruff", "check", "."],
        "types": [PYTHON, "-m", "mypy"],
        "imports": [BIN / f"lint-imports{EXE}", "--no-logo"],
    }
    codes = {name: run(*command, *rest) for name, command in checks.items()}
    passed = ", ".join(name for name, code in codes.items() if code == 0) or "nothing"
    failed = ", ".join(name for name, code in codes.items() if code != 0)
    say(f"lint passed: {passed}" + (f"; failed: {failed}" if failed else ""))
    return next((code for code in codes.values() if code), 0)


def bench(rest: Sequence[str]) -> int:
    return run(PYTHON, "-m", "bench.run", *rest)


def docs(rest: Sequence[str]) -> int:
    return run_file("docs/generate.py", rest)


def lock(rest: Sequence[str]) -> int:
    uv = find_uv() or stop("locking needs uv, and pip could not install it: put uv on the PATH")
    shape = ["--universal", "--generate-hashes", "--python-version", "3.11"]
    no_hosts = ["--quiet", "--no-header", "--no-emit-index-url", "--no-emit-find-links"]
    codes = []
    for name in ("dev", "adapters"):
        files = ["pyproject.toml", f"requirements/{name}.in", "--output-file", f"requirements/{name}.txt"]
        codes.append(run(uv, "pip", "compile", *shape, *no_hosts, *files, *rest))
    return max(codes)


def wheel(rest: Sequence[str]) -> int:
    return run(PYTHON, "-m", "hatchling", "build", "--target", "wheel", *rest)


def run_file(name: str, rest: Sequence[str]) -> int:
    if not (ROOT / name).exists():
        say(f"there is no {name} yet, so there is nothing to run")
        return 0
    return run(PYTHON, ROOT / name, *rest)


def run(*command: str | Path, env: Mapping[str, str] | None = None) -> int:
    """Run a command inside .venv, from the root of the tree, and return its exit code."""
    path = os.pathsep.join([str(BIN), os.environ.get("PATH", os.defpath)])
    inside = {**os.environ, "VIRTUAL_ENV": str(VENV), "PATH": path, **(env or {})}
    code = run_and_reap(command, ROOT, inside)
    if code:
        shown = shlex.join(str(part).replace(f"{ROOT}{os.sep}", "") for part in command)
        say(f"`{shown}` ended with exit code {code}")
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
