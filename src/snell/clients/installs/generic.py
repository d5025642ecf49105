"""Any program that calls `snell-hook` with our canonical JSON: there is nothing to install."""

from snell.model.installs import Install

INSTALL = Install(
    name="generic",
    title="any other program",
    after=("let it run `snell-hook --client generic` with an event on stdin",),
)
