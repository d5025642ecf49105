"""Classifies tools by their names, in any spelling: `runTerminalCommand`, `run_terminal_command`."""

import re
from functools import lru_cache


def name_set(words: str) -> frozenset[str]:
    """Return a set of names from one text."""
    return frozenset(words.split())


SHELL_NAMES = name_set(
    "bash bashcommand bashtool commandline computerbash containerexec cmd execbash execcommand executebash"
    " executebashcommand executecmd executecommand executeshell executeshellcommand executeterminalcommand localshell"
    " launchprocess powershell pwsh runbash runbashcommand runcmd runcommand runcommands runinterminal runshell"
    " runshellcommand runterminal runterminalcmd runterminalcommand sh shell shellcommand shellexec shelltool"
    " startprocess subprocess terminal terminalcommand terminalexec zsh"
)
_SKILL_NAMES = name_set("activateskill invokeskill loadskill readskill runskill skill useskill")
_SHELLS = name_set("bash console iterm powershell pty pwsh sh shell ssh stdin terminal tmux tty vterm xterm zsh")
_RUNS = name_set("cmd command commands exec")
_TYPES = name_set("input interact keys keystrokes paste send stuff submit type write")
_TYPED_INTO = name_set("keys keystrokes process session window pane screen term")
_TYPING_NAMES = name_set("sendinput sendtext typetext")  # an editor's words for typing into its terminal
_STARTS = name_set("eval exec execute launch run start")
# Tools that read or keep a text: they neither type nor run it.
_LOOKS = name_set(
    "check docs explain find format get highlight history lint list log logs lookup parse read render search show"
    " summarize translate validate"
)
# Tools whose `command` or `script` is for something other than a shell.
_LANGUAGES = name_set(
    "applescript browser chrome devtools evaluate groovy javascript js kernel lua notebook osascript page playwright"
    " puppeteer python selenium typescript webdriver"
)
_OTHER_MACHINES = _LANGUAGES | name_set(
    "clickhouse database db duckdb edit editor maria memory mongo mongodb mysql nvim palette postgres prompt query"
    " redis replace skill slash snowflake sql sqlite vim"
)
_PROMPTS = frozenset(("Agent", "Skill", "SlashCommand", "Task", "slash_command"))
LONGEST_CODE = 20_000
# Compiled when they are first used, since most events need none of them.
_CAMEL = r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
_JOINTS = r"[^a-z0-9]+"
_SLASH_TEXT = r"\s*/[\w:.-]+(?:\s|$)"
_CODE = (
    r"\A\s*(?:select\b.*\bfrom|insert\s+into|update\s+\S+\s+set|delete\s+from|merge\s+into|pragma|explain|with\s+\w+\s+as"
    r"|(?:create|drop|alter|truncate)\s+(?:table|index|view|database|schema|function|user|role))\b"
    r"|^[ \t]*(?:const|var|async|def|class|import|from|throw|await|tell|using|package)\s"
    r"|^[ \t]*let[ \t]+\w+[ \t]+=|=>|\b(?:document|window|console|process|sys|os)\.\w|\b(?:require|print|function)\s?\("
    r"|^[ \t]*(?:return\s)?\w+(?:\.\w+)+\("
)


@lru_cache(maxsize=1024)
def plain_name(name: str) -> str:
    """Return a name without case and separators: `cmd_string` and `cmdString` are one."""
    return re.sub(_JOINTS, "", name.lower())


@lru_cache(maxsize=1024)
def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a name, in lower case."""
    return tuple(word for word in re.split(_JOINTS, re.sub(_CAMEL, "_", name).lower()) if word)


@lru_cache(maxsize=1024)
def is_shell_name(tool: str) -> bool:
    """Return whether some client uses this name for its shell."""
    return plain_name(tool) in SHELL_NAMES


@lru_cache(maxsize=1024)
def is_skill_name(tool: str) -> bool:
    """Return whether some client uses this name for the tool that starts a skill."""
    return plain_name(tool) in _SKILL_NAMES


@lru_cache(maxsize=1024)
def is_powershell(tool: str) -> bool:
    """Return whether the name says that PowerShell gets the text."""
    return not {"powershell", "pwsh"}.isdisjoint(words_of(tool)) or tool == "PowerShell"


@lru_cache(maxsize=1024)
def may_run_commands(tool: str) -> bool:
    """Return False if the name shows that the tool talks to something else, such as a browser or a database."""
    words = set(words_of(tool))
    return not words & _OTHER_MACHINES or bool(words & _SHELLS)


@lru_cache(maxsize=1024)
def is_typing_tool(tool: str) -> bool:
    """Return whether this is a terminal, or types into one: its `input`, `keys` or `text` is a command line."""
    words = set(words_of(tool))
    if (words & _OTHER_MACHINES and not words & _SHELLS) or only_reads_text(tool):
        return False
    types = words & (_SHELLS | _RUNS) or (words & _TYPES and words & _TYPED_INTO)
    return bool(types) or is_shell_name(tool) or plain_name(tool) in _TYPING_NAMES


@lru_cache(maxsize=1024)
def only_reads_text(tool: str) -> bool:
    """Return whether the name says that the tool searches, shows or checks a text, and does not type or run it."""
    words = set(words_of(tool))
    return bool(words & _LOOKS) and not words & (_TYPES | _STARTS)


@lru_cache(maxsize=1024)
def is_shell_by_name(tool: str) -> bool:
    """Return whether the name says that a shell gets the text, also for a tool of an MCP server."""
    own = tool.rpartition("__")[2]
    return (
        bool(set(words_of(tool)) & _SHELLS) or is_shell_name(tool) or (plain_name(own) in SHELL_NAMES and own != "cmd")
    )


@lru_cache(maxsize=1024)
def runs_scripts(tool: str) -> bool:
    """Return whether this is a shell, or a tool that runs scripts: the text of a script is a command line."""
    words = set(words_of(tool))
    says = words & _SHELLS or (words & {"script", "scripts"} and words & _STARTS)
    return bool(says) and not words & _LANGUAGES and not only_reads_text(tool)


@lru_cache(maxsize=1024)
def has_run_verb(tool: str) -> bool:
    """Return whether the name says that the tool runs something."""
    return bool(set(words_of(tool)) & _STARTS)


def types_by_action(tool: str, action: str) -> bool:
    """Return whether the input says that the tool types: `process` with the action `send-keys`."""
    return bool(set(words_of(tool)) & _TYPED_INTO and set(words_of(action)) & _TYPES)


@lru_cache(maxsize=1024)
def runs_other_code(tool: str) -> bool:
    """Return whether the name says that the tool runs programs in a language other than a shell's."""
    return bool(_LANGUAGES & set(words_of(tool)))


def is_slash_text(tool: str, line: str) -> bool:
    """Return whether the line is a prompt by name, which no shell gets: `/review the last commit`."""
    return tool in _PROMPTS and re.match(_SLASH_TEXT, line) is not None


def has_code(line: str) -> bool:
    """Return whether the text looks like a program or a query in a language other than a shell's."""
    return re.search(_CODE, line[:LONGEST_CODE], re.IGNORECASE | re.MULTILINE) is not None
