"""The address of a shared server, as it may be shown: whatever could hold a password is left out."""

_SHOWN = ("host=", "hostaddr=", "port=", "dbname=", "user=", "sslmode=")


def shown_address(address: str) -> str:
    """Host and database, when they can be told apart from a password without doubt; else only what it is."""
    if "pass" in address.lower() or "'" in address or "\\" in address:
        return "PostgreSQL"
    scheme, is_url, rest = address.partition("://")
    if is_url:
        # A password may hold any of `:/?#`, so only what follows the very last `@` is none.
        return f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}"
    return " ".join(word for word in address.split() if word.startswith(_SHOWN)) or "PostgreSQL"
