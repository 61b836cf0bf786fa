//! The state of a task by its journal, its files, tmux, git and its agents, for comparison.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{fs, thread};

use serde_json::Value;

use super::world::{SOMEBODY_S, World, is_alive};
use crate::Result;
use crate::scratch::PROJECT;

/// A task of a world, by its journal.
#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) id: String,
    branch: String,
    /// Its folder, in the store or in the trash.
    pub(super) folder: PathBuf,
    /// Whether it had a call for attention when it was read.
    pub(super) has_attention: bool,
    events: Vec<Value>,
    owned: BTreeMap<String, Value>,
}

/// Everything that is compared with an undisturbed run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TaskState {
    status: String,
    workflow: Option<String>,
    is_deleted: bool,
    counters: BTreeMap<String, Value>,
    /// Whether it has a call for attention.
    pub(super) has_attention: bool,
    /// Whether `TASK.md` has the address of a pull request.
    has_address: bool,
    pull_requests: usize,
    arrows: Vec<String>,
    hooks: Vec<String>,
    events: BTreeMap<&'static str, usize>,
    started: Vec<String>,
    alive: Vec<String>,
    panes: Vec<String>,
    heard: usize,
    worktree: Option<String>,
    holds_slot: bool,
    backups: usize,
    has_branch: bool,
    merges: usize,
    is_pushed: bool,
}

impl Task {
    /// The task of this branch, if there is one.
    pub(super) fn find(world: &World, branch: &str) -> Result<Option<Task>> {
        for place in ["orange/tasks", "orange/trash"] {
            let folder = world.path(place).join(PROJECT);
            let ids = fs::read_dir(&folder).into_iter().flatten().flatten();
            let ids = ids.filter_map(|entry| entry.file_name().into_string().ok());
            for id in ids.filter(|id| !id.starts_with('.')) {
                let task = Task::read(folder.join(&id), id)?;
                if task.branch == branch {
                    return Ok(Some(task));
                }
            }
        }
        Ok(None)
    }

    /// The task of this branch, which must exist.
    pub(super) fn named(world: &World, branch: &str) -> Result<Task> {
        Task::find(world, branch)?.ok_or_else(|| format!("there is no task for {branch}"))
    }

    fn read(folder: PathBuf, id: String) -> Result<Task> {
        let text = fs::read_to_string(folder.join("history.jsonl")).unwrap_or_default();
        // An incomplete last line does not count.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let read = |line: &str| serde_json::from_str(line).map_err(|error| format!("{id}: {error}: {line}"));
        let events = whole.lines().map(read).collect::<Result<Vec<Value>>>()?;
        let mut owned = BTreeMap::new();
        for set in events.iter().filter_map(|event| event["set"].as_object()) {
            owned.extend(set.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
        let branch = events.first().and_then(|event| event["branch"].as_str()).unwrap_or_default().to_owned();
        let mut task = Task { id, branch, folder, has_attention: false, events, owned };
        task.has_attention = task.field("attention").is_ok_and(|value| value.is_some());
        Ok(task)
    }

    /// The task as it is now.
    pub(super) fn reread(&self, world: &World) -> Result<Option<Task>> {
        Task::find(world, &self.branch)
    }

    /// Its worktree.
    pub(super) fn worktree(&self, world: &World) -> Result<PathBuf> {
        let name = self.text("workspace").ok_or("the task has no worktree")?;
        Ok(world.path("orange/workspaces").join(name))
    }

    /// Its status.
    pub(super) fn status(&self) -> String {
        self.text("status").unwrap_or_default()
    }

    /// Its current journal.
    pub(super) fn journal(&self) -> String {
        fs::read_to_string(self.folder.join("history.jsonl")).unwrap_or_default()
    }

    /// The number of its events.
    pub(super) fn length(&self) -> usize {
        self.events.len()
    }

    /// Its session.
    pub(super) fn session(&self) -> String {
        self.text("tmux_session").unwrap_or_else(|| format!("{PROJECT}/{}", self.branch))
    }

    /// Waits until each of its agents with a wrapper has noted its start.
    pub(super) fn has_begun(&self, world: &World) -> Result<()> {
        world.until("the agents have begun", || {
            let attended = world.attended(&self.id);
            attended >= self.on_record() && attended == self.agents(world).1.len()
        })
    }

    /// The number of living agents by the journal.
    fn on_record(&self) -> usize {
        let count = |kind| self.of_type(kind).count();
        (count("agent.spawned") + count("agent.respawned")).saturating_sub(count("agent.exited"))
    }

    /// Whether an agent is to be started again later.
    pub(super) fn is_waiting(&self) -> bool {
        self.text("waiting_until").is_some()
    }

    /// Whether one of its agents has crashed.
    pub(super) fn has_crashed(&self) -> bool {
        self.of_type("agent.crashed").count() > 0
    }

    /// The processes of its living agents.
    pub(super) fn agents_alive(&self, world: &World) -> Vec<i32> {
        self.noted(world).into_iter().map(|(_, pid)| pid).filter(|pid| is_alive(*pid)).collect()
    }

    /// All agents that were started, and the living ones.
    fn agents(&self, world: &World) -> (Vec<String>, Vec<String>) {
        let agents = self.noted(world);
        let of = |wanted: &dyn Fn(i32) -> bool| {
            agents.iter().filter(|(_, pid)| wanted(*pid)).map(|(actor, _)| actor.clone()).collect()
        };
        (of(&|_| true), of(&is_alive))
    }

    /// Each agent that was started, with its process, by its own note.
    fn noted(&self, world: &World) -> Vec<(String, i32)> {
        let notes = world.note(&format!("home/agents/{}.started", self.id));
        let agents = notes.lines().filter_map(|line| line.split_once(' '));
        agents.filter_map(|(actor, pid)| Some((actor.to_owned(), pid.parse().ok()?))).collect()
    }

    fn text(&self, key: &str) -> Option<String> {
        self.owned.get(key)?.as_str().map(str::to_owned)
    }

    fn of_type<'t>(&'t self, kind: &'t str) -> impl Iterator<Item = &'t Value> {
        self.events.iter().filter(move |event| event["type"] == kind)
    }

    /// Its state. It waits for the `expected` one as long as a message may be under way.
    pub(super) fn outcome(&self, world: &World, expected: Option<&TaskState>) -> Result<TaskState> {
        self.check()?;
        self.check_kept(world)?;
        self.has_begun(world)?;
        let wanted = expected.map_or(0, |outcome| outcome.heard);
        let start = Instant::now();
        while self.heard(world) < wanted && start.elapsed() < Duration::from_secs(60) {
            thread::sleep(Duration::from_millis(10));
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (started, alive) = self.agents(world);
        let place = world.path("").display().to_string();
        let counters = self.owned.iter().filter(|(_, value)| value.is_number());
        // Without `auto.advanced`: if the caller is killed, its agent's end may lead to the same transition.
        let counted = [
            "agent.crashed",
            "task.merged",
            "task.force_merged",
            "task.deleted",
            "task.restored",
            "task.migrated",
            "pr.created",
            "work.backed_up",
        ];
        Ok(TaskState {
            status: self.status(),
            workflow: self.text("workflow"),
            is_deleted: self.folder.starts_with(world.path("orange/trash")),
            counters: counters.map(|(name, value)| (name.clone(), value.clone())).collect(),
            has_attention: self.field("attention")?.is_some(),
            has_address: self.field("pr_url")?.is_some(),
            pull_requests: self.pull_requests(world),
            arrows: self
                .of_type("status.changed")
                .map(|event| format!("{} → {}", text(&event["from"]), text(&event["to"])))
                .collect(),
            hooks: self
                .of_type("hook.ended")
                .map(|event| {
                    format!("{} {}", text(&event["hook"]), text(&event["error"]).replace(&place, ""))
                })
                .collect(),
            events: counted.map(|kind| (kind, self.of_type(kind).count())).into(),
            started,
            alive,
            panes: world.panes(&self.session()).into_keys().collect(),
            heard: self.heard(world),
            worktree: self.worktree(world).ok().map(|folder| self.checkout(world, &folder)).transpose()?,
            holds_slot: world.note("orange/workspaces/.pool.json").contains(&self.id),
            backups: self.backups(world)?,
            has_branch: world
                .git(&world.path(PROJECT), &["rev-parse", "--verify", "--quiet", &self.branch])
                .is_ok(),
            merges: self.merges(world)?,
            is_pushed: self.is_pushed(world)?,
        })
    }

    fn check(&self) -> Result<()> {
        for (event, number) in self.events.iter().zip(1u64..) {
            if event["seq"] != number {
                return Err(format!("event {number} has the number {}", event["seq"]));
            }
        }
        let count = |kind| self.of_type(kind).count();
        let (begun, closed) = (count("transition.started"), count("status.changed"));
        if begun != closed {
            return Err(format!("{begun} transitions were begun and {closed} closed"));
        }
        if self.is_stale()? {
            let status = self.field("status")?.unwrap_or_default();
            return Err(format!("TASK.md says {status}, the journal {}", self.status()));
        }
        Ok(())
    }

    /// Checks with git alone that nothing is lost: texts, by their blobs, and branches of the remote.
    fn check_kept(&self, world: &World) -> Result<()> {
        let repository = world.path(PROJECT);
        let reachable = world.git(&repository, &["rev-list", "--objects", "--all"])?;
        let wanted = world.note(&format!("{}.kept", self.branch));
        if let Some(lost) = wanted.lines().find(|blob| !reachable.contains(*blob)) {
            return Err(format!("the blob {lost}, which was in the worktree, is in no commit"));
        }
        let others = world.note(&format!("{}.others", self.branch));
        let is_there = |file: &&str| fs::read_to_string(file).is_ok_and(|text| text == SOMEBODY_S);
        if let Some(lost) = others.lines().find(|file| !is_there(file)) {
            return Err(format!("{lost}, which is somebody's own, is not as it was"));
        }
        let heads = |place: &str| {
            world.git(&world.path("toy.git"), &["for-each-ref", "--format=%(refname:lstrip=2)", place])
        };
        let (before, now) = (heads("refs/before")?, heads("refs/heads")?);
        match before.lines().find(|branch| !now.lines().any(|one| one == *branch)) {
            Some(lost) => Err(format!("the branch {lost} of the remote was deleted")),
            None => Ok(()),
        }
    }

    /// Whether `TASK.md` has another status than the journal, which is possible until a process locks the task.
    pub(super) fn is_stale(&self) -> Result<bool> {
        Ok(self.field("status")? != Some(self.status()))
    }

    /// A value in the frontmatter of `TASK.md`.
    fn field(&self, key: &str) -> Result<Option<String>> {
        let file = fs::read_to_string(self.folder.join("TASK.md")).map_err(|error| error.to_string())?;
        let start = format!("{key}: ");
        Ok(file
            .lines()
            .find_map(|line| line.strip_prefix(&start))
            .filter(|it| *it != "null")
            .map(str::to_owned))
    }

    fn heard(&self, world: &World) -> usize {
        world.note(&format!("home/agents/{}.heard", self.id)).matches("The review failed").count()
    }

    fn checkout(&self, world: &World, folder: &std::path::Path) -> Result<String> {
        let state = world.git(folder, &["status", "--porcelain", "--branch"])?;
        let copy = folder.join("TASK.md");
        let has_copy = copy.symlink_metadata().is_ok_and(|found| found.is_file())
            && clockless(&copy) == clockless(&self.folder.join("TASK.md"));
        Ok(format!("{} copy: {has_copy}", state.replace(&self.branch, "BRANCH")))
    }

    fn backups(&self, world: &World) -> Result<usize> {
        let refs = format!("refs/orange/backup/{}", self.id);
        Ok(world.git(&world.path(PROJECT), &["for-each-ref", &refs])?.lines().count())
    }

    /// The number of pull requests for its branch.
    fn pull_requests(&self, world: &World) -> usize {
        let files = fs::read_dir(world.path("home/gh")).into_iter().flatten().flatten();
        let texts = files.filter(|file| file.path().extension().is_some_and(|end| end == "pr"));
        let texts = texts.filter_map(|file| fs::read_to_string(file.path()).ok());
        texts.filter(|text| text.lines().next() == Some(&self.branch)).count()
    }

    /// How often its branch was merged into the default branch.
    fn merges(&self, world: &World) -> Result<usize> {
        let subject = format!("Work on {}", self.branch);
        let merges = world.git(&world.path(PROJECT), &["log", "main", "--merges", "--format=%s"])?;
        let work = world.git(&world.path(PROJECT), &["log", "main", "--format=%s"])?;
        let merged = merges.lines().filter(|line| line.contains(&format!("'{}'", self.branch))).count();
        Ok(merged + work.lines().filter(|line| *line == subject).count())
    }

    fn is_pushed(&self, world: &World) -> Result<bool> {
        let tip = |folder: &str| world.git(&world.path(folder), &["rev-parse", "main"]);
        Ok(tip(PROJECT)? == tip("toy.git")?)
    }
}

/// A text without the time of its last change.
fn clockless(file: &std::path::Path) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    Some(text.lines().filter(|line| !line.starts_with("updated_at: ")).collect())
}
