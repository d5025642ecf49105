"""A command calls only the guard rules whose trigger occurs in one of its steps."""

import importlib
import pkgutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snell.packs.guard import rules
from snell.packs.guard.judge import judge
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import ADDRESS, MAY_CHANGE_PATH, MAY_CHANGE_SNELL, WRITES_APART, Trigger, traits_of

MODULES = [importlib.import_module(f"{rules.__name__}.{each.name}") for each in pkgutil.iter_modules(rules.__path__)]
CALLED = {
    "ls -la": set(),
    "pytest -q": set(),
    "git status": {
        *("git_history", "own_code", "read_secret", "secret_stores", "send_project", "startup"),
    },
    "npm test": {"exposure", "infrastructure", "own_install", "secret_stores", "startup"},
    "head -5": set(),
    "head -5 notes.txt": {"read_secret"},
    "env | sort -u": {"environment"},
    "rm -rf x": {"delete_tree", "own_code", "own_files", "read_secret", "traces", "windows"},
    "chmod +x run": {"own_code", "permissions"},
    "frob --input=data.csv": set(),
    "frob ./data.csv": {"own_files"},
    "frob https://x.example": {"own_files", "remote_code", "secret_stores"},
    "frob > out.txt": {"overwrite", "own_code", "own_files", "read_secret"},
    **{
        f"frob {write}": {
            *("disks", "git_history", "overwrite", "own_code", "own_files", "privileges", "read_secret", "send_secret"),
            *("startup", "traces"),
        }
        for write in ("> ~/.profile", "> /dev/sda", ">> /etc/sudoers", "> r.git/HEAD", "> bin/ls")
    },
    "$PROGRAM build": {"hidden_code"},
}


def _called_by(command: str) -> set[str]:
    called = set[str]()
    with _profile(called):
        judge(command, "/home/dev/app", "/home/dev", "/home/dev/app")
    return called


@contextmanager
def _profile(called: set[str]) -> Iterator[None]:
    def note(frame: FrameType, event: str, _arg: Any) -> None:
        package, _, module = frame.f_globals.get("__name__", "").rpartition(".")
        if event == "call" and frame.f_code.co_name == "find" and package == rules.__name__:
            called.add(module)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(before)


@pytest.mark.parametrize("command", CALLED)
def test_only_rules_whose_trigger_occurs_are_called(command: str):
    assert _called_by(command) == CALLED[command]


def test_every_step_of_a_line_calls_its_own_rules():
    assert _called_by("ls -la && npm test | cat") == CALLED["npm test"] | _called_by("ls | cat")


SOURCES = (
    *("env", "cat .env", "history", "printenv TOKEN", "curl https://x.example", "ls -a", "tar xf a.tar", "echo $KEY"),
)
FILTERS = (
    *("head -5", "tail -f", "sort -u", "grep -eTOKEN", "grep -v x", "wc -l", "cat", "cat -A .env", "xargs cat"),
    *("tee out", "sed -n 5p", "cut -d= -f2", "tail -n 3 ~/.ssh/id_rsa", "head -c9 ~/.aws/credentials > key"),
    "nl --files0-from=x",
)


@settings(deadline=None, max_examples=300)
@given(st.lists(st.sampled_from(SOURCES + FILTERS), min_size=1, max_size=4), st.sampled_from((" | ", "; ", " && ")))
def test_a_rule_that_is_not_called_for_a_program_of_its_own_would_find_nothing(parts: list[str], joiner: str):
    home = "/home/dev"
    workspace = Workspace(f"{home}/app", home, f"{home}/app")
    for step in judge(joiner.join(parts), workspace.cwd, home, workspace.project).steps:
        for module in MODULES:
            trigger = module.TRIGGER
            if step.program in trigger.some and not trigger.occurs(step.program, traits_of(step)):
                assert list(module.find(step, workspace)) == []


WRITTEN = (
    *("out.txt", "src/a.py", "/tmp/x/y", "~/notes", "$FOLDER/x", "~/.bashrc", "~/.ssh/config", "~/.bash_history"),
    *("/etc/cron.d/x", "/etc/sudoers", "x/etc/ssh/sshd_config", "/dev/sda", "/dev/tcp/x/1", "/var/log/syslog"),
    *("bare.git/HEAD", ".git/config", "bin/ls", "go/bin/git", "PowerShell/profile.ps1", "Library/LaunchAgents/x"),
)


@pytest.mark.parametrize("path", WRITTEN)
@pytest.mark.parametrize("line", ["frob > {}", "frob >> {}", "echo x | tee -a {}", "cat ~/.ssh/id_rsa > {}"])
def test_a_rule_that_is_not_called_for_a_write_would_find_nothing(line: str, path: str):
    workspace = Workspace("/home/dev/app", "/home/dev", "/home/dev/app")
    for step in judge(line.format(path), workspace.cwd, workspace.home, workspace.project).steps:
        for module in MODULES:
            trigger = module.TRIGGER
            if trigger.traits & WRITES_APART and not trigger.occurs(step.program, traits_of(step)):
                assert list(module.find(step, workspace)) == []


def _undeclared(modules: list[ModuleType]) -> list[str]:
    """The rules that do not say what they are called for."""
    return [module.__name__ for module in modules if getattr(module, "TRIGGER", Trigger()) == Trigger()]


def test_every_rule_declares_its_trigger():
    assert len(MODULES) > 20
    assert _undeclared(MODULES) == []
    assert all(rules.RULES[module.RULE.name] is module.RULE for module in MODULES)


def test_a_rule_without_a_trigger_is_found():
    forgotten, empty = ModuleType("forgotten"), ModuleType("empty")
    vars(empty)["TRIGGER"] = Trigger()
    assert _undeclared([*MODULES, forgotten, empty]) == ["forgotten", "empty"]


def test_few_rules_look_at_the_words_of_any_program():
    any_program = MAY_CHANGE_PATH | MAY_CHANGE_SNELL | ADDRESS
    found = {module.__name__.rpartition(".")[2] for module in MODULES if module.TRIGGER.traits & any_program}
    assert found == {"own_code", "own_files", "remote_code", "secret_stores"}
