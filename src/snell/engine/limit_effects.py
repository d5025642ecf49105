"""
Reduces an outcome to the effects that the hook's role and the event allow.

Nothing is dropped silently: an effect that the role does not have is a failure, one that the event cannot express
becomes the nearest stricter effect or a remark in the trace.
"""

from collections.abc import Callable
from itertools import filterfalse
from typing import Any

from msgspec.structs import replace

from snell.engine.match import fits_only_as_shell
from snell.engine.record import effect_in_words
from snell.model.catalogue import NEVER_BLOCKED_BY_FAILURE
from snell.model.decision import OBSERVED, Failure, Outcome
from snell.model.effects import (
    EFFECT_TYPES,
    Allow,
    Ask,
    Defer,
    Deny,
    Effect,
    Env,
    Extra,
    Judgement,
    Remark,
    Rewrite,
    Stop,
    Tell,
)
from snell.model.events import DEEPEST, TOO_DEEP, Event, json_equal, nests_deeper_than
from snell.model.hooks import Hook, Scope, Switches
from snell.model.protocols import Validate

ROLE_EFFECTS: dict[str, frozenset[str]] = {
    "rewrites": frozenset({"rewrite", "note", "tell", "remark"}),
    "judges": frozenset({"allow", "ask", "defer", "deny", "note", "tell", "remark", "stop"}),
    "informs": frozenset({"note", "tell", "remark", "env", "extra"}),
    "watches": frozenset(),
}


def limit_effects(hook: Hook, event: Event, outcome: Outcome, switches: Switches, validate: Validate | None) -> Outcome:
    """Return the outcome with only the allowed effects, and with a failure for the others."""
    kept: list[Effect] = []
    remarks: list[str] = []
    failure = outcome.failure
    refused = False
    for given in outcome.effects:
        effect: Effect = _deny_instead_of_stop(hook, event, given)
        wrong = _role_forbids(hook, effect)
        if isinstance(effect, Rewrite) and not wrong:
            effect = _with_command_in_place(hook, event, effect)
            wrong = _wrong_rewrite(hook, event, effect, switches, validate)
        if wrong:
            failure = failure or wrong
        elif isinstance(effect, Remark):
            remarks.append(effect.text)
        elif isinstance(effect, Allow) and fits_only_as_shell(hook, event):
            why = f"the hook is for another kind of tool, which `{event.tool}` is only by its input"
            remarks.append(f"its allow is ignored: {why}")
        else:
            kept.extend(express_effect(effect, event, remarks.append))
        refused |= isinstance(effect, Rewrite) and (wrong is not None or _cannot_happen(effect, event))
    if refused and any(isinstance(effect, Allow) for effect in kept):
        kept = [effect for effect in kept if not isinstance(effect, Allow)]
        remarks.append("its allow is ignored: it was for a rewritten input that will not run")
    if switches.only_observe and hook.scope is not Scope.POLICY:
        remarks += [f"{OBSERVED}{effect_in_words(effect)}" for effect in filter(_intervenes, kept)]
        kept = list(filterfalse(_intervenes, kept))
    return replace(outcome, effects=tuple(kept), failure=failure, remarks=(*outcome.remarks, *remarks))


def _intervenes(effect: Effect) -> bool:
    """Return whether an effect decides about a call or changes it; an added text does neither."""
    is_answer = isinstance(effect, Extra) and effect.name in _ANSWERS
    return is_answer or isinstance(effect, Allow | Ask | Defer | Deny | Rewrite | Stop)


def _deny_instead_of_stop(hook: Hook, event: Event, effect: Effect) -> Effect:
    """Return a denial of the event in place of `continue: false`, for a hook whose every objection is one."""
    is_meant = isinstance(effect, Stop) and hook.exit_code_mode == "strict" and "deny" in event.row.can
    return Deny(effect.because) if isinstance(effect, Stop) and is_meant else effect


def rewrite_in(outcome: Outcome) -> Rewrite | None:
    """Return the rewrite of an outcome, if any."""
    return next((effect for effect in outcome.effects if isinstance(effect, Rewrite)), None)


def judgement_for(hook: Hook, event: Event, failure: Failure) -> Judgement | None:
    """Return what a failure of this hook means for the event, by its failure policy."""
    policy = hook.failure_policy
    can = event.row.can
    if policy == "allow" or event.name in NEVER_BLOCKED_BY_FAILURE or "deny" not in can:
        return None
    because = f"guard `{hook.id}` could not run: {failure.message}"
    if policy == "ask" and "ask" in can:
        return Ask(because)
    return Deny(because, instead="repair the guard, or ask the user to; `snell why` shows what happened")


def _role_forbids(hook: Hook, effect: Effect) -> Failure | None:
    if type(effect) not in EFFECT_TYPES:
        return Failure("effect", f"`{hook.id}` answered with `{type(effect).__name__}`, which is not an effect")
    if field := _wrong_field(effect):
        return Failure("effect", f"`{hook.id}` answered {type(effect).__name__} with a wrong `{field}`")
    allowed = ROLE_EFFECTS.get(hook.role or "")
    name = type(effect).__name__
    if allowed is None or name.lower() in allowed:
        return None
    role = next(role for role in ("informs", "rewrites", "judges") if name.lower() in ROLE_EFFECTS[role])
    declared = f"@{role}" if hook.handler.kind == "python" else f'role = "{role}"'
    return Failure("effect", f"`{hook.id}` {hook.role}, so it cannot answer {name}; declare it with {declared}")


def _with_command_in_place(hook: Hook, event: Event, rewrite: Rewrite) -> Effect:
    """
    Put a changed `command` into the field that holds the command line of this tool, such as `cmd` or a list.

    Where there is no single such field the call is denied: it would run unchanged.
    """
    before, line = event.rewritable, event.command if event.row.rewrites == "tool_input" else ""
    after = rewrite.applied_to(before)
    if not line or not isinstance(before, dict) or not isinstance(after, dict) or before.get("command") == line:
        return rewrite
    changed = after.get("command")
    if not isinstance(changed, str) or changed == before.get("command"):
        return rewrite
    rest = {key: value for key, value in after.items() if key != "command"}
    rest |= {"command": before["command"]} if "command" in before else {}
    if changed == line:
        return Rewrite(rest, because=rewrite.because)
    placed = event.rewritten({**before, **rest}).with_command(changed)
    if placed is None:
        why = f"`{hook.id}` changes the command of `{event.tool}`, whose input has the command in several fields"
        return Deny(why, instead=f"call it with this command alone: {changed}")
    roots = {key for key, value in placed.items() if value != before.get(key)}
    return Rewrite(
        {key: value for key, value in placed.items() if key in rest or key in roots}, because=rewrite.because
    )


def _wrong_rewrite(
    hook: Hook, event: Event, effect: Effect, switches: Switches, validate: Validate | None
) -> Failure | None:
    if not isinstance(effect, Rewrite) or not event.row.rewrites:
        return None
    value = effect.applied_to(event.rewritable)
    if nests_deeper_than(DEEPEST, value):
        return Failure("rewrite", f"`{hook.id}` rewrote {event.row.rewrites} to something nested over {DEEPEST} levels")
    if json_equal(value, event.rewritable):
        return None
    if TOO_DEEP in event.flags:
        why = f"the event has over {DEEPEST} levels, and the hook saw the deeper ones only as text"
        return Failure("rewrite", f"`{hook.id}` may not rewrite {event.row.rewrites}: {why}")
    if switches.rewrites_from == "policy" and hook.scope is not Scope.POLICY:
        return Failure("rewrite", f'`{hook.id}` may not rewrite: rewrites_from = "policy"')
    if not isinstance(value, _REWRITABLE_TYPES.get(event.row.rewrites, object)):
        return Failure("rewrite", f"`{hook.id}` rewrote {event.row.rewrites} to {type(value).__name__}")
    is_input = event.row.rewrites == "tool_input"
    # The command line as `command`, where a client's shell has it in another field.
    whole = value if "command" in event.tool_input or not is_input else event.rewritten(value).readable_input
    if validate and is_input and (wrong := validate(event.tool, whole)):
        return Failure("rewrite", f"`{hook.id}` rewrote the input of {event.tool} wrongly: {'; '.join(wrong)}")
    return None


def express_effect(effect: Effect, event: Event, remark: Callable[[str], object] = str) -> tuple[Effect, ...]:
    """Return the effect as this event can express it: itself, the nearest stricter one, or nothing."""
    name = type(effect).__name__.lower()
    if isinstance(effect, Extra):
        if effect.name in event.row.extras or effect.name in _EVERYWHERE:
            return (effect,)
        remark(f"`{effect.name}` has no effect on {event.name or 'this event'}")
        return ()
    if name in event.row.can:
        if isinstance(effect, Rewrite) and json_equal(effect.applied_to(event.rewritable), event.rewritable):
            return ()
        return (effect,)
    if isinstance(effect, Ask | Defer) and "deny" in event.row.can:
        remark(f"{event.name} has no `{name}`, so `deny` is used instead")
        return (Deny(effect.because),)
    remark(f"{name} has no effect on {event.name or 'this event'}")
    return (Tell(effect.because),) if isinstance(effect, Deny) and effect.because and "tell" in event.row.can else ()


def _wrong_field(effect: Effect) -> str:
    """Return the field of an effect that has the wrong type; the types of hooks are not checked elsewhere."""
    if isinstance(effect, Env):
        given: Any = effect.variables
        texts = isinstance(given, dict) and all(isinstance(part, str) for pair in given.items() for part in pair)
        return "" if texts else "variables"
    texts_of = ("because", "instead", "text", "name")
    return next((name for name in texts_of if not isinstance(getattr(effect, name, ""), str)), "")


def _cannot_happen(rewrite: Rewrite, event: Event) -> bool:
    """Return whether a rewrite would change something on an event where nothing can be rewritten."""
    return "rewrite" not in event.row.can and not json_equal(rewrite.applied_to(event.rewritable), event.rewritable)


_REWRITABLE_TYPES: dict[str, Any] = {"tool_input": dict, "prompt": str, "delta": str}
_ANSWERS = frozenset({"action", "content", "interrupt", "retry", "suppressOriginalPrompt", "updatedPermissions"})
_EVERYWHERE = frozenset({"terminalSequence", "suppressOutput"})
