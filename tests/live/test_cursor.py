"""What Cursor's own code makes of our answers: every one is taken, and a refusal stands."""

import json
import subprocess
from pathlib import Path

from tests.golden.reading import golden, golden_files
from tests.live.drivers import DRIVERS

CURSOR = next(each for each in DRIVERS if each.client == "cursor")
ANSWERS = Path(__file__).with_name("cursor_answers.mjs")


def test_every_answer_in_the_golden_files_is_taken_whole_beside_a_hook_that_lets_all_pass(asked_for, client_folder):
    asked_for(CURSOR.client)
    folder = client_folder(CURSOR)
    said = [
        {"step": golden(path)["payload"]["hook_event_name"], "stdout": json.dumps(reply["stdout"])}
        for path in golden_files("cursor")
        for reply in golden(path)["replies"]
    ]
    ran = subprocess.run(
        ["node", ANSWERS, folder], input=json.dumps(said), capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 0, ran.stderr
    taken = json.loads(ran.stdout)
    assert [(each, found) for each, found in zip(said, taken, strict=True) if found != json.loads(each["stdout"])] == []
