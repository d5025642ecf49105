"""Format the address of a shared server for display, without a password."""

_SHOWN = ("host=", "hostaddr=", "port=", "dbname=", "user=", "sslmode=")


def display_address(address: str) -> str:
    """Return host and database if they can be told from a password without doubt; else only `PostgreSQL`."""
    if "pass" in address.lower() or "'" in address or "\\" in address:
        return "PostgreSQL"
    scheme, is_url, rest = address.partition("://")
    if is_url:
        # A password may contain any of `:/?#`, so only what follows the very last `@` is certainly not part of it.
        return f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}"
    return " ".join(word for word in address.split() if word.startswith(_SHOWN)) or "PostgreSQL"
