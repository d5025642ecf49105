"""A tool runner whose every step is written down."""

from snell import HookMatcher, Tool, ToolRunner


class Recorder:
    """Tools, rules and hooks that write down in which order they are called, and on what."""

    def __init__(self, **answers):
        self.seen = []
        self.answers = answers

    def step(self, name, default=None):
        def called(value=None, **given):
            self.seen.append((name, given or value) if given or value is not None else name)
            answer = self.answers.get(name, default)
            if isinstance(answer, BaseException):
                raise answer
            return answer

        return called

    def hook(self, name):
        def hook(event):
            self.seen.append((name, event.tool_input))
            if name.startswith("Post"):
                self.seen.append(event.payload.get("tool_response") or event.payload.get("error"))
            return self.answers.get(name)

        hook.__name__ = name
        return hook

    def runner(self, **options):
        events = ("PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure")
        tool = Tool(
            "echo",
            run=self.step("run", "ran"),
            schema={"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}},
            validate=self.step("validate"),
            permission=self.step("permission"),
            is_enabled=self.step("enabled", True),
        )
        hooks = {name: [HookMatcher(matcher="*", hooks=[self.hook(name)])] for name in events}
        approve = self.step("approve") if "approve" in self.answers else None
        return ToolRunner([tool], hooks=hooks, approve=approve, **options)
