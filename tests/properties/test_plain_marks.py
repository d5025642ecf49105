"""Names of marks that are written down unseen are names in which the redactor would change nothing."""

from hypothesis import assume, example, given
from hypothesis import strategies as st

from snell.redact import redact_data
from snell.runtime.stored_marks import LONGEST_PLAIN, is_plain
from tests.properties.strategies import many
from tests.unit.redact.redact_cases import examples

SECRETS = [secret for _, secret in examples(20, seed=7)]
# What secrets begin with and stand behind, in small letters, so that a name made of it can be plain.
TELLING = sorted({secret[:length].lower() for secret in SECRETS for length in (2, 3, 4, 6, 8)})
WORDS = ("password", "passwd", "secret", "token", "api_key", "auth", "bearer", "private_key", "login", "pwd", "_", "/")
letters = st.text("abcdefghijklmnopqrstuvwxyz_", max_size=LONGEST_PLAIN)
names = st.lists(st.sampled_from((*TELLING, *WORDS)) | letters, max_size=3).map("".join)


def test_no_secret_is_a_plain_name() -> None:
    assert [secret for secret in SECRETS if is_plain(secret)] == []
    assert [secret for secret in map(str.lower, SECRETS) if is_plain(secret) and redact_data(secret) != secret] == []


@many
@given(names)
@example("b_fdbgdx_rqxeezphsvmedv/uqhakqbznoaephqhwycm_n")
def test_the_redactor_leaves_a_plain_name_as_it_is(name: str) -> None:
    assume(is_plain(name[:LONGEST_PLAIN]))
    assert redact_data(name[:LONGEST_PLAIN]) == name[:LONGEST_PLAIN]


def test_names_that_can_carry_a_users_text_are_seen_by_the_redactor() -> None:
    carrying = ["once:my hook", "harness/agent/a1", "Edit", "a/b/c", "a" * (LONGEST_PLAIN + 1), "été", "a\n", ""]
    assert [name for name in carrying if is_plain(name)] == []
    assert is_plain("harness/began")
