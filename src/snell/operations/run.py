"""Small operations: the supervisor of `snell run`, a session's context usage, held and denied calls, set-up."""

from pathlib import Path
from typing import Annotated

from msgspec import Meta, to_builtins

from snell.model.protocols import Transaction
from snell.operations import results
from snell.operations.declaration import Answer, Call, about, operation
from snell.packs.guard.one_time_allow import last_denied
from snell.records import claims, ledger, lost_ledger, resume
from snell.system.wall_clock import now_ms

Text = Annotated[str, Meta(min_length=1)]
Figure = Annotated[float, Meta(ge=0)] | None
USAGE = "context_usage"


@operation("run.poll", permission="writes")
def poll(call: Call, run: Text) -> Answer:
    """Return the requested restart of a run, once, and its last session."""
    scope, store = f"supervisor:{run}", call.runtime.store
    restart, session = store.get(scope, "restart"), store.get(scope, "session")
    if restart:
        store.drop(scope, "restart")
        store.put(scope, "replaced", session.get("id") if isinstance(session, dict) else None)
    return {"restart": restart, "session": session}


@operation("run.forget", permission="writes")
def forget(call: Call, run: Text) -> Answer:
    """Delete the state of a run that has ended."""
    call.runtime.store.drop(f"supervisor:{run}")
    return {}


@operation("context.usage", permission="writes")
def usage(
    call: Call, session_id: Text, used_percent: Figure = None, tokens: Figure = None, window: Figure = None
) -> Answer:
    """Store how full a session's context is, if it is given, for hooks that warn or restart; return what is stored."""
    figures = {"used_percent": used_percent, "tokens": tokens, "window": window}
    given = {name: value for name, value in figures.items() if value is not None}
    scope = f"session:{session_id}"
    if given:
        call.runtime.store.put(scope, USAGE, given)
    return {"session_id": session_id, **(call.runtime.store.get(scope, USAGE) or {})}


@operation("guard.denied")
def last_denied_command(call: Call) -> Answer:
    """Return the command that the guard denied last. No operation allows it; only `snell allow` at a terminal does."""
    return dict(last_denied(call.runtime.store) or {})


@operation("ledger.release", permission="writes", person=True)
def release(call: Call, id_: Annotated[str, about("the call, or `lost`")] = "") -> Answer:
    """Release a tool call that holds its idempotency key, so that it can be repeated."""
    return call.database.run(lambda tx: _release(tx, id_, call))


def _release(tx: Transaction, wanted: str, call: Call) -> Answer:
    if wanted == "lost":
        return {"id": wanted, "released": lost_ledger.acknowledge_loss(tx)}
    held_call = ledger.find_one(tx, wanted)
    held = claims.holder(tx, held_call.run_id, held_call.idempotency_key)
    is_held = held is not None and held.tool_call_id == held_call.tool_call_id
    resume.give_up(tx, held_call, now_ms(), "released")
    if is_held and call.runtime.audit_log:
        call.runtime.audit_log.note_release(tx, held_call.tool_call_id)
    return {"id": held_call.tool_call_id, "released": is_held}


@operation("setup.show", tool="setup_hooks", gives=results.SetupResult)
def show_setup(
    call: Call,
    client: str = "claude-code",
    python_path: Annotated[str, about("not needed, ignored")] = "",
    include_session_start: bool = True,
    include_mcp_config: bool = True,
) -> Answer:
    """Show a client's set-up: hooks, MCP server, rules. Nothing is written; a person runs `snell setup` for that."""
    from snell.setup.plan import Site, generate  # slow to import

    site = Site.here(call.runtime.env, Path(call.cwd or "/"))
    found = generate(
        client, site=site, include_session_start=include_session_start, include_mcp_config=include_mcp_config
    )
    how = f"a person runs `snell setup {found['client']}` in a terminal; an agent cannot"
    return {**to_builtins(found), "how": how}
