# Completion of orange for bash.
_orange() {
    # bash takes a word apart at `=` and `@`; the words are put together again, as they were typed.
    local word words=() line quoted
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        if [[ ${#words[@]} -gt 0 && ($word == [=@]* || ${words[-1]} == *[=@]) ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
    done
    # What is to be completed begins behind a `=`, but with a `@`; in quotes, it is the whole word.
    local typed=${words[-1]} kept
    case $typed in
        [\"\']*) kept= ;;
        *@*) kept=${typed%"@${typed##*@}"} ;;
        *) kept=${typed%"${typed##*=}"} ;;
    esac
    COMPREPLY=()
    while IFS= read -r line; do
        line=${line%%$'\t'*}
        printf -v quoted %q "${line#"$kept"}"
        if [[ -z $line ]]; then
            compopt -o default
        elif [[ $typed != [\"\']* ]]; then
            COMPREPLY+=("$quoted")
        elif [[ $quoted == "$line" ]]; then
            COMPREPLY+=("$line")
        fi
    done < <("${COMP_WORDS[0]/#\~/$HOME}" complete -- "${words[@]//[\"\'\\]/}" 2>/dev/null)
}
complete -F _orange orange
