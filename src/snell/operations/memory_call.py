"""What the operations on memories share: their arguments, the project of a call, and what an agent may not do."""

import os
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Meta

from snell.memory.types import ANY, NotRememberedError
from snell.model.errors import SnellError
from snell.operations.declaration import Call, about, operation

if TYPE_CHECKING:
    from snell.memory.service import Memories

Share = Annotated[float, Meta(ge=0, le=1)]
Limit = Annotated[int, about("the maximum number", ge=1, le=100)]
Steps = Annotated[int, about("the maximum number of steps", option="limit", ge=1, le=20)]
MemoryId = Annotated[str, about("the id that `remember` or `recall` returned", word=True, min_length=1, max_length=200)]
MemoryIds = Annotated[list[str], about("the ids of the memories", word=True, min_length=1, max_length=1_000)]
Content = Annotated[str, about("one fact, with its reason; 100,000 characters at most", rest=True, stdin="the text")]
Words = Annotated[str, about("what to search for", rest=True, min_length=1)]
Namespace = Annotated[str, about("a letter, then letters, digits, `_` and `-`, 63 at most")]
NamespaceWord = Annotated[str, about("the namespace", word=True)]
Project = Annotated[str, about("default: the current one; `*`: all projects", max_length=1_024)]
DryRun = Annotated[bool, about("only return what would change")]
Format = Annotated[Literal["", "json", "csv", "parquet"], about("of the file (default: by its name)")]
File = Annotated[str, about("the file; relative to the folder you work in", word=True, min_length=1)]
Tags = Annotated[tuple[str, ...], about("a tag; can be repeated", option="tag")]
Metadata = Annotated[dict[str, Any], about("more data, as JSON")]

memory_operation = partial(operation, slow=True)


def memories_of(call: Call) -> "Memories":
    """Return the memories of the runtime; those of a project that was moved have followed it."""
    from snell.memory.service import memories_of

    memories = memories_of(call.runtime)
    memories.follow_rename(call.cwd)
    return memories


def project_of_call(call: Call, named: str) -> str:
    from snell.memory.project_identity import project_of

    return named or project_of(call.cwd)


def project_for_new(call: Call, named: str) -> str:
    if named == ANY:
        raise NotRememberedError("`*` is not a project for a new memory", advice="name one, or leave out `project`")
    return project_of_call(call, named)


def own_project(call: Call, named: str, tool: str) -> str:
    """
    Return the project whose memories a call may change.

    INVARIANT: instructions in a repository cannot make an agent change memories of other projects.
    """
    if call.is_agent and named not in ("", project_of_call(call, "")):
        advice = "a person can, with `snell memory`"
        raise SnellError(f"`{tool}` works on the project you are in, not on `{named[:200]}`", advice=advice)
    return project_of_call(call, named)


def valid_namespace(namespace: str) -> str:
    """Return the name of a namespace, if one is given. Raises NotRememberedError."""
    from snell.memory.validation import check_namespace

    return check_namespace(namespace) if namespace else ""


def check_own(call: Call, ids: list[str], advice: str = "a person can change it, with `snell memory`") -> None:
    """Raise NotRememberedError if an agent names a memory of another project: a recall in all projects returns ids."""
    from snell.memory import rows

    if call.is_agent:
        own = project_of_call(call, "")
        found = memories_of(call).read(lambda tx: rows.get_many(tx, ids)).values()
        if foreign := next((memory for memory in found if memory.project != own), None):
            raise NotRememberedError(f"memory `{foreign.id}` belongs to another project", advice=advice)


def path_of(call: Call, path: str) -> str:
    """Return the absolute path of a file; an agent's must be in its folder, since the daemon has more rights."""
    if not call.is_agent:
        return os.path.join(call.cwd, os.path.expanduser(path))
    if not call.cwd or "\0" in path:
        raise SnellError(f"`{path[:200]}` cannot be used", advice="start the client in the project's folder")
    root, absolute = os.path.realpath(call.cwd), os.path.realpath(os.path.join(call.cwd, path))
    inner = os.path.relpath(absolute, root)
    if os.path.isabs(inner) or any(part.startswith(".") for part in inner.split(os.sep)):
        where = f"`{path[:200]}` is not a plain file in `{root}`"
        raise SnellError(where, advice="name a file there, or let a person run `snell memory`")
    return absolute
