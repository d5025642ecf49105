"""Say in the client, once per session, that the installed code is not what was installed; and record it."""

import asyncio
import contextlib

from snell.model.context import Context
from snell.model.effects import Tell
from snell.model.errors import StoreError
from snell.model.events import Event, session_scope
from snell.model.hooks import Scope
from snell.runtime.app import Runtime
from snell.runtime.context import new_id
from snell.runtime.database_journal import StoreJournal
from snell.sdk.decorators import informs
from snell.system.installed_code import ChangedCodeError, check_code
from snell.system.version import SETTLED

TOLD = "tripwire/told"


async def find_changed_code(runtime: Runtime) -> ChangedCodeError | None:
    """Compare the installed code in the background; record a difference, and let a hook tell it."""
    if (await asyncio.to_thread(check_code)).error is None:
        return None
    await asyncio.sleep(SETTLED)  # an installation may be going on
    error = (await asyncio.to_thread(check_code)).error
    if error:
        _report(runtime, error)
    return error


def _report(runtime: Runtime, error: ChangedCodeError) -> None:
    text = f"snell: {error}"

    @informs("SessionStart", "UserPromptSubmit", "PreToolUse")
    def changed_code_warning(event: Event, context: Context) -> Tell | None:
        """Warn the user once per session."""
        if context.marks.get(session_scope(event), TOLD):
            return None
        context.marks.put(session_scope(event), TOLD, True)
        return Tell(text)

    runtime.register(changed_code_warning, scope=Scope.POLICY, group=TOLD)
    if isinstance(runtime.journal, StoreJournal):
        with contextlib.suppress(StoreError):
            record = {
                "id": new_id(),
                "client": "snell",
                "event": "ChangedCode",
                "verdict": "no_opinion",
                "merge": [text],
            }
            runtime.journal.record(record)
