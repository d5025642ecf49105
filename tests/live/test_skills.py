"""The hooks of a skill, in real clients: they run while the skill runs, and only once, by the client or by Snell."""

import pytest

from tests.live.stories import INSTEAD, SKILL_HOOKS
from tests.live.wires import Said

# The folder of a user's skills, and the tool that starts one, with the key of its name.
TOOLS = {
    "claude-code": (".claude", "Skill", "skill"),
    "gemini": (".gemini", "activate_skill", "name"),
    "qwen": (".qwen", "skill", "skill"),
    "copilot": (".copilot", "skill", "skill"),
    "opencode": (".config/opencode", "skill", "name"),
    "droid": (".factory", "Skill", "skill"),
    "codex": (".codex", "", ""),  # its model reads the document
    "kimi": (".kimi-code", "", ""),
    "pi": (".pi/agent", "", ""),
}
SKILL = """---
name: careful
description: Work with care. Use this skill for all work.
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - type: command
          command: "cat > /dev/null; echo ran >> {log}"
---
Work with care.
"""


@pytest.mark.proves("S1-137")
def test_a_skills_hook_runs_once_for_each_call_while_the_skill_runs(driver, user, model, client_folder):
    if why := INSTEAD[driver.client].get(SKILL_HOOKS):
        pytest.skip(f"{driver.client}: {why}")
    folder, tool, key = TOOLS[driver.client]
    installed = client_folder(driver)
    log = user.project / "log.txt"
    path = user.write(f"home/{folder}/skills/careful/SKILL.md", SKILL.format(log=log))
    env = driver.prepare(user, model.url)
    user.snell("setup", driver.client, "--yes")
    start = (tool, {key: "careful"}) if tool else driver.shell(f"cat {path}")
    calls = (driver.shell("echo before"), start, driver.shell("echo within"))
    model.begin([Said("Working.", (call,)) for call in calls])
    more = ["Skill"] if driver.client == "claude-code" else []  # it asks before it starts a skill
    ran = user.run([*driver.command(installed, user, "Please work."), *more], env)
    assert (log.exists() and log.read_text(encoding="utf-8")) == "ran\n", (ran, model.shown[-3000:])
