"""Completion, asked by the shells themselves."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = str(Path(sys.executable).parent)
BASH = """
eval "$(snell completion bash)"
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _snell; printf '%s\\n' "${COMPREPLY[@]}"
"""
# A terminal of its own, in which a user types the line, presses the key twice, and waits for what comes last.
ZSH = """
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'PS1=; autoload -U compinit; compinit -u -d $HOME/dump; eval "$(snell completion zsh)"'
zpty -w z 'LISTMAX=10000; bindkey "^I" complete-word; zstyle ":completion:*" list-prompt ""; echo READY'
while zpty -r z line; do [[ $line == *READY$'\\r'* ]] && break; done
zpty -w -n z "$LINE"$'\\t\\t'
zpty -r z shown "*$LAST*"
print -r -- "$shown"
"""


def shell(snell, program: str, *words: str, **env: str) -> list[str]:
    path = shutil.which(program)
    if not path:
        pytest.skip(f"there is no {program} here")
    home = snell.project.parent
    done = subprocess.run(
        [path, *words],
        cwd=snell.project,
        env={
            "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
            "HOME": str(home),
            "SNELL_HOME": str(home / "home"),
            "TERM": "xterm",
            **env,
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.stdout.splitlines()


def in_bash(snell, *line: str) -> list[str]:
    return [each for each in shell(snell, "bash", "--norc", "-c", BASH, "bash", "snell", *line) if each]


def in_fish(snell, line: str) -> list[str]:
    script = "snell completion fish | source; complete -C $argv[1]"
    return [each.split("\t")[0] for each in shell(snell, "fish", "--no-config", "-c", script, line)]


def begin(snell) -> None:
    metadata = {"phases": [{"label": "1", "name": "Plan"}, {"label": "2", "name": "Build it"}]}
    assert snell("effort", "start", "Write the parser", "implement")[0] == 0
    assert snell("effort", "start", "parser", "review")[0] == 0
    assert snell("agent", "register", "ann")[0] == 0
    code = (
        "import sys, json; from snell.cli.call_operation import call_operation;"
        "call_operation('db.effort.updateMetadata', {'id': 2, 'metadata': json.loads(sys.argv[1])})"
    )
    home = snell.project.parent
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "SNELL_HOME": str(home / "home")}
    subprocess.run([sys.executable, "-c", code, json.dumps(metadata)], cwd=snell.project, env=env, check=True)


def test_bash_completes_commands_verbs_options_and_choices(snell):
    assert {"task", "effort", "session", "phase", "agent", "daemon"} <= set(in_bash(snell, ""))
    assert in_bash(snell, "se") == ["setup", "settings", "session"]
    assert in_bash(snell, "effort", "") == ["start", "resume", "log", "list", "show", "finish"]
    assert in_bash(snell, "effort", "start", "--mo") == ["--mode"]
    assert set(in_bash(snell, "effort", "list", "-")) == {"--help", "--active", "--json"}
    assert in_bash(snell, "daemon", "st") == ["start", "stop", "status"]
    assert in_bash(snell, "daemon", "unit", "--kind", "") == ["launchd", "systemd"]
    assert in_bash(snell, "nonsense", "") == []
    assert in_bash(snell, "run", "--", "cla") == []
    assert in_bash(snell, "effort", "log", "some", "words", "") == []


def test_bash_completes_what_there_is(snell):
    begin(snell)
    folder = str(snell.project / ".tasks")
    assert in_bash(snell, "effort", "resume", "") == ["2", "1"]
    assert in_bash(snell, "effort", "log", "--effort", "") == ["2", "1"]
    assert set(in_bash(snell, "effort", "start", "")) == {"Write\\ the\\ parser", "parser"}
    assert set(in_bash(snell, "effort", "start", "parser", "")) == {"implement", "review"}
    assert set(in_bash(snell, "task", "show", "")) == {f"{folder}/parser", f"{folder}/write-the-parser"}
    assert in_bash(snell, "session", "show", "") == ["2", "1"]
    assert in_bash(snell, "phase", "") == ["1", "2"]
    assert in_bash(snell, "agent", "register", "") == ["ann"]
    assert in_bash(snell, "agent", "status", "att") == ["attention"]
    assert in_bash(snell, "agent", "status", "attention", "") == ["ann"]


def test_fish_completes_the_same_with_what_each_is(snell):
    begin(snell)
    assert in_fish(snell, "snell se") == ["setup", "settings", "session"]
    assert in_fish(snell, "snell effort re") == ["resume"]
    assert in_fish(snell, "snell effort start pa")[:1] == ["parser"]
    assert in_fish(snell, "snell phase ")[:2] == ["1", "2"]


def test_zsh_completes_the_same_with_what_each_is(snell):
    begin(snell)
    shown = "\n".join(shell(snell, "zsh", "-f", "-c", ZSH, LINE="snell effort ", LAST="or another one"))
    assert all(f"{verb} " in shown for verb in ("start", "resume", "log", "finish", "list", "show"))
    assert "resume an effort in a new session" in shown
    assert "Plan" in "\n".join(shell(snell, "zsh", "-f", "-c", ZSH, LINE="snell phase ", LAST="Build it"))
