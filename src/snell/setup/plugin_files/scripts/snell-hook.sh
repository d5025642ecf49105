#!/bin/sh
# Runs snell-hook, else a Python that has Snell; else says once that Snell is missing, and lets every call pass.
# No cat, no sed: this must work with an empty PATH. Nothing is run from the working directory, which may be any
# repository: no relative path, and Python runs isolated (-I).
for shim in "$(command -v snell-hook 2>/dev/null)" "$HOME/.local/bin/snell-hook" \
    "$HOME"/Library/Python/3.*/bin/snell-hook /usr/local/bin/snell-hook; do
    case $shim in /*) [ -x "$shim" ] && exec "$shim" "$@" ;; esac
done
here=${0%/*}
python=$("$here/find_python.sh" 2>/dev/null) && [ -n "$python" ] && exec "$python" -I -m snell hook "$@"
mark="${CLAUDE_PLUGIN_DATA:-${TMPDIR:-/tmp}}/snell-not-installed-${USER:-user}"
if [ ! -e "$mark" ]; then
    { : >"$mark"; } 2>/dev/null
    printf '%s\n' '{"systemMessage": "Snell plugin does nothing: Snell is not installed; its README says how"}'
fi
exit 0
