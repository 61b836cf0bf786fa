//! The outside programs: tmux, git and the coding agents, one thin driver each.
