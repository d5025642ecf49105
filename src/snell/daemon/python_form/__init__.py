"""`snell-hook` in Python, for systems without a C compiler; native/snell-hook.c does the same."""
