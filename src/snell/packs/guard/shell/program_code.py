"""
What a short program in another language does: shell commands, deletions, writes, reads and sendings that it spells out.

The text of strings is masked first, so that code inside a string is data unless something runs it.
"""

import itertools
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace

from snell.packs.guard.known_values import DECODED, ENVIRONMENT, NETWORK, SECRET, UNKNOWN, UNKNOWN_VALUE, Value
from snell.packs.guard.shell.loaded_modules import loaded_files, with_own_files
from snell.packs.guard.shell.process_signals import signals, signals_of_awk, snell_commands
from snell.packs.guard.shell.program_constants import fold_constants, plain_text
from snell.packs.guard.shell.program_handovers import is_shell_for_others, without_handed_environment
from snell.packs.guard.shell.program_patterns import DASHES, HASH, SLASHED, SLASHES, S, Searcher, pattern
from snell.packs.guard.shell.program_services import service_commands
from snell.packs.guard.shell.program_strings import literal, sent_variables, written_texts
from snell.packs.guard.shell.shell_state import Call, ShellState, Walk
from snell.system.lazy_regex import lazy_regex

LONGEST_CODE = 65_536
DEEPEST = 4
MOST_ROUNDS = 6
SHORT = 4_000  # of code, where a pattern may have to look at all of it more than once


def follow(walk: Walk, call: Call, scene: ShellState, language: str, code: str, depth: int = 0) -> None:
    """Walk through what the code runs and does."""
    if depth > DEEPEST or not code.strip(UNKNOWN).strip():
        return
    if len(code) > LONGEST_CODE:
        scene.budget.trouble(f"the {language} code is longer than is read")
        code = code[:LONGEST_CODE]
    _Follower(walk, replace(call, stdin=None, writes=(), appends=(), reads=()), scene, language, depth).go(code)


_Replacement = Callable[[re.Match[str]], str]


_EXPANDS, _HOME_VARIABLE = lazy_regex(r"(?i)expand|untildify"), lazy_regex(r"^\$(?:HOME\b|\{HOME\})")
_USUAL_NAME = lazy_regex(r"(?:run|exec|spawn|script|call|Command)\s*\(")  # of functions of other modules, too
_PART = lazy_regex(rf"([\w)\]]\s*\+\s*)?{S}")  # a string, and whether it comes after something that is not known
_TOO_MUCH = ("it ", "commands ")  # how troubles begin that are not about the grammar
_REMOVER = lazy_regex(r"require\(\s*['\"](rimraf|shelljs|del)['\"]\s*\)")  # modules whose functions have their names


class _Follower:
    def __init__(self, walk: Walk, call: Call, scene: ShellState, language: str, depth: int) -> None:
        self.walk, self.call, self.scene, self.language, self.depth = walk, call, scene, language, depth
        self.strings: list[str] = []
        self.labels: set[str] = set()

    def go(self, code: str) -> None:
        written = self._mask(_REMOVER.sub(r"\1", code))
        for text in loaded_files(self.language, code, self.scene):
            follow(self.walk, self.call, self.scene, self.language, text, self.depth + 1)
        for found in pattern("runs_decoded").finditer(written):
            self._follow_decoded(self._string(found))
        masked = self._reduce(written)
        if pattern("forks").search(masked[:SHORT]):
            self.walk.bombs.append(f"the {self.language} code starts itself over and over")
        if self.language.endswith("awk"):
            self._awk(code, masked)
            return
        if pattern("shell_like").match(code):
            self._shell(code)  # a shell command in the place of a program
        if self.language in ("perl", "tclsh", "expect"):
            self._delete_all(pattern("angled" if self.language == "perl" else "deletes_bare").finditer(code))
        parts = (self._files, self._opened_files, self._commands, self._inner_code, self._network)
        for part, each in itertools.product(parts, self._rounds(written, masked)):
            part(each)

    def _rounds(self, written: str, masked: str) -> Iterator[str]:
        """Yield the reduced code; where it loops over a list of strings, once for each of the first of them."""
        found = pattern("listed_loop").search(written)
        if found is None:
            yield masked
            return
        for index in re.findall(S, found[2])[:MOST_ROUNDS]:
            yield self._reduce(f"{written[: found.start()]}{found[1]}«{index}»{written[found.end() :]}")

    def _awk(self, code: str, masked: str) -> None:
        if "/inet/" in code:
            self._words("nc", "-e", "awk")
        if "in ENVIRON" in code:
            self._record("printenv")
        for words in signals_of_awk(code):
            self._words(*words)
        for found in pattern("awk").finditer(masked):
            self._shell(self._string(found))
        for found in pattern("awk_writes").finditer(masked):
            self._write(self._string(found))

    def _commands(self, masked: str) -> None:
        """Follow the commands that the code starts."""
        for found in pattern("shell").finditer(masked):
            self._command(found)
        for found in pattern("built").finditer(masked):
            self._words(self._at(found[1]), *self._all_strings(found[2]))
        for found in pattern("arguments").finditer(masked):
            self._words(*self._all_strings(found[1]))
        deletions = list(filter(pattern("deletion").match, self.strings[:50]))
        if deletions and pattern("calls_out").search(masked):
            for text in deletions:
                self._shell(text)
        own = (*signals(masked, self.strings), *snell_commands(masked))
        for words in (*service_commands(masked, self.strings, self._at), *own):
            self._words(*words)

    def _inner_code(self, masked: str) -> None:
        """Follow code that the code holds as text and runs."""
        if self.language == "perl" and "exec" in masked:
            return
        for found in pattern("runs_text").finditer(masked):
            follow(self.walk, self.call, self.scene, self.language, self._string(found), self.depth + 1)

    def _mask(self, code: str) -> str:
        def mask(found: re.Match[str]) -> str:
            text = found[0]
            if found["comment"] is not None:
                return " "
            if text.startswith("[["):
                return self._keep(text[2:-2])
            if found["tick"] is not None and (
                self.language in ("ruby", "perl", "php") or code[: found.start()].endswith("$")  # `$` of zx and Bun
            ):
                self._shell(literal(text, self.scene.home))
            if found["word"] is not None:
                inner = re.sub(r"^(?:%[xwW]|q[xw]).|.$", "", text)
                if not text.startswith(("%w", "%W", "qw")):
                    self._shell(inner)
                text = f"'{inner}'"
            return self._keep(literal(text, self.scene.home))

        tokens = SLASHES if self.language in SLASHED else DASHES if self.language.startswith("lua") else HASH
        return tokens.sub(mask, code)

    def _reduce(self, masked: str) -> str:
        masked = pattern("home").sub(lambda _found: self._keep(self.scene.home), masked)
        masked = pattern("variable").sub(self._variable, masked)
        masked = with_own_files(masked, self._keep)
        for _ in range(6 if "«" in masked else 0):
            before = masked
            masked = fold_constants(masked, self._at, self._keep)
            for searcher, replacement in self._reductions:
                masked = searcher.sub(replacement, masked)
            values = dict(pattern("assigned").findall(masked)) if "=" in masked else {}
            use = pattern("used_with_sign") if self.language in ("perl", "php") else pattern("used")
            if values:
                masked = use.sub(lambda found: f"«{values[found[1]]}»" if found[1] in values else found[0], masked)  # noqa: B023  # called at once
            if masked == before:
                break
        return masked

    @property
    def _reductions(self) -> tuple[tuple[Searcher, _Replacement], ...]:
        """The patterns of expressions that make a string, each with a function that returns the string."""
        return (
            (pattern("wrapped"), self._expand_home),
            (pattern("parent"), lambda found: self._keep(posixpath.dirname(self._string(found)))),
            (pattern("grouped"), lambda found: f"«{found[1]}»."),
            (pattern("globbed"), lambda found: f"«{found[1] or found[2]}»"),
            (pattern("looped"), lambda found: f" {found[1]}=«{found[2]}»;"),
            (pattern("path_join"), lambda found: self._keep("/".join(self._all_strings(found[1])))),
            (pattern("joined"), lambda found: self._keep(self._concat(found))),
        )

    def _expand_home(self, found: re.Match[str]) -> str:
        """Reduce `expanduser("~/x")` to a path below the home folder, and `str(x)` to what it was."""
        if not _EXPANDS.search(found[0]):
            return f"«{found[1]}»"
        return self._keep(self._home(_HOME_VARIABLE.sub("~", self._at(found[1]))))

    def _variable(self, found: re.Match[str]) -> str:
        name = self._at(found[1]) if found[1] else found[2] or found[3]
        if name in ("HOME", "USERPROFILE", "user.home"):
            return self._keep(self.scene.home)
        given = dict(self.call.env).get(name)
        known = self.scene.variables.get(name) if name in self.scene.exported else None
        return self._keep(given) if given else self._keep(known[0].text) if known else found[0]

    def _concat(self, found: re.Match[str]) -> str:
        glue = "/" if "/" in found[0].replace("«", "").replace("»", "") else ""
        return self._at(found[1]) + glue + self._at(found[2])

    def _keep(self, text: str) -> str:
        self.strings.append(text)
        return f"«{len(self.strings) - 1}»"

    def _at(self, index: str) -> str:
        return self.strings[int(index)] if int(index) < len(self.strings) else UNKNOWN

    def _all_strings(self, masked: str) -> list[str]:
        return [self._at(index) for index in re.findall(S, masked)]

    def _string(self, found: re.Match[str]) -> str:
        return next((self._at(group) for group in found.groups() if group and group.isdigit()), UNKNOWN)

    def _files(self, masked: str) -> None:
        """Follow what the code deletes, writes, moves and changes by name."""
        for found in (*pattern("deletes").finditer(masked), *pattern("method_deletes").finditer(masked)):
            path = self._home(self._string(found))
            is_one = pattern("deletes_one_file").search(found[0]) and not re.search(r"[*?]", path)
            is_one = is_one and "recursive" not in masked[found.end() : found.end() + 40]  # `unlink` of R
            self._words("rm", "-f" if is_one else "-rf", path)
        self._changes(masked)
        if pattern("deletes_each").search(masked):
            for found in pattern("iterated").finditer(masked):
                self._words("rm", "-rf", self._home(self._string(found)).removesuffix("/*") + "/*")
        for found in pattern("mapped").finditer(masked):
            self._call_by_name(self._at(found[1]), self._home(self._at(found[2])))
        for found in pattern("writes").finditer(masked):
            self._write(self._string(found))
        for path, text in written_texts(masked, self._at):
            self.scene.write(self._home(path), Value(text))

    def _delete_all(self, names: Iterable[re.Match[str]]) -> None:
        for found in names:
            self._words("rm", "-rf", self._home(found[1]))

    def _changes(self, masked: str) -> None:
        """Follow what the code moves, copies and changes the mode of."""
        for found in pattern("moves").finditer(masked):
            program = "mv" if re.match(r"os\.re|rename|shutil\.move|FileUtils\.mv", found[0]) else "cp"
            self._words(program, self._home(self._at(found[1])), self._home(self._at(found[2])))
        for found in pattern("modes").finditer(masked):
            path, mode = (found[1], found[2]) if found[1] else (found[4], found[3])
            self._words("chmod", mode.replace("o", ""), self._home(self._at(path)))

    def _call_by_name(self, name: str, operand: str) -> None:
        if name in ("unlink", "rmdir"):
            self._words("rm", "-rf", operand)
        elif name in ("system", "exec", "shell_exec", "passthru"):
            self._shell(operand)

    def _opened_files(self, masked: str) -> None:
        """Follow the files that the code opens: the mode says whether it reads or writes them."""
        is_perl = self.language == "perl"
        for found in (pattern("perl_opened") if is_perl else pattern("opened")).finditer(masked):
            if is_perl:
                self._opened_in_perl(self._at(found[1]), self._at(found[2]) if found[2] else "")
            elif pattern("writing_mode").fullmatch(self._at(found[2]) if found[2] else "r") or "O_WR" in masked:
                self._write(self._string(found))
            else:
                self._read(self._string(found))
        for found in pattern("reads").finditer(masked):
            self._read(self._string(found))

    def _opened_in_perl(self, mode: str, path: str) -> None:
        """Follow `open(F, ">", $path)`, and a mode in front of the name: `open F, ">path"`, `open F, "command|"`."""
        if not path:
            sign = re.match(r"\s*(\+?[<>]{1,2}|\|)?\s*", mode)
            path, mode = (
                mode[sign.end() :] if sign else mode,
                (sign and sign[1]) or ("-|" if mode.endswith("|") else "<"),
            )
        if "|" in mode:
            self._shell(path.rstrip("| "))
        elif ">" in mode:
            self._write(path)
        else:
            self._read(path)

    def _read(self, path: str) -> None:
        output = self._words("cat", self._home(path))
        self.labels |= output.labels

    def _write(self, path: str) -> None:
        target = self.scene.absolute(self._home(path))
        self.walk.record(replace(self.call, words=(Value(":"),), writes=(target,)), self.scene, UNKNOWN_VALUE)

    def _home(self, path: str) -> str:
        return self.scene.home + path[1:] if path == "~" or path.startswith("~/") else path

    def _words(self, *words: str) -> Value:
        return self.walk.call(replace(self.call, words=tuple(map(Value, words)), env=()), self.scene.fork())

    def _command(self, found: re.Match[str]) -> None:
        if found[0].startswith(("exec(", "exec (")) and self.language in ("python", "pypy"):
            return
        parts = [f"{UNKNOWN if unknown else ''}{self._at(index)}" for unknown, index in _PART.findall(found[1])]
        if "[" not in found[1] and len(parts) == 1:
            self._shell(parts[0], may_be_other=_USUAL_NAME.match(found[0]) is not None)
        elif parts:
            self._words(*parts)

    def _shell(self, text: str, *, may_be_other: bool = False) -> None:
        """Follow a shell command; what is no shell command is no trouble where it may be SQL, code or a name."""
        troubles = list(self.scene.budget.troubles)
        if text.strip():
            self.walk.line(text, self.scene.fork())
        if may_be_other:
            found = self.scene.budget.troubles
            found[:] = [each for each in found if each in troubles or each.startswith(_TOO_MUCH)]

    def _follow_decoded(self, text: str) -> None:
        plain = plain_text(text)
        self.walk.record(self.call, self.scene, UNKNOWN_VALUE, code=Value(plain, frozenset((DECODED,))))
        if plain != UNKNOWN:
            follow(self.walk, self.call, self.scene, self.language, plain, self.depth + 1)

    def _network(self, masked: str) -> None:
        """Follow what the code sends, and what it fetches and runs."""
        environment = pattern("environment").search(without_handed_environment(masked))
        if environment:
            self.labels.add(f"{ENVIRONMENT} all variables")
        if page := pattern("page_secrets").search(masked):
            self.labels.add(f"{SECRET} {page[0]}")
        self._follow_prints(masked, has_all=environment is not None)
        if not self._connects(masked):
            return
        self.labels |= sent_variables(masked, self.strings, self._at)
        if sent := [label for label in self.labels if label.startswith((SECRET, ENVIRONMENT))]:
            self._record("curl", "--data-binary", Value(UNKNOWN, frozenset(sent)), "https://elsewhere.invalid")
        if is_shell_for_others(masked, self.strings):
            self._record("nc", "-e", "/bin/sh")
        if pattern("runs").search(masked) or self._runs_address(masked):
            code = Value(UNKNOWN, frozenset((f"{NETWORK} the {self.language} code",)))
            self.walk.record(self.call, self.scene, UNKNOWN_VALUE, code=code)

    def _follow_prints(self, masked: str, *, has_all: bool) -> None:
        """Follow what the code prints of its environment."""
        if has_all and pattern("prints").search(masked) and not pattern("net").search(masked):
            self._record("printenv")
        for found in pattern("prints_variable").finditer(masked):
            self._words("printenv", self._at(found[1]) if found[1] else found[2])

    def _connects(self, masked: str) -> bool:
        if pattern("net").search(masked) or pattern("socket").search(masked):
            return True
        addresses = any(text.startswith(("http:", "https:")) for text in self.strings)
        for found in pattern("from_address").finditer(masked) if addresses else ():
            if self._string(found).startswith(("http:", "https:")):
                return True
        module = any(
            text in ("http", "https", "node:http", "node:https", "net", "axios", "socket.http", "ssl.https")
            for text in self.strings
        )
        return module and re.search(r"\.(?:get|request)\(", masked) is not None

    def _runs_address(self, masked: str) -> bool:
        found = pattern("runs_address").finditer(masked)
        return any(self._string(each).startswith(("http:", "https:")) for each in found)

    def _record(self, *words: str | Value) -> None:
        self.walk.record(self.call.with_words(*words), self.scene, UNKNOWN_VALUE)
