"""What the user asked for: settings files, their places, and which of them may be believed."""
