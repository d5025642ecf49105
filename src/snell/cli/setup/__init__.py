"""`snell setup`: say what Snell will do, show what changes in the files of clients, ask, write, and undo."""
