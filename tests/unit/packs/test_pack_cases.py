"""Every built-in pack: its manifest, its cases, and that its hooks load."""

from pathlib import Path

import pytest

from snell.runtime.builtin_packs import FOLDER, builtin_hooks, builtin_packs, pack_hooks
from snell.testing.case_files import case_files
from snell.testing.run import run_file

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


def test_what_nobody_knows_about_packs_is_reported_with_what_was_probably_meant():
    problems: list[str] = []
    builtin_hooks({"toolchian": {}, "toolchain": {"mod": "seed", "mode": 3}}, problems)
    assert problems == [
        "[pack.toolchian]: there is no such pack; did you mean `toolchain`?",
        "[pack.toolchain]: `mod` is not an option of this pack; did you mean `mode`?",
        "[pack.toolchain]: `mode` is int, not str; the default holds",
    ]


def test_a_pack_that_is_switched_off_brings_no_hooks():
    off = {name: {"enabled": False} for name in PACKS}
    assert builtin_hooks(off, []) == []
