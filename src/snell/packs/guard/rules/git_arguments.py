"""The sub-command and the words of a git call, and the sub-commands that change files."""

from snell.packs.guard.shell.shell_state import Step

_VALUED = frozenset(
    ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--super-prefix")
)

# Sub-commands that change files in the work tree.
CHANGE_FILES = frozenset(
    (
        *("config", "init", "clean", "checkout", "restore", "reset", "rm", "mv", "apply", "clone", "stash", "pull"),
        *("am", "switch", "merge", "rebase", "cherry-pick", "revert", "checkout-index", "read-tree", "worktree"),
    )
)


def git_words(step: Step) -> tuple[str, list[str]]:
    """The sub-command in lower case and what follows it; empty when the step is no git call."""
    if step.program not in ("git", "hub"):
        return "", []
    words = list(step.args)
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option in _VALUED and words:
            words.pop(0)
    return (words[0].lower(), words[1:]) if words else ("", [])
