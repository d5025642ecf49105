"""Format the results of the work layer: as text for the model, and as a client's hook output."""

from collections.abc import Callable
from typing import Any

from snell.work.rows import Record

MORE = "Read these files first: "


def session_start_text(result: Record) -> str:
    """Return the context line, what the last window left, and the files to read."""
    files = list(dict.fromkeys([*result.get("requiredFiles", ()), *result.get("filesToPreload", ())]))
    parts = [result.get("sessionContext"), result.get("recovery"), f"{MORE}{', '.join(files)}." if files else ""]
    return "\n\n".join(part for part in parts if part)


def injection_texts(waiting: list[Any]) -> list[str]:
    """Return pending injections as texts."""
    contents = (each.get("content") if isinstance(each, dict) else each for each in waiting)
    return [text for text in contents if isinstance(text, str) and text]


def directives_text(paths: list[str]) -> str:
    """Return the sentence that names directive files which were found."""
    return f"Rules that apply here: {', '.join(paths)}. Read them before you go on." if paths else ""


def output_of(event: str, result: Record) -> Record:
    """Return the result as `hookSpecificOutput`; empty if there is no text."""
    if event == "PreToolUse" and not result.get("allow", True):
        return _output(event, permissionDecision="deny", permissionDecisionReason=result.get("reason", ""))
    formats: dict[str, Callable[[Record], str]] = {
        "SessionStart": session_start_text,
        "UserPromptSubmit": lambda each: str(each.get("sessionContext", "")),
        "PreToolUse": lambda each: "\n\n".join(each.get("notes", ())),
        "PostToolUse": lambda each: "\n\n".join(injection_texts(each.get("pendingInjections", []))),
    }
    text = formats[event](result) if event in formats else ""
    return _output(event, additionalContext=text) if text else {}


def _output(event: str, **fields: str) -> Record:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}
