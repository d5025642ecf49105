import os
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from snell.system.files import FileError, file_lock, read_capped, write_atomically


def test_a_file_is_written_whole_and_private(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"data")
    assert (path.read_bytes(), path.stat().st_mode & 0o777, os.listdir(tmp_path)) == (b"data", 0o600, ["file"])


def test_a_file_is_replaced_with_the_mode_that_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    write_atomically(path, b"new", mode=0o644)
    assert (path.read_bytes(), path.stat().st_mode & 0o777, os.listdir(tmp_path)) == (b"new", 0o644, ["file"])


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    (path / "old").mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        write_atomically(path, b"new")
    assert (os.listdir(tmp_path), os.listdir(path)) == (["folder"], ["old"])


def test_a_link_is_replaced_not_followed(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"theirs")
    link.symlink_to(target)
    write_atomically(link, b"ours")
    assert (target.read_bytes(), link.read_bytes(), link.is_symlink()) == (b"theirs", b"ours", False)


def test_a_name_of_the_greatest_length_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    write_atomically(path, b"data")
    assert path.read_bytes() == b"data"


def test_a_reader_sees_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "file"
    versions = {b"a" * 100_000, b"b" * 100_000}
    write_atomically(path, b"a" * 100_000)
    done = threading.Event()

    def read_on() -> set[bytes]:
        seen = set()
        while not done.is_set():
            seen.add(path.read_bytes())
        return seen

    with ThreadPoolExecutor(1) as pool:
        reader = pool.submit(read_on)
        for version in [*versions] * 10:
            write_atomically(path, version)
        done.set()
        assert reader.result(timeout=10) <= versions


def test_a_file_up_to_the_cap_is_read_and_a_longer_one_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_capped(path, 5) == b"12345"
    with pytest.raises(FileError) as caught:
        read_capped(path, 4)
    assert str(caught.value) == f"`{path}`: is longer than 4 bytes; use a shorter file"


def test_a_missing_file_is_the_usual_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_capped(tmp_path / "none", 10)


def test_links_are_followed_unless_told_not_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"data")
    link = tmp_path / "link"
    link.symlink_to("file")
    assert read_capped(link, 10) == b"data"
    with pytest.raises(FileError) as caught:
        read_capped(link, 10, follow_links=False)
    assert str(caught.value) == f"`{link}`: is a symbolic link, not a file; name a regular file"


def test_a_named_pipe_a_socket_a_directory_and_a_device_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(tmp_path / "socket"))
    assert [refusal(path) for path in (tmp_path / "fifo", tmp_path / "socket", tmp_path, Path("/dev/zero"))] == [
        "is a named pipe, not a file",
        "is a socket, not a file",
        "is a directory, not a file",
        "is a device, not a file",
    ]


def refusal(path: Path) -> str:
    with pytest.raises(FileError) as caught:
        read_capped(path, 10)
    return caught.value.message


def test_a_lock_has_one_holder_at_a_time(tmp_path: Path) -> None:
    path, inside, most = tmp_path / "lock", [0], [0]

    def enter() -> None:
        with file_lock(path):
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            threading.Event().wait(0.002)
            inside[0] -= 1

    with ThreadPoolExecutor(8) as pool:
        for each in [pool.submit(enter) for _ in range(16)]:
            each.result(timeout=30)
    assert (most, os.listdir(tmp_path)) == ([1], ["lock"])


def test_a_lock_that_stays_taken_is_a_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with file_lock(path), pytest.raises(FileError) as caught, file_lock(path, wait=0.0):
        pass
    assert str(caught.value) == f"`{path}`: is locked by another process; wait for it to end, then try again"
    with file_lock(path, wait=0.0):
        pass


def test_a_lock_is_given_back_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), file_lock(tmp_path / "lock"):
        raise ZeroDivisionError
    with file_lock(tmp_path / "lock", wait=0.0):
        pass


def test_a_lock_behind_a_link_or_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("elsewhere")
    for name in ("fifo", "link"):
        with pytest.raises(FileError), file_lock(tmp_path / name):
            pass
    assert not (tmp_path / "elsewhere").exists()
