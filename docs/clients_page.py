"""The page on clients: what each can do, the names of its events and tools, and its quirks."""

from introspection import page, table

from snell.clients import CLIENTS, client_named
from snell.clients.protocol.table import Answers, ClientTable
from snell.model.catalogue import CATALOGUE
from snell.model.protocols import Client, tier_of

CAN = ("deny", "ask", "rewrite", "output", "note", "stop", "prompt_block", "mcp", "rules")
SAYS = ("deny", "ask", "allow", "rewrite", "note", "stop", "tell", "env")


def clients() -> str:
    modules = [client_named(name) for name in CLIENTS]
    order = sorted(modules, key=lambda client: (tier_of(client.capabilities), client.title.lower()))
    columns = ("client", "name", "tier", *(word.replace("_", " ") for word in CAN))
    return page(
        "Clients",
        "Tier 1 clients call hooks with Claude Code's own events, tier 2 clients through a translation or a "
        "plugin; tier 3 "
        "clients have no hooks and are reached by MCP and a rules file. `output` replaces the result of a tool, "
        "`note` adds text for the model, "
        "`stop` keeps the agent working, "
        "`prompt block` refuses a prompt.",
        table(columns, map(_row, order)),
        "What a client cannot do is replaced by the nearest stricter answer: an ask becomes a refusal that "
        "says what to "
        "do, a rewrite becomes a refusal that shows the corrected call, a note waits for the next event that can carry "
        "it. After a tool has run it cannot be refused; there a refusal becomes a note.",
        *(_section(client) for client in order),
    )


def _row(client: Client) -> tuple[str, ...]:
    can = client.capabilities
    return (
        client.title,
        f"`{client.name}`",
        str(tier_of(can)),
        *("yes" if getattr(can, name) else "-" for name in CAN),
    )


def _section(client: Client) -> str:
    names = ", ".join(f"`{alias}`" for alias in CLIENTS[client.name])
    parts = [f"## {client.title}\n\n{' '.join(client.about.split())}"]
    parts += [f"Also called {names}."] if names else []
    described = client.table
    if isinstance(described, ClientTable):
        parts.append(table(("event", "Snell's name", "answers that it accepts"), _events(described)))
        tools = ((f"`{theirs}`", f"`{tool.name}`") for theirs, tool in described.tools.items())
        parts.append(table(("tool", "in Claude Code"), tools))
    elif client.name == "claude_code":
        rows = ((f"`{row.name}`", ", ".join(sorted(row.can)) or "-") for row in CATALOGUE.values())
        parts.append(table(("event", "answers that it accepts"), rows))
    if client.quirks:
        parts.append(table(("quirk", "source"), ((quirk.text, quirk.source) for quirk in client.quirks)))
    return "\n\n".join(part.strip() for part in parts)


def _events(described: ClientTable) -> list[tuple[str, str, str]]:
    """Return the client's name of each event, Snell's name, and the answers that it accepts."""
    rows = [
        (theirs, ours, _said(described.answers.get(theirs) or described.answers[ours]))
        for theirs, ours in _names(described)
    ]
    return [(f"`{theirs}`", f"`{ours}`", said) for theirs, ours, said in rows]


def _names(described: ClientTable) -> list[tuple[str, str]]:
    known = [(theirs, ours) for theirs, ours in described.events.items() if ours in described.answers]
    translated = {ours for _, ours in known}
    same = [(name, name) for name in described.answers if name in CATALOGUE and name not in translated]
    return [*known, *same]


def _said(answers: Answers) -> str:
    return ", ".join(word for word in SAYS if getattr(answers, word) is not None) or "-"
