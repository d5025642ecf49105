"""The page on all operations, from their declarations."""

from introspection import page, table

from snell.operations import all_operations
from snell.operations.declaration import OF_CALLER, Operation, Parameter

INTRODUCTION = """\
Every operation is declared once, in `src/snell/operations`. A program calls it through the daemon's socket: one JSON
object per line in, one per line out.

```
{"cmd": "effort.list", "args": {"active": true}, "env": {"CWD": "/home/me/project"}}
{"ok": true, "data": [...]}
{"ok": false, "error": "VALIDATION_ERROR", "message": "...", "details": {"issues": ["activ: unknown argument; ..."]}}
```

Of `env`, these are read: `CWD`, `AGENT_ID`, `CLAUDE_PLUGIN_ROOT`, `AGENT_CLAIMS`, `AGENT_TARGETED_CLAIMS`,
`AGENT_MANAGES`, `AGENT_PARENT`, `SNELL_SUPERVISOR`, `TMUX`, `TMUX_PANE`. Arguments in bold are required; null counts as
absent. Those of `hooks.*` are the payload of the event."""


def operations() -> str:
    rows = (
        (f"`{each.name}`", each.permission, _takes(each), _callers(each), each.summary) for each in all_operations()
    )
    return page("Operations", INTRODUCTION, table(("operation", "it", "takes", "also as", "what it does"), rows))


def _takes(each: Operation) -> str:
    if each.is_open:
        return "the payload"
    shown = [parameter for parameter in each.parameters if parameter.name not in OF_CALLER]
    return ", ".join(_argument(each, parameter) for parameter in shown) or "-"


def _argument(operation: Operation, each: Parameter) -> str:
    name = operation.spell(each.name)
    if each.is_required:
        return f"**{name}**"
    return name if each.default in (None, "", ()) else f"{name} = {each.default}"


def _callers(each: Operation) -> str:
    names = (f"`snell {each.verb}`" if each.verb else "", f"tool `{each.tool}`" if each.tool else "")
    return ", ".join(filter(None, names)) or "-"
