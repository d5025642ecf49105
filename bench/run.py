"""Print each figure with its limit, and whether the limit was kept."""

import sys
import time
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bench import daemon, engine, guard, ledger, load, peers, redaction, shim, startup, store, work
from bench.measure import NotHere

BUDGETS = Path(__file__).with_name("budgets.toml")

Measure = Callable[..., tuple[float, dict[str, float]]]

MEASURES: tuple[Measure, ...] = (
    engine.dispatch_over_pluggy,
    engine.matching_at_ten_thousand,
    startup.import_over_bare_python,
    redaction.redaction_over_rule_by_rule,
    redaction.redaction_without_re2_over_rule_by_rule,
    redaction.redaction_growth,
)
# Too slow or too much in need of a quiet machine for the ordinary tests.
REPORTED: tuple[Measure, ...] = (
    shim.shim_over_true,
    shim.shim_cpu_over_true,
    shim.shim_in_shell_over_true_in_shell,
    daemon.warm_hook_over_true,
    daemon.warm_hook_cpu_over_true,
    daemon.warm_hook_in_shell_over_true_in_shell,
    daemon.running_hooks_over_true,
    daemon.running_hooks_in_shell_over_true_in_shell,
    daemon.cold_start_over_bare_python,
    peers.scripts_over_ours,
    peers.scripts_over_ours_in_shell,
    peers.one_script_over_ours,
    peers.console_script_over_ours,
    peers.bash_hooks_over_ours,
    peers.node_script_over_ours,
    peers.curl_over_ours,
    load.events_of_20_agents,
    load.events_of_200_agents,
    load.events_of_64_agents_over_scripts,
    load.errors_and_losses,
    load.memory_growth,
    guard.dangerous_commands_flagged,
    guard.dangerous_commands_denied,
    guard.ordinary_commands_flagged,
    guard.guard_p95_over_plain_command,
    store.commit_over_bare_sqlite,
    store.insert_at_a_million,
    store.mark_over_memory,
    work.tool_call_of_an_effort_over_plain_insert,
    ledger.durable_over_plain_insert,
    ledger.receipt_over_plain_insert,
    ledger.audit_over_no_ledger,
    ledger.session_at_a_million,
    ledger.verifying_over_five_seconds,
)


def main(words: list[str]) -> int:
    """Measure everything, or what is named; exit code 2 when there is no such measure."""
    unknown = set(words) - {measure.__name__ for measure in (*MEASURES, *REPORTED)}
    if unknown:
        print(f"there is no measure `{min(unknown)}`; the names are those in {BUDGETS.name}", file=sys.stderr)
        return 2
    budgets = tomllib.loads(BUDGETS.read_text(encoding="utf-8"))
    chosen = [measure for measure in (*MEASURES, *REPORTED) if not words or measure.__name__ in words]
    kept = [_measured(measure, budgets[measure.__name__]) for measure in chosen]
    print(f"{kept.count(True)} kept, {kept.count(False)} missed, {kept.count(None)} not measured")
    return 1 if False in kept else 0


def holds(value: float, budget: Mapping[str, Any]) -> bool:
    return bool(value <= budget["limit"] if "limit" in budget else value >= budget["least"])


def _measured(measure: Measure, budget: Mapping[str, Any]) -> bool | None:
    start = time.perf_counter()
    try:
        value, times = measure()
    except NotHere as why:
        print(f"        --  not measured: {why}  {budget['says']}")
        return None
    unit, is_kept = budget.get("unit", "x"), holds(value, budget)
    bar = f"<= {budget['limit']:g}" if "limit" in budget else f">= {budget['least']:g}"
    verdict = "kept" if is_kept else "MISSED"
    print(f"{value:10.3g} {unit:<4} bar {bar:<8} {verdict:<7} {budget['says']}  [{time.perf_counter() - start:.0f} s]")
    in_seconds = unit == "x" and not any("/s" in name for name in times)
    for name, each in times.items():
        print(f"{'':>18}{name:<34} {f'{each * 1e6:12.1f} us' if in_seconds else f'{each:12.1f}'}", flush=True)
    return is_kept


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
