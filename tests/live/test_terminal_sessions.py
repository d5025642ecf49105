"""Gemini CLI in a session at a terminal: a call is refused, and the model gets the reason and context."""

from tests.live.drivers import DRIVERS, node_program
from tests.live.wires import Said

HOOKS = """
from snell import Deny, Note, ShellCall, informs, judges


@judges("PreToolUse", kind="shell")
def judge(call: ShellCall):
    return Deny("REFUSED-BY-HOOK") if "forbidden" in call.command else None


@informs("UserPromptSubmit")
def inform(event):
    return Note("CONTEXT-BY-HOOK")
"""
LAST_WORDS = "THE-MODEL-HAS-ENDED"


def test_a_refusal_and_context_reach_the_model_of_a_gemini_session(asked_for, user, model, client_folder):
    driver = next(each for each in DRIVERS if each.client == asked_for("gemini"))
    folder = client_folder(driver)
    user.configure(hooks=HOOKS)
    env = driver.prepare(user, model.url)
    user.snell("setup", "gemini", "--yes")
    calls = ("touch forbidden.txt", "touch fine.txt")
    model.begin([*(Said("Working.", (driver.shell(call),)) for call in calls), Said(LAST_WORDS)])
    program = ["node", node_program("gemini")(folder)]
    words = [*program, "-m", "gemini-2.5-flash", "--yolo", "-i", "Please work."]
    shown = user.screen(words, env, until=LAST_WORDS)
    assert [text in model.shown for text in ("REFUSED-BY-HOOK", "CONTEXT-BY-HOOK")] == [True, True], shown[-3_000:]
    assert [path.name for path in user.project.glob("*.txt")] == ["fine.txt"], shown[-3_000:]
