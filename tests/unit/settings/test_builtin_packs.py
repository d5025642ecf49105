"""The packs that come with Snell."""

from snell.settings.packs import FOLDER, builtin_packs, read_pack


def test_our_own_manifests_are_parsed_as_they_read():
    assert builtin_packs() == {name: read_pack(FOLDER / name) for name in builtin_packs()}
    assert "guard" in builtin_packs()
