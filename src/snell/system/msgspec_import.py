"""
Import msgspec without `typing_extensions`, which it would load for programs that use it: Snell does not, and loading
takes as long as a bare Python start. A later import of `typing_extensions` works as usual.
"""

import sys

if "typing_extensions" not in sys.modules and "msgspec" not in sys.modules:
    sys.modules["typing_extensions"] = None  # type: ignore[assignment] # the import fails, which msgspec expects
    try:
        import msgspec
    finally:
        del sys.modules["typing_extensions"]
else:
    import msgspec

__all__ = ["msgspec"]
