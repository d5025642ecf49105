"""Whatever hooks hand over comes out as JSON."""

import json
from datetime import date
from pathlib import PurePosixPath
from typing import Any

import pytest

from snell.model.errors import HookError
from snell.system.json_output import json_bytes


@pytest.mark.parametrize(
    ("value", "read_back"),
    [
        ({"a": [1, 2.5, None, True, "ü"]}, {"a": [1, 2.5, None, True, "ü"]}),
        ({"a": 10**40}, {"a": 10**40}),
        ({"a": float("nan"), "b": float("inf")}, {"a": None, "b": None}),
        ({"a": "x\ud800y"}, {"a": "x\ud800y"}),
        ({"a\ud800": float("nan"), "b": 2**70}, {"a\ud800": None, "b": 2**70}),
        ({"a": PurePosixPath("/x"), "b": (1, 2)}, {"a": "/x", "b": [1, 2]}),
        ({(1, 2): {3}, 4: frozenset({5})}, {"(1, 2)": [3], "4": [5]}),
        ({(1, 2): date(2026, 1, 2)}, {"(1, 2)": "2026-01-02"}),
    ],
)
def test_any_value_becomes_json(value: Any, read_back: Any) -> None:
    assert json.loads(json_bytes(value)) == read_back


def test_a_value_that_holds_itself_is_a_clear_error() -> None:
    for key in ("a", (1, 2)):
        endless: dict[Any, Any] = {}
        endless[key] = [endless]
        with pytest.raises(HookError, match="contains itself"):
            json_bytes(endless)
