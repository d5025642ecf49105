"""
`snell-hook` where there is no C compiler: what native/snell-hook.c does, at the cost of starting Python.

Run as `python3 -I -S shim.py VERSION ARGUMENTS...`. A script is compiled at every start and a module only once, so
this is all there is of the script. The modules it leads to, `shim_*.py`, import nothing of Snell but each other, and
built-in modules instead of `os` and `socket`, which would double the time it takes.
"""

import sys


def main() -> int:
    beside_snell = __file__.removesuffix("/snell/machine/shim.py")
    sys.path.insert(0, beside_snell)
    from snell.machine.shim_event import main as event_main

    sys.path.remove(beside_snell)  # the other packages there are none of our business
    return event_main(sys.argv[1], sys.argv[2:])


if __name__ == "__main__":
    import posix

    posix._exit(main())  # nothing is buffered, and tidying up takes time
