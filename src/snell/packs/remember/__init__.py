"""Memory that captures itself: what is worth keeping goes into the inbox, and what fits comes back."""
