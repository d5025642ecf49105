"""The real `snell-hook`: publishing is asked about where an agent types it, and not on a build server."""

from tests.process.machine import Machine

pytest_plugins = ("tests.process.machine_fixtures",)

LINES = (
    "npm publish",
    "cargo publish -p shop",
    "uv publish",
    "docker push $IMAGE",
    "gh pr merge --admin $BRANCH",
    "./gradlew :lib:publish",
    "mix hex.publish",
    "goreleaser release --clean",
    "npx semantic-release",
    "flutter pub publish -f",
)


def reasons(machine: Machine, *lines: str, **env: str) -> list[str]:
    return [machine.reason({"tool_input": {"command": line}}, **env) for line in lines]


def test_publishing_is_asked_about_unless_the_environment_is_that_of_a_build_server(machine: Machine) -> None:
    asked = reasons(machine, *LINES)
    assert [reason.partition(":")[0] for reason in asked] == ["exposure"] * len(LINES)
    assert reasons(machine, *LINES, CI="true") == [""] * len(LINES)
    assert reasons(machine, "npm publish --dry-run", "npm pack", "docker build -t web .") == [""] * 3
