"""Measure the import of Snell, in CPU time of a fresh interpreter."""

from bench.measure import interleaved_processes, python


def import_over_bare_python(rounds: int = 15) -> tuple[float, dict[str, float]]:
    times = interleaved_processes(
        {"python -c pass": python("pass"), "import snell": python("import snell")}, rounds=rounds
    )
    return times["import snell"] / times["python -c pass"], times
