"""Recognise programs that only read the files in their arguments, and find the files that some write by option."""

from __future__ import annotations

import re
import shlex

from snell.model.tool_names import name_set
from snell.packs.guard.arguments import parse_arguments
from snell.packs.guard.shell.shell_state import Step
from snell.system.lazy_regex import lazy_regex

READERS = name_set(
    "cat less more head tail ls stat grep rg diff wc file jq bat tree du test [ find echo printf cd [[ : "
    "md5sum sha256sum cmp realpath readlink basename dirname which snell pytest mypy read cut view "
    "egrep fgrep nl yq open source . true type command whereis ldd nm objdump readelf strings od hexdump hd "
    "sha1sum sha512sum b2sum cksum shasum namei getfacl lsattr pyright pylint flake8 bandit vulture tokei cloc scc "
    "pydoc code subl xdg-open column uniq tr tac paste comm fd fdfind ag ack batcat zcat zless man time "
    "pgrep ps lsof pushd popd"
)
# These only read, unless an option, a second operand or a script names a file to write.
MAY_WRITE = name_set("awk gawk mawk nawk sed gsed sort xxd ruff ctags scp sftp")
_SCRIPTED = name_set("awk gawk mawk nawk sed gsed scp touch")
_BY_OPTION = {"ctags": "-f -o", "sort": "-o --output"}
# Programs for which `written_by_arguments` may return files.
TOLD_TO_WRITE = _SCRIPTED | frozenset(_BY_OPTION) | {"xxd", "ruff"}
_EDITORS = name_set("vi vim nvim gvim")
_ONLY_LOOKS = lazy_regex(r"-\w*[RM]\w*")
_SED_WRITES = lazy_regex(r"(?<![A-Za-z_.-])[wW][ \t]+([^\n]+)")
_LONGEST = 8_000


def only_reads(step: Step) -> bool:
    """Tell whether the program only reads the files in its arguments, except `written_by_arguments`."""
    if step.program in _EDITORS:
        return any(map(_ONLY_LOOKS.fullmatch, step.args))
    return step.program in READERS or step.program in MAY_WRITE


def written_by_arguments(step: Step) -> list[str]:
    """Return the files that such a program is told to write, as they are named."""
    program, args = step.program, step.args
    if program in _SCRIPTED:
        return _effects(step)
    if program in _BY_OPTION:
        given = parse_arguments(args, _BY_OPTION[program])
        return [given.values[name] for name in _BY_OPTION[program].split() if name in given.values]
    if program == "xxd":
        return list(parse_arguments(args, "-c -cols -g -groupsize -l -len -n -name -o -s -seek").operands[1:2])
    if program == "ruff":
        given = parse_arguments(args, "--config --target-version --line-length")
        formats = given.operands[:1] == ("format",) and not given.has("--check", "--diff")
        return list(given.operands[1:]) if formats or given.has("--fix", "--fix-only", "--add-noqa") else []
    return []


def _effects(step: Step) -> list[str]:
    from snell.shell.effects import effects_of  # parses the line again, which few commands need

    program = {"gsed": "sed", "mawk": "awk", "nawk": "awk", "gawk": "awk"}.get(step.program, step.program)
    line = shlex.join((program, *step.args))
    is_plain = step.program in ("awk", "sed") and not re.search(r"[w>]", line[4:])
    if len(line) >= _LONGEST or is_plain:
        return []
    # A path such as `packages/snell/` in a script looks like `s/snell/...`, so text after a `w` is taken as a file.
    behind = [name for arg in step.args for name in _SED_WRITES.findall(arg)] if program == "sed" else []
    return [*effects_of(line).paths, *behind]
