//! Kills and races: the next process finishes what was begun, and of many requests at once one is granted.
//!
//! The promise here is about the others: what they answer while a request is unfinished, and which of many wins. That every
//! moment of a request may be its last is the promise of `every_step` and of `cargo xtask torture`.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::agents::harness;
use crate::said::ProgramOutput;
use crate::task::{Task, is_alive, kill};
use crate::world::{PROJECT, World, binary, write_program};

/// Time at which a held program stops: before it has done its work, or after; then it fails. Or it stops first and does its work
/// then.
#[derive(PartialEq)]
enum StopMoment {
    Before,
    After,
    First,
}

/// A program that stops once, at a call with these words, until it is let go.
struct HeldProgram<'w> {
    world: &'w World,
    held: PathBuf,
    let_go: PathBuf,
}

impl<'w> HeldProgram<'w> {
    fn new(world: &'w World, program: &str, words: &str, moment: &StopMoment) -> HeldProgram<'w> {
        let [held, let_go] = ["held", "let-go"].map(|name| world.path(name));
        let real = world.find(program);
        let work = format!("'{}' \"$@\"", real.display());
        let before = if *moment == StopMoment::After { work.as_str() } else { ":" };
        let after = if *moment == StopMoment::First { ":" } else { "exit 1" };
        let script = format!(
            "#!/bin/sh\ncase \" $* \" in\n  *' {words} '*)\n    if mkdir '{}' 2>/dev/null; then\n      {before}\n      \
             : >'{}/done'\n      while [ ! -e '{}' ]; do sleep 0.02; done\n      {after}\n    fi ;;\nesac\nexec {work}\n",
            held.display(),
            held.display(),
            let_go.display(),
        );
        write_program(&world.path("agents").join(program), &script);
        HeldProgram { world, held, let_go }
    }

    /// Waits until it is there.
    #[track_caller]
    fn wait(&self) {
        self.world.until("the program is held", || self.held.join("done").exists());
    }

    fn let_go(&self) {
        fs::write(&self.let_go, "").unwrap();
    }
}

impl Drop for HeldProgram<'_> {
    fn drop(&mut self) {
        self.let_go();
    }
}

fn start(world: &World, args: &[&str]) -> Child {
    let mut command: Command = world.command(binary());
    command.arg("--json").args(args).current_dir(world.repo()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn end(child: Child) -> ProgramOutput {
    ProgramOutput::from(child.wait_with_output().unwrap())
}

fn only_task(world: &World) -> Task<'_> {
    let folder = fs::read_dir(world.home().join("tasks").join(PROJECT)).unwrap();
    let ids = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let ids: Vec<_> = ids.filter(|name| !name.starts_with('.')).collect();
    assert_eq!(ids.len(), 1);
    Task::new(world, &ids[0])
}

/// Kills the process that is finishing the task's transition: the one that holds its lock.
fn kill_finisher(task: &Task<'_>) {
    let signature = fs::read_to_string(task.folder().join(".lock")).unwrap();
    assert!(signature.contains("task finish"), "{signature}");
    kill(signature.lines().next().unwrap().parse().unwrap());
}

#[test]
fn the_next_command_finishes_a_transition_after_a_kill() {
    let world = World::new();
    let held = HeldProgram::new(&world, "git", "worktree add", &StopMoment::Before);
    let creating = start(&world, &["task", "create", "fix", "Mend it [agents: hang]"]);
    held.wait();
    let task = only_task(&world);
    kill_finisher(&task);
    let message = end(creating).fails(5, "environment");
    assert!(message.contains("begun and not finished"), "{message}");
    assert_eq!((task.status(), task.owned("workspace")), ("working".to_owned(), json!(null)));
    let listed = || world.orange(&["task", "list"]).out;
    world.until("it is reported without a session, too", || listed().contains("begun and not finished"));
    held.let_go();

    task.ok("update", &["--summary", "Mend it well [agents: hang]"]);
    task.agent(1).begun();
    assert_eq!(
        (task.arrows(), world.panes()),
        (vec!["pending → working".to_owned()], vec!["toy/fix worker".to_owned()])
    );
    let hooks: Vec<_> = task.events_of("hook.ended").iter().map(|event| event["hook"].clone()).collect();
    assert_eq!(hooks, ["acquire_workspace", "spawn_agent"]);
    assert_eq!(world.ok(&["workspace", "list"]).as_array().unwrap().len(), 1);
}

#[test]
fn waiting_too_long_for_a_task_names_its_holder() {
    let world = World::new();
    let held = HeldProgram::new(&world, "git", "worktree add", &StopMoment::Before);
    let creating = start(&world, &["task", "create", "fix", "Mend it [agents: hang]"]);
    held.wait();
    let mut impatient = world.command(binary());
    impatient.args(["--json", "task", "update", &only_task(&world).id, "--summary", "Mend it well"]);
    let message = world.said(impatient.env("ORANGE_LOCK_TIMEOUT", "0.05")).fails(4, "locked");
    assert!(message.contains("task finish") && message.contains("since 2"), "{message}");
    held.let_go();
    end(creating).ok();
}

#[test]
fn a_task_that_got_no_worktree_can_still_be_started() {
    let world = World::new();
    let held = HeldProgram::new(&world, "git", "worktree add", &StopMoment::Before);
    held.let_go();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    let show = task.show();
    assert_eq!((&show["status"], &show["workspace"]), (&json!("working"), &json!(null)));
    assert!(show["attention"].as_str().unwrap().starts_with("acquire_workspace: "), "{show}");
    let refused = task.fails(1, "not_respawnable", "respawn", &[]);
    assert!(refused.contains("orange task spawn"), "{refused}");

    let started = task.ok("spawn", &[]);
    assert_eq!(started["hooks_executed"], json!(["acquire_workspace", "spawn_agent"]));
    task.agent(1).begun();
    let show = task.show();
    assert_eq!((&show["session"], &show["attention"]), (&json!("active"), &json!(null)));
    task.fails(1, "refused", "spawn", &[]);
}

#[test]
fn an_agent_started_before_the_kill_is_not_started_twice() {
    let world = World::new();
    let held = HeldProgram::new(&world, "tmux", "new-session", &StopMoment::After);
    let creating = start(&world, &["task", "create", "fix", "Mend it [agents: hang hang]"]);
    held.wait();
    let task = only_task(&world);
    let agent = task.agent(1).begun();
    kill_finisher(&task);
    end(creating).fails(5, "environment");
    held.let_go();

    let looked = world.ok(&["monitor", "--once"]);
    assert_eq!(looked["events"][0]["outcome"], "finished pending → working");
    assert_eq!((task.events_of("agent.spawned").len(), world.panes().len(), is_alive(agent)), (1, 1, true));
    task.reaches("working");
}

#[test]
fn an_agent_that_has_ended_before_the_kill_is_not_started_twice() {
    let world = World::new();
    let held = HeldProgram::new(&world, "tmux", "new-session", &StopMoment::After);
    let creating = start(&world, &["task", "create", "fix", "Mend it [agents: crash hang]"]);
    held.wait();
    let task = only_task(&world);
    let agent = task.agent(1).begun();
    world.until("the agent has ended", || !is_alive(agent));
    kill_finisher(&task);
    end(creating).fails(5, "environment");
    held.let_go();
    // The process that records the end finishes the transition first.
    task.has_events(1, "agent.crashed");
    assert_eq!((task.events_of("agent.spawned").len(), task.owned("crash_count")), (1, json!(1)));
}

#[test]
fn an_agent_s_own_request_is_finished_when_it_has_ended() {
    let world = World::new();
    let held = HeldProgram::new(&world, "tmux", "kill-session", &StopMoment::Before);
    let task = world.create("fix", "Mend it [agents: work hang]", &[]);
    held.wait();
    kill_finisher(&task);
    held.let_go();
    // Its request has failed, and it ends; the process that records that finds the open transition.
    task.reaches("agent-review");
    task.agent(2).begun();
    assert_eq!(task.events_of("agent.spawned").len(), 2);
    assert_eq!(task.owned("review_round"), 1);
}

#[test]
fn an_agent_cannot_end_the_processes_that_act_for_it() {
    let world = World::new();
    // So do coding agents when they are ended: they look for the children of their command, and the children of these.
    harness(
        &world,
        "end_below() { for child in $(cat /proc/$1/task/*/children); do end_below $child; done; kill -9 $1; }
         printf '\\n## Handoff\\n\\nDONE: all of it\\n' >>TASK.md
         orange task update --status reviewing &
         trap \"end_below $!; echo >'$NOTES/ended'; exit\" TERM
         while :; do sleep 0.05; done",
    );
    let task = world.create("fix", "Mend it", &["--harness", "wild", "--workflow", "minimal"]);
    world.until("the agent has ended its command", || world.path("notes/ended").exists());
    task.reaches("reviewing");
    let hooks = task.events_of("hook.ended");
    assert!(hooks.iter().all(|event| event["error"].is_null()), "{hooks:?}");
    assert_eq!(task.events_of("agent.exited").len(), 1);
}

#[test]
fn an_unfinished_transition_is_reported_and_waited_for() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang hang hang]", &["--workflow", "minimal"]);
    task.agent(1).begun();
    task.write("## Handoff\n\nDONE: all of it");
    world.ok(&["task", "update", "fix", "--status", "reviewing"]);
    // No agent is left, whose end would be recorded by a process that finishes what it finds.
    let held = HeldProgram::new(&world, "tmux", "new-session", &StopMoment::Before);
    let asking = start(&world, &["task", "update", "fix", "--status", "working"]);
    held.wait();
    let asked = [
        &["task", "list"][..],
        &["task", "show", "fix"],
        &["--json", "task", "list"],
        &["--json", "task", "show", "fix"],
    ];
    let message = || asked.map(|args| world.orange(args).out);
    let is_reported = || message().iter().all(|out| out.contains("begun and not finished"));
    assert!(!is_reported(), "somebody is at it");
    kill_finisher(&task);
    end(asking).fails(5, "environment");
    world.until("it is reported", is_reported);
    held.let_go();
    world.ok(&["task", "wait", "fix", "--status", "working", "--timeout", "180"]);
    assert_eq!(task.events_of("hook.ended").len(), 5);
}

#[test]
fn of_many_who_ask_at_once_one_is_granted() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang hang hang]", &[]);
    task.agent(1).begun();
    task.write("## Handoff\n\nDONE: all of it");
    let asking: Vec<_> =
        (0..8).map(|_| start(&world, &["task", "update", &task.id, "--status", "agent-review"])).collect();
    let answers: Vec<_> = asking.into_iter().map(end).collect();
    let (granted, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|said| said.status == 0);
    assert_eq!(granted.len(), 1);
    for said in refused {
        said.fails(1, "no_transition");
    }
    assert_eq!((task.owned("review_round"), task.events_of("agent.spawned").len()), (json!(1), 2));
    assert_eq!(world.panes(), ["toy/fix review-1"]);
}

#[test]
fn of_many_creations_of_one_branch_one_makes_a_task() {
    let world = World::new();
    let creating: Vec<_> =
        (0..6).map(|_| start(&world, &["task", "create", "fix", "Mend it [agents: hang]"])).collect();
    let answers: Vec<_> = creating.into_iter().map(end).collect();
    let (made, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|said| said.status == 0);
    assert_eq!(made.len(), 1);
    for said in refused {
        said.fails(1, "refused");
    }
    assert_eq!(world.ok(&["task", "list", "--all"]).as_array().unwrap().len(), 1);
}

#[test]
fn many_tasks_at_once_each_get_a_worktree_of_their_own() {
    let world = World::new();
    world.ok(&["project", "update", "toy", "--pool-size", "6"]);
    let branches: Vec<_> = (0..6).map(|number| format!("fix-{number}")).collect();
    let creating: Vec<_> = branches
        .iter()
        .map(|branch| start(&world, &["task", "create", branch, "Mend it [agents: hang]"]))
        .collect();
    let answers: Vec<Value> = creating.into_iter().map(|child| end(child).ok()).collect();
    let mut places: Vec<_> =
        answers.iter().map(|answer| answer["workspace"].as_str().unwrap().to_owned()).collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!((places.len(), world.panes().len()), (6, 6));
    for (answer, branch) in answers.iter().zip(&branches) {
        let task = world.task(answer);
        assert_eq!(world.git(&task.worktree(), &["branch", "--show-current"]), *branch);
    }
}
