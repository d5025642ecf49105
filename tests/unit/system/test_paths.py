import os
import pwd
from pathlib import Path

import pytest

from snell.system.paths import PlaceError, Places, make_private, places

HOME = {"HOME": "/home/me"}


def test_snell_home_holds_everything() -> None:
    assert places({**HOME, "SNELL_HOME": "/srv/snell", "XDG_CONFIG_HOME": "/x"}) == Places(
        config=Path("/srv/snell/config"), state=Path("/srv/snell/state"), run=Path("/srv/snell/run")
    )


def test_without_any_variable_the_usual_places_are_taken() -> None:
    assert places(HOME) == Places(
        config=Path("/home/me/.config/snell"),
        state=Path("/home/me/.local/state/snell"),
        run=Path("/home/me/.local/state/snell/run"),
    )


def test_xdg_variables_are_followed() -> None:
    env = {"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"}
    assert places(env) == Places(config=Path("/c/snell"), state=Path("/s/snell"), run=Path("/s/snell/run"))


def test_who_has_no_runtime_directory_finds_the_same_daemon() -> None:
    assert places({**HOME, "XDG_RUNTIME_DIR": "/run/user/7"}) == places(HOME)


def test_relative_and_empty_xdg_variables_do_not_count() -> None:
    env = {**HOME, "XDG_CONFIG_HOME": "c", "XDG_STATE_HOME": ""}
    assert places(env) == places(HOME)


def test_without_home_the_user_database_is_asked() -> None:
    home = Path(pwd.getpwuid(os.geteuid()).pw_dir)
    assert places({}).config == home / ".config/snell"


@pytest.mark.parametrize("variable", ["SNELL_HOME", "HOME"])
def test_a_relative_home_is_refused(variable: str) -> None:
    with pytest.raises(PlaceError) as caught:
        places({variable: "here"})
    assert str(caught.value) == f"{variable} is `here`, which is not an absolute path; give the full path"


def test_a_private_directory_is_made_with_its_parents(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b"
    make_private(path)
    assert [mode(path), mode(path.parent)] == [0o700, 0o700]


def test_a_private_directory_that_exists_is_closed_to_others(tmp_path: Path) -> None:
    path = tmp_path / "open"
    path.mkdir(mode=0o777)
    (path / "file").touch()
    make_private(path)
    make_private(path)
    assert (mode(path), os.listdir(path)) == (0o700, ["file"])


def test_a_link_is_refused_and_what_it_points_to_is_untouched(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir(mode=0o755)
    link = tmp_path / "link"
    link.symlink_to(target)
    with pytest.raises(PlaceError) as caught:
        make_private(link)
    assert str(caught.value) == (
        f"`{link}`: is a symbolic link, which others could redirect; "
        "remove the link, or set SNELL_HOME to the directory it points to"
    )
    assert mode(target) == 0o755


def test_a_dangling_link_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nowhere")
    with pytest.raises(PlaceError):
        make_private(link)
    assert not (tmp_path / "nowhere").exists()


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    with pytest.raises(PlaceError) as caught:
        make_private(path)
    assert str(caught.value) == f"`{path}`: is not a directory; move it away"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_a_directory_of_another_user_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "theirs"
    path.mkdir(mode=0o755)
    os.chown(path, 12345, -1)
    with pytest.raises(PlaceError) as caught:
        make_private(path)
    assert str(caught.value) == (
        f"`{path}`: belongs to another user (uid 12345); remove it, or set SNELL_HOME to a directory of your own"
    )
    assert mode(path) == 0o755


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777
