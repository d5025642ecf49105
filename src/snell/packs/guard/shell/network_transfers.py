"""Programs that fetch from or send to other machines: what they are given, and where it goes."""

from __future__ import annotations

import itertools
import posixpath
import re

from msgspec import Struct

from snell.model.tool_names import name_set
from snell.packs.guard.known_values import NETWORK, SECRET, UNKNOWN, Value
from snell.packs.guard.sensitive_files import secret_name
from snell.packs.guard.shell.shell_state import ShellState
from snell.system.lazy_regex import lazy_regex

DOWNLOADERS = name_set(
    "curl wget wget2 nc ncat netcat socat fetch aria2c http https xh lwp-request websocat wscat telnet lynx "
    "w3m links axel tftp ftp sftp invoke-webrequest iwr irm invoke-restmethod curlie grpcurl gsutil dig "
    "nslookup host drill"
)
_LOCAL = lazy_regex(
    r"^(?:\w+://)?(?:[^@/]*@)?(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[?::1\]?|host\.docker\.internal)(?:[:/?]|$)"
)
_SENDS = lazy_regex(
    r"^(?:-d|--data(?:-[a-z]+)?|--json|-F|--form(?:-string)?|-T|--upl[a-z-]*|--post-[a-z]+|--body-[a-z]+|-H|"
    r"--header|-b|--cookie|-K|--config|-u|--user|-A|--url-query)(?:=(.*))?$",
    re.DOTALL,
)
_ATTACHED = lazy_regex(r"^-([dFTbHu])(.+)$", re.DOTALL)
_CLUSTER = lazy_regex(r"^-[a-zA-Z]*([dFTbHuA])$")
_FIELD_FILE = lazy_regex(r"^[\w.-]*=?@(.+)")
_URL_FILE = lazy_regex(r"^file://(?:localhost)?(/.*)")

# Where repositories are kept; whose they are cannot be told from the name.
_FORGE = lazy_regex(
    r"(?:^|[@/.])(?:github\.com|gitlab\.(?:com|[\w.-]+)|bitbucket\.org|codeberg\.org|dev\.azure\.com|visualstudio\.com|"
    r"git\.sr\.ht|gitea\.[\w.-]+|git-codecommit\.[\w.-]+|heroku\.com|huggingface\.co|localhost|127\.0\.0\.1)(?=[:/]|$)",
    re.IGNORECASE,
)

CLONE = "a clone of "


class Sending(Struct, frozen=True):
    """What a command sends elsewhere: words with their labels, and files by name."""

    words: tuple[Value, ...] = ()
    files: tuple[str, ...] = ()
    host: str = ""


def is_local(address: str) -> bool:
    return _LOCAL.match(address) is not None


def is_forge(address: str) -> bool:
    """A place where many keep their repositories."""
    return _FORGE.search(address) is not None


def download_output(program: str, args: list[str], scene: ShellState) -> Value:
    """What the program prints; what it saves becomes a file that came from the network."""
    url = _url(args)
    local = _URL_FILE.match(url)
    if local:
        secret = secret_name(local[1], scene.home)
        value = Value(UNKNOWN, frozenset((f"{SECRET} {secret}",)) if secret else frozenset())
    else:
        value = Value(UNKNOWN, frozenset((f"{NETWORK} {url or program}".strip(),)))
    saved = saved_as(program, args)
    if saved:
        scene.write(saved, value)
        return Value("", frozenset())
    return value


def saved_as(program: str, args: list[str]) -> str:
    """The file in which a download ends; empty when it is printed."""
    url = _url(args)
    folder = _folder(program, args)
    for index, arg in enumerate(args):
        following = args[index + 1] if index + 1 < len(args) else ""
        if program == "aria2c" and arg in ("-o", "--out"):
            return posixpath.join(folder, following)
        if program.startswith("wget") and re.fullmatch(r"-\w*O", arg):
            return "" if following == "-" else following
        if program.startswith("wget") and re.match(r"-\w*O.", arg):
            return "" if arg.endswith("O-") else arg.partition("O")[2]
        if program == "curl" and (re.fullmatch(r"-\w*o", arg) or arg == "--output"):
            return "" if following in ("-", "/dev/stdout") else following
        if program == "curl" and (re.fullmatch(r"-\w*O\w*", arg) or arg == "--remote-name"):
            return posixpath.join(folder, posixpath.basename(url))
        if program == "fetch" and arg == "-o":
            return "" if following == "-" else following
        if arg.startswith(("--output=", "--output-document=")):
            return arg.partition("=")[2].replace("-", "", arg.endswith("=-"))
        if program in ("invoke-webrequest", "iwr") and arg.lower() == "-outfile":
            return following
    if program not in ("wget", "wget2", "aria2c", "axel", "fetch") or not url:
        return ""
    return posixpath.join(folder, posixpath.basename(url.split("?")[0]))


def _folder(program: str, args: list[str]) -> str:
    """The folder that downloads go into."""
    options = {"curl": ("--output-dir",), "aria2c": ("-d", "--dir")}.get(program, ("-P", "--directory-prefix"))
    for arg, after in itertools.pairwise((*args, "")):
        name, equals, value = arg.partition("=")
        if name in options:
            return value if equals else after
    return ""


def _url(args: list[str]) -> str:
    return next((arg for arg in args if re.match(r"\w+://|[\w.-]+\.\w+/|localhost[:/]|127\.0\.0\.1", arg)), "")


def sendings(program: str, words: tuple[Value, ...]) -> Sending:
    """What `curl`, `wget` and their like are told to send."""
    host = ""
    sent, files = list[Value](), list[str]()
    args = words[1:]
    skip = False
    for index, word in enumerate(args):
        if skip:
            skip = False
            continue
        cluster = _CLUSTER.match(word.text) if program == "curl" else None
        option = _SENDS.match(f"-{cluster[1]}" if cluster else word.text)
        attached = None if option else _ATTACHED.match(word.text)
        if option or attached:
            given = (
                word
                if (option and option[1] is not None) or attached
                else (args[index + 1] if index + 1 < len(args) else word)
            )
            text = (option[1] if option and option[1] is not None else attached[2] if attached else given.text) or ""
            skip = given is not word
            sent.append(Value(text, given.labels))
            name = (option[0] if option else "-" + (attached[1] if attached else "")).partition("=")[0]
            files.extend(_files_in(name, text))
        elif program in ("http", "https", "xh") and (field := _FIELD_FILE.match(word.text)):
            files.append(field[1])
        elif (
            not word.text.startswith("-")
            and not host
            and not (program in ("http", "https", "xh") and word.text.isupper())
        ):
            host = word.text
            sent.append(word)
        elif re.match(r"\w+://", word.text):
            sent.append(word)
    return Sending(tuple(sent), tuple(files), host)


def _files_in(option: str, text: str) -> list[str]:
    if option == "-T" or option.startswith(("--upl", "--post-f", "--body-f")):
        return [] if text in ("-", ".") else [text]
    if option in ("-K", "--config") or (option in ("-b", "--cookie") and "=" not in text):
        return [text]
    if option in ("-F", "--form"):
        found = re.search(r"=[@<]\"?([^;\"]+)", text)
        return found[1].split(",") if found else []
    if option in ("-H", "--header", "-u", "--user", "-A"):
        return []
    found = re.match(r"(?:[\w.-]*[=@])?@?(.+)", text) if "@" in text[:40] else None
    if text.startswith("@"):
        return [] if text == "@-" else [text[1:]]
    return [found[1]] if found and option == "--data-urlencode" else []
