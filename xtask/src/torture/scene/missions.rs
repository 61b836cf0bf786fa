//! Missions under torture.

use super::Scene;
use super::SceneAct::{Agent, Ask};
use crate::torture::outcome::Task;
use crate::torture::prepare::{LIMIT, cancelled, mission, paused, solo, write_in};

/// The requests.
pub(super) const SCENES: &[Scene] = &[
    Scene {
        name: "mission: start, with its worktree and its first agent",
        prepare: solo,
        act: Ask(&["mission", "start", "solo", "Mend it", "--branch", "BRANCH"]),
        to: "running",
    },
    Scene {
        name: "mission: a step that completes, and the next agent",
        prepare: mission,
        act: Agent {
            window: "build-1",
            does: "until orange step complete --summary built; do :; done; exit",
        },
        to: "running",
    },
    Scene {
        name: "mission: the last step, with work to be backed up",
        prepare: |world, branch| {
            mission(world, branch)?;
            let mission = Task::named(world, branch)?;
            mission.has_begun(world)?;
            write_in(&mission.worktree(world)?, "idea.txt", "half an idea\n")?;
            world.must_be_kept(branch, &["half an idea\n"])?;
            world.type_at(&mission.session(), "build-1", "do: orange step complete --summary built")?;
            world.until("the last step runs", || {
                Task::named(world, branch).is_ok_and(|it| world.panes(&it.session()).contains_key("check-1"))
            })
        },
        act: Agent { window: "check-1", does: "until orange step complete --summary good; do :; done; exit" },
        to: "completed",
    },
    Scene {
        name: "mission: a step that fails, and a pause",
        prepare: mission,
        act: Agent { window: "build-1", does: "until orange step fail --reason broken; do :; done; exit" },
        to: "paused",
    },
    Scene {
        name: "mission: a step's agent that ends without a word, and its next attempt",
        prepare: mission,
        act: Agent { window: "build-1", does: "exit 3" },
        to: "running",
    },
    Scene {
        name: "mission: a step's agent that ends at a limit of its provider, and its attempt goes on",
        prepare: |world, branch| {
            mission(world, branch)?;
            let mission = Task::named(world, branch)?;
            mission.has_begun(world)?;
            write_in(&mission.worktree(world)?, "idea.txt", "half an idea\n")?;
            write_in(&mission.folder, "activity.jsonl", LIMIT)
        },
        act: Agent { window: "build-1", does: "exit 3" },
        to: "running",
    },
    Scene {
        name: "mission: an answer to a pause",
        prepare: paused,
        act: Ask(&["mission", "continue", "BRANCH"]),
        to: "running",
    },
    Scene {
        name: "mission: an answer that takes the failure as it is",
        prepare: paused,
        act: Ask(&["mission", "continue", "BRANCH", "--accept-failure"]),
        to: "failed",
    },
    Scene {
        name: "mission: a failed one is tried again",
        prepare: |world, branch| {
            paused(world, branch)?;
            world.orange(&["mission", "continue", branch, "--accept-failure"]).map(drop)
        },
        act: Ask(&["mission", "retry", "BRANCH"]),
        to: "running",
    },
    Scene {
        name: "mission: cancel, with work to be backed up",
        prepare: |world, branch| {
            mission(world, branch)?;
            write_in(&Task::named(world, branch)?.worktree(world)?, "idea.txt", "half an idea\n")?;
            world.must_be_kept(branch, &["half an idea\n"])
        },
        act: Ask(&["mission", "cancel", "BRANCH", "--yes"]),
        to: "cancelled",
    },
    Scene {
        name: "mission: delete",
        prepare: cancelled,
        act: Ask(&["mission", "delete", "BRANCH", "--yes"]),
        to: "cancelled",
    },
    Scene {
        name: "mission: restore",
        prepare: |world, branch| {
            cancelled(world, branch)?;
            world.orange(&["mission", "delete", branch, "--yes"]).map(drop)
        },
        act: Ask(&["mission", "restore", "BRANCH"]),
        to: "cancelled",
    },
];
