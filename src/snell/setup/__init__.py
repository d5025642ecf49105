"""Install Snell in other programs: plan, edit, write, undo."""
