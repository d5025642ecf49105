"""Begin and end a pause, and leave a record of both: who asks later why a guard was silent finds out."""

from snell.runtime.admin_log import record_admin_action
from snell.settings.pause import Pause, begin_pause, end_pause
from snell.system.paths import Places


def pause(where: Places, minutes: float, why: str = "") -> tuple[Pause, str]:
    """Let everything but policy hooks be silent; returns the pause, and what kept it from being recorded."""
    begun = begin_pause(where, minutes, why)
    told = f"everything but policy hooks is silent for {begun.minutes:g} minutes"
    return begun, record_admin_action(where, "Pause", f"{told}: {begun.why}" if begun.why else told)


def resume(where: Places) -> tuple[Pause | None, str]:
    """Let all hooks run again; returns the pause that held."""
    held = end_pause(where)
    return held, record_admin_action(where, "Resume", "all hooks run again") if held else ""
