"""Steps of the schema: read from numbered files, for one dialect at a time."""

from pathlib import Path

from snell.store.migrate import Step, steps


def test_a_step_holds_what_is_common_and_what_is_its_dialects_own(tmp_path: Path) -> None:
    (tmp_path / "0002_more.sql").write_text("DROP TABLE b;\n", encoding="utf-8")
    (tmp_path / "notes.sql").write_text("not a step", encoding="utf-8")
    (tmp_path / "0001_begin.sql").write_text(
        "-- a comment; with a semicolon\n"
        "CREATE TABLE a (\n-- only sqlite\n  n INTEGER\n-- end\n-- only postgres\n  n BIGINT\n-- end\n);\n"
        "-- only postgres\nCREATE INDEX i ON a (n);\n-- end\n"
        "INSERT INTO a VALUES (';');",
        encoding="utf-8",
    )
    assert steps("sqlite", tmp_path) == (
        Step(1, ("CREATE TABLE a (\n  n INTEGER\n)", "INSERT INTO a VALUES (';')")),
        Step(2, ("DROP TABLE b",)),
    )
    assert steps("postgres", tmp_path) == (
        Step(1, ("CREATE TABLE a (\n  n BIGINT\n)", "CREATE INDEX i ON a (n)", "INSERT INTO a VALUES (';')")),
        Step(2, ("DROP TABLE b",)),
    )


def test_our_steps_are_numbered_without_gaps() -> None:
    for dialect in ("sqlite", "postgres"):
        assert [step.number for step in steps(dialect)] == list(range(1, len(steps(dialect)) + 1))
        assert all("only" not in statement for step in steps(dialect) for statement in step.statements)
