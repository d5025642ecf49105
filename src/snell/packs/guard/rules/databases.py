"""Stop commands that drop, empty or mass-change databases."""

import itertools
import re
from collections.abc import Iterator

from snell.model.tool_names import name_set
from snell.packs.guard.known_values import UNKNOWN, Value, is_unset_variable
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import Finding, Rule
from snell.packs.guard.shell.shell_state import Step
from snell.packs.guard.triggers import Trigger
from snell.system.lazy_regex import lazy_regex

RULE = Rule(
    name="databases",
    family="databases",
    instead="try it on a copy or in a transaction that is rolled back, and let the user run it",
    flagged=(
        'psql -c "DROP TABLE users"',
        "mysql -e 'DELETE FROM users'",
        "redis-cli FLUSHALL",
        "dropdb prod",
        "mongosh --eval 'db.dropDatabase()'",
        "sqlite3 a.db 'delete from t'",
        "python3 -c \"import psycopg2; psycopg2.connect('').cursor().execute('DROP TABLE users')\"",
        "redis-cli --scan | xargs redis-cli del",
        "rails runner 'User.delete_all'",
        'psql -c "DELETE FROM users WHERE 1=1"',
        "psql -f <(echo 'DROP TABLE users')",
        "mysql < drop_all.sql",
        'psql -c "$SQL"',
        'echo "$SQL" | mysql shop',
        "mysql --execute='truncate orders'",
    ),
    fine=(
        'psql -c "SELECT 1"',
        "mysql -e 'DELETE FROM users WHERE id = 1'",
        "redis-cli GET x",
        "sqlite3 a.db .tables",
        "echo 'DROP TABLE x'",
        "psql -c \"SELECT * FROM notes WHERE text LIKE '%DROP TABLE%'\"",
        "python3 -c \"print('DROP TABLE x')\"",
        "psql -f migrations/001_init.sql",
        'psql -c "GRANT ALL ON orders TO app"',
        "sqlite3 :memory: 'create table t(a); drop table t'",
    ),
)

_CLIENTS = name_set(
    "psql mysql mariadb sqlite3 sqlcmd mongo mongosh redis-cli valkey-cli clickhouse-client cockroach duckdb "
    "bq snowsql cqlsh influx turso wrangler pgcli mycli litecli usql clickhouse surreal neo4j cypher-shell "
    "trino sqlplus isql osql oc mssql-cli"
)
_COMMENT = lazy_regex(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_DROPS = lazy_regex(
    (
        r"\b(?:drop\s+(?:table|database|schema|keyspace|collection|index|view|user|role|type|sequence|"
        r"tablespace|owned)|truncate(?:\s+table)?\s+[\w\"`.\[]|alter\s+table\s+\S+\s+drop\b|delete\s+from"
        r"\s+[^\s;]+\s*(?:;|$|\"|'|returning|where\s+(?:1\s*=\s*1|true|1|'?a'?\s*=\s*'?a'?)\s*(?:;|$|\"|'))|detach\s+delete\s+\w+\s*(?:;|$)|"
        r"update\s+[^\s;]+\s+set\s+(?:(?!\bwhere\b)[^;])*$|"
        r"grant\s+all\b[^;]*\bto\s+(?:public|\S+@'?%|.*with\s+grant)|alter\s+(?:user|role)\s+(?:postgres|root|admin|sa)\b)"
    ),
    re.IGNORECASE,
)
_READS_ONLY = lazy_regex(r"\s*(?:select|with|explain|show|insert|values|table)\b", re.IGNORECASE)
_BETWEEN = lazy_regex(r"(?:'[^']*'|[^;])+")  # a semicolon inside quotes ends nothing
_QUOTED = lazy_regex(r"'(?:[^']|'')*'")
_MONGO = lazy_regex(r"\.(?:dropDatabase|drop)\(\s*\)|\.(?:deleteMany|remove)\(\s*(?:\{\s*\})?\s*\)|\.dropUser\(")
_REDIS = lazy_regex(
    r"\b(?:flushall|flushdb|debug\s+segfault|shutdown|script\s+flush|config\s+set\s+dir)\b", re.IGNORECASE
)
_TOOLS = lazy_regex(
    r"^(?:dropdb|dropuser|mysqladmin (?:.* )?(?:drop|shutdown)|pg_dropcluster|pg_resetwal|dotnet ef database drop|"
    r"flask db downgrade base|sqitch revert|hasura metadata clear|db2 drop |"
    r"prisma (?:migrate reset|db push .*--(?:force-reset|"
    r"accept-data-loss)|db push)|rails db:(?:drop|reset|schema:load|seed:replant|migrate:reset|purge)"
    r"|rake db:(?:drop|reset|purge)|"
    r"(?:python\d? )?(?:\./)?manage\.py (?:flush|reset_db|migrate \S+ zero)|"
    r"django-admin flush|php artisan (?:migrate:(?:fresh|reset|refresh)|db:wipe)|"
    r"php bin/console doctrine:(?:database:drop|schema:drop|fixtures:load)"
    r"|sequelize(?:-cli)? db:(?:drop|migrate:undo:all)|knex migrate:rollback --all|typeorm schema:drop|"
    r"alembic downgrade base|"
    r"flyway clean|liquibase drop-?all|supabase db reset|mongorestore .*--drop|"
    r"pg_restore .*(?:--clean|-c\b)|drizzle-kit (?:drop|push)|ecto\.(?:drop|reset)|mix ecto\.(?:drop|"
    r"reset)|npx prisma migrate reset|wp (?:db (?:reset|clean|drop)|site (?:empty|delete))|"
    r"drush (?:\S+ )*?(?:sql[-:]drop|site[-:]install|si)\b|"
    r"(?:bin/)?(?:rails|rake) db:wipe|dbmate drop|sqlx database (?:drop|reset)|diesel database reset|goose .*reset|"
    r"migrate .*\bdrop\b|atlas schema clean|hasura .*delete|(?:bin/)?magento setup:uninstall|nsupdate|etcdctl del|"
    r"curl .*-X ?DELETE .*:9200)",
    re.IGNORECASE,
)


_SOCKETS = frozenset(("nc", "ncat", "netcat", "telnet", "socat"))
_REDIS_CLIENTS = frozenset(("redis-cli", "valkey-cli"))
_TOOL_NAMES = name_set(
    "mysqladmin dotnet flask sqitch hasura db2 prisma rails rake manage.py django-admin php sequelize sequelize-cli "
    "knex typeorm alembic flyway liquibase supabase mongorestore pg_restore drizzle-kit mix npx wp drush dbmate sqlx "
    "diesel goose migrate atlas magento etcdctl curl"
)
TRIGGER = Trigger(
    programs=_CLIENTS | _SOCKETS | _TOOL_NAMES,
    prefixes=("dropdb", "dropuser", "pg_dropcluster", "pg_resetwal", "ecto.", "nsupdate", "python"),
)


def find(step: Step, _workspace: Workspace) -> Iterator[Finding]:
    text = " ".join((step.program, *step.args))
    if _TOOLS.match(text) and "--help" not in step.args and not _is_test(step):
        hard = not re.search(r"prisma db push|drizzle-kit push|fixtures:load|seed:replant", text)
        yield (RULE.deny if hard else RULE.ask)(f"`{step.text[:80]}` empties or replaces a database")
    elif step.program in _SOCKETS:
        if step.stdin is not None and _FLUSHES.match(step.stdin.text):
            yield RULE.deny("it empties a cache or database over a plain connection")
    elif step.program in _CLIENTS and "--help" not in step.args and ":memory:" not in step.args:
        yield from _client(step)  # a database in memory is gone when the program ends


_FLUSHES = lazy_regex(r"\s*(?:flush_all|flushall|flushdb)\b", re.IGNORECASE)


def _client(step: Step) -> Iterator[Finding]:
    if _is_unknown(step):
        yield RULE.ask("it runs SQL that is only known at run time")
    texts = [*step.args, step.stdin.text] if step.stdin is not None else list(step.args)
    deletes = next((each for each in _statements(texts) if _deletes_data(each, step)), "")
    if deletes:
        yield RULE.deny(f"it deletes data permanently: `{deletes.strip()[:80]}`")
    elif step.program in _REDIS_CLIENTS and _REDIS.search(" ".join(texts)):
        yield RULE.deny("it empties or stops a Redis database")
    elif step.program in _REDIS_CLIENTS and _deletes_listed(step):
        yield RULE.deny("it deletes all keys of a listing")
    elif any(map(_RUNS_SHELL.search, texts)):
        yield RULE.ask("it makes the database client run a shell command")
    elif any(_DELETING_FILE.search(path) for path in (*step.reads, *step.args)):
        yield RULE.ask("the database client runs a file that deletes data by its name")


_RUNS_SHELL = lazy_regex(r"^\s*\\!|\.shell\b|\.system\b|\b(?i:copy)\b.*\b(?i:program)\b|xp_cmdshell")


def _deletes_data(statement: str, step: Step) -> bool:
    if not step.piped and _READS_ONLY.match(statement):
        statement = _QUOTED.sub("''", statement)
    is_mongo = step.program.startswith("mongo") and _MONGO.search(statement) is not None
    return is_mongo or _DROPS.search(statement) is not None


_DELETING_FILE = lazy_regex(r"(?:^|[/_.-])(?:drop|wipe|purge|truncate|destroy|nuke)(?:[_-]?\w+)?\.sql$", re.IGNORECASE)


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


def _is_test(step: Step) -> bool:
    """Tell whether the command is for a test database: `RAILS_ENV=test rails db:reset`."""
    named = any(name.endswith("_ENV") and value in ("test", "testing", "ci") for name, value in step.env)
    return named or any(arg in ("--env=test", "--env=testing", "-etest") for arg in step.args)


def _statements(texts: list[str]) -> Iterator[str]:
    for text in texts:
        if text.startswith("--") and "=" in text:
            text = text.partition("=")[2]
        if " " in text or "(" in text:
            yield from _BETWEEN.findall(_COMMENT.sub(" ", text))
