"""Determine from its words whether a command reaches beyond this machine: by its verb, wherever that is, or method."""

from functools import lru_cache
from typing import Literal

from snell.model.tool_names import name_set
from snell.shell.arguments import Arguments, matches_any
from snell.shell.programs import Program, program_row
from snell.system.lazy_regex import lazy_regex

Remote = Literal["sends", "looks", "neither"]

_CLOUD_CHANGING = name_set(
    "create delete update set add remove rm cp mv sync mb rb put deploy start stop restart reset resize move patch "
    "import export apply destroy run invoke publish send upload attach detach enable disable cancel purge restore "
    "rsync copy scale terminate reboot write replace ssh promote rollback tag untag revoke grant bind unbind"
)
_CLOUD_LOOKING = name_set(
    "list describe ls show get info version help cat stat du whoami logs log history releases lsd lsl lsf size check "
    "ps regions print-access-token print-identity-token head wait view status apps:info config:get"
)
_CLOUD_LOOKING_PREFIXES = ("list-", "describe-", "get-", "head-", "show-", "print-", "batch-get-", "filter-", "search-")
_METHODS_THAT_LOOK = ("GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND")
_MAILING = ("smtp:", "smtps:", "telnet:", "gopher:", "gophers:", "mqtt:")
_DATA = ("-d", "-F", "-T", "--data", "--data-raw", "--data-binary", "--data-ascii", "--data-urlencode", "--form",
         "--form-string", "--json", "--upload-file")  # fmt: skip


_ASKS = name_set("--help --version -h -v -V -?")


def remote(program: str, given: Arguments) -> Remote:
    """Whether the command sends something, only looks at what is elsewhere, or has nothing to do with elsewhere."""
    row = program_row(program)
    if program in _WEB:
        return "sends" if _WEB[program](given) else "looks"
    if program in ("scp", "rsync"):
        return "sends" if _copies_away(program, given) else "neither"
    if row.statements:
        return _database(program, row, given)
    if row.changes_by_verb:
        return _cloud(program, row, given)
    if (row.sends or row.sends_tasks) and _is_sending(row, given):
        return "sends"
    if not row.remote and not row.sends:
        return "neither"
    if matches_any(given, row.looks):
        return "looks"
    return "sends" if row.remote and not matches_any(given, row.local) else "neither"


@lru_cache(maxsize=1024)
def is_known_to_send(program: str, is_certain: bool) -> bool:
    """Return whether the name is a program that sends; a short, ambiguous name counts only if it `is_certain`."""
    row = program_row(program)
    known = row.remote or row.changes_by_verb or program == "curl"
    if is_certain:
        return bool(known or row.sends or row.statements or program in JUDGED_BY_WORDS)
    return known or bool(row.sends and row.sends[0])


def _is_sending(row: Program, given: Arguments) -> bool:
    only_asks = not given.operands and bool(given.options) and all(name in _ASKS for name, _ in given.options)
    if only_asks or given.has("--dry-run"):
        return False
    tasks = tuple(row.sends_tasks)
    if tasks and any(word.rpartition(":")[2].startswith(tasks) for word in given.operands):
        return True
    return matches_any(given, row.sends)


def _copies_away(program: str, given: Arguments) -> bool:
    if program == "rsync" and given.has("-n", "--dry-run"):
        return False
    return any(":" in word.split("/")[0] for word in given.operands[-1:])


def _curl(given: Arguments) -> bool:
    places = (*given.operands, *given.values("--url"))
    if given.has("--mail-rcpt", "--mail-from") or any(place.lower().startswith(_MAILING) for place in places):
        return True
    if given.has("-K", "--config", "-Q", "--quote"):
        return True  # what is in there is not known, or is a command of the server's own
    method = given.value("-X", "--request").upper()
    if method:
        return method not in _METHODS_THAT_LOOK
    return given.has(*_DATA) and not (given.has("-G", "--get") and not given.has("-T", "--upload-file"))


def _wget(given: Arguments) -> bool:
    method = given.value("--method").upper()
    if method:
        return method not in _METHODS_THAT_LOOK
    return given.has("--post-data", "--post-file", "--body-data", "--body-file")


def _httpie(given: Arguments) -> bool:
    first = given.operands[0] if given.operands else ""
    if first.isalpha() and first.isupper():
        return first not in _METHODS_THAT_LOOK
    fields = (word for word in given.operands[1:] if "==" not in word)  # `==` is a part of the address
    return given.has("-f", "--form", "--multipart", "--raw") or any("=" in word or "@" in word for word in fields)


_WEB = {"curl": _curl, "wget": _wget, "http": _httpie, "https": _httpie, "xh": _httpie}
JUDGED_BY_WORDS = frozenset((*_WEB, "scp", "rsync"))


def _cloud(program: str, row: Program, given: Arguments) -> Remote:
    """Judge by the first word that is a verb; the names of things come after it."""
    if not given.operands:
        only_asks = all(name in ("-h", "-v", "-V", "--help", "--version") for name, _ in given.options)
        if program == "vercel":  # which deploys unless it is told something else
            return "looks" if given.options and only_asks else "sends"
        return "looks" if given.options else "neither"
    if matches_any(given, row.local):
        return "neither"
    for index, word in enumerate(given.operands[1:] if program == "aws" else given.operands):
        number = index + (program == "aws")
        if word in _CLOUD_CHANGING:
            return _download(given) if word in ("cp", "sync", "copy", "mv", "rsync") else "sends"
        if number not in given.unsure and (word in _CLOUD_LOOKING or word.startswith(_CLOUD_LOOKING_PREFIXES)):
            return "looks"
    return "sends"


def _download(given: Arguments) -> Remote:
    """Return `neither` for a copy from a bucket to this machine, else `sends`."""
    here = given.operands[-1]
    is_remote = "://" in here or ":" in here.split("/")[0]
    return "sends" if is_remote or "mv" in given.operands else "neither"


# What only looks, and what writes, in the language of a database.
_SQL_LOOKS = lazy_regex(r"\s*(?:\(\s*)*(?:select|show|explain|describe|desc|values|table|use|\\[a-z]|--|/\*|$)", 2)
_SQL_WRITES = lazy_regex(
    r"\b(?:insert|update|delete|merge|into|drop|alter|create|truncate|call|copy|grant|nextval|analyze|lo_\w+"
    r"|setval|pg_\w+|dblink\w*|for\s+update)\b",
    2,  # in any case
)
_MONGO_WRITES = lazy_regex(
    r"\.\s*(?:insert|update|delete|remove|replace|drop|create|save|bulkWrite|rename|findAndModify|findOneAnd|aggregate|"
    r"shutdown|runCommand|adminCommand|fsync|grant|revoke|load)\w*\s*\(|\bload\s*\("
)
_DATABASE_ASKS = ("-l", "--list", "--version", "-V", "--help", "-?", "--help=commands", "--help=variables")


def _database(program: str, row: Program, given: Arguments) -> Remote:
    """Return `looks` if a client of a database is only told to read, else `sends`."""
    texts = given.values(*row.statements)
    if not texts:
        asks = (*_DATABASE_ASKS, "-h") if program == "mongosh" else _DATABASE_ASKS
        return "looks" if given.has(*asks) else "sends"
    if given.has("-f", "--file"):
        return "sends"
    only_looks = _mongo_looks if program.startswith("mongo") else _sql_looks
    return "looks" if all(map(only_looks, texts)) else "sends"


def _sql_looks(text: str) -> bool:
    return not _SQL_WRITES.search(text) and all(_SQL_LOOKS.match(each) for each in text.split(";"))


def _mongo_looks(text: str) -> bool:
    return not _MONGO_WRITES.search(text)
