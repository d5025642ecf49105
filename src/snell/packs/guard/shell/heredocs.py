"""Here-documents: the lines between the line that announces them and their delimiter."""

from snell.packs.guard.shell.source_text import Source
from snell.packs.guard.shell.tree import Text, Word
from snell.packs.guard.shell.words import WordReader


def read_heredocs(source: Source, reader: WordReader) -> None:
    """The bodies of the here-documents that the line before has announced."""
    waiting, source.heredocs = source.heredocs, []
    for redirect in waiting:
        delimiter = redirect.target.plain or ""
        body = _heredoc_text(source, delimiter, tabs=redirect.operator == "<<-")
        if redirect.target.is_quoted:
            redirect.body = Word((Text(body, quoted=True),))
        else:
            redirect.body = reader.heredoc(body)


def _heredoc_text(source: Source, delimiter: str, *, tabs: bool) -> str:
    lines = list[str]()
    while not source.ended:
        newline = source.text.find("\n", source.at)
        end = len(source.text) if newline < 0 else newline
        line = source.text[source.at : end].lstrip("\t") if tabs else source.text[source.at : end]
        source.at = end + 1
        if line.rstrip("\r") == delimiter:
            return "".join(lines)
        lines.append(line + "\n")
    source.budget.trouble("a here-document is never closed")
    return "".join(lines)
