"""Brace expansion: `{a,b}` and `{1..9}`."""

from snell.shell.tree import Part, Text, Word
from snell.system.lazy_regex import lazy_regex

MOST_WORDS = 64
_INNER = lazy_regex(r"\{([^{}]*(?:,[^{}]*)+|-?\d+\.\.-?\d+(?:\.\.-?\d+)?|\w\.\.\w)\}")
_PLACE = 0xE100


def expand_braces(word: Word) -> list[Word]:
    """Return the words that this one becomes; the word itself if there is nothing to expand."""
    for part in word.parts:
        if type(part) is Text and "{" in part.text and not part.quoted:
            break
    else:
        return [word]
    kept = list[Part]()
    template = ""
    for part in word.parts:
        if isinstance(part, Text) and not part.quoted:
            template += part.text
        else:
            template += chr(_PLACE + len(kept) % 0x600)
            kept.append(part)
    return [_restore(text, kept) for text in _texts(template)]


def _texts(template: str) -> list[str]:
    done, waiting = list[str](), [template]
    while waiting and len(done) + len(waiting) < MOST_WORDS:
        text = waiting.pop(0)
        group = _INNER.search(text)
        if not group:
            done.append(text)
            continue
        before, after = text[: group.start()], text[group.end() :]
        waiting[:0] = [before + choice + after for choice in _choices(group[1])]
    return done + waiting


def _choices(inner: str) -> list[str]:
    if "," in inner:
        return inner.split(",")
    first, last, *step = inner.split("..")
    if first.lstrip("-").isdigit():
        start, end, stride = int(first), int(last), abs(int(step[0])) if step and int(step[0]) else 1
        numbers = range(start, end + 1, stride) if start <= end else range(start, end - 1, -stride)
        return [str(number) for number in numbers[:MOST_WORDS]]
    codes = range(ord(first), ord(last) + 1) if first <= last else range(ord(first), ord(last) - 1, -1)
    return [chr(code) for code in codes[:MOST_WORDS]]


def _restore(text: str, kept: list[Part]) -> Word:
    parts = list[Part]()
    plain = ""
    for char in text:
        place = ord(char) - _PLACE
        if 0 <= place < len(kept):
            if plain:
                parts.append(Text(plain))
            plain = ""
            parts.append(kept[place])
        else:
            plain += char
    if plain or not parts:
        parts.append(Text(plain))
    return Word(tuple(parts))
