//! Delegation: the agent of a task creates others, their work is merged into its branch, and it goes on.

use std::fs;

use serde_json::{Value, json};

use crate::activity::{event, tool};
use crate::budgets::reported;
use crate::clocks::{JOURNAL, set_clock};
use crate::every_step::{KillMoment, killed_in};
use crate::said::ProgramOutput;
use crate::task::{Task, is_alive};
use crate::world::World;

/// A task whose agent waits for a script.
fn parent(world: &World) -> Task<'_> {
    let task =
        world.create("whole", "Build the whole [agents: scripted work pass]", &["--workflow", "split"]);
    task.agent(1).begun();
    task
}

/// The words of an agent that creates a task.
fn creates(world: &World, task: &Task<'_>, branch: &str, more: &[&str]) -> ProgramOutput {
    let mut command = task.as_agent("worker", "1");
    command.current_dir(task.worktree());
    let summary = format!("Build {branch} [agents: work pass]");
    world.said(command.args(["task", "create", branch, &summary]).args(more))
}

/// The parent has created these tasks and waits for them.
fn delegated<'w>(world: &'w World, task: &Task<'w>, parts: &[&str]) -> Vec<Task<'w>> {
    let created = parts.iter().map(|part| world.task(&creates(world, task, part, &[]).ok()));
    let created: Vec<Task<'_>> = created.collect();
    task.write("## Plan\n\nThe parts can be built at the same time.");
    task.asks_its_last("worker", 1, "delegated");
    task.is_left();
    created
}

fn standings(task: &Task<'_>) -> Vec<(String, String)> {
    let shown = task.show();
    let word = |child: &Value, key: &str| child[key].as_str().unwrap().to_owned();
    let children = shown["children"].as_array().unwrap();
    children.iter().map(|child| (word(child, "branch"), word(child, "standing"))).collect()
}

fn standing(branch: &str, standing: &str) -> (String, String) {
    (branch.to_owned(), standing.to_owned())
}

#[test]
fn parts_are_merged_into_the_task_that_has_created_them() {
    let world = World::new();
    let task = parent(&world);
    let refused = task.asks("worker", 1, "delegated").fails(1, "gate_failed");
    assert!(refused.contains("## Plan"), "{refused}");
    let parts = delegated(&world, &task, &["left", "right"]);
    for part in &parts {
        let shown = part.show();
        assert_eq!((&shown["parent"], &shown["base"]), (&json!(task.id), &json!("whole")), "{shown}");
        assert_eq!(part.owned("workflow"), json!("split"));
    }
    assert_eq!(standings(&task), [standing("left", "open"), standing("right", "open")]);
    world.until("the parts are merged and the whole goes on", || {
        let seen = world.ok(&["monitor", "--once"]);
        assert_eq!(seen["errors"], json!([]), "{seen}");
        task.status() != "delegated"
    });
    task.reaches("reviewing");
    assert_eq!(standings(&task), [standing("left", "merged"), standing("right", "merged")]);
    let files = world.git(&world.repo(), &["ls-tree", "--name-only", "whole"]);
    let own = [&task, &parts[0], &parts[1]].map(|it| format!("work-{}.txt", it.id));
    assert!(own.iter().all(|file| files.contains(file)), "{files}");
    assert!(parts.iter().all(|part| part.status() == "done"));
    let feedback = task.show()["sections"]["## Feedback"].as_str().unwrap().to_owned();
    assert!(feedback.contains("### Tasks that were created"), "{feedback}");
    assert!(feedback.contains("left") && feedback.contains("merged"), "{feedback}");
    assert_eq!(task.events_of("watch.taken").len(), 1);
    // The person merges all of it at once.
    assert!(world.git(&world.repo(), &["log", "--oneline", "main..whole"]).lines().count() >= 3);
    task.ok("merge", &[]);
    assert_eq!(task.status(), "done");
    let files = world.git(&world.repo(), &["ls-tree", "--name-only", "main"]);
    assert!(own.iter().all(|file| files.contains(file)), "{files}");
}

/// Two parts change the same file. The second one conflicts with the branch of the parent, and its worker resolves that.
#[test]
fn a_part_that_conflicts_with_another_goes_to_its_worker() {
    let world = World::new();
    let task = parent(&world);
    let parts = ["left", "right"].map(|part| {
        let summary = format!("Build {part} [agents: scripted pass scripted pass]");
        let mut command = task.as_agent("worker", "1");
        command.current_dir(task.worktree());
        world.task(&world.said(command.args(["task", "create", part, &summary])).ok())
    });
    let commits = |text: &str| {
        format!(
            "echo {text} >shared.txt\ngit add shared.txt\ngit commit --quiet --message {text}\n\
             write Handoff 'DONE: {text}'\nask agent-review\n"
        )
    };
    for (part, text) in parts.iter().zip(["one", "two"]) {
        part.agent(1).tell(&commits(text));
        part.agent(3).tell(&format!("git merge --quiet whole\n{}", commits("both")));
    }
    task.write("## Plan\n\nThe parts can be built at the same time.");
    task.asks_its_last("worker", 1, "delegated");
    world.until("the parts are merged and the whole goes on", || {
        let seen = world.ok(&["monitor", "--once"]);
        assert_eq!(seen["errors"], json!([]), "{seen}");
        task.status() != "delegated"
    });
    assert!(parts.iter().all(|part| part.status() == "done"));
    let rounds: Vec<usize> = parts.iter().map(|part| part.events_of("watch.taken").len()).collect();
    assert_eq!(rounds.iter().sum::<usize>(), 1, "{rounds:?}");
    assert_eq!(world.git(&world.repo(), &["show", "whole:shared.txt"]), "both");
}

#[test]
fn what_an_agent_may_create_has_limits() {
    let world = World::new();
    let task = parent(&world);
    let refused = creates(&world, &task, "part-8", &["--base", "main"]).fails(1, "refused");
    assert!(refused.contains("goes into whole, and not into main"), "{refused}");
    let refused = creates(&world, &task, "part-9", &["--workflow", "default"]).fails(1, "refused");
    assert!(refused.contains("follow `split`, and not `default`"), "{refused}");
    let refused = creates(&world, &task, "part-10", &["--blocked-by", "whole"]).fails(1, "refused");
    assert!(refused.contains("would wait for itself"), "{refused}");
    for number in 1..=6 {
        creates(&world, &task, &format!("part-{number}"), &[]).ok();
    }
    let refused = creates(&world, &task, "part-7", &[]).fails(1, "refused");
    assert!(refused.contains("whole has created 6 tasks, the most that its workflow allows"), "{refused}");
    let listed = world.ok(&["task", "list"]);
    assert_eq!(listed.as_array().unwrap().len(), 7, "{listed}");
    // None of them begins before the task has left the state.
    world.ok(&["monitor", "--once"]);
    assert!(standings(&task).iter().all(|(_, standing)| standing == "open"));
    let cancelled = task.ok("cancel", &["--yes"]);
    assert_eq!(cancelled["also_cancelled"].as_array().unwrap().len(), 6, "{cancelled}");
    assert!(standings(&task).iter().all(|(_, standing)| standing == "ended"));
}

#[test]
fn a_part_that_is_cancelled_is_named_to_the_agent() {
    let world = World::new();
    let task = parent(&world);
    let parts = delegated(&world, &task, &["left"]);
    parts[0].ok("cancel", &["--yes"]);
    let seen = world.ok(&["monitor", "--once"]);
    assert_eq!(seen["errors"], json!([]), "{seen}");
    assert_eq!(task.status(), "working");
    task.reaches("reviewing");
    let body = fs::read_to_string(task.file()).unwrap();
    assert!(
        body.contains("### Tasks that were created") && body.contains("left: over and not merged"),
        "{body}"
    );
    // A person cancels a task and keeps what it has created.
    let other = world.create("more", "Build more [agents: scripted]", &["--workflow", "split"]);
    other.agent(1).begun();
    let kept = delegated(&world, &other, &["kept"]);
    other.ok("cancel", &["--yes", "--children", "keep"]);
    assert_ne!(kept[0].status(), "cancelled");
}

/// Kills the merge of a part after or before a call of git that it makes. Whatever was done, the part is merged once.
#[test]
fn a_part_whose_merge_is_killed_is_merged_once() {
    for (call, moment) in
        [(2, KillMoment::After), (5, KillMoment::Before), (8, KillMoment::After), (11, KillMoment::Before)]
    {
        let world = World::new();
        let task = parent(&world);
        let part = delegated(&world, &task, &["one"]).remove(0);
        part.reaches("reviewing");
        let merge = ["task", "merge-into-parent", &part.id];
        assert!(killed_in(&world, "task merge-into-parent", call, moment, &merge), "no call {call}");
        for program in ["git", "tmux"] {
            fs::remove_file(world.path("agents").join(program)).unwrap();
        }
        world.until("the part is merged", || {
            world.ok(&["monitor", "--once"]);
            part.status() == "done"
        });
        let merges = part.events_of("task.merged");
        assert_eq!(merges.len(), 1, "killed {moment:?} call {call}: {merges:?}");
        let file = format!("work-{}.txt", part.id);
        let commits = world.git(&world.repo(), &["log", "--format=%H", "main..whole", "--", &file]);
        assert_eq!(commits.lines().count(), 1, "killed {moment:?} call {call}: {commits}");
    }
}

#[test]
fn what_created_tasks_spend_counts_for_the_one_above() {
    let world = World::new();
    let more = ["--workflow", "split", "--budget", "starts=2"];
    let task = world.create("whole", "Build the whole [agents: scripted work pass]", &more);
    task.agent(1).begun();
    let parts = delegated(&world, &task, &["left"]);
    world.until("its reviewer waits", || !parts[0].events_of("hooks.waiting").is_empty());
    world.ok(&["monitor", "--once"]);
    let need = parts[0].show()["need"].clone();
    let why = need["why"].as_str().unwrap();
    assert!(why.contains("the budget of whole, for which this task was created, is used up"), "{need}");
    assert_eq!(parts[0].events_of("agent.spawned").len(), 1);
    assert_eq!(task.ok("budget", &[])["spent"]["starts"], json!(2));
    task.ok("budget", &["--add", "starts=9"]);
    world.until("the part is merged and the whole goes on", || {
        world.ok(&["monitor", "--once"]);
        task.status() != "delegated"
    });
    task.reaches("reviewing");
    assert_eq!(parts[0].status(), "done");
}

#[test]
fn a_budget_ends_agents_of_created_tasks_after_five_minutes() {
    let world = World::new();
    let more = ["--workflow", "split", "--budget", "time=1h"];
    let task = world.create("whole", "Build the whole [agents: scripted work pass]", &more);
    task.agent(1).begun();
    let mut command = task.as_agent("worker", "1");
    command.current_dir(task.worktree());
    let created = world.said(command.args(["task", "create", "left", "Build left [agents: hang]"]));
    let part = world.task(&created.ok());
    task.write("## Plan\n\nThe parts can be built at the same time.");
    task.asks_its_last("worker", 1, "delegated");
    task.is_left();
    world.until("the part has begun", || {
        world.ok(&["monitor", "--once"]);
        part.status() == "working"
    });
    let agent = part.agent(1).begun();
    reported(&part, event("UserPromptSubmit"));
    reported(&part, tool("PreToolUse", "sleep 100000"));
    set_clock(&part, JOURNAL, 3700);
    world.ok(&["monitor", "--once"]);
    assert!(is_alive(agent), "it is in its turn");
    assert_eq!(task.events_of("budget.reached").len(), 1, "the task above has no agent of its own");
    set_clock(&task, JOURNAL, 301);
    world.ok(&["monitor", "--once"]);
    assert!(!is_alive(agent));
    assert_eq!(task.events_of("budget.reached").len(), 1);
    let counts = ["budget.reached", "agent.stopped", "agent.crashed"];
    assert_eq!(counts.map(|kind| part.events_of(kind).len()), [0, 1, 0]);
}
