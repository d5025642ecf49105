"""Translate MCP tools into commands with the same effect, by the words in the tool's name and input."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from snell.model.call_contents import rows_of
from snell.model.tool_names import name_set, plain_name, words_of
from snell.model.tools import mcp_parts
from snell.packs.guard.known_names import names, pattern
from snell.packs.guard.rule import Finding
from snell.packs.guard.rules import RULES
from snell.sdk.subjects import ToolCall
from snell.system.lazy_regex import lazy_regex

# Servers that manage remote resources, and the program with the same verbs.
_MANAGERS = {
    **dict.fromkeys(("k8s", "kubernetes", "kubectl", "openshift", "helm", "argocd"), "kubectl"),
    **{
        name: name for name in ("aws", "gcloud", "az", "terraform", "pulumi", "heroku", "vercel", "netlify", "supabase")
    },
    "gcp": "gcloud",
    "azure": "az",
    "cloudflare": "wrangler",
    "digitalocean": "doctl",
    "neon": "neonctl",
}
_DELETES = name_set("delete destroy terminate purge uninstall drop wipe erase nuke")
_RESETS = (("pg", "reset"), ("db", "reset"), ("database", "reset"), ("reset", "database"), ("reset", "branch"))
_ENDS = name_set("cancel refund payout revoke deactivate")
_REMOVES = name_set("remove rm prune reset")
_RESOURCES = names("remote_resources")
_VERB_KEYS = ("command", "subcommand", "verb", "action", "operation", "operationname", "args", "arguments")
_SUBJECT_KEYS = ("resourcetype", "resource", "kind", "type", "name", "resourcename")
_FORGES = name_set("github gitlab bitbucket gitea forgejo")
_ENDING_VERBS = name_set("kill killall terminate stop end signal interrupt suspend abort")
_PROCESS_KEYS = name_set("pid pids process processid processids processnumber")
_MOST_IDS = 100
_FREE_TEXTS = name_set("title body description message text content thought subject prompt comment summary")
_DATABASES = names("database_servers")
_DATABASE_VERBS = name_set("drop flushall flushdb flush truncate wipe reset")
_VAULTS = names("secret_servers")
_READING_VERBS = name_set("get read reveal show fetch export access retrieve lookup dump")
_LOCAL_SERVERS = names("local_servers")


def equivalent_commands(call: ToolCall) -> Iterator[tuple[str, ...]]:
    """Return commands that have the same effect as the tool call."""
    words, given = words_of(call.tool), call.input
    yield from _manager_command(words, given)
    if set(words) & _DATABASES and _empties_database(set(words), given):
        yield "dropdb", words[-1]
    if "upload" in words:
        yield from (("lftp", "-e", f"put {path}") for path in _texts_of(given) if path.startswith(("/", "~")))
    if {"redis", "valkey"} & set(words) and isinstance(line := given.get("command"), str):
        yield "redis-cli", *line.split()
    if {"docker", "podman", "nerdctl"} & set(words) and "run" in words:
        privileged = ["--privileged"] if given.get("privileged") is True else []
        yield "docker", "run", *privileged, *_options("-v", given.get("volumes")), *_options("", given.get("args"))
    if "git" in words[:3]:
        yield from _git(words, given)
    if _ENDING_VERBS & set(words_of(call.tool.rpartition("__")[2])):
        yield from (("kill", number) for number in _process_ids(given))


def _manager_command(words: tuple[str, ...], given: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    manager = next((_MANAGERS[word] for word in words if word in _MANAGERS), "")
    verb = next((word for word in words if word in _DELETES), "")
    if manager and words[-2:] in _RESETS:
        verb = "destroy"
    if manager and verb:
        yield manager, verb
    elif manager and (command := _deleting_command(given)):
        yield manager, *command
    elif manager == "kubectl" and "get" in words and given.get("output") not in ("name", "wide"):
        yield (
            manager,
            "get",
            *(str(given[key]).lower() for key in ("resourceType", "kind") if key in given),
            "-o",
            "yaml",
        )
    elif verb and set(words) & _FORGES and {"repository", "repo", "branch", "project", "release", "tag"} & set(words):
        yield "gh", "repo", "delete"


def applied_manifests(call: ToolCall) -> Iterator[str]:
    """Return the manifests that the tool gives to a cluster."""
    if "kubectl" in map(_MANAGERS.get, words_of(call.tool)):
        yield from (text for key in ("manifest", "resource", "yaml") if isinstance(text := call.input.get(key), str))


def _empties_database(words: set[str], given: Mapping[str, Any]) -> bool:
    is_mass = bool({"many", "all"} & words and words & (_DELETES | {"update"}))
    stages = given.get("pipeline")
    replaces = isinstance(stages, list) and any(isinstance(stage, dict) and "$out" in stage for stage in stages)
    return bool(_DATABASE_VERBS & words) or replaces or (is_mass and not _selects(given))


def _deleting_command(given: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the deleting command in the input of a tool that takes any command, with its subject."""
    texts = {
        plain_name(key): " ".join(map(str, text)) if isinstance(text, list) else text for key, text in given.items()
    }
    texts = {key: text for key, text in texts.items() if isinstance(text, str)}
    verb = next((texts[key] for key in _VERB_KEYS if _DELETES & set(words_of(texts.get(key, "")))), "")
    subjects = [texts[key] for key in _SUBJECT_KEYS if texts.get(key)]
    return (*verb.split(), *subjects) if verb else ()


def check_tool(call: ToolCall) -> Iterator[Finding]:
    """Return findings for tools that no command corresponds to."""
    words = words_of(call.tool)
    if _READING_VERBS & set(words) and (
        _VAULTS & set(words) or {"secret", "secrets", "password", "credentials"} & set(words)
    ):
        yield RULES["secret-stores"].ask(f"`{call.tool}` returns secrets", call.tool)
        return
    server, method = mcp_parts(call.tool)
    verbs = set(words_of(method))
    if set(words_of(server)) & _LOCAL_SERVERS or (_DATABASES & set(words) and _selects(call.input)):
        return
    if _DELETES & verbs:
        yield RULES["infrastructure"].ask(f"`{call.tool}` deletes a remote resource")
    elif _ENDS & verbs or (_REMOVES & verbs and _RESOURCES & verbs) or _sends_delete(call):
        yield RULES["infrastructure"].ask(f"`{call.tool}` changes something for others that cannot be taken back")
    elif _CHANGES_OTHERS.search(" ".join(words)) or (verbs & _LIVE_VERBS and _names_production(call.input)):
        yield RULES["exposure"].ask(f"`{call.tool}` changes what other people use")
    if set(words) & (_FORGES | {"unknown"}) and _opens_repository(verbs, call.input):
        yield RULES["exposure"].ask(f"`{call.tool}` gives others access, or takes a protection away")


_CHANGES_OTHERS = pattern("tools_that_change_what_others_use")
_LIVE_VERBS = names("verbs_that_go_live")
_PRODUCTION = pattern("names_production_or_all")


def _names_production(given: Mapping[str, Any]) -> bool:
    """Tell whether a short text in the input names production or many people, or a switch for it is on."""
    is_on = any(given.get(key) is True for key in ("prod", "production"))
    return is_on or any(len(text) < 120 and _PRODUCTION.search(text) for text in _texts_of(given))


def _texts_of(given: Mapping[str, Any]) -> list[str]:
    return [text for row, _above in rows_of(given) for key, text in row if key not in _FREE_TEXTS]


def _sends_delete(call: ToolCall) -> bool:
    """Tell whether a tool that takes any request is given one that deletes, or is told to destroy."""
    named = {plain_name(key): value for key, value in call.input.items()}
    if str(named.get("method", "")).upper() == "DELETE" or any(named.get(key) is True for key in _DELETES):
        return True
    inner = [call.input, *(each for each in call.input.values() if isinstance(each, Mapping))]
    verbs = (set(words_of(str(each[key]))) for each in inner for key in _VERB_KEYS if key in each)
    return any(words & _DELETES and words & _RESOURCES for words in verbs)


def _opens_repository(verbs: set[str], given: Mapping[str, Any]) -> bool:
    if "read" in verbs or "get" in verbs or "list" in verbs:
        return False
    is_opened = given.get("visibility") == "public" or given.get("private") is False
    return (is_opened and bool(verbs & {"update", "edit", "set", "create"})) or bool(
        verbs & {"collaborator", "protection"}
    )


def split_notebook_cell(source: str) -> tuple[str, str]:
    """Return the shell lines of a notebook cell, and the other lines."""
    if re.match(r"\s*%%(?:bash|sh|script)\b", source):
        return source.split("\n", 1)[-1], ""
    shell = "\n".join(line.lstrip()[1:] for line in source.split("\n") if _SHELL_LINE.match(line))
    return shell, "\n".join(line for line in source.split("\n") if not re.match(r"\s*[!%]", line))


_SHELL_LINE = lazy_regex(r"\s*!")
_GIT_VERBS = name_set("reset push clean checkout branch stash restore rebase tag reflog gc rm")


def _git(words: tuple[str, ...], given: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    verb = next((word for word in words if word in _GIT_VERBS), "")
    true = [key.replace("_", "-") for key, value in given.items() if value is True]
    flags = [f"-{key}" if len(key) == 1 else f"--{key}" for key in true]
    modes = [f"--{value}" for key, value in given.items() if key == "mode" and isinstance(value, str)]
    actions = [value for key, value in given.items() if key in ("action", "operation") and isinstance(value, str)]
    flags += [f"--{word}" for word in ("hard", "force") if word in words]
    if verb == "branch" and "delete" in actions:
        flags.append("-D")
    if verb:
        yield "git", verb, *flags, *modes, *actions


def _options(name: str, values: Any) -> Iterator[str]:
    """Return the texts of a list as words, each behind an option if there is a name."""
    for value in values if isinstance(values, list) else ():
        yield from filter(None, (name, str(value)))


def _process_ids(given: Mapping[str, Any]) -> Iterator[str]:
    """Return the process ids in the input."""
    for key, value in given.items():
        if plain_name(str(key)) in _PROCESS_KEYS:
            each = value if isinstance(value, list) else [value]
            yield from (str(number).strip() for number in each[:_MOST_IDS] if isinstance(number, int | str))


def _selects(given: Mapping[str, Any]) -> bool:
    selectors = [given.get(key) for key in ("filter", "query", "where", "ids", "id", "selector")]
    return any(selectors) and not any(isinstance(each, dict) and "match_all" in each for each in selectors)
