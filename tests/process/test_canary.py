"""Made-up secrets go through a busy session; afterwards none of them is in any byte that Snell wrote."""

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from random import Random

import pytest

from snell.kit.redact import redact
from tests.unit.kit.redact_cases import examples

pytestmark = pytest.mark.process

HOOK, SNELL = (Path(sys.executable).with_name(name) for name in ("snell-hook", "snell"))
PACK = """
    import sys
    from snell import Deny, Note, informs, judges, watches

    @judges("PreToolUse", kind="shell")
    def says_why(call):
        return Deny("refused: " + call.command)

    @judges("PreToolUse", kind="shell")
    def breaks(call):
        print("about to break on", call.command, file=sys.stderr)
        raise ValueError("cannot judge " + call.command)

    @informs("UserPromptSubmit")
    def repeats(event):
        return Note("you said: " + event.payload["prompt"])
    """
FRAMES = (
    "deploy --with {}",
    "echo {} > out",
    "{}",
    "a line\nthing: {}\n",
    '{{"thing": "{}"}}',
    "see https://x.test/?t={}&b=1",
)


@pytest.mark.proves("S4-122")
def test_no_secret_is_in_any_byte_that_snell_wrote(tmp_path: Path) -> None:
    _canary(tmp_path, events=10, secrets_each=10)


@pytest.mark.nightly
def test_none_of_five_hundred_secrets_is_in_any_byte_that_snell_wrote(tmp_path: Path) -> None:
    _canary(tmp_path, events=50, secrets_each=10)


def _canary(folder: Path, events: int, secrets_each: int) -> None:
    home = folder / "h"
    pack = home / "config" / "pack"
    pack.mkdir(parents=True)
    (pack / "pack.toml").write_text('name = "p"\n', encoding="utf-8")
    (pack / "rules.py").write_text(textwrap.dedent(PACK), encoding="utf-8")
    (home / "config" / "snell.toml").write_text('packs = ["pack"]\n', encoding="utf-8")
    env = {"PATH": "/usr/bin:/bin", "HOME": str(home), "SNELL_HOME": str(home)}
    planted = _secrets(events * secrets_each)
    try:
        for number in range(events):
            few = planted[number * secrets_each : (number + 1) * secrets_each]
            for payload in _payloads(number, few):
                _run([HOOK, "--client", "claude-code"], env, folder, json.dumps(payload))
        _run([sys.executable, "-c", CRASH, *planted[:20]], env, folder)
    finally:
        _run([SNELL, "daemon", "stop"], env, folder)
    written = {path: path.read_bytes() for path in home.rglob("*") if path.is_file() and pack not in path.parents}
    assert sum(data.count(b"[redacted:") for data in written.values()) > events * secrets_each
    assert any("crashes" in path.parts for path in written)
    leaks = [(path.name, secret) for path, data in written.items() for secret in planted if secret.encode() in data]
    assert leaks == []


CRASH = """
import sys
from snell.machine.crash_report import write_report
try:
    raise RuntimeError("cannot go on with " + " ".join(sys.argv[1:]))
except RuntimeError as error:
    write_report(error, ["fire", *sys.argv[1:]])
"""


def _secrets(count: int) -> list[str]:
    """Of as many formats as there are; those that JSON would write differently could not be looked for."""
    made = [secret for _, secret in examples(2, seed=77) if json.dumps(secret) == f'"{secret}"' and len(secret) >= 16]
    chosen = Random(5).sample(made, count)
    assert all(secret not in redact(secret) for secret in chosen)
    return chosen


def _payloads(number: int, secrets: list[str]) -> list[dict[str, object]]:
    text = " ; ".join(FRAMES[n % len(FRAMES)].format(secret) for n, secret in enumerate(secrets))
    shell = {
        "session_id": "canary",
        "tool_name": "Bash",
        "tool_use_id": f"toolu_{number}",
        "tool_input": {"command": text},
    }
    return [
        {**shell, "hook_event_name": "PreToolUse"},
        {**shell, "hook_event_name": "PostToolUse", "tool_response": {"stdout": text, "lines": secrets}},
        {"session_id": "canary", "hook_event_name": "UserPromptSubmit", "prompt": text},
        {"session_id": "canary", "hook_event_name": "Stop", "last_assistant_message": text},
    ]


def _run(argv: list[object], env: dict[str, str], folder: Path, given: str = "") -> None:
    subprocess.run(
        [str(each) for each in argv], input=given.encode(), env=env, cwd=folder, capture_output=True, timeout=60
    )
