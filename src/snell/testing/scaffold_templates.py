"""The templates of `snell new`."""

HOOK = '''"""
A working example; change it as you need.

Does     {does}
Why      {why}
Instead  {instead}
Escape   Remove this file, or rename it so that it begins with `_`.
"""

from snell import {imports}


@{role}({declared})
def {name}({parameter}: {type}) -> {effect} | None:
    if {asks}:
        return {answer}
    return None
'''

WATCHER = '''"""
A working example; change it as you need.

Does     {does}
Why      {why}
Instead  Nothing: it only watches.
Escape   Remove this file, or rename it so that it begins with `_`.
"""

import tempfile
from pathlib import Path

from snell import {imports}

LOG = Path(tempfile.gettempdir(), "{name}.log")


@{role}({declared})
def {name}({parameter}: {type}) -> None:
    if {asks}:
        with LOG.open("a", encoding="utf-8") as log:
            log.write("{what}\\n")
'''

CASES = """\
# Tests of the hook {name}. Run them with `snell test`.

[[case]]
name   = "{yes}"
event  = {yes_event}
expect = {yes_expect}

[[case]]
name   = "other events get no opinion"
event  = {no_event}
expect = "no_opinion"
"""

PACK = """\
name    = "{name}"
purpose = "describe this pack in one line"
enabled = true

# Options that the hooks of this pack can read:
# [options]
"""
