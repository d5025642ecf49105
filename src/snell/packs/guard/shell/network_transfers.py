"""Programs that fetch from or send to other machines: what they are given, and where it goes."""

import itertools
import re
from collections.abc import Iterator

from msgspec import Struct

from snell.packs.guard.known_names import names, pattern
from snell.packs.guard.known_values import NETWORK, SECRET, UNKNOWN, Value
from snell.packs.guard.sensitive_files import secret_name
from snell.packs.guard.shell.shell_state import ShellState
from snell.shell.written_files import written_files
from snell.system.lazy_regex import lazy_regex

DOWNLOADERS = names("downloaders")
_LOCAL = lazy_regex(
    r"^(?:\w+://)?(?:[^@/]*@)?(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[?::1\]?|host\.docker\.internal)(?:[:/?]|$)"
)
_SENDS = lazy_regex(
    r"^(?:-d|--data(?:-[a-z]+)?|--json|-F|--form(?:-string)?|-T|--upl[a-z-]*|--post-[a-z]+|--body-[a-z]+|-H|"
    r"--header|-b|--cookie|-K|--config|-u|--user|-A|--url-query)(?:=(.*))?$",
    re.DOTALL,
)
_ATTACHED = lazy_regex(r"^-([dFTbHu])(.+)$", re.DOTALL)
_CLUSTER = lazy_regex(r"^-[a-zA-Z]*([dFTbHuAK])$")
_FIELD_FILE = lazy_regex(r"^[\w.-]*=?@(.+)")
_URL_FILE = lazy_regex(r"^file://(?:localhost)?(/.*)")

_FORGE = pattern("forges")

CLONE = "a clone of "


class Sending(Struct, frozen=True):
    """What a command sends elsewhere: words with their labels, and files by name."""

    words: tuple[Value, ...] = ()
    files: tuple[str, ...] = ()
    host: str = ""


def is_local(address: str) -> bool:
    return _LOCAL.match(address) is not None


def is_forge(address: str) -> bool:
    """Return whether the address is of a host where many keep their repositories."""
    return _FORGE.search(address) is not None


def download_output(program: str, args: list[str], scene: ShellState) -> Value:
    """Return what the program prints; a file that it saves is noted as content from the network."""
    url = _url(args)
    local = _URL_FILE.match(url)
    if local:
        secret = secret_name(local[1], scene.home)
        value = Value(UNKNOWN, frozenset((f"{SECRET} {secret}",)) if secret else frozenset())
    else:
        value = Value(UNKNOWN, frozenset((f"{NETWORK} {url or program}".strip(),)))
    saved = next(iter(written_files(program, tuple(args))), "")
    if program in ("invoke-webrequest", "iwr"):
        saved = next((after for arg, after in itertools.pairwise(args) if arg.lower() == "-outfile"), "")
    if saved:
        scene.write(saved, value)
        return Value("", frozenset())
    return value


def _url(args: list[str]) -> str:
    return next((arg for arg in args if re.match(r"\w+://|[\w.-]+\.\w+/|localhost[:/]|127\.0\.0\.1", arg)), "")


def sendings(program: str, words: tuple[Value, ...]) -> Sending:
    """Return what `curl`, `wget` and the like are told to send, and to which host."""
    host, sent, files = "", list[Value](), list[str]()
    has_fields = program in ("http", "https", "xh")
    rest = iter(words[1:])
    for word in rest:
        option, value = _sending_option(program, word, rest)
        if option:
            sent.append(value)
            files.extend(_files_in(option, value.text))
        elif has_fields and (field := _FIELD_FILE.match(word.text)):
            files.append(field[1])
        elif not word.text.startswith("-") and not host and not (has_fields and word.text.isupper()):
            host = word.text
            sent.append(word)
        elif re.match(r"\w+://", word.text):
            sent.append(word)
    return Sending(tuple(sent), tuple(files), host)


_OWNERS = pattern("key_owners")
_PROXIES = lazy_regex(
    r"\$|" + UNKNOWN + r"|^(?:https?://)?(?:10|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.|\.(?:internal|local)\b"
)


def foreign_key(sending: Sending) -> str:
    """Say which key of a well-known service goes to the host of another service."""
    for value in sending.words:
        owner = _OWNERS.search(value.detail(SECRET)) if value.has(SECRET) else None
        if (
            owner
            and owner.lastgroup
            and owner.lastgroup not in sending.host.lower()
            and not _PROXIES.search(sending.host)
        ):
            return f"?`{value.detail(SECRET)}`, the key of another service,"
    return ""


def _sending_option(program: str, word: Value, rest: Iterator[Value]) -> tuple[str, Value]:
    """Return the option that sends something, and its value; an empty option for any other word."""
    cluster = _CLUSTER.match(word.text) if program == "curl" else None
    option = _SENDS.match(f"-{cluster[1]}" if cluster else word.text)
    if option:
        name = option[0].partition("=")[0]
        return name, next(rest, word) if option[1] is None else Value(option[1], word.labels)
    attached = _ATTACHED.match(word.text)
    return (f"-{attached[1]}", Value(attached[2], word.labels)) if attached else ("", word)


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
