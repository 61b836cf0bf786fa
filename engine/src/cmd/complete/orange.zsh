#compdef orange
# Completion of orange for zsh.
_orange() {
    local -a found
    local line word about program=${words[1]/#\~/$HOME}
    for line in "${(@f)$($program complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
        word=${line%%$'\t'*} about=${line#*$'\t'}
        if [[ -n $word ]]; then
            # A colon ends the word for _describe, and a backslash takes that meaning from it.
            found+=("${${word//\\/\\\\}//:/\\:}${about:+:${about//\\/\\\\}}")
        elif [[ -n $line ]]; then
            compset -P '--*='
            _files
            return
        fi
    done
    _describe -V orange found
}
if [[ $funcstack[1] == _orange ]]; then _orange "$@"; else compdef _orange orange; fi
