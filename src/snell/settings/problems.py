"""Problems of settings files: where, what is wrong, and what to do."""

from typing import Literal

from msgspec import Struct

from snell.model.errors import SettingsError

Severity = Literal["error", "warning", "hint"]


class Problem(Struct, frozen=True):
    file: str
    line: int
    message: str
    advice: str = ""
    severity: Severity = "error"

    def __str__(self) -> str:
        text = f"{self.file}:{self.line}: {self.message}"
        return f"{text}; {self.advice}" if self.advice else text


class InvalidValueError(SettingsError):
    """An invalid value at one line; the parser, which knows the file, turns it into a Problem."""

    def __init__(self, message: str, line: int, advice: str = "") -> None:
        super().__init__(message, advice=advice)
        self.line = max(line, 1)

    def problem(self, file: str, severity: Severity = "error") -> Problem:
        return Problem(file, self.line, self.message, self.advice, severity)
