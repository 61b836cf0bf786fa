#compdef orange
# Completion of orange for zsh.
_orange() {
    local -a lines found
    lines=("${(@f)$("${words[1]}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    local line
    for line in $lines; do
        found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    if (( $#found )); then _describe -V orange found; else _files; fi
}
if [[ $funcstack[1] == _orange ]]; then _orange "$@"; else compdef _orange orange; fi
