"""Operations on single rows of the work tables, such as `db.effort.start`."""

from collections.abc import Callable, Mapping
from typing import Any

from snell.operations.sync import sync_around
from snell.operations.work import in_transaction
from snell.work import agents, efforts, messages, phases, projects, sessions, skills, tasks

_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "project.upsert": projects.upsert,
    "project.find": projects.find,
    "task.upsert": tasks.upsert,
    "task.find": tasks.find,
    "task.list": tasks.list_,
    "effort.start": efforts.start,
    "effort.finish": efforts.finish,
    "effort.get": efforts.get,
    "effort.list": efforts.list_,
    "effort.findActive": efforts.find_active,
    "effort.getMetadata": efforts.get_metadata,
    "effort.updateMetadata": efforts.update_metadata,
    "effort.phase": phases.change,
    "effort.phaseHistory": phases.history,
    "session.start": sessions.start,
    "session.finish": sessions.finish,
    "session.get": sessions.get,
    "session.find": sessions.find,
    "session.list": sessions.list_,
    "session.heartbeat": sessions.heartbeat,
    "session.updateContextUsage": sessions.update_context_usage,
    "session.updateLoadedFiles": sessions.update_loaded_files,
    "session.updatePreloadedFiles": sessions.update_preloaded_files,
    "session.setTranscript": sessions.set_transcript,
    "session.getInjections": sessions.get_injections,
    "session.updateInjections": sessions.update_injections,
    "agents.register": agents.register,
    "agents.get": agents.get,
    "agents.list": agents.list_,
    "agents.findByEffort": agents.find_by_effort,
    "agents.updateStatus": agents.update_status,
    "agents.fleet": agents.fleet,
    "messages.append": messages.append,
    "messages.list": messages.list_,
    "messages.upsert": messages.upsert,
    "skills.upsert": skills.upsert,
    "skills.get": skills.get,
    "skills.list": skills.list_,
    "skills.find": skills.find,
    "skills.delete": skills.delete,
}

COMMANDS = {
    **{f"db.{name}": in_transaction(function) for name, function in _FUNCTIONS.items()},
    "db.effort.start": sync_around(in_transaction(efforts.start), lambda effort: effort),
}
