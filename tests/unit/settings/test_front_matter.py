"""Hooks of skills and agents."""

from pathlib import Path

import pytest

from snell.handlers.command import Command
from snell.model.hooks import Scope, Source
from snell.settings.skill_hooks import LONGEST, parse_front_matter, skill_hooks
from snell.settings.trust import approve, review
from tests.unit.settings.settings_files import World, messages_of, write_file

SKILL = """\
---
name: tidy
description: keeps things tidy
hooks:
  PreToolUse:
    - matcher: "Write|Edit"
      hooks:
        - type: command
          command: "make tidy"
          timeout: 60
          once: true
  PostToolUse:
    - matcher: "Bash"
      hooks:
        - type: command
          command: "logger done"
---
# Tidy
hooks: not here
"""


def parsed(text: str | bytes, path: str = "/s/tidy/SKILL.md", **options):
    return parse_front_matter(text if isinstance(text, bytes) else text.encode("utf-8"), Path(path), **options)


@pytest.mark.proves("S1-106", "S1-136", "S1-139")
def test_a_skills_front_matter_declares_hooks_by_event():
    found = parsed(SKILL)
    assert messages_of(found.problems) == []
    first, second = (each.hook for each in found.declared)
    assert (first.event, first.matcher, first.handler, first.timeout, first.once, first.scope, first.source) == (
        "PreToolUse",
        "Write|Edit",
        Command("make tidy", plugin_root="/s/tidy"),
        60.0,
        True,
        Scope.SKILL,
        Source("skill:tidy", "/s/tidy/SKILL.md", 8),
    )
    assert (second.event, second.matcher, second.once, second.source.line) == ("PostToolUse", "Bash", False, 15)


def test_windows_line_ends_and_a_byte_order_mark_change_nothing():
    found = parsed(b"\xef\xbb\xbf" + SKILL.replace("\n", "\r\n").encode("utf-8"))
    assert [each.hook.source.line for each in found.declared] == [8, 15]


@pytest.mark.parametrize(
    ("path", "name", "layer"),
    [
        ("/s/tidy/SKILL.md", "", "skill:tidy"),
        ("/s/tidy/SKILL.md", "name: 'My Skill'\n", "skill:My Skill"),
        ("/s/tidy/SKILL.md", 'name: "a\\nb"\n', "skill:tidy"),
        ("/s/tidy/SKILL.md", "name: [x]\n", "skill:tidy"),
    ],
)
def test_the_source_is_the_skill_by_name(path, name, layer):
    found = parsed(f"---\n{name}hooks:\n  Stop:\n    - command: x\n---\n", path)
    assert [each.hook.source.layer for each in found.declared] == [layer]


@pytest.mark.proves("S1-139")
def test_an_agents_stop_is_a_sub_agents_stop():
    text = "---\nname: reviewer\nhooks:\n  Stop:\n    - command: x\n  PreToolUse:\n    - command: y\n---\n"
    found = parsed(text, "/a/reviewer.md", is_agent=True)
    assert [(each.hook.event, each.hook.source.layer) for each in found.declared] == [
        ("SubagentStop", "agent:reviewer"),
        ("PreToolUse", "agent:reviewer"),
    ]
    assert [each.hook.event for each in parsed(text).declared] == ["Stop", "PreToolUse"]


@pytest.mark.parametrize("text", ["", "# Tidy\n", "---\n---\n", "---\nname: x\n---\n", "text\n---\nhooks: 1\n---\n"])
def test_a_file_without_hooks_in_its_front_matter_has_none(text):
    assert (parsed(text).declared, parsed(text).problems) == ((), ())


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("---\nhooks: [\n---\n", 3, "this is not valid YAML"),
        ("---\nname: x\n\thooks: 1\n---\n", 3, "this is not valid YAML"),
        ("---\nhooks:\n  Stop:\n", 1, "the front matter is not closed"),
        ("---\na: &a [x]\nhooks: *a\n---\n", 2, "anchors and aliases are not allowed"),
        ("---\nhooks: 3\n---\n", 2, "`hooks` must be a list of hooks or a table of events"),
        ("---\nhooks:\n  Stopp:\n    - command: x\n---\n", 3, "`Stopp` is not an event"),
        ("---\nhooks:\n  Stop:\n    - command: x\n      timeout: -1\n---\n", 5, "`timeout` must be more than 0"),
        ("---\nhooks:\n  Stop:\n    - matcher: x\n---\n", 4, "the hook has no handler"),
        ("---\n# " + "x" * LONGEST + "\n---\n", 1, "the front matter has more than 256 KB"),
        (b"---\nhooks: \xff\n---\n", 2, "the file is not valid UTF-8"),
    ],
)
def test_what_is_wrong_is_reported_with_its_line_and_skipped(text, line, message):
    found = parsed(text)
    assert found.declared == ()
    assert [(each.file, each.line) for each in found.problems] == [("/s/tidy/SKILL.md", line)]
    assert found.problems[0].message.startswith(message)


def test_a_bomb_of_aliases_is_refused_at_its_first_anchor():
    levels = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30))
    found = parsed(f"---\na0: &a0 [x]\n{levels}hooks: *a29\n---\n")
    assert [each.line for each in found.problems] == [2]


@pytest.mark.proves("S1-112")
def test_a_users_own_skill_needs_no_approval_and_a_projects_does(tmp_path):
    world = World(tmp_path)
    own = write_file(world.home / ".claude/skills/tidy/SKILL.md", SKILL)
    theirs = write_file(world.project / ".claude/skills/tidy/SKILL.md", SKILL)

    def hooks(path):
        return skill_hooks(world.places, path, world.project, world.env)

    assert [hook.untrusted for hook in hooks(own).hooks] == ["", ""]
    assert (hooks(theirs).hooks, [each.severity for each in hooks(theirs).problems]) == ((), ["hint"])
    first = review(world.places, world.project, world.env).items[0]
    approve(world.places, world.project, [first.digest], world.env)
    assert [hook.untrusted for hook in hooks(theirs).hooks] == ["", "it is not approved; run `snell trust`"]
    write_file(theirs, SKILL.replace("make tidy", "make tidier"))
    assert [bool(hook.untrusted) for hook in hooks(theirs).hooks] == [True, True]


def test_a_skill_that_a_link_brings_into_the_users_folder_is_still_the_projects(tmp_path):
    world = World(tmp_path)
    theirs = write_file(world.project / "skills/tidy/SKILL.md", SKILL)
    link = world.home / ".claude" / "skills" / "tidy"
    link.parent.mkdir(parents=True)
    link.symlink_to(theirs.parent)
    assert skill_hooks(world.places, link / "SKILL.md", world.project, world.env).hooks == ()


def test_a_skill_that_is_not_there_has_no_hooks(tmp_path):
    world = World(tmp_path)
    assert skill_hooks(world.places, world.home / ".claude/skills/x/SKILL.md", world.project, world.env).hooks == ()
