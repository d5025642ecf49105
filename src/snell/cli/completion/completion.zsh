#compdef snell
_snell() {
    local word text
    local -a found
    while IFS=$'\t' read -r word text; do
        found+=("${word//:/\\:}:$text")
    done < <(snell completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)
    if (( $#found )); then _describe -V snell found; else _files; fi
}
if [[ $funcstack[1] == _snell ]]; then _snell "$@"; else compdef _snell snell; fi
