"""The patterns by which short programs in other languages are read; strings stand as numbered marks («1»)."""

import re
from collections.abc import Callable, Iterable

from snell.system.lazy_regex import lazy_regex


class WordPattern:
    """A pattern, and words of which one is in every text that it matches: to search for words takes far less time."""

    def __init__(self, words: str, pattern: str, flags: int = 0) -> None:
        self.words, self.pattern = tuple(words.split()), pattern
        self._regex = lazy_regex(pattern, flags)

    def finditer(self, text: str) -> Iterable[re.Match[str]]:
        return self._regex.finditer(text) if self._may_match(text) else ()

    def search(self, text: str) -> re.Match[str] | None:
        return self._regex.search(text) if self._may_match(text) else None

    def sub(self, replacement: Callable[[re.Match[str]], str], text: str) -> str:
        return self._regex.sub(replacement, text) if self._may_match(text) else text

    def _may_match(self, text: str) -> bool:
        return any([word in text for word in self.words])  # noqa: C419 - a list of so few is faster than a generator


TOKENS = (
    r'''(?P<triple>[rbfRBF]{0,2}(?:"""(?:[^\\]|\\.)*?"""|\'\'\'(?:[^\\]|\\.)*?\'\'\'))'''
    r"""|(?P<plain>[rbfuRBFU]{0,2}(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'))|(?P<tick>`(?:[^`\\]|\\.)*`)"""
    r"""|(?P<word>%[xwW]\(([^)]*)\)|qx(?:\{[^}]*\}|\([^)]*\)|/[^/]*/))"""
)
FLAGS = re.DOTALL | re.MULTILINE
HASH = lazy_regex(TOKENS + r"|(?P<comment>(?:(?<=\s)|^)\#[^\n]*)", FLAGS)
SLASHES = lazy_regex(TOKENS + r"|(?P<comment>(?<!:)//[^\n]*)", FLAGS)
DASHES = lazy_regex(r"(?P<comment>--\[\[.{0,500}?\]\]|--[^\n]*)|(?P<long>\[\[.{0,500}?\]\])|" + TOKENS, FLAGS)
SLASHED = frozenset(("node", "nodejs", "deno", "bun", "go", "c", "rust", "java", "groovy", "swift", "kotlin", "php"))
S = r"«(\d+)»"
ASSIGNED = lazy_regex(
    rf"(?:^|[\s;,({{])(?:my |our |let |const |var |local )?\$?(\w+)\s*(?::\s*\w+\s*)?=\s*{S}\s*(?=[;\n)]|$)"
)
USED = lazy_regex(r"(?<![\w.«'\"])([A-Za-z_]\w*)\b(?!\s*[=(])")
USED_WITH_SIGN = lazy_regex(r"(?<![\w.«'\"])\$([A-Za-z_]\w*)\b(?!\s*[=(])")
JOINED = WordPattern("+ . /", rf"{S}\s*(?:\+|\.\.?|/)\s*{S}")
WRAPPED = WordPattern(
    "(",
    # Each begins with a letter: then `re` tries few places of a text.
    rf"(?:os\.path\.(?:expanduser|abspath|realpath|expandvars)|pathlib\.Path|Path|Pathname\.new|File\."
    rf"expand_path|str|String|path\.resolve|new File|File|Paths\.get|Path\.of|Path::new|filesystem::path)"
    rf"\(\s*{S}\s*\)"
    rf"(?:\.expanduser\(\)|\.resolve\(\)|\.absolute\(\))*",
)
PATH_JOIN = WordPattern(
    "join( Path(", r"(?:(?:os\.path|path|File)\.join|(?:pathlib\.)?Path)\(\s*(«\d+»(?:\s*,\s*«\d+»)+)\s*\)"
)
GLOBBED = WordPattern(
    "glob Dir[", rf"(?<![.\w])(?:glob\.i?glob|Dir\.glob|bsd_glob|glob)\s*\(?\s*{S}\s*\)?|\bDir\[\s*{S}\s*\]"
)
LOOPED = WordPattern("for", rf"\bfor\s*\(?\s*(?:const |let |var |my )?\$?(\w+)\s+(?:in|of)\s*{S}")
ITERATED = WordPattern(
    "glob iterdir each listdir scandir walk readdirSync Dir. find",
    rf"{S}\.(?:r?glob|iterdir|each)\b|\b(?:listdir|scandir|walk|readdirSync|Dir\.(?:children|entries))\(\s*{S}"
    rf"|\b(?:finddepth|find)\s*\(?\s*(?:sub\s*\{{[^}}]{{0,500}}\}}|\\&\w+)\s*,\s*{S}",
)
DELETES_EACH = WordPattern(
    "unlink remove rmtree rm_rf rmSync rmdir FileUtils.rm File.delete",
    r"(?:\bunlink|\bremove|rmtree|rm_rf|rmSync|unlinkSync|\brmdir|FileUtils\.rm\w*|File\.delete)\s*\(?\s*[a-z_$]|"
    r"\w\.(?:unlink|rmdir)\(",
)
ANGLED = lazy_regex(r"\b(?:unlink|rmtree|remove_tree)\s*\(?\s*<([^<>]+)>")
DELETION = lazy_regex(r"\s*(?:sudo )?rm\s+-\w*[rRf]")
CALLS_OUT = lazy_regex(r"\b(?:child_process|process|subprocess|os|system|exec\w*|spawn\w*|popen|shell|sh)\b|«\d+»\)\(")
FORKS = WordPattern("fork", r"\bfork\b.*\bwhile\b|\b(?:while|for|loop)\b.*\bfork\b|fork\(\)\s*\}?\s*while", re.DOTALL)
MAPPED = WordPattern("array_ call_user_func", rf"\b(?:array_map|array_walk|call_user_func)\(\s*{S}\s*,\s*\[?\s*{S}")
SHELL_LIKE = lazy_regex(r"\s*(?:sudo )?(?:rm|dd|mkfs\S*|shred|chmod|chown|curl|wget|git) +[-\w/]")
SOCKET = WordPattern(
    "ocket sockopen .tcp() net. TCP",
    r"TCPSocket|socket\.(?:socket|tcp|connect|create_connection)|\bsocket\s*\(|use Socket|IO::Socket|fsockopen|"
    r"\.tcp\(\)|stream_socket_client|net\.(?:connect|createConnection|Socket)|TCPServer|socket\.AF_INET",
)
SPAWNS = WordPattern(
    "dup2 spawn open subprocess exec system child_process `",
    r"dup2|pty\.spawn|popen|Popen|subprocess|spawn|\bexec\b|\bsystem\b|os\.execute|proc_open|child_process|`",
)
ANY_SHELL = lazy_regex(r"(?:^|[/\s])(?:ba|da|z|k|a)?sh(?:\s|$|\d|<)|cmd(?:\.exe)?$|powershell")
HOME = WordPattern(
    "ome", r"(?:pathlib\.)?Path\.home\(\)|(?:\bos|require\(«\d+»\))\.homedir\(\)|Dir\.home|UserHomeDir\(\)"
)
VARIABLE = WordPattern(
    "env ENV Property",
    rf"(?:os\.environ(?:\[|\.get\()|\b(?:os\.)?getenv\(|(?:Deno|Bun)\.env\.get\(|\bENV(?:\[|\.fetch\()|os\.Getenv\(|"
    rf"System\.get(?:env|Property)\(|process\.env\[|\$ENV\{{|env::var\()\s*(?:{S}|(\w+))\s*(?:,[^)\]}}]{{0,80}})?[)\]}}]"
    r"|\bprocess\.env\.(\w+)",
)

SHELL = WordPattern(
    "system open output exec Exec passthru spawn call run capture ommand Process shell $",
    rf"\b(?:os\.system|os\.popen|getoutput|getstatusoutput|system|popen2?|shell_exec|passthru|"
    rf"proc_open|execSync|exec|spawnSync|spawn|os\.exec\w+|os\.spawn\w+|posix_spawnp?"
    rf"|execFileSync|execFile|check_output|check_call|subprocess\.call|subprocess\.run|run|Popen|IO\."
    rf"popen|capture[23]e?|os\.execute|io\.popen"
    rf"|pcntl_exec|Command|ProcessBuilder|callCommand|callProcess|readProcess|run-program|shell/sh|do shell script|create_subprocess_shell|ShellExecute|\$|execa(?:Sync|"
    rf"CommandSync)?|shelljs\.exec)\s*\(?\s*"
    rf"(\[[^\]]*\]|{S}(?:\s*,?\s*\[[^\]]*\]|(?:\s*,?\s*«\d+»)*))",
)
DELETES = WordPattern(
    "rm emove unlink elete rimraf emptyDir cleanDir",
    rf"\b(?:rmtree|os\.remove|os\.unlink|os\.rmdir|removedirs|(?:fs|fse|fsp|promises|fs\.promises|require\(«\d+»\)(?:\.promises)?)\."
    rf"(?:rm|rmSync|unlink|unlinkSync|rmdir|rmdirSync|remove|removeSync|emptyDirSync?)"
    rf"|rmSync|rmdirSync|unlinkSync|rimraf(?:\.sync)?|rm_rf|rm_r|FileUtils\.rm(?:_f)?|remove_dir|remove_entry\w*"
    rf"|File\.(?:delete|unlink)|Dir\.(?:rmdir|delete|unlink)|unlink|rmdir|remove_tree|file\.remove|Deno\."
    rf"remove(?:Sync)?|os\.Remove(?:All)?|fs::remove_(?:dir_all|dir|file)|filesystem::remove(?:_all)?"
    rf"|FileUtils\.(?:deleteDirectory|forceDelete|cleanDirectory)|Files\.delete(?:IfExists)?|delete-(?:directory|file)"
    rf"|call delete|(?<![\w.])rm(?=\())!?"
    rf"\s*\(?\s*\[?\s*{S}",
)
METHOD_DELETES = WordPattern(
    "unlink rm elete", rf"{S}\.(?:unlink|rmdir|rmtree|delete|deleteDir|deleteRecursively|deleteOnExit)\("
)
BUILT = WordPattern("Command::new", rf"Command::new\(\s*{S}\s*\)((?:\s*\.args?\(&?[^)]*\))+)")
OPENED = WordPattern(
    "open File.new",
    rf"\b(?:open|fopen|File\.open|File\.new|io\.open)\s*\(\s*(?:\w+\s*,\s*)?{S}(?:\s*,\s*(?:mode\s*=\s*)?{S})?",
)
PERL_OPENED = WordPattern("open", rf"\bopen\s*\(?\s*(?:my\s+)?[$*]?\w+\s*,\s*{S}(?:\s*,\s*{S})?")
WRITES = WordPattern(
    "rite append put_contents truncate touch link_to fileinput",
    rf"\b(?:writeFile(?:Sync)?|appendFile(?:Sync)?|createWriteStream|File\.write|IO\.write|"
    rf"file_put_contents|Deno\.writeTextFile(?:Sync)?|os\.truncate|truncateSync)\s*\(\s*{S}"
    rf"|{S}\.(?:write_text|write_bytes|touch|symlink_to|hardlink_to)\("
    rf"|\bfileinput\.\w+\(\s*(?:files\s*=\s*)?\[?\s*{S}[^)]{{0,80}}inplace"
    rf"|\bwriteLines\(\s*(?:«\d+»|\w+)\s*,\s*(?:con\s*=\s*)?{S}|\bwrite\.\w+\(\s*\w+\s*,\s*{S}",
)
MOVES = WordPattern(
    "rename replace link shutil copy FileUtils",
    rf"\b(?:os\.(?:renames?|replace|symlink|link)|symlinkSync|shutil\.(?:move|copy\w*)|renameSync|copyFileSync|FileUtils\.(?:mv|"
    rf"cp|cp_r)|rename|copy)\s*\(\s*{S}\s*,\s*{S}",
)
READS = WordPattern(
    "ead get_contents slurp loadtxt",
    rf"\b(?:readFile(?:Sync)?|File\.read(?:lines)?|IO\.read(?:lines)?|file_get_contents|readfile|Deno"
    rf"\.readTextFile(?:Sync)?|createReadStream|slurp|loadtxt|read_csv)\s*\(\s*{S}"
    rf"|{S}\.(?:read_text|read_bytes)\(",
)
MODES = WordPattern(
    "chmod",
    rf"\b(?:os\.chmod|chmodSync|File\.chmod|FileUtils\.chmod\w*|chmod)\s*\(?\s*(?:{S}\s*,\s*(0?o?\d+)"
    rf"|(0?o?\d+)\s*,\s*{S})",
)
RUNS_TEXT = WordPattern(
    "eval exec load Function assert runIn",
    rf"\b(?:eval|exec|load|loadstring|instance_eval|class_eval|Function|assert|runInThisContext|"
    rf"runInNewContext)\s*\(\s*(?:compile\(\s*)?{S}",
)
RUNS_DECODED = WordPattern(
    "decode atob Buffer.from hex a2b_",
    (
        rf"\b(?:eval|exec|(?:pickle|marshal|dill)\.loads|Function|assert|system|popen|run|execSync)\b\s*\(?.{{0,80}}?(?:b64decode|"
        rf"decode_base64|base64_decode|atob|Buffer\.from|decode64|fromhex|unhexlify|a2b_\w+)\s*\(\s*{S}"
        rf"|\b(?:eval|exec|system|popen)\s*\(\s*[\w.]*(?:b64decode|base64_decode|atob|fromhex)\s*\(\s*[a-z$]"
    ),
    re.DOTALL,
)
NET = WordPattern(
    "url requests. http fetch ocket net. Net:: URI.open open-uri LWP axios sockopen XMLHttpRequest sendBeacon "
    "EventSource Image smtplib ftplib .src location",
    r"\b(?:urlopen|urllib|requests\.\w+|httpx\.\w+|http\.client|fetch\s*\(|https?\.(?:request|get)|"
    r"socket\.\w+|net\.(?:connect|createConnection)"
    r"|Net::HTTP|URI\.open|open-uri|LWP|curl_exec|axios|aiohttp|TCPSocket|fsockopen|IO::Socket|"
    r"XMLHttpRequest|sendBeacon|WebSocket|EventSource|new Image|smtplib|ftplib)|\.src\s*=|\blocation(?:\.href)?\s*=",
)
# What a page knows of its user.
PAGE_SECRETS = WordPattern(
    "document.cookie cookieStore Storage indexedDB",
    r"\bdocument\.cookie\b|\bcookieStore\b|\b(?:local|session)Storage\b|\bindexedDB\b",
)
FROM_ADDRESS = WordPattern(
    "file_get_contents open readfile include require get source",
    rf"\b(?:file_get_contents|fopen|readfile|include|require|open|get|source)\s*\(?\s*{S}",
)
RUNS = WordPattern(
    "exec eval Function load assert system",
    r"\b(?:exec|eval|Function|instance_eval|loadstring|assert)\s*\(|\beval\s+(?:get|\$|URI|Net|open|HTTP|Faraday)|\.then\(\s*eval|\bsystem\s*\(|os"
    r"\.system\(|\bload\s*\(",
)
ENVIRONMENT = WordPattern(
    "env ENV",
    r"(?<!\bin )os\.environ(?!\.get|\[|\.setdefault|\.copy|\.pop)|process\.env(?![.\[\w])|ENV\.(?:inspect|"
    r"to_[ah])|%ENV|getenv\(\)|\$_ENV\b",
)
PARENT = WordPattern("dirname .parent", rf"os\.path\.dirname\(\s*{S}\s*\)|{S}\.parent\b(?!s)")
GROUPED = WordPattern(").", rf"(?<![\w»\])])\(\s*{S}\s*\)\.")
AWK = lazy_regex(rf"system\s*\(\s*{S}|{S}\s*\|\s*getline|\|\s*{S}")
AWK_WRITES = lazy_regex(rf"\bprintf?\b[^|;}}\n]*>>?\s*{S}")
WRITING_MODE = lazy_regex(r"[rbt]*[wax+>][\w+]*|>{1,2}")
PRINTS = lazy_regex(r"\b(?:print|puts|console\.log|echo|p|dump|write)\b")
