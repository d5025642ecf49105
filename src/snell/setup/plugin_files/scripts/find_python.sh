#!/bin/sh
# Prints the first Python 3.11 or newer that has Snell; fails if there is none.
# Isolated (-I), so that a folder `snell` in the working directory is not imported.
for python in ${SNELL_PYTHON:+"$SNELL_PYTHON"} python3 python python3.14 python3.13 python3.12 python3.11; do
    path=$(command -v "$python" 2>/dev/null) || continue
    case $path in /*) ;; *) continue ;; esac
    "$path" -I -c 'import sys, snell; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 || continue
    printf '%s\n' "$path"
    exit 0
done
exit 1
