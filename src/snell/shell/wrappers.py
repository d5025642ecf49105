"""
Programs that run another program: which of their words come first, and where the other command starts.

An option that is not listed here is never guessed at: the reader then says that it did not understand the line.
"""

from collections.abc import Sequence

from msgspec import Struct

from snell.system.lazy_regex import lazy_regex

UNCLEAR = -1
MOST_LAYERS = 16

_NUMBER = lazy_regex(r"-[+-]?[0-9]+")


class Wrapper(Struct, frozen=True):
    """
    The command-line shape of one wrapping program.

    Short options are given as letters, long ones as names without dashes.
    """

    flags: str = ""
    valued: str = ""
    attached: str = ""  # short options whose value, if there is one, is part of the word
    long_flags: frozenset[str] = frozenset()
    long_valued: frozenset[str] = frozenset()
    inert: frozenset[str] = frozenset()  # with one of these it runs no command
    operands: int = 0  # words of its own before the command
    assigns: bool = False  # takes NAME=value words before the command
    numeric: bool = False  # takes -5 as an option


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_HELP = _names("--help --version")

WRAPPERS: dict[str, Wrapper] = {
    "builtin": Wrapper(),
    "command": Wrapper(flags="p", inert=_names("-v -V")),
    "doas": Wrapper(flags="Lns", valued="uCa"),
    "env": Wrapper(
        flags="i0v",
        valued="uCP",
        long_flags=_names(
            "ignore-environment null debug list-signal-handling block-signal default-signal ignore-signal"
        ),
        long_valued=_names("unset chdir block-signal default-signal ignore-signal"),
        inert=_HELP,
        assigns=True,
    ),
    "exec": Wrapper(flags="cl", valued="a"),
    "ionice": Wrapper(
        flags="t",
        valued="cn",
        long_flags=_names("ignore"),
        long_valued=_names("class classdata"),
        inert=_names("-p -P -u -h -V --pid --pgid --uid") | _HELP,
    ),
    "nice": Wrapper(valued="n", long_valued=_names("adjustment"), inert=_HELP, numeric=True),
    "nocorrect": Wrapper(),
    "noglob": Wrapper(),
    "nohup": Wrapper(inert=_HELP),
    "setsid": Wrapper(flags="cfw", long_flags=_names("ctty fork wait"), inert=_names("-h -V") | _HELP),
    "stdbuf": Wrapper(valued="ioe", long_valued=_names("input output error"), inert=_HELP),
    "sudo": Wrapper(
        flags="ABbEHiknNPSs",
        valued="CDgpRrTtUu",
        long_flags=_names(
            "askpass background bell login non-interactive no-update preserve-env preserve-groups"
            " reset-timestamp set-home shell stdin"
        ),
        long_valued=_names(
            "chdir chroot close-from command-timeout group host other-user preserve-env prompt role type user"
        ),
        inert=_names("-e -l -v -V -K --edit --list --validate --remove-timestamp") | _HELP,
        assigns=True,
    ),
    "time": Wrapper(
        flags="apqvlh",
        valued="fo",
        long_flags=_names("append portability quiet verbose"),
        long_valued=_names("format output"),
        inert=_names("-V") | _HELP,
    ),
    "timeout": Wrapper(
        flags="fpv",
        valued="ks",
        long_flags=_names("foreground preserve-status verbose"),
        long_valued=_names("kill-after signal"),
        inert=_HELP,
        operands=1,
    ),
    "xargs": Wrapper(
        flags="0oprtx",
        valued="adEIJLnPRsS",
        attached="eil",
        long_flags=_names("null open-tty interactive no-run-if-empty verbose exit show-limits eof replace max-lines"),
        long_valued=_names("arg-file delimiter eof max-args max-chars max-lines max-procs process-slot-var replace"),
        inert=_HELP,
    ),
}


def program_of(word: str) -> str:
    """The program that a command word names, whatever folder it is in."""
    return word.rpartition("/")[2].removesuffix(".exe")


def layer_starts(words: Sequence[str], literal: Sequence[bool]) -> tuple[int, ...]:
    """Where the command and every command wrapped in it start; UNCLEAR ends the row where that cannot be told."""
    starts = [0]
    while len(starts) <= MOST_LAYERS:
        inner = _inner_start(words, literal, starts[-1])
        if inner is None:
            return tuple(starts)
        starts.append(inner)
        if inner == UNCLEAR:
            return tuple(starts)
    return (*starts, UNCLEAR)


def _inner_start(words: Sequence[str], literal: Sequence[bool], at: int) -> int | None:
    wrapper = WRAPPERS.get(program_of(words[at])) if at < len(words) and literal[at] else None
    if wrapper is None:
        return None
    after = _after_options(wrapper, words, literal, at + 1)
    if after is None or after == UNCLEAR:
        return after
    while wrapper.assigns and after < len(words) and "=" in words[after][1:]:
        after += 1
    after += wrapper.operands
    return after if after < len(words) else None


def _after_options(wrapper: Wrapper, words: Sequence[str], literal: Sequence[bool], at: int) -> int | None:
    while at < len(words) and words[at].startswith("-"):
        word = words[at]
        if word == "--":
            return at + 1
        if not literal[at] and not _is_long_with_value(wrapper, word):
            return UNCLEAR
        taken = _option_length(wrapper, word)
        if taken is None or taken == UNCLEAR:
            return taken
        at += taken
    return at


def _is_long_with_value(wrapper: Wrapper, word: str) -> bool:
    name, equals, _ = word[2:].partition("=")
    return bool(equals) and name in wrapper.long_valued


def _option_length(wrapper: Wrapper, word: str) -> int | None:
    """How many words this option takes; None when with it nothing is run."""
    if word in wrapper.inert:
        return None
    if word == "-" and "i" in wrapper.flags and wrapper.assigns:
        return 1  # `env -` is `env -i`
    if word.startswith("--"):
        name, equals, _ = word[2:].partition("=")
        if name in (wrapper.long_valued if equals else wrapper.long_flags):
            return 1
        return 2 if name in wrapper.long_valued else UNCLEAR
    if wrapper.numeric and _NUMBER.fullmatch(word):
        return 1
    return _cluster_length(wrapper, word[1:])


def _cluster_length(wrapper: Wrapper, letters: str) -> int | None:
    for index, letter in enumerate(letters):
        if letter in wrapper.valued:
            return 1 if index + 1 < len(letters) else 2
        if letter in wrapper.attached:
            return 1
        if f"-{letter}" in wrapper.inert:
            return None
        if letter not in wrapper.flags:
            return UNCLEAR
    return 1 if letters else UNCLEAR
