"""A program that cannot be started is an answer with a reason, never an error."""

import os

import pytest

from tests.process.sandbox import Sandbox, expected_outcome, outcome


def start_error(sandbox: Sandbox, argv: list[str], **options: object) -> str | None:
    finished = sandbox.run(argv, **options)
    assert outcome(finished) == expected_outcome(None, start_error=finished.start_error)
    return finished.start_error


def test_an_empty_command_says_so(sandbox: Sandbox) -> None:
    assert start_error(sandbox, []) == "the command is empty: name a program to run"
    assert start_error(sandbox, [""]) == "the command is empty: name a program to run"


def test_a_program_that_is_not_on_path_says_so(sandbox: Sandbox) -> None:
    assert start_error(sandbox, ["no-such-program", "x"]) == (
        "`no-such-program` was not found on PATH: install it, or give its full path"
    )


def test_a_path_that_does_not_exist_says_so(sandbox: Sandbox) -> None:
    assert start_error(sandbox, ["./nothing/here"]) == "`./nothing/here` does not exist: check the path"


def test_a_file_without_permission_says_what_to_type(sandbox: Sandbox) -> None:
    path = sandbox.script("not executable", "#!/bin/sh\n", mode=0o644)
    assert start_error(sandbox, [path]) == f"`{path}` is not executable: run `chmod +x '{path}'`"


def test_a_file_without_permission_is_recognised_on_path_too(sandbox: Sandbox) -> None:
    path = sandbox.script("tool", "#!/bin/sh\n", mode=0o644)
    env = {**sandbox.env, "PATH": str(sandbox.folder)}
    assert start_error(sandbox, ["tool"], env=env) == f"`tool` is not executable: run `chmod +x {path}`"


def test_a_directory_is_not_a_program(sandbox: Sandbox) -> None:
    assert start_error(sandbox, ["./pids"]) == "`./pids` is a directory: name a program in it"


def test_a_missing_interpreter_is_named(sandbox: Sandbox) -> None:
    sandbox.script("hook", "#! /opt/none/python9 -I\n")
    assert start_error(sandbox, ["./hook"]) == (
        "`./hook` asks for the interpreter `/opt/none/python9`, which does not run: correct its first line"
    )


def test_windows_line_ends_are_recognised(sandbox: Sandbox) -> None:
    sandbox.script("hook", "#!/bin/sh\r\n")
    assert start_error(sandbox, ["./hook"]) == (
        "`./hook` has Windows line ends, so its interpreter is not found: save it with Unix line ends"
    )


def test_a_script_without_a_first_line_is_recognised(sandbox: Sandbox) -> None:
    sandbox.script("hook", "echo hello\n")
    assert start_error(sandbox, ["./hook"]) == (
        "`./hook` is no program for this machine: a script begins with a line such as `#!/bin/sh`"
    )


def test_a_working_directory_that_does_not_exist_is_named(sandbox: Sandbox) -> None:
    assert start_error(sandbox, ["true"], cwd="/no/such/place") == (
        "the working directory `/no/such/place` does not exist: create it or choose another"
    )


def test_a_working_directory_that_is_a_file_is_named(sandbox: Sandbox) -> None:
    file = sandbox.script("file", "")
    assert start_error(sandbox, ["true"], cwd=file) == (
        f"the working directory `{file}` is not a directory: choose another"
    )


def test_arguments_that_are_too_long_say_what_to_do(sandbox: Sandbox) -> None:
    assert start_error(sandbox, ["true", "x" * 10_000_000]) == (
        "the arguments or environment are too long for a process: pass large data on standard input"
    )


@pytest.mark.parametrize(("argv", "extra"), [(["true", "a\0b"], {}), (["true"], {"A=B": "c"}), (["true"], {"A": "\0"})])
def test_what_no_process_can_be_given_is_an_answer_too(
    sandbox: Sandbox, argv: list[str], extra: dict[str, str]
) -> None:
    assert "`true` cannot be started" in (start_error(sandbox, argv, env={**sandbox.env, **extra}) or "")


def test_control_characters_in_a_name_are_shown_not_sent(sandbox: Sandbox) -> None:
    assert start_error(sandbox, ["a\x1b[31m\nb"]) == (
        "`a\\x1b[31m\\nb` was not found on PATH: install it, or give its full path"
    )


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="descriptors are counted in /proc")
def test_a_start_that_failed_leaves_no_descriptor_open(sandbox: Sandbox) -> None:
    start_error(sandbox, ["no-such-program"])
    before = len(os.listdir("/proc/self/fd"))
    start_error(sandbox, ["no-such-program"])
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_path_is_looked_up_from_the_working_directory(sandbox: Sandbox) -> None:
    sandbox.script("hook", "#!/bin/sh\necho here\n")
    assert outcome(sandbox.run(["./hook"], timeout=30.0)) == expected_outcome(stdout=b"here\n")
