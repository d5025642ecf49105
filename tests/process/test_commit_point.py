"""The point at which to commit, through the real `snell-hook`."""

import json
import shutil

import pytest

from tests.hostile_repository import git
from tests.model_server import Line, model
from tests.process.answers import answer
from tests.process.desk import Desk
from tests.process.machine import Machine

pytest_plugins = ("tests.process.machine_fixtures",)


@pytest.mark.proves("S0-03", "S0-68")
def test_a_stop_with_uncommitted_changes_is_sent_back_with_their_statistics(machine: Machine):
    machine.write("snell.toml", '[pack.nudges]\nenabled = true\ncommit_point = "script"\ncommit_point_every = 0\n')
    (machine.project / "a.txt").write_text("one\n", encoding="utf-8")
    for words in (("init", "-q"), ("add", "a.txt"), ("commit", "-qm", "first")):
        git(machine.project, *words)
    assert answer(machine, "Stop", stop_hook_active=False) == {}
    (machine.project / "new.txt").write_text("untracked\n", encoding="utf-8")
    assert answer(machine, "Stop", stop_hook_active=False) == {}
    (machine.project / "a.txt").write_text("two\n", encoding="utf-8")
    assert answer(machine, "Stop", stop_hook_active=True) == {}
    assert answer(machine, "Stop", stop_hook_active=False, cwd=str(machine.home)) == {}
    held = answer(machine, "Stop", stop_hook_active=False)
    assert (held["decision"], "a.txt | 2 +-" in held["reason"]) == ("block", True)


@pytest.mark.proves("S0-68")
def test_the_next_reminder_comes_after_ten_minutes(machine: Machine):
    machine.write("snell.toml", '[pack.nudges]\nenabled = true\ncommit_point = "script"\n')
    (machine.project / "a.txt").write_text("one\n", encoding="utf-8")
    for words in (("init", "-q"), ("add", "a.txt")):
        git(machine.project, *words)
    folders = (machine.project, shutil.copytree(machine.project, machine.home / "other"))

    def are_held(session: str) -> list[bool]:
        return [bool(answer(machine, "Stop", session_id=session + each.name, cwd=str(each))) for each in folders]

    assert [are_held(session) for session in ("a", "b")] == [[True, True], [False, False]]
    machine.stop()
    with Desk(machine).database() as database:
        for folder, seconds in zip(folders, (540, 600), strict=True):
            older = f"UPDATE marks SET value = value - {seconds} WHERE name = 'nudges/commit_point' AND scope = ?"
            database.execute(older, (f"project:{folder}",))
    assert are_held("c") == [False, True]


@pytest.mark.proves("S0-03", "S0-07", "S0-67")
def test_a_small_model_may_say_whether_it_is_time_for_a_commit(machine: Machine):
    (machine.project / "a.txt").write_text("one\n", encoding="utf-8")
    for words in (("init", "-q"), ("add", "a.txt")):
        git(machine.project, *words)
    stop = {"hook_event_name": "Stop", "stop_hook_active": False, "last_assistant_message": "all is done"}
    answers = ('{"nudge": "commit a.txt now"}', '{"pass": true}', '{"nudge": "well done"}')
    with model([Line(text) for text in answers]) as server:
        asked = f'[model]\napi = "anthropic"\nurl = "{server.url}"\nkey_env = "KEY"\n'
        pack = '[pack.nudges]\nenabled = true\ncommit_point = "model"\ncommit_point_every = 0\n'
        entry = '[[hooks]]\nevent = "Stop"\n[hooks.prompt]\nprompt = "Is it good? $ARGUMENTS"\n'
        said = []
        for number, settings in enumerate((pack, pack, entry)):
            machine.write("snell.toml", asked + settings)
            (machine.project / "a.txt").write_text(f"{number}\n", encoding="utf-8")
            said.append(json.loads(machine.hook({**stop, "session_id": f"s{number}"}, KEY="k")[1] or "{}"))
    assert said == [{"systemMessage": "commit a.txt now"}, {}, {"systemMessage": "well done"}]
    questions = [str(question["messages"]) for question in server.asked]
    assert ["a.txt | 1 +" in each for each in questions] == [True, True, False]
    assert ("Is it good?" in questions[2], "all is done" in questions[2]) == (True, True)
