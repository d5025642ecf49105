"""What the work layer's answers sound like: as text for the model, and as a client's hook output."""

from collections.abc import Callable
from typing import Any

from snell.work.rows import Record

MORE = "Read these files first: "


def session_start_text(said: Record) -> str:
    """The context line, what the last window left, and the files to read."""
    files = list(dict.fromkeys([*said.get("requiredFiles", ()), *said.get("filesToPreload", ())]))
    parts = [said.get("sessionContext"), said.get("recovery"), f"{MORE}{', '.join(files)}." if files else ""]
    return "\n\n".join(part for part in parts if part)


def injection_texts(waiting: list[Any]) -> list[str]:
    """Pending injections as blocks of text."""
    contents = (each.get("content") if isinstance(each, dict) else each for each in waiting)
    return [text for text in contents if isinstance(text, str) and text]


def found_directives(paths: list[str]) -> str:
    return f"Rules that count here: {', '.join(paths)}. Read them before you go on." if paths else ""


def output_of(event: str, said: Record) -> Record:
    """The same as `hookSpecificOutput`, where there is something to say."""
    if event == "PreToolUse" and not said.get("allow", True):
        return _output(event, permissionDecision="deny", permissionDecisionReason=said.get("reason", ""))
    speak: dict[str, Callable[[Record], str]] = {
        "SessionStart": session_start_text,
        "UserPromptSubmit": lambda each: str(each.get("sessionContext", "")),
        "PreToolUse": lambda each: "\n\n".join(each.get("notes", ())),
        "PostToolUse": lambda each: "\n\n".join(injection_texts(each.get("pendingInjections", []))),
    }
    text = speak[event](said) if event in speak else ""
    return _output(event, additionalContext=text) if text else {}


def _output(event: str, **fields: str) -> Record:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}
