"""
Recognise lines that compilers and other programs print and that look like a person's note.

`note: required by a bound` is part of a compiler error and not worth storing. A person's note begins with `Note:` or is
in a comment or a list; a bare `note:` is a program's if the text around it or its own words say so.
"""

import re

_PLACE = (
    r"(?:\S+?(?::\d+(?::\d+)?|\(\d+(?:,\d+)?\))|<[\w -]+>|[\w.+/-]+)"  # `main.c:1:1`, `a.cpp(3)`, `<built-in>`, `ld`
)
_KINDS = r"(?:(?:fatal |internal )?error|warning|note|help|hint|remark|info)(?:\[[\w-]+\]| [A-Z]+\d+)?"
_PLACED = re.compile(rf"\s*(?:\[\w+\]\s*)?{_PLACE}\s*:\s*{_KINDS}:(?!\S)")
_ATTACHED = re.compile(r"\s*(?:=|\|)\s*(?:note|help|hint|warning):\s")
_BARE = re.compile(r"\s*(?:note|help|hint|remark)(?:\[[\w-]+\])?:\s")
_WARNED = re.compile(r"\s*(?:warning(?:\[[\w:-]+\])?|(?:Deprecation|Runtime|User|Future|Syntax|Resource)Warning):\s")
# How such notes begin, for any program.
_PHRASES = re.compile(
    r"\s*\w+(?:\[[\w-]+\])?:\s+(?:`|#\[|'|‘|required (?:by|for|from|because|at)|(?:in|from) (?:instantiation|expansion"
    r"|definition|macro|this|the (?:expansion|definition|macro))|(?:also )?declared (?:here|at|private)|defined here"
    r"|previous(?:ly)? (?:definition|declar\w+|defined)|candidate|(?:the )?(?:following|method|function|type|trait"
    r"|lint level|lifetime|value|variable|struct|enum|module|item|parameter|argument|macro|crate)\b[^.]*?(?:defined"
    r"|declared|found|here|expected|implemented|required|moved|is not)|expected|include|each undeclared|"
    r"(?:did you mean|consider|perhaps|maybe)\b|run with\b|use -|see (?:declaration|reference|more|the)\b|to (?:see"
    r"|force|disable|ignore|silence|match|avoid)\b|this (?:error|warning|is|may|path|value|function|issue|view)\b"
    r"|template|forward declaration|revealed|overload|perhaps|while (?:trying|building|compiling|processing)|treating"
    r"|used here|initialized|suggested|remove|add |pass |please use|compiler|build |process|module)",
)
# A text with one of these lines is the output of a build.
_BUILD = re.compile(
    r"^(?:\s*-->\s\S+:\d+|(?:error|warning)(?:\[[\w-]+\])?: |\s*\d*\s*\|\s|In file included from"
    r"|make(?:\[\d+\])?: \*\*\*|\s*\^[~^]*\s*$"
    r"|\S+:\d+(?::\d+)?: (?:fatal error|error|warning|note):|\s+Compiling \S+ v\d"
    r"|Command:.*\b(?:cargo|rustc|gcc|g\+\+|clang|cc|make|cmake|ninja|go|tsc|javac|gradle|mvn|swift|zig|ghc|mypy"
    r"|dotnet|pip|npm|meson|bazel)\b)",
    re.MULTILINE,
)


class ToolOutput:
    """Judges the lines of one text; whether the text is a build's output is determined once and only if needed."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._is_build: bool | None = None

    def contains(self, line: str) -> bool:
        """Whether this line was printed by a program rather than written by a person."""
        if _PLACED.match(line) or _ATTACHED.match(line) or _WARNED.match(line):
            return True
        return bool(_BARE.match(line)) and (bool(_PHRASES.match(line)) or self._build())

    def _build(self) -> bool:
        if self._is_build is None:
            self._is_build = _BUILD.search(self._text) is not None
        return self._is_build
