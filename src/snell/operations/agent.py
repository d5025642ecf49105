"""Operations on files for agents: directives, skills, and the transcript as messages."""

from pathlib import Path

from snell.operations.work import database_of, reading
from snell.redact import redact_data
from snell.runtime.app import Runtime
from snell.system.files import FileError, read_capped
from snell.work import directives, skill_files, transcript_import
from snell.work.errors import WorkError
from snell.work.rows import Record

LARGEST = 1_000_000


def discover(
    runtime: Runtime, cwd: str, directories: list[str] | None = None, extra: list[str] | None = None
) -> list[Record]:
    return directives.discover(directories or [cwd], cwd, extra or ())


def resolve(runtime: Runtime, cwd: str, name: str, directory: str | None = None) -> Record:
    return {"path": directives.resolve(name, directory or cwd, cwd)}


def dereference(runtime: Runtime, cwd: str, references: list[str], directory: str | None = None) -> list[Record]:
    return directives.dereference(references, directory or cwd, cwd)


def parse_skill(runtime: Runtime, cwd: str, path: str) -> Record:
    """Parse a skill's file: its front matter, phases and templates."""
    try:
        text = read_capped(Path(path), LARGEST).decode("utf-8", "replace")
    except FileNotFoundError:
        raise WorkError("FS_NOT_FOUND", f"`{path}` does not exist") from None
    except (OSError, FileError) as error:
        raise WorkError("PARSE_ERROR", f"`{path}` cannot be read: {error}") from None
    return skill_files.parse_skill(text, path)


def list_skills(runtime: Runtime, cwd: str) -> list[Record]:
    return skill_files.list_skills(cwd)


def ingest(runtime: Runtime, cwd: str, session_id: int, path: str | None = None) -> Record:
    """Update the messages of a session from its transcript."""

    return transcript_import.ingest(database_of(runtime), session_id, path, redact_data)


COMMANDS = {
    "agent.directives.discover": reading(discover),
    "agent.directives.resolve": reading(resolve),
    "agent.directives.dereference": reading(dereference),
    "agent.skills.parse": reading(parse_skill),
    "agent.skills.list": reading(list_skills),
    "agent.messages.ingest": reading(ingest),
}
