"""Text that hooks give to a model or a terminal: nothing hidden in it, and no tag that a client would have written."""

import re
import unicodedata

# Patterns are compiled when they are first needed: most first events have no text to change.
_COLOURS = r"\x1b\[[0-9;:?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
_LINE_ENDS = "\r\n?|[\x0b\x0c\x85\u2028\u2029]"
# Control characters, those that change the direction of text, those without a width, and the alphabet of tags.
_HIDDEN = (
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    r"|[\ufe00-\ufe0f]{2,}|(?<=[\w<>/ -])(?<=[\0-\177])(?<!\d)[\ufe00-\ufe0f]"  # one after a sign makes it an emoji
)
# What clients and models put around their own text and that of tools; `-` is a sign or two between words, or none.
_NAMES = (
    r"\w{1,30}-reminder system-(?:reminders?|message|prompt|notification|notice|instructions?|warning)"
    " function-(?:calls?|results?) turn-aborted"
    " tool-(?:uses?|calls?|results?|response|output|use-error) command-(?:name|message|args|contents) hook-output"
    " local-command-(?:stdout|stderr|caveat) bash-(?:input|stdout|stderr) environment-(?:context|details|info)"
    " user-(?:query|info|instructions?|prompt-submit-hook|memory-input|message|request|shell-command|rules)"
    " (?:hook|session|editor|repo|workspace|project|extension|global|loaded)-context workspace-info"
    " permissions?-instructions (?:task|subagent)-notification additional-(?:context|data|instructions)"
    " (?:attached|recently-viewed|open-and-recently-viewed)-files conversation-summary state-snapshot project-memory"
    " (?:available|activated)-skills? skills?-instructions (?:reminder|custom|explicit|developer)-instructions?"
    " attempt-completion ask-followup-question extremely-important collaboration-mode (?:start|end)-of-turn"
    " ide-(?:selection|opened-file|diagnostics) persisted-output new-diagnostics"
)
_COMPOUND = "|".join(name.replace("-", r"(?:[^\w<>]|_){0,2}") for name in _NAMES.split())
_SINGLE = "system|assistant|human|developer|instructions|reminder|think|thinking"
_TAG = (
    rf"[<＜﹤]([\s/\\?!]*(?:[\w.-]{{1,20}}:)?(?:(?:{_COMPOUND})\b|(?:{_SINGLE})(?=\s*[/>＞﹥]|\s+[a-z_-]+=|\s*\Z)|antml:|data-[0-9a-f]{{12}}"
    r"|(?:invoke|parameter)\s+name|(?:function|parameter|tool)=|[|｜][^\s|｜<>]{2,40}[|｜]|<SYS>))"
)
_TURN = r"\[(/?)(INST|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS|SYSTEM_PROMPT)\]"


def harmless(text: str) -> str:
    """Return the text without hidden characters, in which no tag of a client is complete."""
    if not (text.isascii() and text.isprintable()):
        text = re.sub(_HIDDEN, "", re.sub(_LINE_ENDS, "\n", re.sub(_COLOURS, "", text)))
    if "<" in text or not text.isascii():
        text = re.sub(_TAG, r"‹\1", text, flags=re.IGNORECASE)
    if not text.isascii():
        text = re.sub(r"[<＜﹤][^<＜﹤]{1,80}", _without_tag, text)
    return re.sub(_TURN, r"(\1\2)", text) if "[" in text else text


def _without_tag(found: re.Match[str]) -> str:
    """Break a tag in other forms of the same letters: wide, mathematical, or with marks on them."""
    plain = "".join(each for each in unicodedata.normalize("NFKD", found[0]) if unicodedata.category(each) != "Mn")
    return f"‹{found[0][1:]}" if re.match(_TAG, plain, re.IGNORECASE) else found[0]
