//! Hooks and the resources that they hold: agents, sessions, windows, worktrees.

mod spawn_while_alive;

super::lints! {
    C62 "spawn-while-alive" Warn spawn_while_alive;
}
