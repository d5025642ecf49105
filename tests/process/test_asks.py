"""An ask reaches a person, or is a refusal that says why and what to do: by client, by mode, and by terminal."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from snell.clients import client_named
from snell.model.protocols import Reply
from tests.contracts.client_replies import WITH_HOOKS, asks, refuses
from tests.golden.reading import golden, golden_files
from tests.process.machine import HOOK, Machine

RULES = """
from snell import Ask, judges

@judges("PreToolUse")
def is_meant(event):
    return Ask("IS-THIS-MEANT")
"""
CLIENT = Path(__file__).with_name("client_at_terminal.py")


def one_shot_options(name: str) -> frozenset[str] | None:
    table = client_named(name).table
    return table.one_shot if table else None


# Where an ask is shown, or refused with its reason, by the client itself; and one of its modes where it is not.
ASKED = {name for name in WITH_HOOKS if client_named(name).capabilities.ask and one_shot_options(name) is None}
DROPPED = {("qwen", "yolo")}
MODES = {
    "claude_code": ("default", "plan", "acceptEdits", "auto", "dontAsk", "bypassPermissions"),
    "droid": ("off", "auto-low", "auto-medium", "auto-high", "spec", ""),
    "grok": ("default", "auto", "plan", "acceptEdits", "dontAsk", "bypassPermissions", ""),
    "qwen": ("default", "plan", "auto_edit", "auto", "yolo", ""),
}


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    if not HOOK.exists():
        pytest.skip("snell-hook is not installed beside this Python")
    machine = Machine(tmp_path_factory.mktemp("asks"), forks_daemon=True)
    machine.write("pack/rules.py", RULES)
    yield machine
    machine.stop()


def payload_of(client: str, mode: str | None) -> tuple[bytes, list[str]]:
    """A call of the client's in this permission mode, and the event's name where the payload does not say it."""
    path = next(path for path in golden_files(client) if path.stem.startswith("PreToolUse"))
    given = {key: value for key, value in golden(path)["payload"].items() if key not in ("cwd", "permission_mode")}
    words = ["--event", golden(path)["called_as"]] if "called_as" in golden(path) else []
    return json.dumps({**given, "permission_mode": mode} if mode else given).encode(), words


@pytest.mark.parametrize(
    ("client", "mode"), [(client, mode) for client in WITH_HOOKS for mode in MODES.get(client, (None,))]
)
def test_an_ask_is_asked_or_refused_in_every_client_and_mode(machine, client, mode):
    raw, words = payload_of(client, mode)
    code, out, err = machine.hook(None, "--client", client, *words, raw=raw)
    reply = Reply(out.encode(), err.encode(), code)
    if client in ASKED and (client, mode) not in DROPPED:
        assert asks(reply) or json.loads(out).get("verdict") == "ask"
        return
    said = out + err
    assert (refuses(reply) or "deny" in json.loads(out), asks(reply)) == (True, False)
    assert [text in said for text in ("IS-THIS-MEANT", "A person has to decide this", "Tell the user")] == [True] * 3


class Terminal:
    """Runs a stand-in for a client in a terminal of its own."""

    def __init__(self, machine: Machine, folder: Path) -> None:
        self.machine = machine
        self.payload, self.answer = folder / "payload", folder / "answer"

    def answer_to(self, client: str, *words: str, hook: str = "", pipes: tuple[int, ...] = (), **env: str) -> Reply:
        """What the client with these arguments gets from its hook; `pipes` are its ends that are no terminal."""
        raw, more = payload_of(client, "default")
        self.payload.write_bytes(raw)
        command = hook or f"exec {HOOK}"
        named = {"HOOK": f"{command} --client {client} {' '.join(more)}"}
        files = {"PAYLOAD": str(self.payload), "ANSWER": str(self.answer)}
        ours, theirs = pty.openpty()
        try:
            subprocess.run(
                [sys.executable, str(CLIENT), *words],
                env=self.machine.env(**named, **files, **env),
                cwd=self.machine.project,
                stdin=subprocess.DEVNULL if 0 in pipes else theirs,
                stdout=subprocess.PIPE if 1 in pipes else theirs,
                stderr=theirs,
                start_new_session=True,
                timeout=60,
                check=True,
            )
        finally:
            os.close(ours)
            os.close(theirs)
        return Reply(self.answer.read_bytes())


@pytest.fixture
def terminal(machine: Machine, tmp_path: Path) -> Terminal:
    if not os.path.exists("/proc/self/fd/0"):
        pytest.skip("without /proc every ask is a refusal in these clients")
    return Terminal(machine, tmp_path)


@pytest.mark.parametrize("client", ["gemini", "grok", "augment"])
def test_a_session_at_a_terminal_is_asked(terminal, client):
    assert asks(terminal.answer_to(client))
    assert asks(terminal.answer_to(client, hook=str(HOOK)))  # the shell stays between client and hook
    assert asks(terminal.answer_to(client, hook=f"exec {HOOK.with_name('snell')} hook"))  # without the daemon


@pytest.mark.parametrize(
    ("client", "words"),
    [
        ("gemini", ["-p", "work"]),
        ("gemini", ["--prompt", "work"]),
        ("gemini", ["-m", "some", "--prompt=work"]),
        ("gemini", ["-yp", "work"]),
        ("gemini", ["--acp"]),
        ("grok", ["--single=work"]),
        ("grok", ["--prompt-file", "x"]),
        ("grok", ["agent", "stdio"]),
        ("augment", ["--print", "work"]),
    ],
)
def test_a_run_without_a_person_is_refused_at_a_terminal_too(terminal, client, words):
    assert refuses(terminal.answer_to(client, *words))


@pytest.mark.parametrize("words", [["-i", "work"], ["work"], ["-m", "pro"], ["--prompt-interactive", "work"]])
def test_a_session_that_begins_with_a_prompt_is_asked(terminal, words):
    assert asks(terminal.answer_to("gemini", *words))


@pytest.mark.parametrize(
    "without", [{"pipes": (0,)}, {"pipes": (1,)}, {"pipes": (0, 1)}, {"CI": "true"}, {"IN_BACKGROUND": "1"}]
)
def test_where_no_person_can_answer_an_ask_is_refused(terminal, without):
    reply = terminal.answer_to("gemini", **without)
    assert refuses(reply)
    assert "start Gemini CLI in a terminal without `-p`" in reply.stdout.decode()


@pytest.mark.parametrize("client", ["droid", "cline"])
def test_a_client_that_never_asks_is_refused_at_a_terminal_too(terminal, client):
    reply = terminal.answer_to(client)
    assert (refuses(reply), "IS-THIS-MEANT" in reply.stdout.decode()) == (True, True)
