"""Secrets in the results of tools: no model is given one, and a result without any arrives as it is."""

import json
import random

import pytest

from snell.clients import client_named
from tests.live.wires import Said
from tests.seeds import draw_seed
from tests.unit.redact.measured_secrets import formats, password, value_of

PLAIN = 'PLAIN-RESULT: naïve café → 3f786850e387550fdab836ed7e6dc881de23001b, max_tokens: 4096, {"a": [1, 2]}'


def test_the_model_is_given_no_secret_from_the_result_of_a_tool(driver, user, client_folder, model):
    if not client_named(driver.client).capabilities.output:
        pytest.skip(f"{driver.client} cannot replace the result of a tool")
    folder = client_folder(driver)
    draw = random.Random(draw_seed())
    secrets = [value_of(notation, draw) for name, notation in formats().items() if "webhook" not in name][::6]
    named = [password(draw, 20) for _ in range(3)]
    lines = [f"item {number}: {value}" for number, value in enumerate(secrets)]
    lines += [f"{name}={value}" for name, value in zip(("DB_PASSWORD", "client_secret", "senha"), named, strict=True)]
    user.write("project/listing.txt", "\n".join(lines) + "\n")
    user.write("project/plain.txt", PLAIN + "\n")
    user.configure("[pack.redact_output]\nenabled = true\n")
    env = driver.prepare(user, model.url)
    user.snell("setup", driver.client, "--yes")
    model.begin([Said("Working.", (driver.shell(f"cat {name}.txt"),)) for name in ("listing", "plain")])
    ran = user.run(driver.command(folder, user, "Please work."), env)
    shown = model.shown
    assert "[redacted:" in shown, ran
    assert [value for value in (*secrets, *named) if value[-12:] in shown] == [], ran
    assert json.dumps(PLAIN, ensure_ascii=False)[1:-1] in shown or json.dumps(PLAIN)[1:-1] in shown, ran


def test_claude_code_reads_a_file_without_its_secrets(user, claude):
    secret = password(random.Random(draw_seed()), 24)
    user.write("project/settings.ini", f"[db]\nhost = PLAIN-HOST\npassword = {secret}\n")
    user.configure("[pack.redact_output]\nenabled = true\n")
    read = ("Read", {"file_path": str(user.project / "settings.ini")})
    shown = claude(last=(Said("Reading.", (read,)),), more=("--allowedTools", "Read"))
    assert ("PLAIN-HOST" in shown, "[redacted:password]" in shown, secret in shown) == (True, True, False)
    transcripts = "".join(path.read_text(encoding="utf-8") for path in user.home.glob(".claude/projects/**/*.jsonl"))
    assert ("PLAIN-HOST" in transcripts, secret in transcripts) == (True, False)
