"""Tasks, efforts, sessions, phases and agents as rows: functions over a transaction, the same for every backend."""
