//! A person's tmux.conf, with every setting that could disturb us.

use std::fs;

use serde_json::json;

use crate::task::{is_alive, try_kill};
use crate::world::{World, text};

const CONF: &str = "\
set -g default-command 'exec fish'
set -g default-shell /bin/false
set -g default-terminal screen
set -g destroy-unattached on
set -g detach-on-destroy off
set -s exit-empty off
set -g remain-on-exit on
set -g status off
set -g base-index 1
set -g pane-base-index 1
set -g renumber-windows on
set -g prefix C-a
set -g automatic-rename on
set -g allow-rename on
set -g set-titles on
set -g set-titles-string '#(touch expanded)'
set -g update-environment 'PATH HOME ORANGE_TASK ORANGE_ACTOR ORANGE_HOME'
set -g history-limit 0
set -g mouse on
set -g synchronize-panes on
set -g aggressive-resize on
set-hook -g session-created 'rename-session \"at-#{session_id}\"'
set-hook -g after-new-session 'rename-session first ; new-window ; split-window ; last-window'
set-hook -g after-new-window 'rename-window theirs ; split-window'
set -g no-such-option on
";

#[test]
fn a_task_reaches_its_end_under_it() {
    let world = World::new();
    fs::write(world.path("home/.tmux.conf"), CONF).unwrap();
    let task = world.create("fix", "Mend it [agents: work hang hang pass]", &["--workflow", "persistent"]);
    let (worker, reviewer) = (task.agent(1).begun(), task.agent(2).begun());
    task.reaches("agent-review");
    let agents = || {
        let listed = world.tmux(&["list-panes", "-a", "-F", "#{@orange_task} #{@orange_agent} #{pane_dead}"]);
        let mut agents: Vec<_> = text(&listed.stdout).lines().map(str::to_owned).collect();
        agents.retain(|line| !line.contains("  "));
        agents.sort();
        agents
    };
    let mark = |window: &str| format!("{} {window} 0", task.id);
    assert_eq!(agents(), [mark("review-1"), mark("worker")]);
    assert_eq!(world.ok(&["task", "list"])[0]["session"], "active");

    task.write("## Review\n\nVerdict: FAIL");
    let moved = task.ok("update", &["--status", "working"]);
    assert_eq!(moved["hook_errors"], json!([]));
    assert!(is_alive(worker) && !is_alive(reviewer));
    world.until("the worker has heard it", || task.agent(1).heard().starts_with("The review failed"));
    task.has_events(3, "agent.spawned");
    assert_eq!(agents().len(), 2);

    try_kill(task.agent(3).begun());
    task.has_events(1, "agent.crashed");
    let fourth = task.agent(4).begun();
    task.ok("cancel", &["--yes"]);
    assert!(!is_alive(worker) && !is_alive(fourth));
    assert_eq!(agents(), [] as [&str; 0]);
    assert!(!world.repo().join("expanded").exists());
}
