"""Forms of replies that several clients take."""

from typing import Any

from snell.clients.protocol.table import Form, Slot


def specific(**fields: Any) -> Form:
    """Return a form with fields inside `hookSpecificOutput`, under the client's own name of the event."""
    return Form(json={"hookSpecificOutput": {"hookEventName": Slot.EVENT, **fields}})


def flat(**fields: Any) -> Form:
    """Return a form with fields at the top of the JSON object."""
    return Form(json=fields)


PERMISSION_DENY = specific(permissionDecision="deny", permissionDecisionReason=Slot.REASON)
PERMISSION_ASK = specific(permissionDecision="ask", permissionDecisionReason=Slot.REASON)
PERMISSION_ALLOW = specific(permissionDecision="allow", permissionDecisionReason=Slot.REASON)
UPDATED_INPUT = specific(updatedInput=Slot.INPUT)
ALLOWED_INPUT = specific(permissionDecision="allow", updatedInput=Slot.INPUT)
DIALOG_DENY = specific(decision={"behavior": "deny", "message": Slot.REASON})
DIALOG_ALLOW = specific(decision={"behavior": "allow"})
CONTEXT = specific(additionalContext=Slot.NOTE)
FLAT_CONTEXT = flat(additionalContext=Slot.NOTE)
BLOCK = flat(decision="block", reason=Slot.REASON)
DECISION_DENY = flat(decision="deny", reason=Slot.REASON)
DECISION_ASK = flat(decision="ask", reason=Slot.REASON)
DECISION_ALLOW = flat(decision="allow")
HALT = flat(**{"continue": False, "stopReason": Slot.STOP})
MESSAGE = flat(systemMessage=Slot.TELL)
EXIT_2 = Form(stderr=Slot.REASON, exit_code=2)
PLAIN_NOTE = Form(text=Slot.NOTE)
EMPTY_OBJECT = Form(json={})
