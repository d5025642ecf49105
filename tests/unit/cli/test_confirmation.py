"""Who counts as a person."""

import pytest

from snell.cli.confirmation import AGENT_MARKERS, WITHOUT_TERMINAL, require_person, require_terminal_nearby
from snell.model.errors import TrustError


@pytest.mark.parametrize("marker", AGENT_MARKERS)
def test_a_shell_that_a_client_started_for_an_agent_is_no_users_whatever_else_it_says(marker: str) -> None:
    with pytest.raises(TrustError) as caught:
        require_terminal_nearby({marker: "1", WITHOUT_TERMINAL: "1"}, "this")
    # An agent reads messages too, so none says what it would have to set or unset.
    said = "this needs a person, but this shell belongs to an agent; run it in your own terminal"
    assert str(caught.value) == said


def test_the_settings_of_a_client_make_no_user_an_agent() -> None:
    require_person({"CODEX_HOME": "/x", "COPILOT_HOME": "/x", "CLAUDE_CONFIG_DIR": "/x", "GEMINI_API_KEY": "x"}, "this")
