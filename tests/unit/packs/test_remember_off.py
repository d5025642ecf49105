"""Memory that is switched off: what is said meanwhile is captured neither then nor later."""

import os
from pathlib import Path
from typing import Any

import pytest

from snell.daemon.memory_timer import catch_up
from snell.memory.transcript_capture import capture_new
from snell.memory.transcript_position import position
from snell.runtime.app import Runtime
from snell.settings.packs import builtin_hooks
from snell.settings.trust import approve, review
from snell.system.paths import Places
from tests.unit.packs.remember_runtime import DECIDED, RememberRuntime

BEFORE, MEANWHILE, AFTER = (f"{DECIDED} That was in the {when} week." for when in ("first", "second", "third"))


def stopped_with(remembering: RememberRuntime, said: dict[str, Any]) -> list[str]:
    """The end of a turn, with these settings of the pack."""
    problems: list[str] = []
    hooks = builtin_hooks({"remember": said}, problems)
    remembering.runtime = Runtime.embed(*hooks, database=remembering.database, where=remembering.where)
    remembering.fire("Stop", transcript_path=str(remembering.transcript))
    assert problems == []
    return [each.content for each in remembering.captures()]


@pytest.mark.parametrize("off", [{"enabled": False}, {"enabled": True, "capture": False}])
def test_what_is_said_while_it_is_off_is_not_captured_later(tmp_path: Path, off: dict[str, Any]) -> None:
    remembering = RememberRuntime(tmp_path, {})
    remembering.say(BEFORE)
    assert stopped_with(remembering, {"enabled": True}) == [BEFORE]
    remembering.say(MEANWHILE)
    assert stopped_with(remembering, off) == [BEFORE]
    remembering.say(AFTER)
    assert stopped_with(remembering, {"enabled": True}) == [BEFORE, AFTER]
    remembering.runtime.close()


def test_where_nothing_was_ever_captured_nothing_is_written(tmp_path: Path) -> None:
    remembering = RememberRuntime(tmp_path, {})
    remembering.say(BEFORE)
    assert stopped_with(remembering, {"enabled": False}) == []
    assert not remembering.inbox.root.exists()
    remembering.runtime.close()


def test_without_a_word_about_it_there_is_no_hook_at_all() -> None:
    assert [hook for hook in builtin_hooks({}, []) if hook.source.layer == "pack:remember"] == []


def test_the_rest_of_a_long_transcript_is_left_when_its_project_says_no(tmp_path: Path) -> None:
    remembering = RememberRuntime(tmp_path, {})
    remembering.say(*(f"{DECIDED} That was module_{each}.\n\n{'filler words here. ' * 60}" for each in range(60)))
    event = remembering.event("Stop", transcript_path=str(remembering.transcript))
    capture_new(event, remembering.context, "session_end", seconds=0.0)
    waiting = remembering.inbox.count()
    _trusted(remembering.where, remembering.folder, "[pack.remember]\nenabled = false\n")
    remembering.where.config.mkdir(exist_ok=True)
    (remembering.where.config / "snell.toml").write_text("[pack.remember]\nenabled = true\n")
    catch_up(remembering.where, os.getppid())
    assert (remembering.inbox.count("processed"), remembering.inbox.count("unread")) == (waiting, 0)
    assert position(remembering.inbox.root / "state", "s1").last_offset == remembering.transcript.stat().st_size
    remembering.runtime.close()


def _trusted(where: Places, folder: Path, settings: str) -> None:
    (folder / ".snell").mkdir()
    (folder / ".snell" / "snell.toml").write_text(settings)
    env = dict(os.environ)
    approve(where, folder, [review(where, folder, env).digest], env)
