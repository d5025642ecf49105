"""Print the score card."""

import sys
import tomllib
from pathlib import Path

from bench import daemon, engine, shim, startup, store

BUDGETS = Path(__file__).with_name("budgets.toml")
MEASURES = (engine.dispatch_over_pluggy, engine.matching_at_ten_thousand, startup.import_over_bare_python)
# Too slow or too much in need of a quiet machine for the ordinary tests.
REPORTED = (
    shim.shim_over_true,
    shim.shim_cpu_over_true,
    shim.shim_in_shell_over_true_in_shell,
    daemon.warm_hook_over_true,
    daemon.warm_hook_in_shell_over_true_in_shell,
    store.commit_over_bare_sqlite,
    store.insert_at_a_hundred_thousand,
    store.mark_over_memory,
)


def main() -> int:
    budgets = tomllib.loads(BUDGETS.read_text(encoding="utf-8"))
    missed = 0
    for measure in (*MEASURES, *REPORTED):
        budget = budgets[measure.__name__]
        ratio, times = measure()
        missed += ratio > budget["limit"]
        verdict = "holds" if ratio <= budget["limit"] else "MISSED"
        print(f"{ratio:6.2f} x  (limit {budget['limit']:.2f}, {verdict})  {budget['says']}")
        for name, seconds in times.items():
            print(f"            {name:<20} {seconds * 1e6:12.2f} us")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
