"""
Refuse to overwrite a shared branch.

Does     Denies `git push --force`.
Why      A force-push overwrites other people's work, and nobody notices until it is gone.
Instead  `git push --force-with-lease` on a branch of your own.
Escape   Push by hand.
"""

from snell import Deny, ShellCall, judges


@judges("PreToolUse", kind="shell")
def no_force_push(call: ShellCall) -> Deny | None:
    """Refuse to overwrite a shared branch."""
    if call.runs("git", "push", "--force"):
        return Deny("force-push overwrites other people's work", instead="use --force-with-lease on your own branch")
    return None
