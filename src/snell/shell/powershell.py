"""
Read a PowerShell line and write the line for a POSIX shell that does the same, as far as that matters to a judge.

Only what commands do is kept: which files they read, write and delete, what they send and run. Cmdlets without a
counterpart stay, under their names. What is not understood is said, never guessed.
"""

import re
import shlex

from msgspec import Struct, field

from snell.model.tool_names import name_set
from snell.shell.powershell_cmdlets import METHODS, STATICS, counterpart, method_text
from snell.shell.windows_text import LONGEST
from snell.system.lazy_regex import lazy_regex

DEEPEST = 20
_PLAIN = lazy_regex(r"[A-Za-z0-9_./:@%+,=\\*?~\[\]^!-]+")
_VARIABLE = lazy_regex(r"(?i)\$\{?(?:(env|global|script|local|private):)?(\w+|_|\?|\$)\}?((?:\.\w+(?!\w*\())*)")
_STATIC = lazy_regex(r"(?i)\[([\w.]+)\]::(\w+)")
_KEYWORDS = name_set("begin catch do else elseif end finally if process switch try until while trap param function")
_FOLDERS = {
    "userprofile": "$HOME", "home": "$HOME", "homepath": "$HOME", "temp": "/tmp/user", "tmp": "/tmp/user",
    "systemdrive": "C:", "systemroot": "C:/Windows", "windir": "C:/Windows", "programfiles": "C:/Programs",
    "profile": "$HOME/.config/powershell/profile.ps1",
    "appdata": "$HOME/AppData/Roaming", "localappdata": "$HOME/AppData/Local", "programdata": "C:/ProgramData",
}  # fmt: skip
_ENDS = ("", ")", "}")


class Translation(Struct, frozen=True):
    line: str
    is_understood: bool = True


class Element(Struct, frozen=True):
    """One part of a command: a word as a shell would write it, or the commands of a block in braces."""

    text: str
    is_block: bool = False


def to_posix(text: str) -> Translation:
    """Return the line for a POSIX shell that does what this PowerShell line does."""
    reader = _Reader(text[:LONGEST])
    line = reader.statements(0)
    return Translation(line, not reader.troubles and reader.at >= len(reader.text) and len(text) <= LONGEST)


class _Reader(Struct):
    text: str
    at: int = 0
    troubles: list[str] = field(default_factory=list)

    def statements(self, depth: int) -> str:
        """Read statements up to a closing mark, and return them joined."""
        parts = list[str]()
        while depth <= DEEPEST:
            self._skip(" \t\r\n;")
            if self.peek() in _ENDS:
                if not (depth == 0 and self.peek()):
                    break
                self.troubles.append(f"`{self.peek()}` is out of place")
                self.at += 1
                continue
            before = self.at
            parts.append(self._pipeline(depth))
            for joiner in ("&&", "||"):
                if self.text.startswith(joiner, self.at):
                    self.at += 2
            if self.at == before:
                self.at += 1
        return "\n".join(filter(None, parts))

    def peek(self, offset: int = 0) -> str:
        return self.text[self.at + offset : self.at + offset + 1]

    def _skip(self, marks: str) -> None:
        while self.peek():
            if self.text.startswith("<#", self.at):
                end = self.text.find("#>", self.at)
                self.at = len(self.text) if end < 0 else end + 2
            elif self.peek() == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif self.peek() == "`" and self.peek(1) in ("\n", "\r"):
                self.at += 2
            elif self.peek() in marks:
                self.at += 1
            else:
                return

    def _pipeline(self, depth: int) -> str:
        stages = [self._command(depth)]
        while self.peek() == "|" and self.peek(1) != "|":
            self.at += 1
            self._skip(" \t\r\n")
            stages.append(self._command(depth))
        return " | ".join(counterpart(stage, is_first=not index) for index, stage in enumerate(stages) if stage)

    def _command(self, depth: int) -> list[Element]:
        """Read the elements of one command, up to a mark that ends it."""
        self._skip(" \t")
        if self.peek() == "&" and self.peek(1) != "&":
            self.at += 1  # the operator that calls what a text names
        if (keyword := self._keyword(depth + 1)) is not None:
            return keyword
        elements = self._assignment()
        while True:
            self._skip(" \t")
            char = self.peek()
            if char in _ENDS or char in "|;\n\r" or (char == "&" and self.peek(1) == "&"):
                return elements
            elements.append(self._element(depth))

    def _assignment(self) -> list[Element]:
        """Read `$x =` in front of a value or a command."""
        found = re.compile(r"(?i)\$(?:(?:global|script|local|private|env):)?(\w+)\s*\+?=(?!=)").match(
            self.text, self.at
        )
        if not found:
            return []
        self.at = found.end()
        return [Element(found[1]), Element("=")]

    def _keyword(self, depth: int) -> list[Element] | None:
        """Read `if`, `foreach` and the like: every condition and every block in them may run."""
        found = re.compile(r"[A-Za-z]+(?=[\s({])").match(self.text, self.at)
        word = found[0].lower() if found else ""
        if word != "foreach" and word not in _KEYWORDS:
            return None
        loop = re.compile(r"(?i)foreach\s*\(\s*\$(\w+)\s+in\s+").match(self.text, self.at)
        if loop:
            self.at = loop.end()
            is_value = self.peek() in ("@", "$", "'", '"')
            items = self.statements(depth)
            items = _as_words(items) if is_value else f"$({items})"
            self._close(")")
            self._skip(" \t\r\n")
            return [Element(f"for {loop[1]} in {items}; do\n{self._element(depth).text}\ndone", is_block=True)]
        self.at += len(word)
        if word == "foreach" or word == "function":
            self._skip_word()
        parts = list[str]()
        while True:
            self._skip(" \t\r\n")
            if self.peek() not in ("(", "{"):
                break
            parts.append(self._inside(depth))
        return [Element("\n".join(filter(None, parts)) or ":", is_block=True)]

    def _skip_word(self) -> None:
        self._skip(" \t")
        while self.peek() and self.peek() not in " \t\r\n({":
            self.at += 1

    def _element(self, depth: int) -> Element:
        if self.peek() == "{":
            return Element(self._inside(depth), is_block=True)
        return Element(self._word(depth))

    def _inside(self, depth: int) -> str:
        """Read what stands between brackets, as commands."""
        closing = {"(": ")", "{": "}"}[self.peek()]
        self.at += 1
        inner = self.statements(depth + 1)
        self._close(closing)
        return inner

    def _close(self, closing: str) -> None:
        if self.peek() == closing:
            self.at += 1
        else:
            self.troubles.append(f"`{closing}` is missing")
            self.at = max(self.at, len(self.text) if not self.peek() else self.at)

    def _word(self, depth: int) -> str:
        parts, before = list[str](), -1
        while self.at != before:
            before = self.at
            char = self.peek()
            if char in ("", " ", "\t", "\r", "\n", ";", "|", ")", "}", "{") or (char == "&" and parts):
                break
            parts.append(self._piece(char, depth))
        if not parts:
            self.troubles.append(f"`{self.peek()}` is out of place")
            self.at += 1
        return "".join(parts)

    def _piece(self, char: str, depth: int) -> str:
        if char == "'":
            return self._single_quoted()
        if char == '"':
            return self._double_quoted(depth)
        if char == "`":
            self.at += 2
            return shlex.quote(self.text[self.at - 1 : self.at])
        if char in "$@":
            return self._expansion(depth)
        if char == "(":
            return f'"$({self._inside(depth)})"' + self._members(depth)
        if static := _STATIC.match(self.text, self.at):
            return self._static(static, depth)
        return self._plain()

    def _plain(self) -> str:
        found = _PLAIN.match(self.text, self.at)
        text = found[0] if found else self.peek()
        self.at += len(text)
        if text == ",":
            return " "
        text = text.replace("\\", "/").replace(",", " ")
        return text if found or text in "<>" else shlex.quote(text)

    def _single_quoted(self) -> str:
        found = re.compile(r"'((?:[^']|'')*)'").match(self.text, self.at)
        if not found:
            self.troubles.append("a quote is not closed")
            self.at = len(self.text)
            return ""
        self.at = found.end()
        return shlex.quote(found[1].replace("''", "'").replace("\\", "/"))

    def _double_quoted(self, depth: int) -> str:
        self.at += 1
        parts = list[str]()
        while (char := self.peek()) != '"' or self.peek(1) == '"':
            if not char:
                self.troubles.append("a quote is not closed")
                break
            if char == "$" and (self.peek(1) == "(" or _VARIABLE.match(self.text, self.at)):
                parts.append(self._expansion(depth).strip('"'))
                continue
            step = 2 if char in ("`", '"') else 1
            text = self.text[self.at + step - 1 : self.at + step]
            parts.append({"\\": "/"}.get(text, f"\\{text}" if text in '$`"' else text))
            self.at += step
        self.at += 1
        return f'"{"".join(parts)}"'

    def _expansion(self, depth: int) -> str:
        if self.peek(1) == "(":  # `$( )`, and `@( )` for a list
            is_list = self.peek() == "@"
            self.at += 1
            inner = self._inside(depth)
            return _as_words(inner) if is_list else f'"$({inner})"'
        if self.peek(1) == "{" and self.peek() == "@":
            start = self.at
            self.at += 1
            self._inside(depth)
            return shlex.quote(self.text[start : self.at])
        if self.peek() == "@" and self.peek(1) in ("'", '"'):
            return self._here_string()
        found = _VARIABLE.match(self.text, self.at)
        if not found:
            self.at += 1
            return shlex.quote(self.text[self.at - 1])
        self.at = found.end()
        return _variable(found) + self._members(depth)

    def _here_string(self) -> str:
        found = re.compile(r"@(['\"])\r?\n(.*?)\r?\n\1@", re.DOTALL).match(self.text, self.at)
        if not found:
            self.troubles.append("a here-string is not closed")
            self.at = len(self.text)
            return ""
        self.at = found.end()
        return shlex.quote(found[2].replace("\\", "/"))

    def _members(self, depth: int) -> str:
        """Read `.Method(arguments)` behind a value; methods of clients for the web fetch and send."""
        call = re.compile(r"\.(\w+)\(").match(self.text, self.at)
        if not call:
            return ""
        self.at = call.end() - 1
        given = self._inside(depth)
        do = METHODS.get(call[1].lower())
        return (method_text(do, _as_words(given)) if do else "") + self._members(depth)

    def _static(self, found: re.Match[str], depth: int) -> str:
        """Read `[Type]::Method(arguments)`."""
        self.at = found.end()
        given = _as_words(self._inside(depth)) if self.peek() == "(" else ""
        do = STATICS.get((found[1].lower().removeprefix("system."), found[2].lower()))
        if do is None:
            if given:
                self.troubles.append(f"`[{found[1]}]::{found[2]}` is not known")
            return shlex.quote(f"{found[1]}.{found[2]}")
        return method_text(do, given)


def _variable(found: re.Match[str]) -> str:
    space, name = (found[1] or "").lower(), found[2]
    if name.lower() in _FOLDERS and (space == "env" or name.lower() in ("home", "profile")):
        return _FOLDERS[name.lower()]
    if name.lower() in ("null", "true", "false"):
        return "''" if name.lower() == "null" else "1"
    return f"${{{'item' if name in ('_', '$', '?') else name}}}"


def _as_words(line: str) -> str:
    """Return arguments in brackets as words: they were read as if they were a command."""
    return line.replace("\n", " ")
