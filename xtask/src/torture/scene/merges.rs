//! Merges and syncs under torture.

use std::fs;

use super::Scene;
use super::SceneAct::Ask;
use crate::scratch::PROJECT;
use crate::torture::outcome::Task;
use crate::torture::prepare::{
    ask, commit_on, commit_tree, create, created, landing, work_on, write, write_in,
};

/// The requests.
pub(super) const SCENES: &[Scene] = &[
    Scene {
        name: "merge, after a TASK.md that was committed is taken out again",
        prepare: |world, branch| {
            commit_on(world, branch)?;
            create(world, branch, &["--no-spawn", "--status", "reviewing"])?;
            let own = world.path(PROJECT);
            let clean = world.git(&own, &["rev-parse", &format!("{branch}^{{tree}}")])?;
            let blob = world.git_with(&own, &["hash-object", "-w", "--stdin"], "a task's\n")?;
            let tree = world.git_with(&own, &["mktree"], &format!("100644 blob {blob}\tTASK.md\n"))?;
            let words = ["task", "merge", branch, "--local", "--strategy", "merge"];
            commit_tree(world, branch, &tree)?;
            if world.orange(&words).is_ok() {
                return Err("a committed TASK.md was merged".to_owned());
            }
            commit_tree(world, branch, &clean)
        },
        act: Ask(&["task", "merge", "BRANCH", "--local", "--strategy", "merge"]),
        to: "done",
    },
    Scene {
        name: "merge of a branch that the remote had before its task",
        prepare: |world, branch| {
            commit_on(world, branch)?;
            world.git(&world.path(PROJECT), &["push", "--quiet", "origin", branch])?;
            world.git(&world.path("toy.git"), &["update-ref", &format!("refs/before/{branch}"), branch])?;
            world.orange(&["task", "create", branch, "Mend it", "--status", "reviewing"]).map(drop)
        },
        act: Ask(&["task", "merge", "BRANCH", "--local", "--strategy", "merge"]),
        to: "done",
    },
    Scene {
        name: "merge and push",
        prepare: |world, branch| {
            commit_on(world, branch)?;
            world.orange(&["task", "create", branch, "Mend it", "--status", "reviewing"]).map(drop)
        },
        act: Ask(&["task", "merge", "BRANCH", "--local", "--strategy", "merge"]),
        to: "done",
    },
    Scene {
        name: "merge by force, with an agent at work",
        prepare: |world, branch| {
            commit_on(world, branch)?;
            create(world, branch, &[])
        },
        act: Ask(&["task", "merge", "BRANCH", "--local", "--force", "--yes", "--strategy", "merge"]),
        to: "done",
    },
    Scene {
        name: "merge again, after its push was refused",
        prepare: |world, branch| {
            commit_on(world, branch)?;
            world.orange(&["task", "create", branch, "Mend it", "--status", "reviewing"])?;
            let hook = world.path("toy.git/hooks/pre-receive");
            world.script(&hook, "#!/bin/sh\nexit 1\n")?;
            let words = ["task", "merge", branch, "--local", "--strategy", "merge"];
            let refused = world.orange(&words).is_err();
            fs::remove_file(&hook).map_err(|error| error.to_string())?;
            if refused { Ok(()) } else { Err("what was not pushed counts as merged".to_owned()) }
        },
        act: Ask(&["task", "merge", "BRANCH", "--local", "--strategy", "merge"]),
        to: "done",
    },
    Scene {
        name: "merge by squash of a branch whose base has moved on",
        prepare: |world, branch| {
            work_on(world, branch)?;
            let summary = format!("Work on {branch}");
            world.orange(&["task", "create", branch, &summary, "--status", "reviewing"]).map(drop)
        },
        act: Ask(&["task", "merge", "BRANCH", "--local", "--strategy", "squash"]),
        to: "done",
    },
    Scene {
        name: "merge whose result a program examines",
        prepare: landing,
        act: Ask(&["task", "merge", "BRANCH", "--local", "--strategy", "squash"]),
        to: "done",
    },
    Scene {
        name: "merge by rebase of a branch whose base has moved on",
        prepare: |world, branch| {
            work_on(world, branch)?;
            world.orange(&["task", "create", branch, "Mend it", "--status", "reviewing"]).map(drop)
        },
        act: Ask(&["task", "merge", "BRANCH", "--local", "--strategy", "rebase"]),
        to: "done",
    },
    Scene {
        name: "sync by merge of a branch without a worktree",
        prepare: |world, branch| {
            work_on(world, branch)?;
            world.orange(&["task", "create", branch, "Mend it", "--status", "reviewing"]).map(drop)
        },
        act: Ask(&["task", "sync", "BRANCH", "--with", "merge"]),
        to: "reviewing",
    },
    Scene {
        name: "sync by rebase of a branch that was pushed, in its worktree",
        prepare: |world, branch| {
            create(world, branch, &["--workflow", "minimal"])?;
            write(world, branch, "## Handoff\n\nDONE: all of it")?;
            ask(world, branch, "reviewing")?;
            let (worktree, text) =
                (Task::named(world, branch)?.worktree(world)?, format!("{branch} did it\n"));
            write_in(&worktree, "idea.txt", &text)?;
            world.git(&worktree, &["add", "idea.txt"])?;
            world.git(&worktree, &["commit", "--quiet", "-m", &format!("Work on {branch}")])?;
            let own = world.path(PROJECT);
            world.git(&own, &["push", "--quiet", "origin", branch])?;
            world.git(&own, &["commit", "--quiet", "--allow-empty", "-m", "Meanwhile"])?;
            world.must_be_kept(branch, &[&text])
        },
        act: Ask(&["task", "sync", "BRANCH", "--with", "rebase"]),
        to: "reviewing",
    },
    Scene {
        name: "merge of a created task into the branch of its parent, by a look of the monitor",
        prepare: created,
        act: Ask(&["monitor", "--once"]),
        to: "done",
    },
    Scene {
        name: "undo of a merge that was pushed",
        prepare: |world, branch| {
            work_on(world, branch)?;
            world.orange(&["task", "create", branch, "Mend it", "--status", "reviewing"])?;
            world.orange(&["task", "merge", branch, "--local", "--strategy", "squash"]).map(drop)
        },
        act: Ask(&["task", "undo", "BRANCH"]),
        to: "reviewing",
    },
];
