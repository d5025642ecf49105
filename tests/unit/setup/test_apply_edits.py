"""Edits of other people's files: only what is ours changes, twice is once, and out again is as before."""

import json
import re
import shlex
import subprocess
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snell.model.installs import FileEdit, Format, ListEntries, Member, OwnFile, TextBlock, TomlTables, WrappedCommand
from snell.settings.snell_commands import runs_shim, wrapped_command
from snell.settings.value_tree import InvalidValueError
from snell.setup.apply_edits import insert_edits, is_snell_file, other_hooks, remove_edits
from snell.setup.edit_json import JsonText
from tests.case_counts import cases
from tests.unit.settings.awkward_files import AWKWARD

SHIM = "exec '/opt/my tools/snell-hook' --client x"
ENTRY = {"hooks": [{"type": "command", "command": "/opt/my tools/snell-hook", "args": ["--client", "claude-code"]}]}
OURS = ListEntries(("hooks",), {"PreToolUse": (ENTRY,), "Stop": (ENTRY,)})
SERVER = {"command": "/opt/snell", "args": ["mcp"]}
HOOKS = TomlTables("hooks", ({"event": "Stop", "matcher": "", "command": SHIM, "timeout": 5},))
EDITS: dict[Format, tuple[Any, ...]] = {
    "json": (
        OURS,
        Member(("mcpServers", "snell"), SERVER),
        WrappedCommand(("statusLine",), "exec /opt/snell statusline"),
    ),
    "jsonc": (OURS, Member(("mcpServers", "snell"), SERVER)),
    "toml": (Member(("mcp_servers", "snell"), SERVER), HOOKS),
    "yaml": (Member(("extensions", "snell"), {"type": "stdio", "cmd": "/opt/snell", "args": ["mcp"], "envs": {}}),),
    "markdown": (TextBlock("be careful\nand kind"),),
}


def file(format_: Format, *edits: Any) -> FileEdit:
    return FileEdit("/somewhere", format_, edits or EDITS[format_], "hooks")


@pytest.mark.parametrize(("kind", "name"), AWKWARD)
def test_an_awkward_file_is_edited_once_and_given_back_as_it_was(kind: Format, name: str) -> None:
    before = AWKWARD[kind, name].encode()
    after = insert_edits(before, file(kind))
    assert after != before
    assert insert_edits(after, file(kind)) == after
    left = remove_edits(after, file(kind))
    assert left is not None
    # An empty list of an event, or a line without its end, is all that may be different without a record of before.
    assert left == before or (kind, name) in ALMOST


ALMOST = {("json", "snell as a word"), ("json", "blanks in the object")}


def test_there_are_forty_awkward_files() -> None:
    assert len(AWKWARD) >= 40


@pytest.mark.parametrize(("kind", "name"), [each for each in AWKWARD if each[0] in ("json", "jsonc")])
def test_every_line_that_was_there_is_there_still(kind: Format, name: str) -> None:
    before = AWKWARD[kind, name]
    after = insert_edits(before.encode(), file(kind)).decode()
    for comment in ("// first", "// last", "/* head */", "/* one */", "/* after */", "/* tail */", "// nothing more"):
        assert (comment in after) == (comment in before)
    assert after.count("\r\n") == after.count("\n") or "\r\n" not in before
    assert after.startswith("\ufeff") == before.startswith("\ufeff")
    assert after[len(after.rstrip("\r\n")) :] == before[len(before.rstrip("\r\n")) :]


def test_a_new_json_file_is_plain_json_with_a_final_newline() -> None:
    after = insert_edits(None, FileEdit("/x", "json", (OURS,), "hooks", {"version": 1}))
    assert json.loads(after) == {"version": 1, "hooks": {"PreToolUse": [ENTRY], "Stop": [ENTRY]}}
    assert after.endswith(b"}\n")


def test_another_version_of_ours_is_replaced_and_not_joined() -> None:
    older = ListEntries(("hooks",), {"PreToolUse": ({**ENTRY, "matcher": "*"},), "SessionStart": (ENTRY,)})
    before = insert_edits(b'{"a": 1}', file("json", older))
    assert json.loads(insert_edits(before, file("json", OURS))) == {
        "a": 1,
        "hooks": {"PreToolUse": [ENTRY], "Stop": [ENTRY]},
    }


def test_a_foreign_hook_in_one_group_with_ours_stays() -> None:
    mine = {"type": "command", "command": "./mine.sh"}
    before = json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [mine, *ENTRY["hooks"]]}]}}).encode()
    theirs = {"matcher": "Bash", "hooks": [mine]}
    after = insert_edits(before, file("json", OURS))
    assert json.loads(after)["hooks"]["PreToolUse"] == [theirs, ENTRY]
    assert other_hooks(after, file("json", OURS)) == ["PreToolUse: ./mine.sh"]
    assert json.loads(remove_edits(before, file("json", OURS)) or b"") == {"hooks": {"PreToolUse": [theirs]}}


def test_a_command_that_only_mentions_the_shim_is_not_ours() -> None:
    for command in ("echo snell-hook", "./log.sh && snell-hook --client x", "my-snell-hook-wrapper", "/x/snell-hooks"):
        assert not runs_shim({"command": command})
    for command in ("snell-hook", "exec '/a b/snell-hook' --client x", '"C:\\a b\\snell-hook.exe" --client x'):
        assert runs_shim({"command": command})


@pytest.mark.parametrize(
    ("kind", "text", "line", "says"),
    [
        ("json", '{\n  "a": 1\n  "b": 2\n}', 3, "a `,` or `}` is missing"),
        ("json", '{\n  "a": 1,\n}', 2, "there is a `,` before `}`"),
        ("json", '{\n  // no\n  "a": 1\n}', 2, "the client does not accept comments"),
        ("json", '{"a": 1}\n{"b": 2}', 2, "text after the end"),
        ("json", '{"a": 1,\n "a": 2}', 2, "given twice"),
        ("json", '{"a": "x', 1, "bad text: unterminated string"),
        ("json", "[1]", 1, "does not contain a JSON object"),
        ("json", '{\n"hooks": []}', 2, "`hooks` is not an object"),
        ("json", '{"hooks": {"PreToolUse": 1}}', 1, "`hooks.PreToolUse` is not a list"),
        ("jsonc", '{"a": 1 /* never', 1, "a comment does not end"),
        ("toml", "a = 1\nb = \n", 2, "not valid TOML"),
        ("toml", "mcp_servers = 1\n", 1, "`mcp_servers.snell` is not a table"),
        ("toml", 'a = 1\nmcp_servers = { other = { command = "x" } }\nb = 2\n', 2, "nothing can be added"),
        ("yaml", "a: [1\n", 2, "not valid YAML"),
        ("yaml", "extensions: {dev: {a: 1}}\n", 1, "written on one line"),
        ("markdown", "<!-- snell: begin; written by `snell setup`, do not edit -->\nx", 1, "has no end"),
    ],
)
def test_a_malformed_file_is_refused_with_its_line(kind: Format, text: str, line: int, says: str) -> None:
    with pytest.raises(InvalidValueError) as caught:
        insert_edits(text.encode(), file(kind))
    assert (caught.value.line, says in caught.value.message) == (line, True), caught.value.message


@pytest.mark.parametrize("text", ["", " \r\n", "\ufeff", "\ufeff\n"])
@pytest.mark.parametrize("kind", ["json", "jsonc", "toml", "yaml", "markdown"])
def test_a_file_that_is_there_and_empty_is_like_none(kind: Format, text: str) -> None:
    data = text.encode()
    assert other_hooks(data, file(kind)) == []
    assert remove_edits(data, file(kind)) == data
    full = insert_edits(data, file(kind))
    assert insert_edits(full, file(kind)) == full != data


@pytest.mark.parametrize("data", [b"\xff\xfe{\x00}\x00", b'{"a": "\xff"}', b"\x00"])
def test_bytes_that_are_no_text_are_refused(data: bytes) -> None:
    with pytest.raises(InvalidValueError):
        insert_edits(data, file("json"))


def test_an_existing_status_line_is_wrapped_and_given_back() -> None:
    wrapped = file("json", WrappedCommand(("statusLine",), "exec /opt/snell statusline"))
    before = b'{"statusLine": {"type": "command", "command": "it\'s \\"mine\\" | cat", "padding": 0}}'
    after = insert_edits(before, wrapped)
    command = json.loads(after)["statusLine"]["command"]
    assert wrapped_command(command) == 'it\'s "mine" | cat'
    moved = file("json", WrappedCommand(("statusLine",), "exec /new/snell statusline"))
    assert wrapped_command(json.loads(insert_edits(after, moved))["statusLine"]["command"]) == 'it\'s "mine" | cat'
    assert remove_edits(after, wrapped) == before


@pytest.mark.parametrize("inner", ["echo hi", "my-line", "it's \"mine\" | cat; echo 'two'", "echo one\necho two # end"])
def test_without_ours_the_command_from_before_runs_by_itself(tmp_path: Path, inner: str) -> None:
    ours = tmp_path / "my tools" / "snell"
    test = f"[ -x {shlex.quote(str(ours))} ]"
    wrapped = file("json", WrappedCommand(("statusLine",), f"exec {shlex.quote(str(ours))} statusline", test=test))
    before = json.dumps({"statusLine": {"type": "command", "command": inner}}).encode()
    older = file("json", WrappedCommand(("statusLine",), "exec /opt/snell statusline"))
    after = insert_edits(before, wrapped)
    command = json.loads(after)["statusLine"]["command"]
    assert wrapped_command(command) == inner
    assert insert_edits(after, wrapped) == insert_edits(insert_edits(before, older), wrapped) == after
    assert remove_edits(after, wrapped) == before
    assert run_in_shell(command) == run_in_shell(inner)
    ours.parent.mkdir()
    ours.write_text('#!/bin/sh\necho ours "$@"\n', encoding="utf-8")
    ours.chmod(0o755)
    assert run_in_shell(command) == (0, f"ours statusline --then {inner}\n")


def test_without_ours_a_status_line_that_was_ours_alone_is_nothing(tmp_path: Path) -> None:
    gone = str(tmp_path / "snell")
    wrapped = file("json", WrappedCommand(("statusLine",), f"exec {gone} statusline", test=f"[ -x {gone} ]"))
    after = insert_edits(b"{}", wrapped)
    command = json.loads(after)["statusLine"]["command"]
    assert (wrapped_command(command), run_in_shell(command)) == ("", (0, ""))
    assert remove_edits(after, wrapped) == b"{}"


def run_in_shell(command: str) -> tuple[int, str]:
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, timeout=30, check=False)
    return done.returncode, done.stdout


def test_a_file_suggestion_is_wrapped_only_where_there_is_one() -> None:
    wrapped = file("json", WrappedCommand(("fileSuggestion",), "exec /opt/snell suggest-files", only_existing=True))
    assert insert_edits(b"{}", wrapped) == b"{}"


def test_a_complete_file_of_another_owner_is_never_replaced() -> None:
    whole = file("own file", OwnFile('{"hooks": {"Stop": [{"command": "/x/snell-hook"}]}}'))
    assert is_snell_file(insert_edits(None, whole))
    assert remove_edits(insert_edits(None, whole), whole) is None
    with pytest.raises(InvalidValueError, match="a file that Snell did not write"):
        insert_edits(b'{"hooks": {"Stop": [{"command": "mine"}]}}', whole)


def test_toml_of_others_means_the_same_before_and_after() -> None:
    before = AWKWARD["toml", "other hooks toml"]
    after = tomllib.loads(insert_edits(before.encode(), file("toml")).decode())
    assert after == {
        "hooks": [{"event": "Stop", "command": "say done"}, dict(HOOKS.items[0])],
        "ui": {"theme": "dark"},
        "mcp_servers": {"snell": SERVER},
    }


@pytest.mark.parametrize(
    ("before", "left"),
    [
        ("a = 1\r\n[mcp_servers.snell]\r\ncommand = 'snell'", "a = 1"),
        ('a = 1\n[mcp_servers.snell]\ncommand = \'snell\'\nx = """\n[b]\n# """\n[c]\n', "a = 1\n[c]\n"),
    ],
)
def test_a_toml_table_of_ours_is_removed_however_it_ends(before: str, left: str) -> None:
    assert remove_edits(before.encode(), file("toml")) == left.encode()


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=cases(30, 150), deadline=None)
@given(st.dictionaries(TEXT, VALUES, max_size=4), st.sampled_from([None, 1, 2, "\t"]), st.booleans())
def test_any_json_comes_back_byte_for_byte(value: dict[str, Any], indent: Any, ascii_: bool) -> None:
    for name in ("hooks", "mcpServers", "statusLine"):
        value.pop(name, None)
    before = json.dumps(value, indent=indent, ensure_ascii=ascii_).encode("utf-8", "surrogatepass")
    after = insert_edits(before, file("json"))
    assert {**json.loads(after), "hooks": 0, "mcpServers": 0, "statusLine": 0} == {
        **value,
        "hooks": 0,
        "mcpServers": 0,
        "statusLine": 0,
    }
    assert remove_edits(after, file("json")) == before


# Whole lines, as people write them: comments, and texts that look like headers, comments and quotes.
PIECES = {
    "toml": (
        ("# [not.a.table]", 'a = "[x]" # one', "b = [", "  [1, 2], # two", "]", "d = 1", "", "  "),
        ("[t{n}]", '["q {n}".r]  # why', "[[rows]]", 'k{n} = """', "[[hooks]]", '# no remark """', "l{n} = '''", "'''"),
    ),
    "yaml": (
        ("# a remark", "a{n}: 1", "b{n}:", "  - x", "  - 'y: z'", "", "c{n}: |", "  extensions:", "    snell: no"),
        ("extensions:", "  other:  # mine", "    cmd: x", '    args: [1, "# no"]', "  'more':", "    cmd: y"),
    ),
}
PIECES_OF = {
    kind: st.lists(st.sampled_from([*usual, *special]), max_size=12) for kind, (usual, special) in PIECES.items()
}


@pytest.mark.parametrize("kind", PIECES)
@settings(max_examples=cases(150, 2000), deadline=None)
@given(data=st.data(), newline=st.sampled_from(["\n", "\r\n"]), has_last=st.booleans())
def test_any_lines_of_toml_and_yaml_come_back_byte_for_byte(
    kind: Format, data: st.DataObject, newline: str, has_last: bool
) -> None:
    lines = [line.replace("{n}", str(number)) for number, line in enumerate(data.draw(PIECES_OF[kind]))]
    before = "".join(f"{line}{newline}" for line in lines)
    before = (before if has_last else before.removesuffix(newline)).encode()
    try:
        after = insert_edits(before, file(kind))
    except InvalidValueError:
        return  # not valid, or of a form to which nothing can be added
    assert insert_edits(after, file(kind)) == after
    left = remove_edits(after, file(kind))
    assert left is not None
    # Without a record of before, a last line without its end may get one, and an empty `extensions:` is removed.
    emptied = rb"(?m)^extensions:(?: *#[^\r\n]*)?\r?\n?(?=[^ ]|\Z)"
    assert left.rstrip() == before.rstrip() or re.sub(emptied, b"", before).rstrip() == left.rstrip()


def test_thirty_lists_in_a_large_file_cost_a_few_readings_of_it_not_thirty() -> None:
    entry = {"type": "command", "command": SHIM}
    hooks = file("json", ListEntries(("hooks",), {f"Event{number}": ({"hooks": [entry]},) for number in range(30)}))
    large = json.dumps({"allow": [f"Bash(run {number})" for number in range(6000)]}).encode()
    installed = insert_edits(large, hooks)

    def seconds(work: Callable[[], object]) -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    runs = [
        [seconds(work) for work in (lambda: insert_edits(large, hooks), lambda: remove_edits(installed, hooks))]
        + [seconds(lambda: JsonText(installed.decode()))]
        for _ in range(5)
    ]
    putting, taking, reading = (min(each) for each in zip(*runs, strict=True))
    assert putting < 12 * reading
    assert taking < 12 * reading
    assert remove_edits(installed, hooks) == large


@pytest.mark.parametrize("kind", ["json", "toml", "yaml"])
def test_what_stands_under_our_name_and_is_not_ours_is_neither_replaced_nor_taken_out(kind: Format) -> None:
    top = {"json": "mcpServers", "toml": "mcp_servers", "yaml": "extensions"}[kind]
    theirs = {
        "json": b'{"mcpServers": {"snell": {"command": "/their/own", "args": []}}}',
        "toml": b'[mcp_servers.snell]\ncommand = "/their/own"\n',
        "yaml": b"extensions:\n  snell:\n    cmd: /their/own\n",
    }[kind]
    server = file(kind, Member((top, "snell"), {"command": "/opt/snell-hook", "args": ["--bridge", "mcp"]}))
    with pytest.raises(InvalidValueError):
        insert_edits(theirs, server)
    assert remove_edits(theirs, server) == theirs


def test_a_group_of_foreign_hooks_under_our_name_stays() -> None:
    ours = file("json", Member(("snell",), {"Stop": [{"type": "command", "command": SHIM}]}))
    theirs = b'{"snell": {"Stop": [{"type": "command", "command": "mine"}]}}'
    with pytest.raises(InvalidValueError, match="`snell` exists already, and is not Snell's"):
        insert_edits(theirs, ours)
    assert remove_edits(theirs, ours) == theirs
    older = b'{"snell": {"Stop": [{"type": "command", "command": "exec /old/snell-hook --client x"}]}}'
    assert remove_edits(insert_edits(older, ours), ours) == b"{}"


def test_yaml_in_braces_is_refused_with_what_to_do() -> None:
    server = file("yaml", Member(("extensions", "snell"), {"cmd": "/opt/snell-hook"}))
    for text in (b"{extensions: {}}\n", b"{other: 1}\n"):
        with pytest.raises(InvalidValueError, match="in braces, to which nothing can be added"):
            insert_edits(text, server)
    with pytest.raises(InvalidValueError, match="`extensions` is written on one line"):
        insert_edits(b"extensions: {a: {cmd: x}}\n", server)
