//! Hooks and the resources that they hold: agents, sessions, windows, worktrees.

mod argv_shell;
mod auto_state_without_agent;
mod checks_without_pull_request;
mod command_after_the_move;
mod destructive_ungated;
mod fallible_hook_uncovered;
mod full_permission_reviewer;
mod hook_needs_session;
mod hook_order;
mod hook_unneeded;
mod places;
mod publishes_after_failure;
mod reduced_permission_worker;
mod resource_key_mismatch;
mod sandbox_without_effect;
mod session_leak;
mod spawn_while_alive;
mod spawn_without_workspace;
mod workspace_conflict;
mod workspace_leak;

#[cfg(test)]
mod tests;

super::group! {
    C60 "session-leak" Warn session_leak;
    C61 "workspace-leak" Warn workspace_leak;
    C62 "spawn-while-alive" Warn spawn_while_alive;
    C63 "spawn-without-workspace" Warn spawn_without_workspace;
    C64 "hook-needs-session" Warn hook_needs_session;
    C65 "hook-unneeded" Allow hook_unneeded;
    C66 "resource-key-mismatch" Warn resource_key_mismatch;
    C67 "hook-order" Warn hook_order;
    C68 "auto-state-without-agent" Warn auto_state_without_agent;
    C69 "fallible-hook-uncovered" Warn fallible_hook_uncovered;
    C6B "destructive-ungated" Warn destructive_ungated;
    C6C "full-permission-reviewer" Warn full_permission_reviewer, steps;
    C6D "reduced-permission-worker" Warn reduced_permission_worker, steps;
    C70 "argv-shell" Warn argv_shell;
    C71 "publishes-after-failure" Warn publishes_after_failure;
    C72 "command-after-the-move" Warn command_after_the_move;
    C73 "checks-without-pull-request" Warn checks_without_pull_request;
    C74 "workspace-conflict" Warn workspace_conflict;
    C75 "sandbox-without-effect" Warn sandbox_without_effect, steps;
}
