"""The operating system: processes, files, paths, locks, sockets, HTTP, time."""
