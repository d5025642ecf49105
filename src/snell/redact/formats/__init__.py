"""The known formats: `kind form form ...`, one table per field, in the notation of `snell.redact.format_notation`."""

from collections.abc import Iterator

from snell.redact.formats import ai, cloud, developer_tools, messaging, office, payments

# Secrets of standards rather than of providers.
STANDARDS = """
jwt                eyJ{s8-8192}.eyJ{s4-8192}.{s1-8192} eyJ{s8-8192}.eyJ{s4-8192}
jwt                eyJ{s12-8192}..{s8-64}.{s8-8192}.{s8-64} eyJ{s12-8192}.{s40-1024}.{s8-64}.{s8-8192}.{s8-64}
jwt                ZXlK{e40-8192}
password-hash      $2(a|b|y)${d2}${p53} $(5|6)${p1-16}${p43-86}
password-hash      $argon2(i|id|d)$v={d2}$m={d2-8},t={d1-3},p={d1-3}${b8-64}${b20-90} $apr1${p1-8}${p22}
password-hash      $y$j9T${p1-40}${p43}
paseto             v(1|2|3|4).local.{s64-4096}
"""

# Prefixes that most providers use for their keys, so that those of an unknown provider are found as well: perhaps its
# name, then the kind of key, then the random part.
COMMON_PREFIXES = """
secret-key         ~sk(_|-|1_|2_){w24-200}! ~(secret|seckey|privkey)(_|-){w24-200}!
secret-key         ~{l2-14}(_|-)(sk|secret|seckey|privkey)(_|-){w20-200}!
api-key            ~(apikey|api_key|api-key)(_|-){w24-200}! ~{l2-14}(_|-)(apikey|api_key|api-key)(_|-){w20-200}!
access-token       ~(pat|tok|token|access_token)(_|-){w28-200}!
access-token       ~{l2-14}(_|-)(pat|tok|token|accesstoken|svctoken)(_|-){w20-200}!
live-key           ~{l2-14}(_|-)(live|prod)(_|-){w24-200}!
"""

TABLES = (
    STANDARDS,
    developer_tools.TABLE,
    ai.TABLE,
    cloud.TABLE,
    payments.TABLE,
    messaging.TABLE,
    office.TABLE,
    COMMON_PREFIXES,
)


def rows() -> Iterator[tuple[str, str]]:
    """Yield each kind with one of its forms."""
    for table in TABLES:
        for line in table.strip().splitlines():
            kind, *forms = line.split()
            for form in forms:
                yield kind, form
