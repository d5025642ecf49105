"""
msgspec without what it would load for programs that use `typing_extensions`; we do not, and it takes as long to load as
bare Python takes to start. Whoever imports it later gets it as usual.
"""

import sys

if "typing_extensions" not in sys.modules and "msgspec" not in sys.modules:
    sys.modules["typing_extensions"] = None  # type: ignore[assignment] # importing it fails, which msgspec expects
    try:
        import msgspec
    finally:
        del sys.modules["typing_extensions"]
else:
    import msgspec

__all__ = ["msgspec"]
