//! Commits of agents behind a wall under torture: they are taken over by the request that needs them.

use std::fs;

use super::Scene;
use super::SceneAct::Ask;
use crate::Result;
use crate::scratch::PROJECT;
use crate::torture::outcome::Task;
use crate::torture::prepare::{ask, create, write, write_in};
use crate::torture::world::World;

/// The requests.
pub(super) const SCENES: &[Scene] = &[
    Scene {
        name: "merge of commits behind a wall",
        prepare: |world, branch| {
            create(world, branch, &["--workflow", "minimal"])?;
            write(world, branch, "## Handoff\n\nDONE: all of it")?;
            ask(world, branch, "reviewing")?;
            commit_behind_a_wall(world, branch)
        },
        act: Ask(&["task", "merge", "BRANCH", "--local", "--strategy", "merge"]),
        to: "done",
    },
    Scene {
        name: "cancel, with commits behind a wall",
        prepare: |world, branch| {
            create(world, branch, &[])?;
            commit_behind_a_wall(world, branch)
        },
        act: Ask(&["task", "cancel", "BRANCH", "--yes"]),
        to: "cancelled",
    },
];

/// Leaves what an agent behind a wall leaves: a private repository, made with git alone, whose branch is one commit ahead.
fn commit_behind_a_wall(world: &World, branch: &str) -> Result<()> {
    let task = Task::named(world, branch)?;
    let (worktree, project) = (task.worktree(world)?, world.path(PROJECT));
    let wall = task.folder.join("wall");
    let own = wall.join("git");
    let text = format!("{branch} did it\n");
    let file = format!("{branch}.txt");
    world.git(&project, &["init", "--quiet", "--bare", &own.to_string_lossy()])?;
    let objects = project.join(".git/objects").display().to_string();
    write_in(&own, "objects/info/alternates", &format!("{objects}\n"))?;
    let tip = world.git(&project, &["rev-parse", branch])?;
    let blob = world.git_with(&own, &["hash-object", "-w", "--stdin"], &text)?;
    let listed = world.git(&own, &["ls-tree", &tip])?;
    let entry = format!("100644 blob {blob}\t{file}");
    let entries: Vec<&str> = listed.lines().chain([entry.as_str()]).collect();
    let tree = world.git_with(&own, &["mktree"], &format!("{}\n", entries.join("\n")))?;
    let commit = world.git(&own, &["commit-tree", &tree, "-p", &tip, "-m", &format!("Work on {branch}")])?;
    let part = own.join("worktrees").join(worktree.file_name().unwrap_or_default());
    write_in(&own, &format!("refs/heads/{branch}"), &format!("{commit}\n"))?;
    write_in(&part, "HEAD", &format!("ref: refs/heads/{branch}\n"))?;
    write_in(&wall, "tip", &tip)?;
    // The path that exists only inside.
    write_in(&own, "objects/info/alternates", "/run/orange/objects\n")?;
    fs::write(worktree.join(&file), &text).map_err(|error| error.to_string())?;
    world.must_be_kept(branch, &[&text])
}
