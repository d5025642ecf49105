"""Clients of databases: does what they are told only look? Where that cannot be read, it does not."""

from typing import Literal

from snell.shell.arguments import Arguments
from snell.system.lazy_regex import lazy_regex


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Which options hold statements; without one, they come from a file or from elsewhere.
_STATEMENTS = {
    "psql": ("-c", "--command"), "mysql": ("-e", "--execute"), "mariadb": ("-e", "--execute"),
    "mongosh": ("--eval",), "mongo": ("--eval",), "clickhouse-client": ("-q", "--query"), "cqlsh": ("-e", "--execute"),
    "sqlcmd": ("-Q", "-q"), "snowsql": ("-q", "--query"), "trino": ("--execute",), "cypher-shell": (),
}  # fmt: skip
_ASKS = _names("-l --list --version -V --help -h -? --help=commands --help=variables")
_CHANGING = _names(
    "createdb dropdb createuser dropuser pg_restore pgbench mysqladmin mysqlimport mongoimport mongorestore "
    "clickhouse-benchmark sqlldr bcp influx kafka-console-producer kafka-topics rabbitmqadmin"
)
_REDIS = _names("redis-cli valkey-cli keydb-cli")
_REDIS_LOOKING = _names(
    "get mget keys scan info ping ttl pttl exists type strlen getrange llen lrange lindex hget hmget hgetall hkeys "
    "hvals "
    "hlen hexists hscan smembers sismember scard sscan zrange zrangebyscore zrevrange zscore zcard zcount zscan dbsize "
    "time monitor memory object randomkey dump echo command xlen xrange xrevrange xinfo geopos geodist bitcount getbit "
    "lolwut help hello role lastsave slowlog latency touch sintercard sinter sunion sdiff zrank pubsub"
)
_LOOKS = lazy_regex(
    r"\s*(?:\(\s*)*(?:select|show|explain|describe|desc|values|table|use|\\[a-z]|--|/\*|$)", 2
)  # in any case
_WRITES = lazy_regex(
    r"\b(?:insert|update|delete|merge|into|drop|alter|create|truncate|call|copy|grant|nextval|analyze|lo_\w+"
    r"|setval|pg_\w+|dblink\w*|for\s+update)\b",
    2,
)
_MONGO = lazy_regex(
    r"\.\s*(?:insert|update|delete|remove|replace|drop|create|save|bulkWrite|rename|findAndModify|findOneAnd|aggregate|"
    r"shutdown|runCommand|adminCommand|fsync|grant|revoke|load)\w*\s*\(|\bload\s*\("
)

DATABASES = frozenset(_STATEMENTS) | _CHANGING | _REDIS


def reach_of_database(program: str, given: Arguments) -> Literal["sends", "looks"]:
    if program in _CHANGING:
        return "looks" if given.has("--version", "--help", "-V") else "sends"
    if program in _REDIS:
        word = given.operands[0].lower() if given.operands else ""
        return "looks" if word in _REDIS_LOOKING or given.has("--version", "--help", "--scan", "--stat") else "sends"
    texts = given.values(*_STATEMENTS[program])
    if not texts:
        return "looks" if any(given.has(name) for name in _ASKS if name != "-h" or program == "mongosh") else "sends"
    if given.has("-f", "--file"):
        return "sends"
    only_looks = _mongo_looks if program.startswith("mongo") else _sql_looks
    return "looks" if all(map(only_looks, texts)) else "sends"


def _sql_looks(text: str) -> bool:
    return not _WRITES.search(text) and all(_LOOKS.match(each) for each in text.split(";"))


def _mongo_looks(text: str) -> bool:
    return not _MONGO.search(text)
