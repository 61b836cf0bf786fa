//! Prepares tasks and missions for the requests under torture.

use std::fs;
use std::path::Path;

use super::outcome::Task;
use super::world::World;
use crate::Result;
use crate::scratch::PROJECT;

/// A workflow whose worker waits for a second after a limit.
const PATIENT: &str = include_str!("patient.yml");

/// A workflow whose first agent works without a worktree.
const TRIAGE: &str = include_str!("triage.yml");

/// A workflow whose merge asks a program about its result.
const LANDING: &str = include_str!("landing.yml");

/// A step workflow of two steps.
const SOLO: &str = include_str!("solo.toml");

/// Report of the harness of a mission's first agent: a limit that is over.
pub(super) const LIMIT: &str = r#"{"time":"2026-01-01T00:00:00.000Z","spawn":1,"kind":"limit","text":"429","until":"2026-01-01T00:00:00.000Z"}
"#;

/// The branch of the task that is in the way of another one.
pub(super) fn before(branch: &str) -> String {
    format!("{branch}-before")
}

/// A task, whose agents have noted their start: one that is ended before would be missed in some runs and not in others.
pub(super) fn create(world: &World, branch: &str, more: &[&str]) -> Result<()> {
    world.orange(&[&["task", "create", branch, "Mend it"], more].concat())?;
    Task::named(world, branch)?.has_begun(world)
}

pub(super) fn ask(world: &World, branch: &str, status: &str) -> Result<()> {
    world.orange(&["task", "update", branch, "--status", status])?;
    Task::named(world, branch)?.has_begun(world)
}

pub(super) fn write(world: &World, branch: &str, section: &str) -> Result<()> {
    let file = Task::named(world, branch)?.folder.join("TASK.md");
    let text = fs::read_to_string(&file).map_err(|error| error.to_string())?;
    fs::write(&file, format!("{text}\n{section}\n")).map_err(|error| error.to_string())
}

pub(super) fn write_in(folder: &Path, name: &str, text: &str) -> Result<()> {
    let file = folder.join(name);
    let above = file.parent().unwrap_or(folder);
    fs::create_dir_all(above).and_then(|()| fs::write(&file, text)).map_err(|error| error.to_string())
}

/// A task of the workflow that waits.
pub(super) fn patient(world: &World, branch: &str) -> Result<()> {
    let folder = world.path("orange/workflows");
    fs::create_dir_all(&folder)
        .and_then(|()| fs::write(folder.join("patient.yml"), PATIENT))
        .map_err(|error| error.to_string())?;
    create(world, branch, &["--workflow", "patient"])
}

/// A task under review whose base has moved on, and whose merge asks a program about its result.
pub(super) fn landing(world: &World, branch: &str) -> Result<()> {
    write_in(&world.path("orange/workflows"), "landing.yml", LANDING)?;
    work_on(world, branch)?;
    let words = ["task", "create", branch, "Mend it", "--workflow", "landing", "--status", "reviewing"];
    world.orange(&words).map(drop)
}

/// A task that the agent of another one has created, and whose work waits for its merge.
pub(super) fn created(world: &World, branch: &str) -> Result<()> {
    let parent = before(branch);
    create(world, &parent, &["--workflow", "split"])?;
    write(world, &parent, "## Plan\n\nOne part")?;
    let session = Task::named(world, &parent)?.session();
    world.type_at(&session, "worker", &format!("do: orange task create {branch} 'Mend it'"))?;
    world.until("the part is there", || Task::named(world, branch).is_ok())?;
    world.type_at(&session, "worker", "do: orange task update --status delegated")?;
    world.until("the part begins", || Task::named(world, branch).is_ok_and(|it| it.status() == "working"))?;
    world.quiet()?;
    let part = Task::named(world, branch)?;
    part.has_begun(world)?;
    let (worktree, text) = (part.worktree(world)?, format!("{branch} did it\n"));
    write_in(&worktree, "idea.txt", &text)?;
    world.git(&worktree, &["add", "idea.txt"])?;
    world.git(&worktree, &["commit", "--quiet", "-m", &format!("Work on {branch}")])?;
    world.must_be_kept(branch, &[&text])?;
    write(world, branch, "## Handoff\n\nDONE: all of it")?;
    ask(world, branch, "agent-review")?;
    write(world, branch, "## Review\n\nVerdict: PASS")?;
    world.orange(&["task", "update", branch, "--status", "reviewing"]).map(drop)
}

/// The workflow of a triage.
pub(super) fn triage(world: &World, _: &str) -> Result<()> {
    write_in(&world.path("orange/workflows"), "triage.yml", TRIAGE)
}

/// A triage with a note in its folder.
pub(super) fn noted(world: &World, branch: &str) -> Result<()> {
    triage(world, branch)?;
    create(world, branch, &["--workflow", "triage"])?;
    write_in(&Task::named(world, branch)?.worktree(world)?, "idea.txt", "half an idea\n")
}

/// The step workflow of the missions.
pub(super) fn solo(world: &World, _: &str) -> Result<()> {
    let folder = world.path("orange/workflows");
    fs::create_dir_all(&folder)
        .and_then(|()| fs::write(folder.join("solo.toml"), SOLO))
        .map_err(|error| error.to_string())
}

/// A mission whose first agent runs.
pub(super) fn mission(world: &World, branch: &str) -> Result<()> {
    solo(world, branch)?;
    world.orange(&["mission", "start", "solo", "Mend it", "--branch", branch]).map(drop)
}

/// A mission whose first step has failed.
pub(super) fn paused(world: &World, branch: &str) -> Result<()> {
    mission(world, branch)?;
    let mission = Task::named(world, branch)?;
    mission.has_begun(world)?;
    world.type_at(&mission.session(), "build-1", "do: orange step fail --reason broken")?;
    world.until("it is paused", || Task::named(world, branch).is_ok_and(|it| it.status() == "paused"))?;
    world.quiet()
}

/// A mission that a person has cancelled.
pub(super) fn cancelled(world: &World, branch: &str) -> Result<()> {
    mission(world, branch)?;
    Task::named(world, branch)?.has_begun(world)?;
    world.orange(&["mission", "cancel", branch, "--yes"]).map(drop)
}

/// Adds a commit with this tree to a branch, without a checkout.
pub(super) fn commit_tree(world: &World, branch: &str, tree: &str) -> Result<()> {
    let own = world.path(PROJECT);
    let commit = world.git(&own, &["commit-tree", tree, "-p", branch, "-m", "More"])?;
    world.git(&own, &["update-ref", &format!("refs/heads/{branch}"), &commit]).map(drop)
}

/// A branch with one commit, made without a checkout.
pub(super) fn commit_on(world: &World, branch: &str) -> Result<()> {
    let repository = world.path(PROJECT);
    let git = |arguments: &[&str]| world.git(&repository, arguments);
    let commit = git(&["commit-tree", "main^{tree}", "-p", "main", "-m", &format!("Work on {branch}")])?;
    git(&["branch", branch, &commit]).map(drop)
}

/// A branch with a file of its own, made without a checkout; then its base moves on.
pub(super) fn work_on(world: &World, branch: &str) -> Result<()> {
    let repository = world.path(PROJECT);
    let git = |arguments: &[&str]| world.git(&repository, arguments);
    let text = format!("{branch} did it\n");
    let blob = world.git_with(&repository, &["hash-object", "-w", "--stdin"], &text)?;
    let mut listed: Vec<String> = git(&["ls-tree", "main"])?.lines().map(str::to_owned).collect();
    listed.push(format!("100644 blob {blob}\t{branch}.txt\n"));
    let tree = world.git_with(&repository, &["mktree"], &listed.join("\n"))?;
    let commit = git(&["commit-tree", &tree, "-p", "main", "-m", &format!("Work on {branch}")])?;
    git(&["branch", branch, &commit])?;
    git(&["commit", "--quiet", "--allow-empty", "-m", "Meanwhile"])?;
    world.must_be_kept(branch, &[&text])
}
