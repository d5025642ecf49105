"""
Split text into words, in any language.

Chinese, Japanese, Thai and similar languages have no blanks between words, and Korean attaches particles to them. There
a phrase may be anywhere, and pairs of letters are used as words.
"""

import unicodedata

from snell.system.lazy_regex import lazy_regex

LONGEST = 20_000
_ASCII = lazy_regex(r"[a-z0-9][a-z0-9+#-]*")
# Thai and Lao, Burmese and the parts of Hangul, Khmer, kana, Han, Hangul, and the further planes of Han.
_NO_BLANKS = (
    "\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u3040-\u31ff\u3400-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN = lazy_regex(f"[{_NO_BLANKS}]+")
_GRAMMAR = lazy_regex(r"[\u3040-\u309f]+")  # hiragana: endings and particles, hardly ever the subject of a text


def pad_words(text: str) -> str:
    """Return the words of a text in lower case, each with a blank before and after it."""
    text = unicodedata.normalize("NFKC", text[:LONGEST]).casefold()
    if not text.isascii():
        text = "".join(each if _is_letter(each) else " " for each in text)
        text = _RUN.sub(lambda run: f" {run[0]} ", text)
        return f" {' '.join(word.lstrip('+#-') for word in text.split() if word.strip('+#-'))} "
    return f" {' '.join(_ASCII.findall(text))} "


def contains(text: str, phrase: str) -> bool:
    """Whether a phrase is in a text, both from `pad_words`. Languages with endings may add some to the last word."""
    phrase = phrase.strip()
    if not phrase:
        return False
    before = "" if _RUN.match(phrase[0]) else " "
    after = " " if phrase[-1].isascii() else ""
    return f"{before}{phrase}{after}" in text


def pairs(text: str) -> set[str]:
    """Return pairs of letters of words without blanks; `text` is from `pad_words`."""
    if text.isascii():
        return set()
    runs = _RUN.findall(text)
    found = {run[at : at + 2] for run in runs for at in range(len(run) - 1)}
    return {pair for pair in found if not _GRAMMAR.fullmatch(pair)}


def has_blanks(word: str) -> bool:
    """Whether this is a word of a language that puts blanks between words."""
    return word.isascii() or not _RUN.search(word)


def _is_letter(each: str) -> bool:
    # Vowel signs are marks; without them a word of Hindi or Thai would be split.
    return each.isalnum() or each in "+#-" or unicodedata.category(each)[0] == "M"
