"""Stop commands that drop, empty or mass-change databases."""

import itertools
import re
from collections.abc import Iterator

from snell.model.sql_text import sql_readings
from snell.packs.guard.known_names import pattern
from snell.packs.guard.known_values import UNKNOWN, Value, is_unset_variable
from snell.packs.guard.path_classes import TEMP, Workspace, classify_path
from snell.packs.guard.rule import Finding, Rule, Trigger, given_to
from snell.packs.guard.shell.shell_state import Step
from snell.shell.arguments import matches_any
from snell.shell.programs import program_row
from snell.system.lazy_regex import lazy_regex

RULE = Rule(
    name="databases",
    family="databases",
    instead="try it on a copy or in a transaction that is rolled back, and let the user run it",
)

_DROPS = pattern("drops_data")
_READS_ONLY = lazy_regex(r"\s*(?:select|with|explain|show|insert|values|table)\b", re.IGNORECASE)
_BETWEEN = lazy_regex(r"(?:'[^']*'|[^;])+")  # a semicolon inside quotes ends nothing
_QUOTED = lazy_regex(r"'(?:[^']|'')*'")
_MONGO = lazy_regex(r"\.(?:dropDatabase|drop)\(\s*\)|\.(?:deleteMany|remove)\(\s*(?:\{\s*\})?\s*\)|\.dropUser\(")
_REDIS = lazy_regex(r"(?im)^[ \t]*(?:flushall|flushdb|debug\s+segfault|shutdown|script\s+flush|config\s+set\s+dir)\b")
_SOCKETS = frozenset(("nc", "ncat", "netcat", "telnet", "socat"))
_REDIS_CLIENTS = frozenset(("redis-cli", "valkey-cli"))
TRIGGER = Trigger(programs=_SOCKETS, rows=("drops", "may_drop", "database"))


def find(step: Step, workspace: Workspace) -> Iterator[Finding]:
    given, row = given_to(step), program_row(step.program)
    if given.has("--help"):
        return
    if matches_any(given, row.drops) and not _is_test(step):
        yield RULE.deny(f"`{step.text[:80]}` empties or replaces a database")
    elif matches_any(given, row.may_drop) and not _is_test(step):
        yield RULE.ask(f"`{step.text[:80]}` may empty or replace a database")
    elif step.program in _SOCKETS:
        if step.stdin is not None and _FLUSHES.search(step.stdin.text):
            yield RULE.deny("it empties or stops a service over a plain connection")
    elif row.database and not _is_scratch(step, workspace):
        yield from _client(step)  # what is lost in a database for tests can be made again


_FLUSHES = pattern("losses_over_connections")


def _client(step: Step) -> Iterator[Finding]:
    if _is_unknown(step):
        yield RULE.ask("it runs SQL that is only known at run time")
    texts = _texts(step)
    deletes = next((each for each in _statements(texts) if _deletes_data(each, step)), "")
    if deletes:
        verb = _FIRST_VERB.search(deletes)
        does = _DOES.get((verb and verb.lastgroup) or "", "deletes data permanently")
        yield RULE.deny(f"it {does}: `{deletes.strip()[:80]}`")
    elif step.program in _REDIS_CLIENTS and step.stdin is not None and _REDIS.search(step.stdin.text):
        yield RULE.deny("it empties or stops a Redis database")
    elif step.program in _REDIS_CLIENTS and _deletes_listed(step):
        yield RULE.deny("it deletes every key that a search lists")
    elif any(map(_RUNS_SHELL.search, texts)):
        yield RULE.ask("it makes the database client run a shell command")
    elif any(_DELETING_FILE.search(path) for path in (*step.reads, *step.args)):
        yield RULE.ask("the database client runs a file whose name says that it deletes data")


_FIRST_VERB = pattern("first_verb_of_statement")
_DOES = {
    "rows": "changes every row of a table",
    "rights": "changes who may use the database",
    "beyond": "reaches out of the database",
}


def _texts(step: Step) -> list[str]:
    return [*step.args, step.stdin.text] if step.stdin is not None else list(step.args)


_RUNS_SHELL = lazy_regex(r"^\s*\\!|\.shell\b|\.system\b|\b(?i:copy)\b.{0,300}\b(?i:program)\b|xp_cmdshell")


def _deletes_data(statement: str, step: Step) -> bool:
    if _DROPS_TEST.fullmatch(statement.strip()) and _is_here(step):
        return False
    if not step.piped and _READS_ONLY.match(statement):
        statement = _QUOTED.sub("''", statement)
    is_mongo = step.program.startswith("mongo") and _MONGO.search(statement) is not None
    return is_mongo or _DROPS.search(statement) is not None


_DELETING_FILE = lazy_regex(r"(?:^|[/@_.-])(?:drop|wipe|purge|truncate|destroy|nuke)(?:[_-]?\w+)?\.sql$", re.IGNORECASE)


def _is_unknown(step: Step) -> bool:
    """Tell whether all of the SQL is in a variable that the command does not set: `psql -c "$SQL"`."""
    given = [after for before, after in itertools.pairwise(step.words) if _SQL_OPTION.fullmatch(before.text)]
    given += [Value(word.text.partition("=")[2], word.labels) for word in step.words if _SQL_ASSIGNED.match(word.text)]
    given += [Value(step.stdin.text.strip(), step.stdin.labels)] if step.stdin is not None else []
    return any(map(is_unset_variable, given))


_SQL_OPTION = lazy_regex(r"-[ce]|--(?:command|execute|eval|query)")
_SQL_ASSIGNED = lazy_regex(r"--(?:command|execute|eval|query)=")


def _deletes_listed(step: Step) -> bool:
    """Tell whether the keys come from a listing: `redis-cli --scan | xargs redis-cli del`."""
    deletes = any(arg.lower() in ("del", "unlink") for arg in step.args)
    return deletes and any(word.has("output") and UNKNOWN in word.text for word in step.words[1:])


_TEST_NAME = lazy_regex(r"test(?:ing|s|db)?(?:[_-]\w+)?|\w+[_-]test(?:ing|s|db)?(?:[_-]?\d+)?", re.IGNORECASE)
_DROPS_TEST = lazy_regex(
    rf"(?i)drop\s+(?:database|schema)\s+(?:if\s+exists\s+)?[\"`]?(?:{_TEST_NAME.pattern})[\"`]?(?:\s+cascade)?"
)


def _is_test(step: Step) -> bool:
    """Tell whether the command is for a test database: `RAILS_ENV=test rails db:reset`, `dropdb shop_test`."""
    named = any(name.endswith("_ENV") and value in ("test", "testing", "ci") for name, value in step.env)
    if named or any(arg in ("--env=test", "--env=testing", "-etest") for arg in step.args):
        return True
    given = given_to(step)
    bases = [value for name, value in given.options if name in ("-d", "--dbname", "-D", "--database") and value]
    bases += given.operands[:1] if step.program in _NAMES_FIRST else ()
    return len(bases) == 1 and _TEST_NAME.fullmatch(bases[0]) is not None and _is_here(step)


_NAMES_FIRST = frozenset(("dropdb", "psql", "createdb", "mysql", "mariadb"))


def _is_here(step: Step) -> bool:
    """Tell whether a database client is not told to connect to another machine."""
    given = given_to(step)
    hosts = [value for name, value in given.options if name in ("-h", "--host")]
    hosts += [value for name, value in step.env if name in ("PGHOST", "MYSQL_HOST")]
    return all(host in ("localhost", "127.0.0.1", "::1", "") or host.startswith("/") for host in hosts)


def _is_scratch(step: Step, workspace: Workspace) -> bool:
    """Tell whether the database is for tests, in memory, or a file in a folder for temporary files."""
    file = given_to(step).operands[:1] if step.program in _FILE_CLIENTS else ()
    is_scratch = ":memory:" in step.args or _is_test(step)
    is_scratch |= bool(file) and classify_path(workspace.absolute(file[0]), workspace) == TEMP
    return is_scratch and not any(map(_BEYOND.search, _texts(step)))


_BEYOND = pattern("reaches_beyond_database")


_FILE_CLIENTS = frozenset(("sqlite3", "sqlite", "duckdb", "litecli"))


def _statements(texts: list[str]) -> Iterator[str]:
    for text in texts:
        if text.startswith("--") and "=" in text:
            text = text.partition("=")[2]
        if " " in text or "(" in text:
            for reading in sql_readings(text):
                yield from _BETWEEN.findall(" ".join(reading.split()))
