"""Secrets that can be told by their own look: a literal that they begin with, and the pattern from there on."""

import re
from typing import NamedTuple

Span = tuple[int, int, str]

_TOO_LONG = 65_536  # a private key without its last line ends here


def known_format(text: str, at: int) -> Span | None:
    """The secret that begins here and can be told by its look."""
    for each in FORMATS:
        if text.startswith(each.literals, at) and (span := each.match(text, at)):
            return span
    return None


def beginnings(text: str) -> list[int]:
    """Where a secret of a known look may begin: one pass over the text, whatever the number of formats."""
    return [found.start() for found in _BEGINNINGS.finditer(text)]


class Format(NamedTuple):
    kind: str
    literals: tuple[str, ...]
    pattern: re.Pattern[str]

    def match(self, text: str, at: int) -> Span | None:
        found = self.pattern.match(text, at)
        is_sample = found and len(set(text[at + 12 : found.end()])) <= 3  # such as ghp_xxxxxxxxxxxx
        return (at, found.end(), self.kind) if found and not is_sample else None


class PrivateKey(NamedTuple):
    kind: str = "private-key"
    literals: tuple[str, ...] = ("-----BEGIN ",)

    def match(self, text: str, at: int) -> Span | None:
        first = _KEY_BEGINS.match(text, at)
        if not first:
            return None
        last = text.find("-----END ", first.end(), at + _TOO_LONG)
        end = text.find("-----", last + 9, last + 80) + 5 if last >= 0 else 0
        return at, end if end > 5 else min(len(text), at + _TOO_LONG), self.kind


_KEY_BEGINS = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")


def _format(kind: str, literals: str, rest: str) -> Format:
    """`rest` is what follows any of the literals. Nothing that could belong to a longer word stands before them."""
    words = tuple(literals.split())
    return Format(kind, words, re.compile(f"(?<![A-Za-z0-9])(?:{'|'.join(map(re.escape, words))}){rest}"))


FORMATS: tuple[Format | PrivateKey, ...] = (
    PrivateKey(),
    _format("aws-key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _format("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{30,255}"),
    _format("github-token", "github_pat_", r"[A-Za-z0-9_]{22,255}"),
    _format(
        "gitlab-token",
        "glpat- gldt- glrt- glptt- glft- glsoat- gloas- glcbt- glimt- glagent- glffct- GR1348941",
        r"[A-Za-z0-9_.-]{20,255}",
    ),
    _format(
        "slack-token",
        "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.xoxb- xoxe.xoxp- xapp-",
        r"[0-9][A-Za-z0-9-]{9,255}",
    ),
    _format("slack-token", "xoxd-", r"[A-Za-z0-9%+/=]{20,255}"),
    _format("slack-webhook", "hooks.slack.com/", r"(?:services|workflows|triggers)/[A-Za-z0-9+/]{20,255}"),
    _format("stripe-key", "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ whsec_", r"[A-Za-z0-9+/=]{10,255}"),
    _format("anthropic-key", "sk-ant-", r"[A-Za-z0-9_-]{20,255}"),
    _format("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", r"[A-Za-z0-9_-]{20,255}"),
    _format("api-key", "sk-or-v1- sk-lf- gsk_ pplx- xai- r8_ nvapi- tvly- fc- lsv2_pt_", r"[A-Za-z0-9_-]{24,255}"),
    _format("api-key", "hf_ api_org_", r"[A-Za-z0-9]{30,40}(?![A-Za-z0-9_])"),
    _format("openai-key", "sk-", r"[A-Za-z0-9]{32,255}(?![A-Za-z0-9_-])"),
    _format("google-key", "AIza", r"[0-9A-Za-z_-]{35}(?![A-Za-z0-9])"),
    _format("google-token", "GOCSPX- ya29. 1//0", r"[0-9A-Za-z_-]{20,512}"),
    _format("jwt", "eyJ", r"[A-Za-z0-9_-]{8,8192}\.eyJ[A-Za-z0-9_-]{4,8192}(?:\.[A-Za-z0-9_-]{1,8192})?"),
    _format("npm-token", "npm_", r"[A-Za-z0-9]{36,255}"),
    _format("package-token", "pypi-AgE rubygems_ cio dckr_pat_ oy2", r"[A-Za-z0-9_-]{27,512}"),
    _format("sendgrid-key", "SG.", r"[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}"),
    _format("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"[0-9a-fA-F]{32}"),
    _format("cloud-token", "dop_v1_ doo_v1_ dor_v1_ dapi hvs. hvb. s.hvs. tfp_ sbp_ fo1_", r"[A-Za-z0-9_.-]{30,255}"),
    _format("cloud-token", "pul- pscale_tkn_ pscale_pw_ dp.pt. dp.st. lin_api_ glsa_ glc_", r"[A-Za-z0-9_=.-]{30,512}"),
    _format(
        "api-key", "PMAK- NRAK- ATATT3 ATCTT3 ntn_ figd_ sntrys_ sq0atp- sq0csp- EAAA", r"[A-Za-z0-9_=.+/-]{20,512}"
    ),
    _format("api-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{50,80}"),
)


def any_of(words: list[str]) -> str:
    """A pattern for these words that shares their beginnings, several times faster than one alternative each."""
    by_letter: dict[str, list[str]] = {}
    for word in words:
        by_letter.setdefault(word[:1], []).append(word[1:])
    is_whole = by_letter.pop("", None) is not None
    branches = [re.escape(letter) + (any_of(rest) if any(rest) else "") for letter, rest in by_letter.items()]
    return f"(?:{'|'.join(branches)}){'?' if is_whole else ''}"


_BEGINNINGS = re.compile("(?<![A-Za-z0-9])" + any_of([word for each in FORMATS for word in each.literals]))
