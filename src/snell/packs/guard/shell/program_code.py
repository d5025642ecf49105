"""
What a short program in another language does: shell commands, deletions, writes, reads and sendings that it spells out.

The text of strings is masked first, so that code inside a string is data unless something runs it.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from snell.packs.guard.known_values import DECODED, ENVIRONMENT, NETWORK, SECRET, SOMETHING, UNKNOWN, Value
from snell.packs.guard.shell.loaded_modules import loaded_files, with_own_files
from snell.packs.guard.shell.process_signals import signals, signals_of_awk
from snell.packs.guard.shell.program_constants import fold_constants, plain_text
from snell.packs.guard.shell.program_services import service_commands
from snell.packs.guard.shell.program_strings import literal, told_variables, written_texts
from snell.packs.guard.shell.shell_state import ShellState
from snell.system.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from snell.packs.guard.shell.walk import Call, Walk

LONGEST_CODE = 65_536
DEEPEST = 4
SHORT = 4_000  # of code, where a pattern may have to look at all of it more than once

_TOKENS = (
    r'''(?P<triple>[rbfRBF]{0,2}(?:"""(?:[^\\]|\\.)*?"""|\'\'\'(?:[^\\]|\\.)*?\'\'\'))'''
    r"""|(?P<plain>[rbfuRBFU]{0,2}(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'))|(?P<tick>`(?:[^`\\]|\\.)*`)"""
    r"""|(?P<word>%[xwW]\(([^)]*)\)|qx(?:\{[^}]*\}|\([^)]*\)|/[^/]*/))"""
)
_FLAGS = re.DOTALL | re.MULTILINE
_HASH = lazy_regex(_TOKENS + r"|(?P<comment>(?:(?<=\s)|^)\#[^\n]*)", _FLAGS)
_SLASHES = lazy_regex(_TOKENS + r"|(?P<comment>(?<!:)//[^\n]*)", _FLAGS)
_DASHES = lazy_regex(r"(?P<comment>--\[\[.{0,500}?\]\]|--[^\n]*)|(?P<long>\[\[.{0,500}?\]\])|" + _TOKENS, _FLAGS)
_SLASHED = frozenset(("node", "nodejs", "deno", "bun", "go", "c", "rust", "java", "groovy", "swift", "kotlin", "php"))
_S = r"«(\d+)»"
_ASSIGNED = lazy_regex(
    rf"(?:^|[\s;,({{])(?:my |our |let |const |var |local )?\$?(\w+)\s*(?::\s*\w+\s*)?=\s*{_S}\s*(?=[;\n)]|$)"
)
_USED = lazy_regex(r"(?<![\w.«'\"])([A-Za-z_]\w*)\b(?!\s*[=(])")
_USED_WITH_SIGN = lazy_regex(r"(?<![\w.«'\"])\$([A-Za-z_]\w*)\b(?!\s*[=(])")
_JOINED = lazy_regex(rf"{_S}\s*(?:\+|\.\.?|/)\s*{_S}")
_WRAPPED = lazy_regex(
    rf"(?:os\.path\.(?:expanduser|abspath|realpath|expandvars)|(?:pathlib\.)?Path|Pathname\.new|File\."
    rf"expand_path|str|String|path\.resolve|(?:new )?File|Paths\.get|Path\.of|Path::new|filesystem::path)"
    rf"\(\s*{_S}\s*\)"
    rf"(?:\.expanduser\(\)|\.resolve\(\)|\.absolute\(\))*"
)
_PATH_JOIN = lazy_regex(r"(?:(?:os\.path|path|File)\.join|(?:pathlib\.)?Path)\(\s*(«\d+»(?:\s*,\s*«\d+»)+)\s*\)")
_GLOBBED = lazy_regex(rf"(?<![.\w])(?:glob\.i?glob|Dir\.glob|bsd_glob|glob)\s*\(?\s*{_S}\s*\)?|\bDir\[\s*{_S}\s*\]")
_LOOPED = lazy_regex(rf"\bfor\s*\(?\s*(?:const |let |var |my )?\$?(\w+)\s+(?:in|of)\s*{_S}")
_ITERATED = lazy_regex(
    rf"{_S}\.(?:r?glob|iterdir|each)\b|\b(?:listdir|scandir|walk|readdirSync|Dir\.(?:children|entries))\(\s*{_S}"
    rf"|\b(?:finddepth|find)\s*\(?\s*(?:sub\s*\{{[^}}]{{0,500}}\}}|\\&\w+)\s*,\s*{_S}"
)
_DELETES_EACH = lazy_regex(
    r"(?:\bunlink|\bremove|rmtree|rm_rf|rmSync|unlinkSync|\brmdir|FileUtils\.rm\w*|File\.delete)\s*\(?\s*[a-z_$]|"
    r"\w\.(?:unlink|rmdir)\("
)
_ANGLED = lazy_regex(r"\b(?:unlink|rmtree|remove_tree)\s*\(?\s*<([^<>]+)>")
_DELETION = lazy_regex(r"\s*(?:sudo )?rm\s+-\w*[rRf]")
_CALLS_OUT = lazy_regex(r"\b(?:child_process|subprocess|os|system|exec\w*|spawn\w*|popen|shell|sh)\b|«\d+»\)\(")
_FORKS = lazy_regex(r"\bfork\b.*\bwhile\b|\b(?:while|for|loop)\b.*\bfork\b|fork\(\)\s*\}?\s*while", re.DOTALL)
_MAPPED = lazy_regex(rf"\b(?:array_map|array_walk|call_user_func)\(\s*{_S}\s*,\s*\[?\s*{_S}")
_SHELL_LIKE = lazy_regex(r"\s*(?:sudo )?(?:rm|dd|mkfs\S*|shred|chmod|chown|curl|wget|git) +[-\w/]")
_SOCKET = lazy_regex(
    r"TCPSocket|socket\.(?:socket|tcp|connect|create_connection)|\bsocket\s*\(|use Socket|IO::Socket|fsockopen|"
    r"\.tcp\(\)|stream_socket_client|net\.(?:connect|createConnection|Socket)|TCPServer|socket\.AF_INET"
)
_SPAWNS = lazy_regex(
    r"dup2|pty\.spawn|popen|Popen|subprocess|spawn|\bexec\b|\bsystem\b|os\.execute|proc_open|child_process|`"
)
_ANY_SHELL = lazy_regex(r"(?:^|[/\s])(?:ba|da|z|k|a)?sh(?:\s|$|\d|<)|cmd(?:\.exe)?$|powershell")
_HOME = lazy_regex(r"(?:pathlib\.)?Path\.home\(\)|(?:\bos|require\(«\d+»\))\.homedir\(\)|Dir\.home|UserHomeDir\(\)")
_VARIABLE = lazy_regex(
    rf"(?:os\.environ(?:\[|\.get\()|\b(?:os\.)?getenv\(|(?:Deno|Bun)\.env\.get\(|\bENV(?:\[|\.fetch\()|os\.Getenv\(|"
    rf"System\.get(?:env|Property)\(|process\.env\[|\$ENV\{{|env::var\()\s*(?:{_S}|(\w+))\s*(?:,[^)\]}}]{{0,80}})?[)\]}}]"
    r"|\bprocess\.env\.(\w+)"
)

_SHELL = lazy_regex(
    rf"\b(?:os\.system|os\.popen|getoutput|getstatusoutput|system|popen2?|shell_exec|passthru|"
    rf"proc_open|execSync|exec|spawnSync|spawn|os\.exec\w+|os\.spawn\w+|posix_spawnp?"
    rf"|execFileSync|execFile|check_output|check_call|subprocess\.call|subprocess\.run|run|Popen|IO\."
    rf"popen|capture[23]e?|os\.execute|io\.popen"
    rf"|pcntl_exec|Command|ProcessBuilder|do shell script|create_subprocess_shell|ShellExecute|\$|execa(?:Sync|"
    rf"CommandSync)?|shelljs\.exec)\s*\(?\s*"
    rf"(\[[^\]]*\]|{_S}(?:\s*,\s*\[[^\]]*\]|(?:\s*,\s*«\d+»)*))"
)
_DELETES = lazy_regex(
    rf"\b(?:rmtree|os\.remove|os\.unlink|os\.rmdir|removedirs|(?:fs|fse|fsp|promises|fs\.promises|require\(«\d+»\)(?:\.promises)?)\."
    rf"(?:rm|rmSync|unlink|unlinkSync|rmdir|rmdirSync|remove|removeSync|emptyDirSync?)"
    rf"|rmSync|rmdirSync|unlinkSync|rimraf(?:\.sync)?|rm_rf|rm_r|FileUtils\.rm(?:_f)?|remove_dir|remove_entry\w*"
    rf"|File\.(?:delete|unlink)|Dir\.(?:rmdir|delete|unlink)|unlink|rmdir|remove_tree|file\.remove|Deno\."
    rf"remove(?:Sync)?|os\.Remove(?:All)?|fs::remove_(?:dir_all|dir|file)|filesystem::remove(?:_all)?"
    rf"|FileUtils\.(?:deleteDirectory|forceDelete|cleanDirectory)|Files\.delete(?:IfExists)?|delete-(?:directory|file)"
    rf"|call delete|(?<![\w.])rm(?=\())"
    rf"\s*\(?\s*\[?\s*{_S}"
)
_METHOD_DELETES = lazy_regex(rf"{_S}\.(?:unlink|rmdir|rmtree|delete|deleteDir|deleteRecursively|deleteOnExit)\(")
_BUILT = lazy_regex(rf"Command::new\(\s*{_S}\s*\)((?:\s*\.args?\(&?[^)]*\))+)")
_OPENED = lazy_regex(
    rf"\b(?:open|fopen|File\.open|File\.new|io\.open)\s*\(\s*(?:\w+\s*,\s*)?{_S}(?:\s*,\s*(?:mode\s*=\s*)?{_S})?"
)
_PERL_OPENED = lazy_regex(rf"\bopen\s*\(?\s*(?:my\s+)?[$*]?\w+\s*,\s*{_S}(?:\s*,\s*{_S})?")
_WRITES = lazy_regex(
    rf"\b(?:writeFile(?:Sync)?|appendFile(?:Sync)?|createWriteStream|File\.write|IO\.write|"
    rf"file_put_contents|Deno\.writeTextFile(?:Sync)?|os\.truncate|truncateSync)\s*\(\s*{_S}"
    rf"|{_S}\.(?:write_text|write_bytes|touch|symlink_to|hardlink_to)\("
    rf"|\bfileinput\.\w+\(\s*(?:files\s*=\s*)?\[?\s*{_S}[^)]{{0,80}}inplace"
    rf"|\bwriteLines\(\s*(?:«\d+»|\w+)\s*,\s*(?:con\s*=\s*)?{_S}|\bwrite\.\w+\(\s*\w+\s*,\s*{_S}"
)
_MOVES = lazy_regex(
    rf"\b(?:os\.(?:renames?|replace|symlink|link)|symlinkSync|shutil\.(?:move|copy\w*)|renameSync|copyFileSync|FileUtils\.(?:mv|"
    rf"cp|cp_r)|rename|copy)\s*\(\s*{_S}\s*,\s*{_S}"
)
_READS = lazy_regex(
    rf"\b(?:readFile(?:Sync)?|File\.read(?:lines)?|IO\.read(?:lines)?|file_get_contents|readfile|Deno"
    rf"\.readTextFile(?:Sync)?|createReadStream|slurp|loadtxt|read_csv)\s*\(\s*{_S}"
    rf"|{_S}\.(?:read_text|read_bytes)\("
)
_MODES = lazy_regex(
    rf"\b(?:os\.chmod|chmodSync|File\.chmod|FileUtils\.chmod\w*|chmod)\s*\(?\s*(?:{_S}\s*,\s*(0?o?\d+)"
    rf"|(0?o?\d+)\s*,\s*{_S})"
)
_RUNS_TEXT = lazy_regex(
    rf"\b(?:eval|exec|load|loadstring|instance_eval|class_eval|Function|assert|runInThisContext|"
    rf"runInNewContext)\s*\(\s*(?:compile\(\s*)?{_S}"
)
_RUNS_DECODED = lazy_regex(
    (
        rf"\b(?:eval|exec|(?:pickle|marshal|dill)\.loads|Function|assert|system|popen|run|execSync)\b\s*\(?.{{0,80}}?(?:b64decode|"
        rf"decode_base64|base64_decode|atob|Buffer\.from|decode64|fromhex|unhexlify|a2b_\w+)\s*\(\s*{_S}"
        rf"|\b(?:eval|exec|system|popen)\s*\(\s*[\w.]*(?:b64decode|base64_decode|atob|fromhex)\s*\(\s*[a-z$]"
    ),
    re.DOTALL,
)
_NET = lazy_regex(
    r"\b(?:urlopen|urllib|requests\.\w+|httpx\.\w+|http\.client|fetch\s*\(|https?\.(?:request|get)|"
    r"socket\.\w+|net\.(?:connect|createConnection)"
    r"|Net::HTTP|URI\.open|open-uri|LWP|curl_exec|axios|aiohttp|TCPSocket|fsockopen|IO::Socket|"
    r"XMLHttpRequest|smtplib|ftplib)"
)
_FROM_ADDRESS = lazy_regex(rf"\b(?:file_get_contents|fopen|readfile|include|require|open|get|source)\s*\(?\s*{_S}")
_RUNS = lazy_regex(
    r"\b(?:exec|eval|Function|instance_eval|loadstring|assert)\s*\(|\beval\s+(?:get|\$|URI|Net|open|HTTP|Faraday)|\.then\(\s*eval|\bsystem\s*\(|os"
    r"\.system\(|\bload\s*\("
)
_ENVIRONMENT = lazy_regex(
    r"os\.environ(?!\.get|\[|\.setdefault|\.copy|\.pop)|process\.env(?![.\[\w])|ENV\.(?:inspect|"
    r"to_[ah])|%ENV|getenv\(\)|\$_ENV\b"
)
_PARENT = lazy_regex(rf"os\.path\.dirname\(\s*{_S}\s*\)|{_S}\.parent\b(?!s)")
_GROUPED = lazy_regex(rf"(?<![\w»\])])\(\s*{_S}\s*\)\.")
_AWK = lazy_regex(rf"system\s*\(\s*{_S}|{_S}\s*\|\s*getline|\|\s*{_S}")


def follow(walk: Walk, call: Call, scene: ShellState, language: str, code: str, depth: int = 0) -> None:
    """Walk through what the code runs and does."""
    if depth > DEEPEST or not code.strip(UNKNOWN).strip():
        return
    if len(code) > LONGEST_CODE:
        scene.budget.trouble(f"the {language} code is longer than is read")
        code = code[:LONGEST_CODE]
    _Follower(walk, replace(call, stdin=None, writes=(), appends=(), reads=()), scene, language, depth).go(code)


class _Follower:
    def __init__(self, walk: Walk, call: Call, scene: ShellState, language: str, depth: int) -> None:
        self.walk, self.call, self.scene, self.language, self.depth = walk, call, scene, language, depth
        self.strings: list[str] = []
        self.labels: set[str] = set()

    def go(self, code: str) -> None:
        written = self._mask(code)
        for value in loaded_files(self.language, code, self.scene):
            follow(self.walk, self.call, self.scene, self.language, value.text, self.depth + 1)
        for found in _RUNS_DECODED.finditer(written):
            self._follow_decoded(self._string(found))
        masked = self._reduce(written)
        if _SHELL_LIKE.match(code) and not self.language.endswith("awk"):
            self._shell(code)  # a shell command in the place of a program
        if _FORKS.search(masked[:SHORT]):
            self.walk.bombs.append(f"the {self.language} code starts itself over and over")
        for found in _ANGLED.finditer(code) if self.language == "perl" else ():
            self._words("rm", "-rf", self._home(found[1]))
        if self.language.endswith("awk"):
            if "/inet/" in code:
                self._words("nc", "-e", "awk")
            for words in signals_of_awk(code):
                self._words(*words)
            for found in _AWK.finditer(masked):
                self._shell(self._string(found))
            return
        self._files(masked)
        for found in _SHELL.finditer(masked):
            self._command(found)
        for found in _BUILT.finditer(masked):
            self._words(self._at(found[1]), *(self._at(index) for index in re.findall(_S, found[2])))
        if _CALLS_OUT.search(masked):
            for text in self.strings[:50]:
                if _DELETION.match(text):
                    self._shell(text)
        for words in service_commands(masked, self.strings, self._at):
            self._words(*words)
        if not (self.language == "perl" and "exec" in masked):
            for found in _RUNS_TEXT.finditer(masked):
                follow(self.walk, self.call, self.scene, self.language, self._string(found), self.depth + 1)
        self._network(masked)
        for words in signals(masked, self.strings):
            self._words(*words)

    def _mask(self, code: str) -> str:
        def mask(found: re.Match[str]) -> str:
            text = found[0]
            if found["comment"] is not None:
                return " "
            if text.startswith("[["):
                return self._keep(text[2:-2])
            if found["tick"] is not None and self.language in ("ruby", "perl", "php"):
                self._shell(text[1:-1])
            if found["word"] is not None:
                inner = re.sub(r"^(?:%[xwW]|qx).|.$", "", text)
                if not text.startswith(("%w", "%W")):
                    self._shell(inner)
                text = f"'{inner}'"
            return self._keep(literal(text, self.scene.home))

        tokens = _SLASHES if self.language in _SLASHED else _DASHES if self.language.startswith("lua") else _HASH
        return tokens.sub(mask, code)

    def _reduce(self, masked: str) -> str:
        masked = _HOME.sub(lambda _found: self._keep(self.scene.home), masked)
        masked = _VARIABLE.sub(self._variable, masked)
        masked = with_own_files(masked, self._keep)
        for _ in range(6):
            before = masked
            masked = fold_constants(masked, self._at, self._keep)
            masked = _WRAPPED.sub(lambda found: f"«{found[1]}»", masked)
            masked = _PARENT.sub(lambda found: self._keep(posixpath.dirname(self._string(found))), masked)
            masked = _GROUPED.sub(r"«\1».", masked)
            masked = _GLOBBED.sub(lambda found: f"«{found[1] or found[2]}»", masked)
            masked = _LOOPED.sub(r" \1=«\2»;", masked)
            masked = _PATH_JOIN.sub(lambda found: self._keep("/".join(map(self._at, re.findall(_S, found[1])))), masked)
            masked = _JOINED.sub(lambda found: self._keep(self._concat(found)), masked)
            values = dict(_ASSIGNED.findall(masked))
            use = _USED_WITH_SIGN if self.language in ("perl", "php") else _USED
            if values:
                masked = use.sub(lambda found: f"«{values[found[1]]}»" if found[1] in values else found[0], masked)  # noqa: B023  # called at once
            if masked == before:
                break
        return masked

    def _variable(self, found: re.Match[str]) -> str:
        name = self._at(found[1]) if found[1] else found[2] or found[3]
        if name in ("HOME", "USERPROFILE", "user.home"):
            return self._keep(self.scene.home)
        given = dict(self.call.env).get(name)
        known = self.scene.lookup(name) if name in self.scene.exported else None
        return self._keep(given) if given else self._keep(known[0].text) if known else found[0]

    def _concat(self, found: re.Match[str]) -> str:
        glue = "/" if "/" in found[0].replace("«", "").replace("»", "") else ""
        return self._at(found[1]) + glue + self._at(found[2])

    def _keep(self, text: str) -> str:
        self.strings.append(text)
        return f"«{len(self.strings) - 1}»"

    def _at(self, index: str) -> str:
        return self.strings[int(index)] if int(index) < len(self.strings) else UNKNOWN

    def _string(self, found: re.Match[str]) -> str:
        return next((self._at(group) for group in found.groups() if group and group.isdigit()), UNKNOWN)

    def _files(self, masked: str) -> None:
        for found in [*_DELETES.finditer(masked), *_METHOD_DELETES.finditer(masked)]:
            self._words("rm", "-rf", self._home(self._string(found)))
        if _DELETES_EACH.search(masked):
            for found in _ITERATED.finditer(masked):
                self._words("rm", "-rf", self._home(self._string(found)).removesuffix("/*") + "/*")
        for found in _MAPPED.finditer(masked):
            name, operand = self._at(found[1]), self._home(self._at(found[2]))
            if name in ("unlink", "rmdir"):
                self._words("rm", "-rf", operand)
            elif name in ("system", "exec", "shell_exec", "passthru"):
                self._shell(operand)
        for found in _WRITES.finditer(masked):
            self._write(self._string(found))
        for path, text in written_texts(masked, self._at):
            self.scene.write(self._home(path), Value(text))
        for found in _MOVES.finditer(masked):
            program = "mv" if re.match(r"os\.re|rename|shutil\.move|FileUtils\.mv", found[0]) else "cp"
            self._words(program, self._home(self._at(found[1])), self._home(self._at(found[2])))
        for found in _PERL_OPENED.finditer(masked) if self.language == "perl" else ():
            self._opened_in_perl(self._at(found[1]), self._at(found[2]) if found[2] else "")
        for found in _OPENED.finditer(masked) if self.language != "perl" else ():
            mode = self._at(found[2]) if found[2] else "r"
            if re.fullmatch(r"[rbt]*[wax+>][\w+]*|>{1,2}", mode) or "O_WRONLY" in masked or "O_RDWR" in masked:
                self._write(self._string(found))
            else:
                self._read(self._string(found))
        for found in _READS.finditer(masked):
            self._read(self._string(found))
        for found in _MODES.finditer(masked):
            path, mode = (found[1], found[2]) if found[1] else (found[4], found[3])
            self._words("chmod", mode.replace("o", ""), self._home(self._at(path)))

    def _opened_in_perl(self, mode: str, path: str) -> None:
        """`open(F, ">", $path)`, and the mode in front of the name: `open F, ">path"`, `open F, "command|"`."""
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
        self.walk.record(replace(self.call, words=(Value(":"),), writes=(target,)), self.scene, SOMETHING)

    def _home(self, path: str) -> str:
        return self.scene.home + path[1:] if path == "~" or path.startswith("~/") else path

    def _words(self, *words: str) -> Value:
        return self.walk.call(replace(self.call, words=tuple(map(Value, words)), env=()), self.scene.fork())

    def _command(self, found: re.Match[str]) -> None:
        if found[0].startswith(("exec(", "exec (")) and self.language in ("python", "pypy"):
            return
        parts = [self._at(index) for index in re.findall(_S, found[1])]
        if "[" not in found[1] and len(parts) == 1:
            self._shell(parts[0])
        elif parts:
            self._words(*parts)

    def _shell(self, text: str) -> None:
        if text.strip():
            self.walk.line(text, self.scene.fork())

    def _follow_decoded(self, text: str) -> None:
        plain = plain_text(text)
        self.walk.record(self.call, self.scene, SOMETHING, code=Value(plain, frozenset((DECODED,))))
        if plain != UNKNOWN:
            follow(self.walk, self.call, self.scene, self.language, plain, self.depth + 1)

    def _network(self, masked: str) -> None:
        environment = _ENVIRONMENT.search(masked)
        if environment:
            self.labels.add(f"{ENVIRONMENT} all variables")
        printed = re.search(r"\b(?:print|puts|console\.log|echo|p|dump|write)\b", masked)
        if environment and printed and not _NET.search(masked):
            self.walk.record(replace(self.call, words=(Value("printenv"),)), self.scene, SOMETHING)
        module = any(text in ("http", "https", "node:http", "node:https", "net", "axios") for text in self.strings)
        from_address = any(
            self._string(found).startswith(("http:", "https:")) for found in _FROM_ADDRESS.finditer(masked)
        )
        if not (
            from_address
            or _NET.search(masked)
            or _SOCKET.search(masked)
            or (module and re.search(r"\.(?:get|request)\(", masked))
        ):
            return
        self.labels |= told_variables(masked, self.strings, self._at)
        sent = [label for label in self.labels if label.startswith((SECRET, ENVIRONMENT))]
        if sent:
            body = Value(UNKNOWN, frozenset(sent))
            words = (Value("curl"), Value("--data-binary"), body, Value("https://elsewhere.invalid"))
            self.walk.record(replace(self.call, words=words), self.scene, SOMETHING)
        if _is_shell_for_others(masked, self.strings):
            self.walk.record(
                replace(self.call, words=tuple(map(Value, ("nc", "-e", "/bin/sh")))), self.scene, SOMETHING
            )
        if _RUNS.search(masked):
            code = Value(UNKNOWN, frozenset((f"{NETWORK} the {self.language} code",)))
            self.walk.record(self.call, self.scene, SOMETHING, code=code)


def _is_shell_for_others(masked: str, strings: list[str]) -> bool:
    """A connection, and a shell or whatever comes over it started next to it."""
    if not _SOCKET.search(masked) or not _SPAWNS.search(masked):
        return False
    return any(_ANY_SHELL.search(text) for text in strings) or re.search(r"popen\((?!\s*«)", masked) is not None
