"""Hosts that webhooks may call: what means nothing is said, with its line."""

import pytest

from tests.unit.settings.settings_files import messages_of, parse_text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("*.internal", "it is neither a host, an address nor a network; there are no wildcards"),
        ("build.internal:http", "`http` is not a port"),
        ("10.0.0.9/8", "it is neither a host, an address nor a network: 10.0.0.9/8 has host bits set"),
        ("https://build.internal", "it is neither a host, an address nor a network: write the host alone"),
    ],
)
def test_a_host_that_means_nothing_is_an_error_with_its_line(text, why):
    advice = "write `build.internal`, `build.internal:8080`, `10.0.0.7` or `10.0.0.0/8`"
    found = parse_text(f'webhook_hosts = [\n  "10.0.0.0/8",\n  "{text}",\n]\n', layer="user")
    assert messages_of(found.problems) == [f"snell.toml:3: `webhook_hosts` cannot hold `{text}`: {why}; {advice}"]
