//! A kill at every step of a transition: after each program that its finisher calls, and before it.
//!
//! The promise here is that git and tmux may have done a thing of which the journal does not know. `cargo xtask torture` kills at
//! the steps between such calls, of every request; what agents that die leave behind is in `deaths`.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::json;

use crate::folders::TRIAGE;
use crate::task::{Task, is_alive, kill};
use crate::world::{World, write_program};

/// Time at which the finisher is killed: before a program has done its work, or after.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum KillMoment {
    Before,
    After,
}

/// Makes git and tmux stop at the call of this number that a process of this command makes, and end there when it has been killed.
fn stop_at(world: &World, command: &str, call: usize, moment: KillMoment) {
    for program in ["git", "tmux"] {
        let real = world.find(program);
        let (real, root) = (real.display(), world.path(""));
        let before = if moment == KillMoment::After { format!("{real} \"$@\"") } else { ":".to_owned() };
        let script = format!(
            "#!/bin/sh\n\
             if [ -e {root}/killed ]; then exec {real} \"$@\"; fi\n\
             case $(tr '\\0' ' ' </proc/$PPID/cmdline) in\n\
             *' {command} '*)\n  \
               echo \"$PPID {program} $*\" >>{root}/calls\n  \
               if [ \"$(wc -l <{root}/calls)\" -eq {call} ]; then\n    \
                 {before}\n    \
                 mv {root}/calls {root}/stopped\n    \
                 while [ -d /proc/$PPID ] && [ ! -e {root}/go ]; do sleep 0.01; done\n    \
                 exit 1\n  \
               fi ;;\n\
             esac\n\
             exec {real} \"$@\"\n",
            root = root.display(),
        );
        write_program(&world.path("agents").join(program), &script);
    }
}

/// Runs a command whose finisher is killed at the call of this number. False when it makes fewer calls.
fn killed_at(world: &World, call: usize, moment: KillMoment, args: &[&str]) -> bool {
    killed_in(world, "task finish", call, moment, args)
}

/// Runs a command of which a process of this kind is killed at the call of this number. False when it makes fewer calls.
pub(crate) fn killed_in(world: &World, kind: &str, call: usize, moment: KillMoment, args: &[&str]) -> bool {
    stop_at(world, kind, call, moment);
    let mut running = world.command(crate::world::binary());
    let running = running.arg("--json").args(args).current_dir(world.repo());
    let mut running = running.stdout(Stdio::null()).spawn().unwrap();
    let stopped = world.path("stopped");
    world.until("it stops or ends", || stopped.exists() || running.try_wait().unwrap().is_some());
    let killed = stopped.exists();
    if killed {
        let calls = fs::read_to_string(&stopped).unwrap();
        // Both stay where they are, since another finisher may be about to run them.
        fs::write(world.path("killed"), "").unwrap();
        kill(calls.lines().last().unwrap().split(' ').next().unwrap().parse().unwrap());
    }
    running.wait().unwrap();
    killed
}

/// Kills the finisher of this command at every call that it makes, each time in a world of its own, and looks at what
/// has become of the task after one look of the monitor.
#[track_caller]
fn converges(
    moment: KillMoment,
    summary: &str,
    args: &[&str],
    prepare: impl Fn(&Task<'_>),
    check: impl Fn(&World, &Task<'_>),
) {
    converges_in("default", moment, summary, args, prepare, check);
}

/// Kills the finisher at every call that it makes, as `converges` does, for a task that follows this workflow.
#[track_caller]
fn converges_in(
    workflow: &str,
    moment: KillMoment,
    summary: &str,
    args: &[&str],
    prepare: impl Fn(&Task<'_>),
    check: impl Fn(&World, &Task<'_>),
) {
    for call in 1.. {
        let world = World::new();
        world.workflow("triage.yml", TRIAGE);
        let begins: &[&str] = if args.contains(&"spawn") { &["--no-spawn"] } else { &[] };
        let task = world.create("fix", summary, &[&["--workflow", workflow], begins].concat());
        prepare(&task);
        if !killed_at(&world, call, moment, args) {
            assert!(call > 2, "the finisher makes {call} calls: is it still the finisher?");
            return;
        }
        world.ok(&["monitor", "--once"]);
        check(&world, &task);
        let ended = task.events_of("hook.ended");
        let failed: Vec<_> = ended.iter().filter(|event| !event["error"].is_null()).collect();
        assert!(failed.is_empty(), "killed {moment:?} call {call}: {failed:?}");
    }
}

/// One agent lives, by the journal and by tmux, in this window.
#[track_caller]
fn check_agent(world: &World, task: &Task<'_>, window: &str) {
    world.until("one agent is there", || world.panes() == [format!("toy/fix {window}")]);
    let numbers = |kind: &str| -> Vec<u64> {
        task.events_of(kind).iter().filter_map(|event| event["spawn"].as_u64()).collect()
    };
    let gone = numbers("agent.exited");
    let live: Vec<_> = numbers("agent.spawned").into_iter().filter(|number| !gone.contains(number)).collect();
    let [live] = live[..] else { panic!("these agents should live: {live:?}") };
    assert!(is_alive(task.agent(u32::try_from(live).unwrap()).begun()));
}

fn begins(moment: KillMoment) {
    converges(
        moment,
        "Mend it [agents: hang hang hang]",
        &["task", "spawn", "fix"],
        |_| {},
        |world, task| {
            task.reaches("working");
            check_agent(world, task, "worker");
            let slots = world.ok(&["workspace", "list"]);
            assert_eq!((slots.as_array().unwrap().len(), &slots[0]["task"]), (1, &json!(task.id)));
            assert_eq!(world.git(&task.worktree(), &["branch", "--show-current"]), "fix");
            task.gets_its_copy();
        },
    );
}

fn goes_on(moment: KillMoment) {
    let prepare = |task: &Task<'_>| {
        task.agent(1).begun();
        task.reaches("working");
        task.write("## Handoff\n\nDONE: all of it");
    };
    let args = ["task", "update", "fix", "--status", "agent-review"];
    converges(moment, "Mend it [agents: hang hang hang hang]", &args, prepare, |world, task| {
        task.reaches("agent-review");
        check_agent(world, task, "review-1");
        assert!(!is_alive(task.agent(1).begun()));
        assert_eq!(task.owned("review_round"), 1);
    });
}

fn ends(moment: KillMoment) {
    let prepare = |task: &Task<'_>| task.reaches("reviewing");
    converges(
        moment,
        "Mend it [agents: work pass]",
        &["task", "merge", "fix", "--local"],
        prepare,
        |world, task| {
            task.reaches("done");
            assert_eq!(world.panes(), [] as [&str; 0]);
            let slots = world.ok(&["workspace", "list"]);
            assert_eq!((slots.as_array().unwrap().len(), &slots[0]["task"]), (1, &json!(null)));
            let worktree = slots[0]["path"].as_str().unwrap();
            assert_eq!(
                world.git(worktree.as_ref(), &["status", "--porcelain", "--branch"]),
                "## HEAD (no branch)"
            );
        },
    );
}

#[test]
fn a_beginning_that_is_killed_before_a_call() {
    begins(KillMoment::Before);
}

#[test]
fn a_beginning_that_is_killed_after_a_call() {
    begins(KillMoment::After);
}

#[test]
fn a_change_of_agents_that_is_killed_before_a_call() {
    goes_on(KillMoment::Before);
}

#[test]
fn a_change_of_agents_that_is_killed_after_a_call() {
    goes_on(KillMoment::After);
}

#[test]
fn an_end_that_is_killed_before_a_call() {
    ends(KillMoment::Before);
}

#[test]
fn an_end_that_is_killed_after_a_call() {
    ends(KillMoment::After);
}

fn begins_without_a_worktree(moment: KillMoment) {
    let args = ["task", "spawn", "fix"];
    converges_in(
        "triage",
        moment,
        "Look at it [agents: hang hang hang]",
        &args,
        |_| {},
        |world, task| {
            task.reaches("triage");
            check_agent(world, task, "worker");
            assert_eq!(
                (task.owned("workspace"), world.ok(&["workspace", "list"])),
                (json!(task.id), json!([]))
            );
            task.gets_its_copy();
        },
    );
}

fn takes_a_worktree(moment: KillMoment) {
    let prepare = |task: &Task<'_>| {
        task.agent(1).begun();
        task.reaches("triage");
        task.write("## Triage\n\nIt is a fault");
        fs::write(task.worktree().join("notes.txt"), "idea\n").unwrap();
    };
    let args = ["task", "update", "fix", "--status", "working"];
    converges_in(
        "triage",
        moment,
        "Look at it [agents: hang hang hang hang]",
        &args,
        prepare,
        |world, task| {
            task.reaches("working");
            check_agent(world, task, "worker");
            assert_eq!(task.owned("workspace"), "toy--1");
            assert!(!world.home().join("workspaces").join(&task.id).exists());
            let kept = task.events_of("work.set_aside");
            assert_eq!(kept.len(), 1);
            let notes = Path::new(kept[0]["folder"].as_str().unwrap()).join("notes.txt");
            assert_eq!(fs::read_to_string(notes).unwrap(), "idea\n");
            task.gets_its_copy();
        },
    );
}

#[test]
fn a_beginning_without_a_worktree_is_killed_before_a_call() {
    begins_without_a_worktree(KillMoment::Before);
}

#[test]
fn a_beginning_without_a_worktree_is_killed_after_a_call() {
    begins_without_a_worktree(KillMoment::After);
}

#[test]
fn a_folder_gives_way_to_a_worktree_killed_before_a_call() {
    takes_a_worktree(KillMoment::Before);
}

#[test]
fn a_folder_gives_way_to_a_worktree_killed_after_a_call() {
    takes_a_worktree(KillMoment::After);
}
