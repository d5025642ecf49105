"""The texts that the scaffolder fills in."""

HOOK = '''"""
An example that works; make it yours.

Does     {does}
Why      {why}
Instead  {instead}
Escape   Remove this file, or set it aside by a name that begins with `_`.
"""

from snell import {imports}


@{role}({declared})
def {name}({parameter}: {type}) -> {effect} | None:
    if {asks}:
        return {answer}
    return None
'''

WATCHER = '''"""
An example that works; make it yours.

Does     {does}
Why      {why}
Instead  Nothing: the agent does not notice.
Escape   Remove this file, or set it aside by a name that begins with `_`.
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
# What {name} shall do. Run it with `snell test`.

[[case]]
name   = "{yes}"
event  = {yes_event}
expect = {yes_expect}

[[case]]
name   = "anything else is left alone"
event  = {no_event}
expect = "no_opinion"
"""

PACK = """\
name    = "{name}"
purpose = "say in one line what this pack is for"
enabled = true

# What the hooks of this pack want to be told:
# [options]
"""
