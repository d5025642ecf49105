"""
Deny commits that skip the project's checks.

Does     Denies `git commit --no-verify`.
Why      The checks find mistakes before they are committed.
Instead  Commit without the flag, and fix what the checks find.
Escape   Commit by hand.
"""

from snell import Deny, ShellCall, judges


@judges("PreToolUse", kind="shell")
def no_skipped_checks(call: ShellCall) -> Deny | None:
    """Deny commits that skip the project's checks."""
    if call.runs("git", "commit", "--no-verify"):
        return Deny("this commit skips the checks", instead="commit without --no-verify and fix what they find")
    return None
