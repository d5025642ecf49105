"""Print each figure with its limit, and whether the limit was kept."""

import sys
import time
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bench import (
    cold,
    daemon,
    engine,
    events,
    growth,
    guard,
    installed_peers,
    ledger,
    load,
    memory_curves,
    peers,
    redaction,
    shim,
    standing,
    startup,
    store,
    work,
)
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
    events.new_command_over_true,
    events.repeated_command_over_true,
    events.new_back_to_back_over_true,
    events.repeated_back_to_back_over_true,
    events.cpu_of_new_command,
    events.cpu_of_repeated_command,
    events.cpu_of_new_back_to_back,
    events.cpu_of_repeated_back_to_back,
    events.tail_over_tail_of_true,
    events.cpu_with_90_variables,
    events.cpu_with_many_folders,
    events.cpu_without_re2,
    engine.new_tool_and_ten_thousand_lists,
    engine.new_tool_and_ten_thousand_patterns,
    cold.cold_cpu_of_tool_call,
    cold.cold_cpu_of_session_start,
    cold.cold_wall_of_session_start,
    standing.idle_cpu,
    standing.memory_of_daemon,
    standing.memory_of_worker,
    daemon.cold_start_over_bare_python,
    peers.scripts_over_ours,
    peers.scripts_over_ours_in_shell,
    peers.one_script_over_ours,
    peers.console_script_over_ours,
    peers.bash_hooks_over_ours,
    peers.node_script_over_ours,
    peers.curl_over_ours,
    installed_peers.nah_over_ours,
    installed_peers.safety_net_over_ours,
    load.events_of_20_agents,
    load.events_of_200_agents,
    load.repeated_of_200_agents_over_true,
    load.new_of_200_agents_over_true,
    load.events_of_64_agents_over_scripts,
    load.errors_and_losses,
    load.memory_growth,
    memory_curves.memory_of_many_projects,
    memory_curves.memory_of_settings_changes,
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
    growth.session_at_a_million,
    growth.event_at_a_million,
    growth.log_at_a_million,
    growth.why_at_a_million,
    growth.session_stats_at_a_million,
    growth.stats_at_a_million,
    ledger.verifying_over_five_seconds,
)


def main(words: list[str]) -> int:
    """Measure everything, or what is named; exit code 2 when there is no such measure. `--profile`: see profile.py."""
    if words[:1] == ["--profile"]:
        from bench import profile

        return profile.main(words[1:])
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
    aim = f"aim {budget['aim']:g}" if "aim" in budget else ""
    took = time.perf_counter() - start
    print(f"{value:10.3g} {unit:<4} bar {bar:<8} {aim:<8} {verdict:<7} {budget['says']}  [{took:.0f} s]")
    in_seconds = unit == "x" and not any("/s" in name or "ms" in name for name in times)
    for name, each in times.items():
        print(f"{'':>18}{name:<34} {f'{each * 1e6:12.1f} us' if in_seconds else f'{each:12.1f}'}", flush=True)
    return is_kept


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
