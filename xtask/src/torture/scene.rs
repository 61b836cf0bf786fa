//! The requests that are tortured: what is there before, what is asked, and what there is to ask again.

use std::fs;

use serde_json::Value;

use super::outcome::Task;
use super::world::World;
use crate::Result;
use crate::scratch::PROJECT;

/// GitHub's command line.
const GITHUB: &str = include_str!("../../../tests/agents/gh");

/// A workflow whose worker waits for a second when it has reached a limit.
const PATIENT: &str = include_str!("patient.yml");

/// One request, or one end of an agent.
pub(super) struct Scene {
    pub(super) name: &'static str,
    prepare: fn(&World, &str) -> Result<()>,
    pub(super) act: Act,
    /// Where the task is when it is done.
    pub(super) to: &'static str,
}

/// What is done. `BRANCH` stands for the task's.
pub(super) enum Act {
    /// A person runs `orange` with these words.
    Ask(&'static [&'static str]),
    /// The agent in this window does this.
    Agent { window: &'static str, does: &'static str },
}

/// Every scene.
pub(super) const SCENES: &[Scene] = &[
    Scene {
        name: "create, with its worktree and agent",
        prepare: |_, _| Ok(()),
        act: Act::Ask(&["task", "create", "BRANCH", "Mend it"]),
        to: "working",
    },
    Scene {
        name: "working → agent-review, asked by the agent whose session it ends",
        prepare: |world, branch| {
            create(world, branch, &[])?;
            write(world, branch, "## Handoff\n\nDONE: all of it")
        },
        act: Act::Agent { window: "worker", does: "orange task update --status agent-review; exit" },
        to: "agent-review",
    },
    Scene {
        name: "agent-review → working, a reviewer ended and the worker told",
        prepare: |world, branch| {
            create(world, branch, &["--workflow", "persistent"])?;
            write(world, branch, "## Plan\n\nAPPROACH: the simplest\nTOUCHING: little")?;
            ask(world, branch, "working")?;
            write(world, branch, "## Handoff\n\nDONE: it\nREMAINING: no\nDECISIONS: no\nUNCERTAIN: no")?;
            ask(world, branch, "agent-review")?;
            write(world, branch, "## Review\n\nVerdict: FAIL")
        },
        act: Act::Ask(&["task", "update", "BRANCH", "--status", "working"]),
        to: "working",
    },
    Scene {
        name: "cancel, with work to be backed up",
        prepare: |world, branch| {
            create(world, branch, &[])?;
            let worktree = Task::named(world, branch)?.worktree(world)?;
            fs::write(worktree.join("idea.txt"), "half an idea\n").map_err(|error| error.to_string())
        },
        act: Act::Ask(&["task", "cancel", "BRANCH", "--yes"]),
        to: "cancelled",
    },
    Scene {
        name: "merge and push",
        prepare: |world, branch| {
            commit_on(world, branch)?;
            world.orange(&["task", "create", branch, "Mend it", "--status", "reviewing"]).map(drop)
        },
        act: Act::Ask(&["task", "merge", "BRANCH", "--local", "--strategy", "merge"]),
        to: "done",
    },
    Scene {
        name: "a worker that ends without a word, reported by its wrapper",
        prepare: |world, branch| create(world, branch, &[]),
        act: Act::Agent { window: "worker", does: "exit 3" },
        to: "working",
    },
    Scene {
        name: "a worker that ends with its work done, and is followed by a review",
        prepare: |world, branch| {
            create(world, branch, &[])?;
            write(world, branch, "## Handoff\n\nDONE: all of it")
        },
        act: Act::Agent { window: "worker", does: "exit 0" },
        to: "agent-review",
    },
    Scene {
        name: "a reviewer that ends without a word, and is started again",
        prepare: |world, branch| {
            create(world, branch, &["--workflow", "persistent"])?;
            write(world, branch, "## Plan\n\nAPPROACH: the simplest\nTOUCHING: little")?;
            ask(world, branch, "working")?;
            write(world, branch, "## Handoff\n\nDONE: it\nREMAINING: no\nDECISIONS: no\nUNCERTAIN: no")?;
            ask(world, branch, "agent-review")
        },
        act: Act::Agent { window: "review-1", does: "exit 3" },
        to: "agent-review",
    },
    Scene {
        name: "a worker that comes back when its limit is over",
        prepare: patient,
        act: Act::Agent { window: "worker", does: "exit 75" },
        to: "working",
    },
    Scene {
        name: "respawn, asked by a person",
        prepare: |world, branch| {
            patient(world, branch)?;
            let task = Task::named(world, branch)?;
            task.has_begun(world)?;
            world.type_at(&task.session(), "worker", "do: exit 71")?;
            world.until("its end is on record", || {
                Task::named(world, branch).is_ok_and(|task| task.has_crashed())
            })
        },
        act: Act::Ask(&["task", "respawn", "BRANCH"]),
        to: "working",
    },
    Scene {
        name: "merge by force, with an agent at work",
        prepare: |world, branch| {
            commit_on(world, branch)?;
            create(world, branch, &[])
        },
        act: Act::Ask(&["task", "merge", "BRANCH", "--local", "--force", "--strategy", "merge"]),
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
        act: Act::Ask(&["task", "merge", "BRANCH", "--local", "--strategy", "merge"]),
        to: "done",
    },
    Scene {
        name: "create-pr",
        prepare: |world, branch| {
            world.script(&world.path("agents/gh"), GITHUB)?;
            commit_on(world, branch)?;
            world.orange(&["task", "create", branch, "Mend it", "--status", "reviewing"]).map(drop)
        },
        act: Act::Ask(&["task", "create-pr", "BRANCH"]),
        to: "reviewing",
    },
    Scene {
        name: "delete",
        prepare: |world, branch| {
            create(world, branch, &["--no-spawn"])?;
            world.orange(&["task", "cancel", branch, "--yes"]).map(drop)
        },
        act: Act::Ask(&["task", "delete", "BRANCH", "--yes"]),
        to: "cancelled",
    },
    Scene {
        name: "restore",
        prepare: |world, branch| {
            create(world, branch, &["--no-spawn"])?;
            world.orange(&["task", "delete", branch, "--yes"]).map(drop)
        },
        act: Act::Ask(&["task", "restore", "BRANCH"]),
        to: "pending",
    },
    Scene {
        name: "migrate, to another workflow",
        prepare: |world, branch| create(world, branch, &[]),
        act: Act::Ask(&["task", "migrate", "BRANCH", "--to", "reviewing", "--workflow", "minimal"]),
        to: "reviewing",
    },
];

impl Scene {
    /// Makes a task on this branch that is ready for it; says what it is like before.
    pub(super) fn prepare(&self, world: &World, branch: &str) -> Result<Option<Task>> {
        (self.prepare)(world, branch)?;
        world.quiet()?;
        let task = Task::find(world, branch)?;
        if let Some(task) = &task {
            task.has_begun(world)?;
        }
        Ok(task)
    }

    /// The words of a request for this branch.
    pub(super) fn words<'w>(&self, branch: &'w str) -> Option<Vec<&'w str>> {
        match self.act {
            Act::Ask(words) => Some(with_branch(words, branch)),
            Act::Agent { .. } => None,
        }
    }

    /// What a person does who sees that nothing has come of the request.
    pub(super) fn ask_again(&self, world: &World, branch: &str, found: Option<&Task>) -> Result<Value> {
        match self.words(branch) {
            None => Err("there is nobody who could ask again".to_string()),
            Some(words) if words.contains(&"create") && found.is_some() => {
                world.orange(&["task", "spawn", branch])
            }
            Some(words) => world.orange(&words),
        }
    }
}

fn with_branch<'w>(words: &'static [&'static str], branch: &'w str) -> Vec<&'w str> {
    words.iter().map(|word| if *word == "BRANCH" { branch } else { word }).collect()
}

fn create(world: &World, branch: &str, more: &[&str]) -> Result<()> {
    world.orange(&[&["task", "create", branch, "Mend it"], more].concat()).map(drop)
}

fn ask(world: &World, branch: &str, status: &str) -> Result<()> {
    world.orange(&["task", "update", branch, "--status", status]).map(drop)
}

fn write(world: &World, branch: &str, section: &str) -> Result<()> {
    let file = Task::named(world, branch)?.folder.join("TASK.md");
    let text = fs::read_to_string(&file).map_err(|error| error.to_string())?;
    fs::write(&file, format!("{text}\n{section}\n")).map_err(|error| error.to_string())
}

/// A task of a workflow that waits.
fn patient(world: &World, branch: &str) -> Result<()> {
    let folder = world.path("orange/workflows");
    fs::create_dir_all(&folder)
        .and_then(|()| fs::write(folder.join("patient.yml"), PATIENT))
        .map_err(|error| error.to_string())?;
    create(world, branch, &["--workflow", "patient"])
}

/// A branch with one commit, made without a checkout.
fn commit_on(world: &World, branch: &str) -> Result<()> {
    let repository = world.path(PROJECT);
    let git = |arguments: &[&str]| world.git(&repository, arguments);
    let commit = git(&["commit-tree", "main^{tree}", "-p", "main", "-m", &format!("Work on {branch}")])?;
    git(&["branch", branch, &commit]).map(drop)
}
