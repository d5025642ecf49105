"""The page on writing hooks: decorators, arguments, effects, and what a command may answer."""

from collections.abc import Callable, Iterator

from field_words import words_for
from introspection import Field, fields_of, first_line, members_of, own_line, page, table

from snell.clients import CLIENTS, client_named
from snell.engine.limit_effects import ROLE_EFFECTS
from snell.model.catalogue import CATALOGUE
from snell.model.effects import EFFECT_TYPES, Rewrite
from snell.model.events import Event
from snell.model.installs import Install
from snell.model.tools import ALL_KINDS
from snell.sdk import decorators
from snell.sdk.decorators import SUPPLIES, Declaration
from snell.sdk.subjects import ToolCall
from snell.settings.skill_folders import PLACES
from snell.shell.command_line import Command, CommandLine, Redirect
from snell.usage.figures import Usage


def hooks() -> str:
    parts = (*_decorators(), *_arguments(), *_shell(), *_effects(), RUNNING, *_commands(), *_skills())
    return page("Writing hooks", INTRODUCTION, *parts)


INTRODUCTION = """\
A hook is a function with a role and the events it is for. It returns an effect, a list of effects, or None for no
opinion. It is in `.snell/hooks/NAME.py` of a project, in `~/.config/snell/hooks/NAME.py` for all your projects, or in a
pack, with its cases beside it: see [test a hook](../howto/test-a-hook.md).

```python
from snell import Deny, ShellCall, judges


@judges("PreToolUse", kind="shell")
def no_force_push(call: ShellCall) -> Deny | None:
    if call.runs("git", "push", "--force"):
        return Deny("force-push overwrites other people's work", instead="use --force-with-lease")
    return None
```

[Arguments](#arguments) · [Tool calls](#tool-calls) · [Other events](#other-events) ·
[What the session has used](#what-the-session-has-used) ·
[Command lines](#command-lines) · [Effects](#effects) · [How hooks run](#how-hooks-run) ·
[Command hooks](#command-hooks) · [Skills and agents](#skills-and-agents)"""


def _decorators() -> Iterator[str]:
    yield "## Decorators"
    rows = (
        (f"`@{role}`", first_line(getattr(decorators, role)), ", ".join(sorted(ROLE_EFFECTS[role])) or "nothing")
        for role in ("judges", "rewrites", "informs", "watches")
    )
    yield table(("decorator", "what it is for", "may answer"), rows)
    yield (
        'One decorator takes several events, `@informs("SessionStart", "SubagentStart")`, and a function may have '
        "several decorators. The options:"
    )
    rows = (
        (f"`{field.name}`", f"`{getattr(decorators, field.default, field.default)}`", field.says)
        for field in fields_of(Declaration)
        if field.name not in ("role", "event")
    )
    yield table(("option", "default", "what it does"), rows)


def _arguments() -> Iterator[str]:
    yield "## Arguments\n\nA hook declares the arguments that it needs. The names are checked when it is loaded."
    yield table(("argument", "type", "what it is"), [_argument(name) for name in SUPPLIES])
    yield "### `Event`\n\nThe payload is never changed in place; return a `Rewrite` instead."
    yield _members(Event)
    yield (
        "## Tool calls\n\n`call` has the type of its kind of tool. Annotated with one of these types, a hook is for "
        "that kind only, and `kind=` may be left out. Fields that a client does not send are empty.\n\n"
        "The kind of a tool that Snell does not know follows from its name and from what its input carries: a path "
        "and a text are a write, a path with an old text or a patch is an edit, a path alone is a read, an address is "
        "a web call, SQL is a database call. A tool of an MCP server is of kind `mcp`, and of that kind too.\n\n"
        "It is a shell call when its input carries a command line: a text, a list of "
        "words or a list of lines under `command`, `cmd`, `commands`, `script`, `argv` or `cmdString` in any "
        "spelling, JSON text of such a list, or the `input` or `keys` of a terminal. `kind = shell`, the matcher "
        "`Bash` and conditions such as `Bash(git push *)` find it, `call.command` is the line, and "
        "`Rewrite(command=...)` changes the field that the line came from; where the line consists of several "
        "fields, such a rewrite refuses the call. A tool of an MCP server with a command line is of kind `mcp` and "
        "a shell call too; there an allow counts only from a hook that names the tool or the kind `mcp`."
    )
    yield from _described(ToolCall)
    for kind in ALL_KINDS:
        type_ = type(SUPPLIES["call"](Event(name="PreToolUse", payload={}, kind=kind)))
        if type_ is not ToolCall:
            yield from _described(type_, f"`kind = {kind}`. Beside the fields of `ToolCall`:")
    yield "## Other events"
    for name in SUPPLIES:
        if (events := _events_about(name)) and name not in _PLAIN:
            on = f"The argument `{name}` on {', '.join(events)}."
            yield from _described(type(SUPPLIES[name](Event(name=events[0], payload={}))), on)
    yield (
        "## What the session has used\n\nEvery type above has `usage`: the tokens of the session until now, how full "
        "its context is, and its model. The transcript is read when a hook asks for it. "
        "[Limits, and which clients](../howto/usage.md)."
    )
    yield from _described(Usage)


_PLAIN = {
    "event": ("`Event`", "the whole event"),
    "payload": ("`dict`", "the client's payload, in Claude Code's format for every client"),
    "cwd": ("`str`", "the session's working directory"),
    "session_id": ("`str`", "the session"),
    "context": ("`Context`", "for built-in packs: options, marks, the caller's environment, the project"),
    "call": ("`ToolCall` or its kind's type", "the tool call, on events about a tool"),
    "subject": ("any of these", "what the event is about, whichever it is"),
}


def _argument(name: str) -> tuple[str, str, str]:
    if name in _PLAIN:
        return (f"`{name}`", *_PLAIN[name])
    events = _events_about(name)
    made = type(SUPPLIES[name](Event(name=events[0], payload={})))
    return f"`{name}`", f"`{made.__name__}`", f"what {', '.join(events)} {'is' if len(events) == 1 else 'are'} about"


def _events_about(subject: str) -> list[str]:
    return [row.name for row in CATALOGUE.values() if row.subject == subject]


def _shell() -> Iterator[str]:
    yield (
        "## Command lines\n\n`call.line` is the parsed command line; nothing is run. It lists every command, also "
        "behind `&&`, in `$( )`, in `sh -c '...'` and after `sudo`. Text (quoted arguments, comments, "
        "here-documents) is not listed. Where the parser is not sure, it says so."
    )
    for cls in (CommandLine, Command, Redirect):
        yield from _described(cls)
    yield (
        "### The `!word` escape\n\nA command that begins with `!` directly before a word (`!pytest`) asks to be run "
        "unchanged. `call.is_escaped` is true then; `! word` is the shell's own negation and does not count. "
        "The pack `toolchain` removes the `!` before the hooks of a project run; without that pack a hook that "
        "rewrites has to: "
        "`Rewrite(command=without_escape(call.command))`, with `from snell.shell.reader import without_escape`."
    )


def _effects() -> Iterator[str]:
    yield "## Effects\n\nWhich of them mean something on which event: [events](events.md)."
    rows = []
    for each in EFFECT_TYPES:
        fields = ("value or **fields", 'because=""') if each is Rewrite else map(_parameter, fields_of(each))
        rows.append((f"`{each.__name__}({', '.join(fields)})`", first_line(each)))
    yield table(("effect", "what it asks for"), rows)
    yield "Verdicts are ordered: no opinion < allow < ask < defer < deny. The highest wins."


RUNNING = """\
## How hooks run

- **Where.** Hooks in files run in a worker process, one after the other, each within its `timeout`. A hook that hangs
  or crashes does not affect the others. Hooks that a program registers run in that program, see
  [embed](../howto/embed.md).
- **`print()`** in a hook file has no effect: there is no terminal. Return `Tell("...")` for a message to the user,
  `Note("...")` for a note to the model, or write to a file.
- **`async def`** works as well; the hook is awaited. A hook that the agent should not wait for is a `@watches`: it runs
  after the answer and can only record.
- **An exception** in a hook is a failure. `snell why` shows it, and `on_failure` decides: `allow` (the default) ignores
  it, `ask` asks the user, `block` denies. If a file does not load, `snell settings` shows why, and its last version
  that loaded stays in force.
- **Approval** is for exact bytes. Run `snell trust` after every change of a project's hook."""


def _commands() -> Iterator[str]:
    yield COMMANDS
    yield table(("exit code", "what it means"), EXIT_CODES)
    yield ANSWERS
    yield table(("JSON on stdout", "effect"), JSON_FORMS)
    notes = [f"`{row.name}`" for row in CATALOGUE.values() if row.text_is == "note"]
    yield (
        f"Plain text on stdout is a note on {', '.join(notes)}, and the path on `WorktreeCreate`. On every other event "
        "it is ignored, and `snell why` says so. Text that begins with `{` and ends with `}` must be JSON."
    )
    yield BACKGROUND


COMMANDS = """\
## Command hooks

A command hook is an entry of a [settings file](settings.md). It gets the event as one line of JSON on stdin, in Claude
Code's format for every client, and runs in the session's directory with these variables: `HOOK_EVENT`,
`HOOK_TOOL_NAME`, `HOOK_SESSION_ID`, `CLAUDE_PROJECT_DIR`, in a plugin `CLAUDE_PLUGIN_ROOT`, and on events that can set
variables for later commands `CLAUDE_ENV_FILE`, to which it may write `export NAME=VALUE` lines. A shell call has its
command line under `tool_input.command`, also if the client's tool has another field for it. A hook with the matcher
`Bash` gets `tool_name = "Bash"` for a shell of any name; the tool's own name is `native.tool` then.

In a `[hooks.shell]` table the event is passed only with `pass_context`, and the output is read only with
`parse_result`."""

EXIT_CODES = (
    ("0", "stdout is the answer; nothing printed = no opinion"),
    ("2", "refuse, with stderr as the reason"),
    ("any other", "a failure, handled by `on_failure`; a refusal in JSON on stdout still refuses"),
    ('any but 0, with `exit_code_mode = "strict"`', "refuse"),
)

ANSWERS = """\
The answer may be any of these. Keys may be written in camelCase or snake_case, at the top or, as Claude Code has them,
inside `hookSpecificOutput`. An answer that cannot be parsed is a failure, never an approval."""

JSON_FORMS = (
    ('`{"decision": "deny", "reason": "..."}`', "a verdict: `allow`, `ask`, `defer`, `deny`"),
    ('`{"permissionDecision": "deny", "permissionDecisionReason": "..."}`', "the same"),
    ('`{"updatedInput": {...}}`', "rewrite the tool's input (PreToolUse, PermissionRequest)"),
    ('`{"updatedToolOutput": ...}`', "rewrite the tool's output (PostToolUse)"),
    ('`{"updatedPrompt": "..."}`', "rewrite the prompt (UserPromptSubmit)"),
    ('`{"additionalContext": "..."}`', "a note for the model"),
    ('`{"systemMessage": "..."}`', "a message for the user"),
    ('`{"continue": false, "stopReason": "..."}`', "end the turn"),
    ('`{"env": {"NAME": "VALUE"}}`', "variables for the session's later commands"),
    ('`{"action": "reject", "reason": "..."}`', "deny"),
    ('`{"action": "modify_input", "new_input": {...}}`', "rewrite"),
    ('`{"action": "continue_with_context", "context": "..."}`', "a note for the model"),
    ('`{"action": "continue"}`', "no opinion"),
)

BACKGROUND = """\
A command whose first output is `{"async": true}` continues in the background, for 15 seconds or its `asyncTimeout` in
milliseconds. Notes that it prints later reach the model with the next event; a verdict comes too late. With
`async = true` in the settings, every run of the hook continues in the background."""


def _skills() -> Iterator[str]:
    yield SKILLS
    yield table(("what starts it", "where"), SKILL_STARTS)
    yield (
        "Some clients run the hooks in front matter themselves, so Snell does not: those of skills "
        f"{_titles(lambda install: 'skill:' in install.reads)}; those of agents "
        f"{_titles(lambda install: 'agent:' in install.reads)}."
    )
    yield f"The folders of a project, each with `skills` and `agents`: {', '.join(map('`{}`'.format, PLACES.project))}."


def _titles(is_meant: Callable[[Install], bool]) -> str:
    return ", ".join(client_named(name).title for name in CLIENTS if is_meant(client_named(name).install))


SKILLS = """\
## Skills and agents

A skill (`skills/NAME/SKILL.md`) or an agent (`agents/NAME.md`) may have hooks in its front matter, in Claude Code's
form. They run only while the skill runs, in every client that has skills:

```yaml
---
name: deploy
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - type: command
          command: ./check-deploy.sh
          once: true
---
```

A skill ends with the turn that started it: at its Stop, or at the next prompt if the turn was interrupted. What a
sub-agent started ends with that sub-agent, and counts for its calls only. A hook with `once` runs once each time the
skill is started. Your own skills need no approval; those of a project do (`snell trust`), by their exact content, and
nothing of them runs before."""

SKILL_STARTS = (
    (
        "a call of `skill`, `activate_skill`, `use_skill`, `load_skill`",
        "Copilot CLI, Droid, Gemini CLI, OpenCode, and any other",
    ),
    (
        "`/NAME` at the beginning of a prompt, also `/skill:NAME` and `/skills NAME`",
        "every client that reports prompts",
    ),
    ("`$NAME` or `@NAME` in a prompt", "Codex, Windsurf"),
    ("UserPromptExpansion with the name", "clients that report it"),
    ("a call that reads its `SKILL.md`", _titles(lambda install: install.opens_skills)),
    ("SubagentStart with the agent's name", "Copilot CLI, Cursor, Grok, Kimi CLI"),
)


def _described(cls: type, says: str = "") -> Iterator[str]:
    yield "\n\n".join(part for part in (f"### `{cls.__name__}`", says or own_line(cls)) if part)
    yield _members(cls)


def _members(cls: type) -> str:
    members = [(field.name, field.type, field.says) for field in fields_of(cls)] + list(members_of(cls))
    rows = (
        (f"`{name}`", f"`{type_.replace('Payload', 'dict[str, Any]')}`", words_for(cls, name, says))
        for name, type_, says in members
    )
    return table(("name", "type", "what it is"), rows)


def _parameter(field: Field) -> str:
    return f"{field.name}={field.default}" if field.default else field.name
