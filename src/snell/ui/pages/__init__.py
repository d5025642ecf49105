"""The pages, in the order of the menu: one module each, with a template of the same name."""

from snell.ui.pages import decision, fleet, health, hooks, ledger, memories, now, sessions
from snell.ui.site import Page

PAGES: tuple[Page, ...] = (
    Page("/", "now.html", now.show, "Now"),
    Page("/sessions", "sessions.html", sessions.show, "Sessions"),
    Page("/ledger", "ledger.html", ledger.show, "Ledger"),
    Page("/hooks", "hooks.html", hooks.show, "Hooks and packs"),
    Page("/memories", "memories.html", memories.show, "Memories"),
    Page("/fleet", "fleet.html", fleet.show, "Fleet"),
    Page("/health", "health.html", health.show, "Health", accepts_form=True),
    Page("/decision/{id}", "decision.html", decision.show, accepts_form=True),
    Page("/session", "session.html", sessions.show_one),
    Page("/call", "call.html", ledger.show_one),
    Page("/memories/map.svg", "", memories.draw_map, media_type="image/svg+xml"),
    Page("/memory", "memory.html", memories.show_one, accepts_form=True),
)
