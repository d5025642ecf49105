"""Write values into a settings file of a person, and keep the rest of the file unchanged."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snell.model.errors import SetupError
from snell.settings.value_tree import InvalidValueError
from snell.setup.edit_toml import toml_value, with_value
from snell.system.files import FileError, read_capped, write_atomically
from snell.system.paths import make_private

LARGEST = 1_048_576


def write_settings(path: Path, table: tuple[str, ...], values: Mapping[str, Any]) -> None:
    """Set these values of a table, or of the file itself if the table has no name. Raises SetupError."""
    try:
        before = after = read_capped(path, LARGEST).decode("utf-8") if path.exists() else ""
        for name, value in values.items():
            after = with_value(after, table, name, value)
        make_private(path.parent) if not path.parent.exists() else None
        if after != before:
            write_atomically(path, after.encode(), path.stat().st_mode & 0o777 if path.exists() else 0o600)
    except InvalidValueError as error:
        place = f"`{path}` line {error.line}"
        raise SetupError(f"the setting was not changed: {error.message}", where=place, advice=error.advice) from None
    except (OSError, FileError, UnicodeDecodeError) as error:
        lines = ", ".join(f"`{name} = {toml_value(value)}`" for name, value in values.items())
        under = f" under `[{'.'.join(table)}]`" if table else ""
        advice = f"write {lines}{under} there by hand"
        raise SetupError(f"the setting was not changed: {error}", where=f"`{path}`", advice=advice) from None
