"""Operations on files for agents: directives, skills, and the transcript as messages."""

from pathlib import Path

from snell.operations.declaration import Call, operation
from snell.redact import redact_data
from snell.system.files import FileError, read_capped
from snell.work import directives, messages, skill_files
from snell.work.errors import WorkError
from snell.work.rows import Record

LARGEST = 1_000_000


@operation("agent.directives.discover")
def discover(
    call: Call, cwd: str, directories: list[str] | None = None, extra: list[str] | None = None
) -> list[Record]:
    """Find the directive files of directories."""
    return directives.discover(directories or [cwd], cwd, extra or ())


@operation("agent.directives.resolve")
def resolve(call: Call, cwd: str, name: str, directory: str | None = None) -> Record:
    """Return the path of a directive file."""
    return {"path": directives.resolve(name, directory or cwd, cwd)}


@operation("agent.directives.dereference")
def dereference(call: Call, cwd: str, references: list[str], directory: str | None = None) -> list[Record]:
    """Return the files that directives refer to."""
    return directives.dereference(references, directory or cwd, cwd)


@operation("agent.skills.parse")
def parse_skill(call: Call, path: str) -> Record:
    """Parse a skill's file: its front matter, phases and templates."""
    try:
        text = read_capped(Path(path), LARGEST).decode("utf-8", "replace")
    except FileNotFoundError:
        raise WorkError("FS_NOT_FOUND", f"`{path}` does not exist") from None
    except (OSError, FileError) as error:
        raise WorkError("PARSE_ERROR", f"`{path}` cannot be read: {error}") from None
    return skill_files.parse_skill(text, path)


@operation("agent.skills.list")
def list_skills(call: Call, cwd: str) -> list[Record]:
    """List the skills of a directory."""
    return skill_files.list_skills(cwd)


@operation("agent.messages.ingest", permission="writes")
def ingest(call: Call, session_id: int, path: str | None = None) -> Record:
    """Update the messages of a session from its transcript."""
    return messages.ingest(call.database, session_id, path, redact_data)
