"""Texts and tables that commands read or print: the commands, views, service files."""


def template(name: str) -> str:
    """Return the text of a file in this folder."""
    with open(f"{__path__[0]}/{name}", encoding="utf-8") as file:
        return file.read()
