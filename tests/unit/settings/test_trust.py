"""Nothing that a project brings counts before a person approved its exact bytes."""

import json
import os
import stat
import subprocess
import sys
import threading

import pytest

from snell.model.errors import TrustError
from snell.model.hooks import PythonFile
from snell.settings.file_digests import FileDigests
from snell.settings.parse_types import PythonSource
from snell.settings.pins import pins_file
from snell.settings.trust import approve, review, revoke, status
from tests.unit.settings.settings_files import World, command, ids, inert, messages_of, write_file

SCRIPT = '[[hooks]]\nname = "guard"\nevent = "PreToolUse"\ncommand = "sh ./check.sh --all"\n'


def world_with_script(folder) -> World:
    world = World(folder)
    world.script("check.sh")
    world.brings(SCRIPT)
    return world


WATCHED_LOAD = """
import sys
from pathlib import Path
opened = []
def hook(event, args):
    if event in ("open", "os.listdir", "os.scandir") and str(args[0]).startswith(sys.argv[1]):
        opened.append((event, str(args[0])[len(sys.argv[1]):]))
from snell.system.paths import Places
from snell.settings.load import load
folder = Path(sys.argv[1]).parent
places = Places(folder / "config", folder / "state", folder / "run")
sys.addaudithook(hook)
loaded = load(places, Path(sys.argv[1]), {"HOME": "/", "PATH": ""}, policy_files=())
print(opened, len(loaded.hooks), len(loaded.python), loaded.switches.disable_all_hooks)
"""


@pytest.mark.process
@pytest.mark.proves("S1-112")
def test_a_project_that_no_user_approved_is_not_opened(tmp_path):
    world = World(tmp_path)
    world.brings(f"disable_all_hooks = true\n{command('theirs')}")
    world.brings(command("theirs"), "snell.local.toml")
    world.brings("raise SystemExit", "hooks/mine.py")
    run = [sys.executable, "-c", WATCHED_LOAD, str(world.project)]
    done = subprocess.run(run, capture_output=True, text=True, encoding="utf-8", timeout=60, check=True)
    assert done.stdout == "[('os.listdir', '/.snell/hooks')] 0 1 False\n"


def test_a_project_that_no_user_approved_is_mentioned(tmp_path):
    world = World(tmp_path)
    world.brings(command("theirs"))
    path = world.brings("", "hooks/mine.py")
    loaded = world.load()
    why = f"the project `{world.project}` is not approved; run `snell trust`"
    assert loaded.python == (PythonSource(str(path), "", why),)
    (problem,) = loaded.problems
    assert (problem.file, problem.line, problem.severity) == (f"{world.project}/.snell/snell.toml", 1, "hint")
    assert problem.message == "this project has hooks or settings that are not approved, so they have no effect"
    assert problem.advice == "run `snell trust` to see them"


def test_a_project_that_brings_nothing_is_not_mentioned(tmp_path):
    world = World(tmp_path)
    (world.project / ".snell" / "hooks").mkdir(parents=True)
    assert world.load().problems == ()


@pytest.mark.proves("S1-112")
def test_policy_and_user_hooks_run_beside_a_project_that_no_user_approved(tmp_path):
    world = World(tmp_path)
    write_file(world.policy, command("policy"))
    world.user(command("mine"))
    world.brings(command("theirs"))
    assert ids(world.load()) == ["policy", "mine"]
    world.trust()
    assert (ids(world.load()), inert(world.load())) == (["policy", "mine", "theirs"], {})


def test_a_review_shows_everything_that_the_project_would_bring(tmp_path):
    world = world_with_script(tmp_path)
    world.brings('rewrites_from = "policy"\n', "snell.local.toml")
    python = world.brings("def hook(): ...\n", "hooks/mine.py")
    write_file(world.project / ".claude/skills/tidy/SKILL.md", "---\nhooks:\n  Stop:\n    - command: tidy\n---\n")
    found = world.review()
    fields = ("kind", "title", "file", "line", "event", "shows", "state")
    assert [tuple(getattr(item, name) for name in fields) for item in found.items] == [
        ("hook", "guard", ".snell/snell.toml", 1, "PreToolUse", "sh ./check.sh --all", "new"),
        ("settings", "rewrites_from", ".snell/snell.local.toml", 1, "", "rewrites_from = policy", "new"),
        ("python", "mine", ".snell/hooks/mine.py", 1, "", ".snell/hooks/mine.py", "new"),
        ("hook", found.items[3].title, ".claude/skills/tidy/SKILL.md", 4, "Stop", "tidy", "new"),
        ("notes", ".claude/skills (tidy)", ".claude/skills", 1, "", found.items[4].shows, "new"),
    ]  # fmt: skip
    assert found.items[0].pins == (os.path.realpath("/bin/sh"), "check.sh")
    assert "given to the model" in found.items[4].shows
    assert len({item.digest for item in found.items} | {found.digest}) == 6
    assert (found.root, found.is_approved, found.problems) == (str(world.project), False, ())
    assert python.exists()


def test_approving_one_thing_approves_one_thing(tmp_path):
    world = World(tmp_path)
    world.brings(command("one") + command("two"))
    first = world.review().items[0]
    after = approve(world.places, world.project, [first.digest], world.env)
    assert [item.state for item in after.items] == ["approved", "new"]
    assert inert(world.load()) == {"two": "it is not approved; run `snell trust`"}


def change_definition(world: World) -> None:
    world.brings(SCRIPT.replace("--all", "--alL"))


def change_script(world: World) -> None:
    world.script("check.sh", "#!/bin/sh\n ")


def remove_script(world: World) -> None:
    (world.project / "check.sh").unlink()


def change_event(world: World) -> None:
    world.brings(SCRIPT.replace("PreToolUse", "Stop"))


def add_key(world: World) -> None:
    world.brings(SCRIPT + "timeout = 600\n")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (change_definition, "its definition changed since it was approved; run `snell trust`"),
        (change_event, "its definition changed since it was approved; run `snell trust`"),
        (add_key, "its definition changed since it was approved; run `snell trust`"),
        (change_script, "`check.sh` changed since it was approved; run `snell trust`"),
        (remove_script, "`check.sh` changed since it was approved; run `snell trust`"),
    ],
)
def test_one_changed_byte_makes_that_hook_inert_and_says_why(tmp_path, change, why):
    world = world_with_script(tmp_path)
    world.trust()
    digests = FileDigests()
    assert inert(world.load(kept={"digests": digests})) == {}
    change(world)
    loaded = world.load(kept={"digests": digests})
    assert inert(loaded) == {"guard": why}
    assert [problem.severity for problem in loaded.problems if "`guard` has no effect" in problem.message] == [
        "warning"
    ]
    assert [item.state for item in world.review().items] == ["changed"]
    world.trust()
    assert inert(world.load()) == {}


def test_another_interpreter_behind_the_same_name_makes_the_hook_inert(tmp_path):
    world = world_with_script(tmp_path)
    for name in ("one", "two"):
        write_file(tmp_path / "bin" / name, "").chmod(0o755)
    link = tmp_path / "bin" / "sh"
    link.symlink_to("one")
    world.env["PATH"] = str(tmp_path / "bin")
    world.trust()
    assert inert(world.load()) == {}
    link.unlink()
    link.symlink_to("two")
    now = (tmp_path / "bin" / "two").resolve()
    why = f"its interpreter (now `{now}`) changed since it was approved; run `snell trust`"
    assert inert(world.load()) == {"guard": why}


def test_comments_order_and_spelling_are_not_part_of_a_definition(tmp_path):
    world = world_with_script(tmp_path)
    world.trust()
    world.brings('# moved\n\n[[hooks]]\ncommand = "sh ./check.sh --all"\nEvent = "pre_tool_use"\nID = "guard"\n')
    assert inert(world.load()) == {}


def test_a_copy_of_an_approved_project_is_not_approved(tmp_path):
    world = world_with_script(tmp_path)
    world.trust()
    world.project.rename(tmp_path / "elsewhere")
    world.project.mkdir()
    assert ids(world.load(tmp_path / "elsewhere")) == []
    world.script("check.sh")
    world.brings(SCRIPT)
    assert ids(world.load()) == []  # same path, another folder


def test_a_project_reached_through_a_link_is_the_approved_one(tmp_path):
    world = world_with_script(tmp_path)
    (tmp_path / "link").symlink_to(world.project)
    approve(world.places, tmp_path / "link", [review(world.places, tmp_path / "link", world.env).digest], world.env)
    assert inert(world.load()) == {}
    assert ids(world.load(tmp_path / "link" / ".." / "project")) == ["guard"]


def test_a_linked_dot_snell_belongs_to_the_root_that_it_was_found_in(tmp_path):
    world = World(tmp_path)
    write_file(tmp_path / "shared" / "snell.toml", command("theirs"))
    (world.project / ".snell").symlink_to(tmp_path / "shared")
    assert ids(world.load()) == []
    world.trust()
    assert (ids(world.load()), inert(world.load())) == (["theirs"], {})
    other = tmp_path / "other"
    other.mkdir()
    (other / ".snell").symlink_to(tmp_path / "shared")
    assert ids(world.load(other)) == []
    write_file(tmp_path / "shared" / "snell.toml", command("theirs", once="true"))
    assert list(inert(world.load())) == ["theirs"]


def test_settings_of_a_project_count_only_when_approved(tmp_path):
    world = World(tmp_path)
    world.user(command("mine"))
    world.brings(f"disable_all_hooks = true\n{command('theirs')}")
    hook, settings = world.review().items
    approve(world.places, world.project, [hook.digest], world.env)
    loaded = world.load()
    assert (loaded.switches.disable_all_hooks, inert(loaded)) == (False, {})
    assert "`disable_all_hooks` has no effect: it is not approved" in "\n".join(messages_of(loaded.problems))
    approve(world.places, world.project, [settings.digest], world.env)
    assert world.load().switches.disable_all_hooks
    world.brings(f'disable_all_hooks = true\nrewrites_from = "policy"\n{command("theirs")}')
    assert world.load().switches == type(loaded.switches)()


def test_the_script_of_a_projects_status_line_is_pinned_too(tmp_path):
    world = World(tmp_path)
    world.script("line.sh")
    world.brings('status_line = "sh ./line.sh"\n')
    world.trust()
    assert world.load().value("status_line") == {"command": "sh ./line.sh"}
    world.script("line.sh", "#!/bin/sh\nevil\n")
    loaded = world.load()
    assert loaded.value("status_line") is None
    assert "`status_line` has no effect: `line.sh` changed since it was approved" in str(loaded.problems[0])


def test_python_files_are_pinned_by_their_bytes(tmp_path):
    world = World(tmp_path)
    path = world.brings("x = 1\n", "hooks/mine.py")
    world.brings('[[hooks]]\nname = "f"\nevent = "Stop"\n[hooks.python]\nfile = "hooks/mine.py"\nfunction = "f"\n')
    world.trust()
    loaded = world.load()
    (source,) = loaded.python
    assert (source.path, len(source.digest), source.untrusted) == (str(path), 64, "")
    assert loaded.hooks[0].handler == PythonFile(str(path), "f", source.digest)
    world.brings("x = 2\n", "hooks/mine.py")
    world.brings("y = 1\n", "hooks/new.py")
    loaded = world.load()
    assert [(source.digest, source.untrusted) for source in loaded.python] == [
        ("", "`.snell/hooks/mine.py` changed since it was approved; run `snell trust`"),
        ("", "it is not approved; run `snell trust`"),
    ]
    assert list(inert(loaded)) == ["f"]


def test_a_command_that_means_another_file_in_a_sub_folder_is_inert_there(tmp_path):
    world = world_with_script(tmp_path)
    world.trust()
    sub = world.script("sub/check.sh").parent
    assert inert(world.load()) == {}
    assert inert(world.load(sub)) == {"guard": f"in `{sub}` the word `./check.sh` means a file that was not approved"}


def test_what_a_person_did_not_see_is_not_approved(tmp_path):
    world = world_with_script(tmp_path)
    seen = world.review()
    change_script(world)
    for digest in (seen.digest, seen.items[0].digest, "0" * 64):
        with pytest.raises(TrustError, match="is not the digest of an item of this project"):
            approve(world.places, world.project, [digest], world.env)
    assert status(world.places, world.project).approved == ()


def test_what_is_too_long_to_vouch_for_cannot_be_approved(tmp_path):
    world = World(tmp_path)
    world.brings(command("fine") + f'[[hooks]]\nname = "long"\nevent = "Stop"\ncommand = "{"x " * 3000}"\n')
    fine, long = world.review().items
    assert (fine.state, long.state) == ("new", "cannot")
    with pytest.raises(TrustError, match="`long` cannot be approved"):
        approve(world.places, world.project, [long.digest], world.env)
    after = world.trust()
    assert [item.state for item in after.items] == ["approved", "cannot"]
    assert list(inert(world.load())) == ["long"]


def test_approvals_are_private_and_permanent_until_revoked(tmp_path):
    world = world_with_script(tmp_path)
    world.trust()
    path = pins_file(world.places)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    (pin,) = status(world.places, world.project).approved
    assert (pin.kind, pin.file, pin.title, list(pin.files)) == ("hook", ".snell/snell.toml", "guard", ["check.sh"])
    assert revoke(world.places, world.project) == 1
    assert revoke(world.places, world.project) == 0
    assert (ids(world.load()), status(world.places, world.project).approved) == ([], ())


def test_a_corrupt_approvals_file_is_reported_counts_as_none_and_is_kept_aside(tmp_path):
    world = world_with_script(tmp_path)
    world.trust()
    path = pins_file(world.places)
    for text in ("{ not json", "[]", '{"version": 99, "projects": {}}'):
        path.write_text(text, encoding="utf-8")
        loaded = world.load()
        assert ids(loaded) == []
        assert loaded.problems[0].message.startswith("the approvals cannot be read, so no project is trusted")
        assert path.read_text(encoding="utf-8") == text
        world.trust()
        assert inert(world.load()) == {}
    kept = {each.read_text(encoding="utf-8") for each in path.parent.glob("trust.json.bad-*")}
    assert kept == {"{ not json", "[]", '{"version": 99, "projects": {}}'}


def test_approvals_given_at_the_same_time_are_all_kept(tmp_path):
    world = World(tmp_path)
    roots = [tmp_path / f"project{number}" for number in range(8)]
    for root in roots:
        write_file(root / ".snell" / "snell.toml", command("theirs"))

    def trust(root):
        approve(world.places, root, [review(world.places, root, world.env).digest], world.env)

    threads = [threading.Thread(target=trust, args=(root,)) for root in roots]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert len(json.loads(pins_file(world.places).read_bytes())["projects"]) == len(roots)
    assert [ids(world.load(root)) for root in roots] == [["theirs"]] * len(roots)


def test_text_that_would_play_tricks_on_a_terminal_is_shown_as_it_is(tmp_path):
    world = World(tmp_path)
    world.brings('[[hooks]]\nevent = "Stop"\ncommand = "rm -rf ~ \\u001b[2K\\u202e"\n')
    assert world.review().items[0].shows == "rm -rf ~ \\u001b[2K\\u202e"


def test_a_review_shows_all_that_a_webhook_would_get(tmp_path):
    world = World(tmp_path)
    world.brings(
        '[[hooks]]\nevent = "Stop"\nwebhook = { url = "https://x.example/", allowed_env = ["AWS_KEY"], '
        'headers = { X-Key = "${AWS_KEY}\\u202e" } }\n'
    )
    lines = world.review().items[0].shows.splitlines()
    assert (lines[0], sorted(lines[1:])) == (
        "https://x.example/",
        ['allowed_env = ["AWS_KEY"]', 'headers = {"X-Key": "${AWS_KEY}\\u202e"}'],
    )


def test_a_review_shows_the_server_and_the_input_of_a_tool(tmp_path):
    world = World(tmp_path)
    world.brings(
        '[[hooks]]\nevent = "PreToolUse"\nmatcher = "x"\n'
        'mcp_tool = { server = "mail", tool = "send", input = { to = "me" } }\n'
    )
    lines = world.review().items[0].shows.splitlines()
    assert (lines[0], sorted(lines[1:])) == ("send", ['input = {"to": "me"}', 'matcher = "x"', 'server = "mail"'])


def test_a_review_of_no_folder_is_an_error(tmp_path):
    world = World(tmp_path)
    with pytest.raises(TrustError, match="is not a folder"):
        review(world.places, tmp_path / "nowhere", world.env)


def test_a_file_is_hashed_again_only_when_it_changed(tmp_path):
    path = write_file(tmp_path / "x", "one")
    past = path.stat().st_mtime_ns - 10**12
    digests = FileDigests()
    first = digests.of(str(path))
    os.utime(path, ns=(past, past))
    assert digests.of(str(path)) == first
    path.write_text("two", encoding="utf-8")
    assert digests.of(str(path)) != first
    assert digests.of(str(tmp_path / "nowhere")) == "<unreadable>"
