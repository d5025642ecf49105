"""With google-re2 and without it the same is found, whatever the text."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from snell.redact import redact, scan
from snell.redact.spans import secrets_in
from tests.case_counts import cases
from tests.unit.redact.redact_cases import CONTEXTS, DISGUISES, examples

pytest.importorskip("re2")

SECRETS = [secret for _, secret in examples(1, seed=3)]
PIECES = st.one_of(
    st.sampled_from(SECRETS),
    st.builds(
        lambda frame, secret: frame.format(secret), st.sampled_from(list(CONTEXTS.values())), st.sampled_from(SECRETS)
    ),
    st.builds(
        lambda disguise, secret: disguise(secret), st.sampled_from(list(DISGUISES.values())), st.sampled_from(SECRETS)
    ),
    st.sampled_from(
        [
            "password",
            "=",
            ": ",
            '"',
            "'",
            "token",
            "\n",
            "\\n",
            "KEY",
            "://",
            "@",
            " ",
            "--",
            "auth",
            "a1B2c3D4e5F6g7H8",
        ]
    ),
    st.text(max_size=12),
    st.text("aA1_-.=:/\"' \\n", max_size=30),
)
WEBHOOK = "qyapi.weixin.qq.com/cgi-bin/webhook/send?key=3859a10d-43f7-d7a2-ad8b-a1c940d7bebe"


@settings(max_examples=cases(60, 300), deadline=None)
@given(st.lists(PIECES, max_size=8).map("".join))
@example("pleasesecret_live_rsorrHwU55xQTSylUOvPeW38hQWiLlnbaccess_token$x")  # one literal inside another's beginning
@example(f"\x1b[32mduffel_live_v4sIQ=VdE-5yisYm7rUUqIQsJQ+tlHNG9nIFnEEzZ=+\x1b[0m{WEBHOOK}")  # a colour between two
def test_the_same_is_found_with_and_without_re2(text: str) -> None:
    fast = secrets_in(text)
    assert _plain(text) == fast


@settings(max_examples=cases(40, 200), deadline=None)
@given(st.lists(PIECES, max_size=8).map(" ".join))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


def _plain(text: str) -> list[tuple[int, int, str]]:
    ways = scan.scans()
    scan.scans = lambda: PLAIN  # type: ignore[assignment]  # compiled once; building it takes longer than a test may
    try:
        return secrets_in(text)
    finally:
        scan.scans = _SCANS
        assert scan.scans() is ways


_SCANS = scan.scans
PLAIN = scan._plain()
