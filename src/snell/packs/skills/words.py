"""
Text as words, whatever it is written in.

Chinese, Japanese, Thai and their neighbours put no blanks between words, and Korean hangs its particles on them. There
a phrase may stand anywhere, and pairs of letters stand for words.
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
_GRAMMAR = lazy_regex(r"[\u3040-\u309f]+")  # hiragana: endings and particles, hardly ever what a text is about


def pad_words(text: str) -> str:
    """The words of a text in small letters, each with a blank before and after it."""
    text = unicodedata.normalize("NFKC", text[:LONGEST]).casefold()
    if not text.isascii():
        text = "".join(each if _is_letter(each) else " " for each in text)
        text = _RUN.sub(lambda run: f" {run[0]} ", text)
        return f" {' '.join(word.lstrip('+#-') for word in text.split() if word.strip('+#-'))} "
    return f" {' '.join(_ASCII.findall(text))} "


def holds(text: str, phrase: str) -> bool:
    """Is a phrase in a text? Both as `spaced` gives them. Languages with endings may add some to the last word."""
    phrase = phrase.strip()
    if not phrase:
        return False
    before = "" if _RUN.match(phrase[0]) else " "
    after = " " if phrase[-1].isascii() else ""
    return f"{before}{phrase}{after}" in text


def pairs(text: str) -> set[str]:
    """Pairs of letters in what is written without blanks; `text` as `spaced` gives it."""
    if text.isascii():
        return set()
    runs = _RUN.findall(text)
    found = {run[at : at + 2] for run in runs for at in range(len(run) - 1)}
    return {pair for pair in found if not _GRAMMAR.fullmatch(pair)}


def has_blanks(word: str) -> bool:
    """Is this a word of a language that puts blanks between words?"""
    return word.isascii() or not _RUN.search(word)


def _is_letter(each: str) -> bool:
    # Vowel signs are marks; without them a word of Hindi or Thai falls into pieces.
    return each.isalnum() or each in "+#-" or unicodedata.category(each)[0] == "M"
