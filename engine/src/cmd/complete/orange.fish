# Completion of orange for fish.
function __orange_complete
    set -l words (commandline --tokenize --cut-at-cursor --current-process)
    set -l program (string replace --regex '^~' $HOME -- $words[1])
    set -l typed (string replace --all --regex '[\'"\\\\]' '' -- (commandline --current-token --cut-at-cursor))
    for line in ($program complete -- $words[2..] "$typed" 2>/dev/null)
        if string match --quiet \t'*' -- $line
            set -l option (string match --regex '^--[^=]*=' -- "$typed")
            string replace --regex '^' -- "$option" (__fish_complete_path (string replace -- "$option" '' "$typed"))
        else
            echo $line
        end
    end
end
complete --command orange --no-files --arguments '(__orange_complete)'
