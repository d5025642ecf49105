"""
`snell-hook` in Python, for systems without a C compiler: does the same as native/snell-hook.c.

Run as `python3 -I -S shim.py VERSION ARGUMENTS...`. A script is compiled at every start and a module only once, so
the script is short. The modules `shim_*.py` and `python_form/` import nothing of Snell but each other, and built-in
modules instead of `os` and `socket`, which would double the start time.
"""

import sys


def main() -> int:
    beside_snell = __file__.removesuffix("/snell/daemon/shim.py")
    sys.path.insert(0, beside_snell)
    from snell.daemon.python_form.event import main as event_main

    sys.path.remove(beside_snell)  # no other package of that folder may be imported
    return event_main(sys.argv[1], sys.argv[2:])


def refuse(error: Exception) -> int:
    """Reply by the failure policy if Snell is incomplete, or memory is exhausted."""
    import posix

    text = f"{type(error).__name__}: {error}; install Snell again"
    try:
        from snell.daemon.python_form.policy import Policy
        from snell.daemon.shim_connection import NoDaemonError

        return Policy([word.encode() for word in sys.argv[2:]], b"").answer(NoDaemonError(__file__.encode(), text))
    except Exception:  # noqa: BLE001 - as below
        posix.write(2, f"snell-hook: `{__file__}`: {text}\n".encode())
        return 2 if "--fail-closed" in sys.argv and "--rewake" not in sys.argv else 0


if __name__ == "__main__":
    import posix

    try:
        code = main()
    except Exception as error:  # noqa: BLE001 - the client needs a reply, not a traceback
        code = refuse(error)
    posix._exit(code)  # nothing is buffered, and a normal exit takes time
