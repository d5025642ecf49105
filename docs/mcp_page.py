"""The page on the MCP server, from its tools."""

from introspection import page, table

from snell.operations.declaration import Operation
from snell.operations.mcp.tools import input_schema, tools

INTRODUCTION = """\
Every client that speaks MCP can remember, recall and ask why. A client without hooks gets the server with its set-up;
for one with hooks, such as Claude Code, ask for it:

```
snell setup claude-code --include-mcp
```

To configure it by hand, use this command in any client:

```
snell mcp
```

The server runs in the daemon, so a second client costs nothing and the first answer comes after a few milliseconds. It
needs the extra `mcp`; without it, set-up, `snell doctor` and the server say what to install. It supports all versions
of the protocol, those that begin with a handshake and the one of 2026 that does not.

A call without a project is about the project in whose folder the client was started; `*` means all projects. Answers
are structured, each with its schema. A refused call returns an error that says what to do.

An agent has fewer rights than a person. It exports to and imports from plain files in its own folder only; it imports,
deletes, renames, decays and consolidates memories in its own project only; `setup_hooks` shows configuration and writes
none. A null argument counts as absent. An invalid message is answered with an error, and the session goes on.

A client without hooks of its own asks them with `ask_hooks`: before a tool call whether it may run, with a prompt what
there is to know. With `agent_id` a coordinator gets the signals of its agents; notes of slow hooks come with the next
event of the session.

**Resources**: `snell://memories`, `snell://memories/{id}`, `snell://sessions/last`, `snell://sessions/{id}`.
**Prompts**: `recall` (what is known about a topic), `summarise` (store what this session learned)."""

WORDS = {"reads": "reads", "writes": "changes", "destroys": "deletes"}


def mcp_server() -> str:
    rows = ((f"`{tool.tool}`", WORDS[tool.permission], _takes(tool), tool.summary) for tool in tools())
    return page("MCP server", INTRODUCTION, "## Tools", table(("tool", "it", "takes", "what it does"), rows))


def _takes(tool: Operation) -> str:
    """Return the arguments, required ones in bold; `agent_id`, which every tool takes, is left out."""
    schema = input_schema(tool)
    needed = schema.get("required", [])
    names = sorted((name for name in schema["properties"] if name != "agent_id"), key=lambda name: name not in needed)
    return ", ".join(f"**{name}**" if name in needed else _optional(name, schema) for name in names) or "-"


def _optional(name: str, schema: dict[str, dict[str, dict[str, object]]]) -> str:
    default = schema["properties"][name].get("default")
    return name if default in (None, "", [], {}) else f"{name} = {default}"
