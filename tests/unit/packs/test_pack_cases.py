"""Every built-in pack: its manifest, its cases, and that its hooks load."""

from pathlib import Path
from typing import Any

import pytest

from snell.model.hooks import Hook
from snell.settings.packs import FOLDER, builtin_hooks, builtin_packs, pack_hooks
from snell.testing.case_files import case_files
from snell.testing.run_cases import run_file

PACKS = sorted(builtin_packs())
CASE_FILES = [file for pack in PACKS for file in case_files(FOLDER / pack)]


@pytest.mark.parametrize("file", CASE_FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_the_cases_of_every_pack_hold(file: Path):
    results = run_file(file)
    assert results
    assert [(each.case.name, each.differences, each.hint) for each in results if not each.passed] == []


@pytest.mark.parametrize("name", PACKS)
def test_every_pack_says_what_it_is_for_and_names_its_hooks_after_itself(name: str):
    pack = builtin_packs()[name]
    assert pack.purpose
    assert pack.files
    assert {hook.id.partition("/")[0] for hook in pack_hooks(name)} == {name}


def test_an_unknown_name_in_a_pack_is_reported_with_what_was_probably_meant():
    problems: list[str] = []
    builtin_hooks({"toolchian": {}, "toolchain": {"mod": "seed", "mode": 3}}, problems)
    assert problems == [
        "[pack.toolchian]: there is no such pack; did you mean `toolchain`?",
        "[pack.toolchain]: `mod` is not an option of this pack; did you mean `mode`?",
        "[pack.toolchain]: `mode` must be one of seed, careful; `careful` is used",
    ]


@pytest.mark.parametrize("wrong", ["maybe", "", 0])
def test_a_pack_that_is_neither_on_nor_off_is_reported_and_stays_as_it_comes(wrong: Any):
    problems: list[str] = []
    hooks = builtin_hooks({"guard": {"enabled": wrong}, "remember": {"enabled": wrong}}, problems)
    assert hooks == builtin_hooks({}, [])
    assert problems == [
        f"[pack.{name}]: `enabled` must be true or false; the default is used" for name in ("guard", "remember")
    ]


def test_a_misspelt_enabled_is_reported_with_what_was_meant():
    problems: list[str] = []
    builtin_hooks({"guard": {"enabeld": False}}, problems)
    assert problems == ["[pack.guard]: `enabeld` is not an option of this pack; did you mean `enabled`?"]


@pytest.mark.parametrize(
    ("pack", "wrong", "strictest"),
    [("ledger", "durabel", "durable"), ("ledger", True, "durable"), ("tool_inputs", "strickt", "strict")],
)
def test_a_mode_that_does_not_exist_is_reported_and_the_strictest_one_holds(pack: str, wrong: Any, strictest: str):
    problems: list[str] = []
    off = {name: {"enabled": False} for name in PACKS}
    mistyped = [hook for hook in builtin_hooks({**off, pack: {"mode": wrong}}, problems) if not is_left(hook)]
    assert mistyped == list(pack_hooks(pack, {"mode": strictest}))
    assert (len(problems), problems[0].endswith(f"`{strictest}` is used")) == (1, True)


def test_files_and_entries_that_say_nothing_are_reported(tmp_path: Path):
    broken = tmp_path / "broken.json"
    broken.write_text("{", encoding="utf-8")
    tools = {
        "good": {"required": ["a"], "example": {"a": 1}},
        "typo": {"requird": ["a"]},
        "odd": {"min_lengths": {"a": "5"}},
        "text": "no",
        "schema": {"type": "objekt"},
    }
    problems: list[str] = []
    said = {"files": [str(broken), "/no/such/file.json"], "tools": tools}
    builtin_hooks({"tool_inputs": said, "ledger": {"policies": ["/no/such.toml"]}}, problems)
    named = ("such.toml", str(broken), "/no/such/file.json", "`requird`", "`min_lengths`", "`text`", "`schema`")
    assert [part in problem for part, problem in zip(named, problems, strict=True)] == [True] * len(named)


def is_left(hook: Hook) -> bool:
    """Memory that is off moves past what is said meanwhile: that answers no caller and keeps nothing."""
    return hook.role == "watches" and hook.id.startswith("remember/skip_capture:")


def test_a_pack_that_is_switched_off_brings_no_hooks():
    off = {name: {"enabled": False} for name in PACKS}
    assert [hook.id for hook in builtin_hooks(off, []) if not is_left(hook)] == []
    assert len(builtin_hooks(off, [])) == 3
