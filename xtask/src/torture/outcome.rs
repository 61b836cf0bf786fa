//! The state of a task by its journal, its files, tmux, git and its agents, for comparison.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{fs, thread};

use orange_journal::{Event, Record, WorkItemHistory, read};

use super::world::{SOMEBODY_S, World, is_alive};
use crate::Result;
use crate::scratch::PROJECT;

/// A task or a mission of a world, by its journal.
#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) id: String,
    branch: String,
    /// Its folder, in the store or in the trash.
    pub(super) folder: PathBuf,
    /// True if it had a call for attention when it was read.
    pub(super) has_attention: bool,
    records: Vec<Record>,
    history: WorkItemHistory,
}

/// Everything that is compared with an undisturbed run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TaskState {
    status: String,
    workflow: String,
    is_deleted: bool,
    counters: BTreeMap<String, u32>,
    /// True if it has a call for attention.
    pub(super) has_attention: bool,
    /// True if `TASK.md` has the address of a pull request.
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
    /// Ideas in its folders that were set aside.
    aside: Vec<String>,
    backups: usize,
    has_branch: bool,
    merges: usize,
    /// The commits of its branch that the default branch lacks.
    work: String,
    /// True if the task was merged into the default branch, and the remote has that. What other tasks merge is theirs.
    is_pushed: bool,
}

impl Task {
    /// The task or mission of this branch, if there is one.
    pub(super) fn find(world: &World, branch: &str) -> Result<Option<Task>> {
        for place in ["orange/tasks", "orange/missions", "orange/trash"] {
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
        let bytes = fs::read(folder.join("history.jsonl")).unwrap_or_default();
        let journal = read::parse(&bytes).map_err(|error| format!("{id}: {error:?}"))?;
        let (history, records) = (journal.history(), journal.records);
        let branch = history.branch.name.clone();
        let mut task = Task { id, branch, folder, has_attention: false, records, history };
        task.has_attention = task.field("attention").is_ok_and(|value| value.is_some());
        Ok(task)
    }

    /// The task as it is now.
    pub(super) fn reread(&self, world: &World) -> Result<Option<Task>> {
        Task::find(world, &self.branch)
    }

    /// Its worktree.
    pub(super) fn worktree(&self, world: &World) -> Result<PathBuf> {
        let name = self.history.owned.workspace.as_deref().ok_or("the task has no worktree")?;
        Ok(world.path("orange/workspaces").join(name))
    }

    pub(super) fn status(&self) -> String {
        self.history.owned.status.clone()
    }

    /// True if it is done, completed or cancelled.
    pub(super) fn is_over(&self) -> bool {
        ["done", "cancelled", "completed"].contains(&self.status().as_str())
    }

    /// Its current journal.
    pub(super) fn journal(&self) -> String {
        fs::read_to_string(self.folder.join("history.jsonl")).unwrap_or_default()
    }

    /// The number of its events.
    pub(super) fn length(&self) -> usize {
        self.records.len()
    }

    pub(super) fn session(&self) -> String {
        self.history.owned.tmux_session.clone().unwrap_or_else(|| format!("{PROJECT}/{}", self.branch))
    }

    /// Waits until each of its agents with a wrapper has noted its start.
    pub(super) fn has_begun(&self, world: &World) -> Result<()> {
        world.until("the agents have begun", || {
            let attended = world.attended(&self.id);
            attended >= self.history.agents.alive.len() && attended == self.agents(world).1.len()
        })
    }

    /// The number of its transitions that were begun.
    pub(super) fn transitions(&self) -> usize {
        self.count(|event| matches!(event, Event::TransitionStarted(_)))
    }

    /// True if an agent is to be started again later.
    pub(super) fn is_waiting(&self) -> bool {
        self.history.owned.waiting_until.is_some()
    }

    /// True if one of its agents has crashed.
    pub(super) fn has_crashed(&self) -> bool {
        self.count(|event| matches!(event, Event::AgentCrashed { .. })) > 0
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

    fn events(&self) -> impl Iterator<Item = &Event> {
        self.records.iter().map(|record| &record.event)
    }

    fn count(&self, is_counted: impl Fn(&Event) -> bool) -> usize {
        self.events().filter(|event| is_counted(event)).count()
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
        let (started, alive) = self.agents(world);
        let place = world.path("").display().to_string();
        // Without `auto.advanced`: if the caller is killed, its agent's end may lead to the same transition.
        let counted = [
            ("crashed", self.count(|event| matches!(event, Event::AgentCrashed { .. }))),
            ("merged", self.count(|event| matches!(event, Event::TaskMerged { .. }))),
            ("synced", self.count(|event| matches!(event, Event::WorkSynced(_)))),
            ("merged by force", self.count(|event| matches!(event, Event::TaskForceMerged { .. }))),
            ("deleted", self.count(|event| matches!(event, Event::TaskDeleted { .. }))),
            ("restored", self.count(|event| matches!(event, Event::TaskRestored { .. }))),
            ("migrated", self.count(|event| matches!(event, Event::TaskMigrated { .. }))),
            ("pull request", self.count(|event| matches!(event, Event::PrCreated { .. }))),
            ("watched", self.count(|event| matches!(event, Event::WatchTaken { .. }))),
            ("backed up", self.count(|event| matches!(event, Event::WorkBackedUp { .. }))),
            ("steps started", self.count(|event| matches!(event, Event::StepStarted { .. }))),
            ("steps ended", self.count(|event| matches!(event, Event::StepEnded(_)))),
            ("paused", self.count(|event| matches!(event, Event::MissionPaused { .. }))),
            ("continued", self.count(|event| matches!(event, Event::MissionContinued { .. }))),
            ("ended", self.count(|event| matches!(event, Event::MissionEnded { .. }))),
        ];
        let step = |event: &Event| {
            let Event::StatusChanged { from, to, .. } = event else { return None };
            Some(format!("{from} → {to}"))
        };
        let hook = |event: &Event| {
            let Event::HookEnded { hook, error, .. } = event else { return None };
            Some(format!("{hook} {}", error.as_deref().unwrap_or_default().replace(&place, "")))
        };
        Ok(TaskState {
            status: self.status(),
            workflow: self.history.owned.workflow.clone(),
            is_deleted: self.folder.starts_with(world.path("orange/trash")),
            counters: self.history.owned.counters.clone(),
            has_attention: self.field("attention")?.is_some(),
            has_address: self.field("pr_url")?.is_some(),
            pull_requests: self.pull_requests(world),
            arrows: self.events().filter_map(step).collect(),
            hooks: self.events().filter_map(hook).collect(),
            events: counted.into(),
            started,
            alive,
            panes: world.panes(&self.session()).into_keys().collect(),
            heard: self.heard(world),
            worktree: self.worktree(world).ok().map(|folder| self.checkout(world, &folder)).transpose()?,
            aside: self.aside(world),
            holds_slot: world.note("orange/workspaces/.pool.json").contains(&self.id),
            backups: self.backups(world)?,
            has_branch: world
                .git(&world.path(PROJECT), &["rev-parse", "--verify", "--quiet", &self.branch])
                .is_ok(),
            merges: self.merges(world)?,
            work: self.work(world)?,
            is_pushed: self.is_pushed(world)?,
        })
    }

    fn check(&self) -> Result<()> {
        for (record, number) in self.records.iter().zip(1u64..) {
            if record.seq != number {
                return Err(format!("event {number} has the number {}", record.seq));
            }
        }
        let begun = self.transitions();
        let closed = self.count(|event| matches!(event, Event::StatusChanged { .. }));
        if begun != closed {
            return Err(format!("{begun} transitions were begun and {closed} closed"));
        }
        if self.is_stale()? {
            let status = self.field("status")?.unwrap_or_default();
            return Err(format!("the file says {status}, the journal {}", self.status()));
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

    /// True if `TASK.md` has another status than the journal, which is possible until a process locks the task.
    pub(super) fn is_stale(&self) -> Result<bool> {
        Ok(self.field("status")? != Some(self.status()))
    }

    /// `TASK.md`, or `MISSION.md`.
    fn file(&self) -> PathBuf {
        self.folder.join(if self.is_mission() { "MISSION.md" } else { "TASK.md" })
    }

    pub(super) fn is_mission(&self) -> bool {
        self.folder.join("MISSION.md").exists()
    }

    /// A value in its frontmatter.
    fn field(&self, key: &str) -> Result<Option<String>> {
        let file = fs::read_to_string(self.file()).map_err(|error| error.to_string())?;
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
        let state = match folder.ends_with(&self.id) {
            true => "a plain folder".to_owned(),
            false => world.git(folder, &["status", "--porcelain", "--branch"])?,
        };
        let copy = folder.join("TASK.md");
        let has_copy = copy.symlink_metadata().is_ok_and(|found| found.is_file())
            && clockless(&copy) == clockless(&self.folder.join("TASK.md"));
        Ok(format!("{} copy: {has_copy}", state.replace(&self.branch, "BRANCH")))
    }

    /// The ideas in folders of the task that were set aside.
    fn aside(&self, world: &World) -> Vec<String> {
        let entries = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
        let numbers = entries(world.path("orange/trash/.repositories").join(&self.id));
        let folders = numbers.flat_map(|number| entries(number.path()));
        folders.filter_map(|folder| fs::read_to_string(folder.path().join("idea.txt")).ok()).collect()
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

    /// Number of merges of its branch into the default branch.
    fn merges(&self, world: &World) -> Result<usize> {
        let subject = format!("Work on {}", self.branch);
        let work = world.git(&world.path(PROJECT), &["log", "main", "--format=%s"])?;
        let named = format!("'{}'", self.branch);
        Ok(work.lines().filter(|line| line.contains(&named) || *line == subject).count())
    }

    /// The subjects of the commits that the default branch lacks, and whether the remote has them.
    fn work(&self, world: &World) -> Result<String> {
        let tip = |folder: &str| {
            world.git(&world.path(folder), &["rev-parse", "--verify", "--quiet", &self.branch])
        };
        let Ok(here) = tip(PROJECT) else { return Ok("no branch".to_owned()) };
        let range = format!("main..{here}");
        let subjects = world.git(&world.path(PROJECT), &["log", "--format=%s", &range])?;
        let is_pushed = tip("toy.git").is_ok_and(|there| there == here);
        Ok(format!("{} pushed: {is_pushed}", subjects.replace(&self.branch, "BRANCH").replace('\n', ", ")))
    }

    fn is_pushed(&self, world: &World) -> Result<bool> {
        let is_own = |event: &Event| matches!(event, Event::TaskMerged { into, .. } if into == "main");
        if !self.events().any(is_own) {
            return Ok(false);
        }
        let tip = |folder: &str| world.git(&world.path(folder), &["rev-parse", "main"]);
        Ok(tip(PROJECT)? == tip("toy.git")?)
    }
}

/// A text without the time of its last change.
fn clockless(file: &std::path::Path) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    Some(text.lines().filter(|line| !line.starts_with("updated_at: ")).collect())
}
