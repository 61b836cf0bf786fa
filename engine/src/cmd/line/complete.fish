# Completion of orange for fish.
function __orange_complete
    set -l words (commandline --tokenize --cut-at-cursor --current-process) (commandline --current-token --cut-at-cursor)
    orange complete -- $words[2..-1] 2>/dev/null
end
complete --command orange --arguments '(__orange_complete)'
