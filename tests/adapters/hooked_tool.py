"""One tool and one set of hooks, so that every adapter is seen to do the same with the same calls."""

from snell import Ask, Deny, HookMatcher, Note, Rewrite, Runtime, Stop


class HookedTool:
    """The tool `shout`, and hooks that go by the words in what is shouted."""

    def __init__(self):
        self.shouted = []
        self.seen = []
        self.runtime = Runtime.embed(
            hooks={
                "UserPromptSubmit": [HookMatcher(None, [self.prompt])],
                "PreToolUse": [HookMatcher("shout", [self.before])],
                "PostToolUse": [HookMatcher("shout", [self.after])],
                "PostToolUseFailure": [HookMatcher("shout", [self.failed])],
            }
        )

    def shout(self, text: str) -> str:
        """Say it loudly."""
        self.shouted.append(text)
        if text == "boom":
            raise RuntimeError("too loud")
        return text.upper()

    def prompt(self, prompt):
        self.seen.append(("UserPromptSubmit", prompt.text))
        return {"swear": Deny("mind your language"), "hi": Rewrite("hello")}.get(prompt.text)

    def before(self, event):
        text = event.tool_input["text"]
        self.seen.append((event.name, text))
        return {
            "secret": Deny("that is a secret"),
            "quiet": Rewrite(text="hush"),
            "ask": Ask("may I?"),
            "noted": Note("that was noted"),
            "stop": Stop("enough shouting"),
            "wrong": Rewrite(text=["not", "text"]),
        }.get(text)

    def after(self, event):
        self.seen.append((event.name, event.tool_input["text"], event.tool_response))
        return Rewrite("***") if event.tool_input["text"] == "password" else None

    def failed(self, event):
        self.seen.append((event.name, event.tool_input["text"], event.payload["error"]))
        return Note("try it more quietly")
