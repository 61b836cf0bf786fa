#!/bin/sh
# The agent of the torture: it notes that it was started, does what is typed behind `do: `, and notes all else it hears.
notes=$HOME/agents
mkdir -p "$notes"
echo "$ORANGE_ACTOR $$" >>"$notes/$ORANGE_TASK.started"
# What a life has every agent do first.
[ -e "$HOME/begins" ] && . "$HOME/begins"
while IFS= read -r line; do
  case $line in
    'do: '*) eval "${line#do: }" ;;
    *) printf '%s\n' "$line" >>"$notes/$ORANGE_TASK.heard" ;;
  esac
done
