"""What the environment tells about the one who runs a command."""

from pathlib import Path

import pytest

from snell.cli.confirmation import AGENT_MARKERS, is_agent, require_person
from snell.model.errors import TrustError


@pytest.mark.parametrize("marker", AGENT_MARKERS)
def test_a_shell_that_a_client_started_for_an_agent_is_no_users_whatever_else_it_says(
    marker: str, tmp_path: Path
) -> None:
    with pytest.raises(TrustError) as caught:
        require_person({marker: "1", "SNELL_HOME": str(tmp_path)}, "this")
    # An agent reads messages too, so none says what it would have to set or unset.
    said = str(caught.value)
    assert said.startswith("this needs a person, but this shell belongs to an agent; run it in your own terminal")
    assert marker not in said


def test_the_settings_of_a_client_make_no_user_an_agent() -> None:
    assert not is_agent({"CODEX_HOME": "/x", "COPILOT_HOME": "/x", "CLAUDE_CONFIG_DIR": "/x", "GEMINI_API_KEY": "x"})
