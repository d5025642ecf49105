"""Tool calls as files for other programs."""

import csv
import io

import pytest

from snell.cli.commands.ledger import write_csv
from snell.records.ledger import Call


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("=cmd|'/c calc'!A1", "'=cmd|'/c calc'!A1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\n=1", "'\n=1"),
        ("  =1", "'  =1"),
        ("＝1", "'＝1"),
        ("Bash", "Bash"),
        ("a=1, b", "a=1, b"),
        ('say "hi"', 'say "hi"'),
        ("", ""),
    ],
)
def test_no_cell_is_a_formula(name: str, cell: str):
    out = io.BytesIO()
    write_csv(iter([[Call(tool_call_id="s/1", raw_tool_name=name, duration_ms=-5)]]), out)
    (row,) = csv.DictReader(io.StringIO(out.getvalue().decode(), newline=""))
    assert (row["raw_tool_name"], row["duration_ms"]) == (cell, "-5")
