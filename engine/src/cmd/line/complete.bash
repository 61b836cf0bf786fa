# Completion of orange for bash.
_orange() {
    # bash takes `--option=value` apart at the `=`; the words are put together again, as they were typed.
    local word words=() line=() IFS=$'\n'
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        if [[ ${#words[@]} -gt 0 && ($word == "=" || ${words[-1]} == --*=) ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
    done
    COMPREPLY=()
    for line in $("${COMP_WORDS[0]}" complete -- "${words[@]}" 2>/dev/null); do
        line=${line%%$'\t'*}
        [[ ${words[-1]} == --*=* ]] && line=${line#*=}
        COMPREPLY+=("$line")
    done
}
complete -o default -F _orange orange
