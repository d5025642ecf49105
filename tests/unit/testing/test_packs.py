"""`pack.toml`: what it says, and what is wrong with it."""

from pathlib import Path

import pytest

from snell.model.errors import SettingsError
from snell.settings.packs import Pack, read_pack


def pack(folder: Path, text: str) -> Path:
    (folder / "pack.toml").write_text(text, encoding="utf-8")
    return folder


def test_a_pack_has_a_name_a_purpose_a_switch_options_and_files(tmp_path):
    for name in ("b.py", "a.py", "_shared.py", ".hidden.py", "a.cases.toml", "README.md"):
        (tmp_path / name).write_text("", encoding="utf-8")
    (tmp_path / "folder.py").mkdir()
    text = 'name = "tidy"\npurpose = "keep it clean"\nenabled = false\n[options]\nlimit = 3\n'
    assert read_pack(pack(tmp_path, text)) == Pack(
        name="tidy",
        purpose="keep it clean",
        enabled=False,
        options={"limit": 3},
        files=(tmp_path / "a.py", tmp_path / "b.py"),
    )


def test_a_name_is_enough(tmp_path):
    assert read_pack(pack(tmp_path, 'name = "tidy"\n')) == Pack("tidy")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ':1: the pack has no `name`; add name = "{name}", for example'),
        ("name = 3\n", ":1: `name` must be text, not a number; put it in quotes"),
        (
            'name = "a/b"\n',
            ":1: `a/b` cannot be the name of a pack; use letters, digits, `_` and `-`, and begin with a letter",
        ),
        ('name = "x"\npurpos = "y"\n', ":2: `purpos` is not a key of a pack; did you mean `purpose`?"),
        (
            'name = "x"\nenabled = "yes"\n',
            ":2: `enabled` must be true or false, not text; write true or false, without quotes",
        ),
        ('name = "x"\noptions = 3\n', ":2: `options` must be a table, not a number; write { key = value }"),
        ("name = \n", ":1: this is not valid TOML: invalid value; correct that line"),
    ],
)
def test_a_mistake_is_explained_with_its_line(tmp_path, text, message):
    with pytest.raises(SettingsError) as caught:
        read_pack(pack(tmp_path, text))
    assert str(caught.value) == f"{tmp_path}/pack.toml{message}".replace("{name}", tmp_path.name)


def test_a_folder_without_pack_toml_is_explained(tmp_path):
    with pytest.raises(SettingsError) as caught:
        read_pack(tmp_path)
    assert str(caught.value) == f"there is no pack.toml in `{tmp_path}`; create one with `snell new pack NAME`"
