"""Tiers are computed from what a client can do, never written down."""

import pytest

from snell.model.protocols import Capabilities, tier_of


@pytest.mark.parametrize(
    ("capabilities", "tier"),
    [
        (Capabilities(), 1),
        (Capabilities(rewrite=False, ask=False), 1),
        (Capabilities(native=False), 2),
        (Capabilities(plugin=True), 2),
        (Capabilities(hooks=False), 3),
    ],
)
def test_a_tier_says_how_much_of_a_client_we_have_to_translate(capabilities: Capabilities, tier: int) -> None:
    assert tier_of(capabilities) == tier
