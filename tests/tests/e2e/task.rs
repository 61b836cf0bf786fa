//! One task of a world: what its journal says, what its agents noted.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use orange_journal::{Record, read};
use serde_json::Value;

use crate::processes;
use crate::recorder;
use crate::said::ProgramOutput;
use crate::world::{PROJECT, World, until};

/// A task or a mission by its id.
pub(crate) struct Task<'w> {
    world: &'w World,
    /// Its id.
    pub id: String,
    /// `task` or `mission`: the command for it, and with an `s` the folder of all.
    word: &'static str,
}

impl<'w> Task<'w> {
    pub(crate) fn new(world: &'w World, id: &str) -> Task<'w> {
        Task { world, id: id.to_owned(), word: "task" }
    }

    pub(crate) fn mission(world: &'w World, id: &str) -> Task<'w> {
        Task { word: "mission", ..Task::new(world, id) }
    }

    /// Its folder in the store.
    pub(crate) fn folder(&self) -> PathBuf {
        self.world.home().join(format!("{}s", self.word)).join(PROJECT).join(&self.id)
    }

    /// Its `TASK.md` in the store.
    pub(crate) fn file(&self) -> PathBuf {
        self.folder().join("TASK.md")
    }

    /// The `TASK.md` in its worktree.
    #[track_caller]
    pub(crate) fn copy(&self) -> PathBuf {
        self.worktree().join("TASK.md")
    }

    /// Waits until the worktree has a regular file with the text of the store, whenever that was last changed.
    #[track_caller]
    pub(crate) fn gets_its_copy(&self) {
        let clockless = |file: PathBuf| -> Vec<String> {
            let text = fs::read_to_string(file).unwrap_or_default();
            text.lines().filter(|line| !line.starts_with("updated_at: ")).map(str::to_owned).collect()
        };
        self.world.until("the worktree has the task's text", || {
            self.copy().symlink_metadata().is_ok_and(|found| found.is_file())
                && clockless(self.copy()) == clockless(self.file())
        });
    }

    /// Its journal. A line that is being written does not count yet.
    pub(crate) fn events(&self) -> Vec<Value> {
        let bytes = fs::read(self.folder().join("history.jsonl")).unwrap_or_default();
        read::parse(&bytes).unwrap().records.iter().map(Record::to_json).collect()
    }

    /// Its events of one type.
    pub(crate) fn events_of(&self, kind: &str) -> Vec<Value> {
        self.events().into_iter().filter(|event| event["type"] == kind).collect()
    }

    /// The newest value of something that the engine owns.
    pub(crate) fn owned(&self, key: &str) -> Value {
        newest(&self.events(), key)
    }

    /// Its status.
    pub(crate) fn status(&self) -> String {
        self.owned("status").as_str().unwrap_or_default().to_owned()
    }

    /// Its worktree.
    #[track_caller]
    pub(crate) fn worktree(&self) -> PathBuf {
        self.world.home().join("workspaces").join(self.owned("workspace").as_str().unwrap())
    }

    /// The transitions that are finished, as `from → to`.
    pub(crate) fn arrows(&self) -> Vec<String> {
        let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
        let arrow = |event: &Value| format!("{} → {}", text(&event["from"]), text(&event["to"]));
        self.events_of("status.changed").iter().map(arrow).collect()
    }

    /// Waits until the task is in this status and nobody is at work on it.
    #[track_caller]
    pub(crate) fn reaches(&self, status: &str) {
        self.becomes(&format!("is {status}"), |events| {
            let last = |kind: &str| events.iter().rposition(|event| event["type"] == kind);
            newest(events, "status") == status && last("transition.started") <= last("status.changed")
        });
    }

    /// Waits until there are this many events of a type and nobody is at work on the task.
    #[track_caller]
    pub(crate) fn has_events(&self, count: usize, kind: &str) {
        let counted = |events: &[Value]| events.iter().filter(|event| event["type"] == kind).count() >= count;
        self.becomes(&format!("has {count} × {kind}"), counted);
    }

    #[track_caller]
    fn becomes(&self, what: &str, holds: impl Fn(&[Value]) -> bool) {
        // A process that works on a task signs its lock, and wipes the signature when all is written.
        let is_free = || fs::read(self.folder().join(".lock")).is_ok_and(|signature| signature.is_empty());
        self.world.until(&format!("{} {what}", self.id), || holds(&self.events()) && is_free());
    }

    /// Waits until no process works for it any more: no agent, wrapper or companion, and nobody who takes note of an end.
    #[track_caller]
    pub(crate) fn is_left(&self) {
        let nobody = || processes::that(|folder| processes::is_about(folder, &self.id)).is_empty();
        self.world.until(&format!("nobody works for {}", self.id), nobody);
    }

    /// Waits until somebody records what its only agent shows.
    #[track_caller]
    pub(crate) fn is_recorded(&self) {
        self.world.until("it is recorded", || recorder::of(&self.folder()).len() == 1);
    }

    /// Its name in commands: its branch.
    #[track_caller]
    pub(crate) fn name(&self) -> String {
        self.show()["branch"].as_str().unwrap().to_owned()
    }

    /// Answer of `orange task show`.
    #[track_caller]
    pub(crate) fn show(&self) -> Value {
        self.world.ok(&[self.word, "show", &self.id])
    }

    /// `orange task VERB ID …`, or `orange mission VERB ID …`, which must succeed.
    #[track_caller]
    pub(crate) fn ok(&self, verb: &str, more: &[&str]) -> Value {
        self.world.ok(&[&[self.word, verb, &self.id], more].concat())
    }

    /// `orange task VERB ID …`, which must fail in this way.
    #[track_caller]
    pub(crate) fn fails(&self, status: i32, code: &str, verb: &str, more: &[&str]) -> String {
        self.world.fails(status, code, &[&[self.word, verb, &self.id], more].concat())
    }

    /// `orange task VERB …` in the task's worktree.
    pub(crate) fn here(&self, args: &[&str]) -> ProgramOutput {
        self.world.orange_in(&self.worktree(), &[&["--json", "task"], args].concat())
    }

    /// `orange --json`, as an agent of the task has it in its environment.
    pub(crate) fn as_agent(&self, actor: &str, spawn: &str) -> Command {
        let mut command = self.world.command(self.world.program);
        command.env("ORANGE_TASK", &self.id).env("ORANGE_ACTOR", actor).env("ORANGE_SPAWN", spawn);
        command.envs(self.secret(spawn).map(|secret| ("ORANGE_SECRET", secret)));
        command.arg("--json");
        command
    }

    /// Secret of the agent of this spawn, while it is alive.
    pub(crate) fn secret(&self, spawn: &str) -> Option<String> {
        fs::read_to_string(self.folder().join("agents").join(format!("{spawn}.secret"))).ok()
    }

    /// `orange task update --status STATUS`, from the agent of this spawn in the task's worktree.
    pub(crate) fn asks(&self, actor: &str, spawn: u32, status: &str) -> ProgramOutput {
        let mut command = self.as_agent(actor, &spawn.to_string());
        command.current_dir(self.worktree());
        self.world.said(command.args(["task", "update", "--status", status]))
    }

    /// Makes a request that ends the agent which asks, so that nobody is left to be answered.
    #[track_caller]
    pub(crate) fn asks_its_last(&self, actor: &str, spawn: u32, status: &str) {
        let before = self.arrows().len();
        let said = self.asks(actor, spawn, status);
        assert!(said.status <= 0, "{said:?}");
        self.has_events(before + 1, "status.changed");
        assert!(self.arrows()[before].ends_with(&format!(" → {status}")), "{:?}", self.arrows());
    }

    /// Adds to the body of its `TASK.md`, as an agent does.
    pub(crate) fn write(&self, section: &str) {
        let file = if self.owned("workspace").is_string() { self.copy() } else { self.file() };
        let before = fs::read_to_string(&file).unwrap();
        fs::write(file, format!("{before}\n{section}\n")).unwrap();
    }

    /// The agent of this spawn.
    pub(crate) fn agent(&self, spawn: u32) -> Agent<'w> {
        let notes = self.world.home().join("agents").join(format!("{}.{spawn}", self.id));
        let attended = self.folder().join("agents").join(format!("{spawn}.json"));
        Agent { world: self.world, notes, attended }
    }
}

/// The scripted agent of one spawn, by the notes that it keeps.
pub(crate) struct Agent<'w> {
    world: &'w World,
    notes: PathBuf,
    /// File in which its wrapper notes its process.
    attended: PathBuf,
}

impl Agent<'_> {
    /// Waits until it has begun and its wrapper has noted which process it is, unless it has ended meanwhile; gives its
    /// process id.
    #[track_caller]
    pub(crate) fn begun(&self) -> i32 {
        let file = self.note("pid");
        self.world.until(&format!("{} is there", file.display()), || file.exists());
        let pid = fs::read_to_string(file).unwrap().trim().parse().unwrap();
        let is_noted = || self.attended.symlink_metadata().is_ok();
        self.world.until(&format!("{pid} is noted or over"), || is_noted() || !is_alive(pid));
        pid
    }

    /// True if it has begun.
    pub(crate) fn is_there(&self) -> bool {
        self.note("pid").exists()
    }

    /// The prompt that it got, byte for byte.
    #[track_caller]
    pub(crate) fn prompt(&self) -> String {
        self.begun();
        String::from_utf8(fs::read(self.note("prompt")).unwrap()).unwrap()
    }

    /// Gives a `scripted` agent the shell script with which it ends.
    pub(crate) fn tell(&self, script: &str) {
        fs::write(self.note("end.new"), script).unwrap();
        fs::rename(self.note("end.new"), self.note("end")).unwrap();
    }

    /// Text that was typed at it.
    pub(crate) fn heard(&self) -> String {
        fs::read_to_string(self.note("heard")).unwrap_or_default()
    }

    fn note(&self, kind: &str) -> PathBuf {
        let mut name = self.notes.clone().into_os_string();
        name.push(".");
        name.push(kind);
        PathBuf::from(name)
    }
}

fn newest(events: &[Value], key: &str) -> Value {
    events.iter().rev().find_map(|event| event["set"].get(key).cloned()).unwrap_or_default()
}

/// True if a process is alive; a zombie is not.
pub(crate) fn is_alive(pid: i32) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

/// Ends a process as nothing can prevent, and waits until it is dead: the signal alone says only that it will be.
#[track_caller]
pub(crate) fn kill(pid: i32) {
    assert!(try_kill(pid), "process {pid} cannot be killed");
    until(&format!("process {pid} is dead"), || !is_alive(pid));
}

/// Ends a process that its terminal may have ended already, and waits until it is dead.
pub(crate) fn end(pid: i32) {
    try_kill(pid);
    until(&format!("process {pid} is dead"), || !is_alive(pid));
}

/// Ends a process that may have ended by itself; true if it had not.
pub(crate) fn try_kill(pid: i32) -> bool {
    Command::new("kill").args(["-9", &pid.to_string()]).output().unwrap().status.success()
}
