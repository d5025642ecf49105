"""The page on the MCP server, from its tools."""

from introspection import page, table

from snell.operations.mcp.tools import TOOLS, McpTool, input_schema

INTRODUCTION = """\
Every client that speaks MCP can remember, recall and ask why. A client without hooks gets the server with its set-up;
for one with hooks, such as Claude Code, ask for it:

```
snell setup claude-code --include-mcp
```

By hand it is this command, which every client takes:

```
snell mcp
```

The server lives in the daemon, so a second client costs nothing and the first answer comes after a few milliseconds.
It needs the extra `mcp`; without it, set-up, `snell doctor` and the server tell what to install. It speaks all versions
of the protocol, those that begin with a handshake and the one of 2026 that does not.

A call that names no project is about the one in whose folder the client was started; `*` means all of them. Answers
are structured, each with its schema. What a tool refuses comes back as an error that says what to do.

An agent may do less than a person. It exports to and imports from plain files in the folder it works in; it imports,
deletes and renames namespaces, lets memories fade and joins them in its own project alone; `setup_hooks` shows
configuration and writes none. An argument that is null counts as not given. A line that is no message is answered with
an error, and the session goes on.

**Resources**: `snell://memories`, `snell://memories/{id}`, `snell://sessions/last`, `snell://sessions/{id}`.
**Prompts**: `recall` (what is known about a topic), `summarise` (what this session taught, kept for the next one)."""

WORDS = {"reads": "looks", "writes": "changes", "destroys": "deletes"}


def mcp_server() -> str:
    rows = ((f"`{tool.name}`", WORDS[tool.effect], _takes(tool), tool.says) for tool in TOOLS)
    return page("MCP server", INTRODUCTION, "## Tools", table(("tool", "it", "takes", "what it does"), rows))


def _takes(tool: McpTool) -> str:
    """The arguments, those that must be there in bold; `agent_id` goes everywhere."""
    schema = input_schema(tool)
    needed = schema.get("required", [])
    names = sorted((name for name in schema["properties"] if name != "agent_id"), key=lambda name: name not in needed)
    return ", ".join(f"**{name}**" if name in needed else _optional(name, schema) for name in names) or "-"


def _optional(name: str, schema: dict[str, dict[str, dict[str, object]]]) -> str:
    default = schema["properties"][name].get("default")
    return name if default in (None, "", [], {}) else f"{name} = {default}"
