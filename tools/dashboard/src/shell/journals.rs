//! Watches the journals of every task and mission, so that nothing is asked while nothing changes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use orange_journal::{Event as Journaled, Record, read};
use orange_system::changes::{FolderChange, FolderId, FolderWatch, ReportedWrites};
use time::OffsetDateTime;

use super::ShellNote;
use crate::model::effect::Event;
use crate::model::spent::EndedToday;

/// Time without a change, after which the changes before it are reported together.
const QUIET: Duration = Duration::from_millis(40);

/// Longest time until a report, where something always happens.
const LONGEST: Duration = Duration::from_millis(200);

/// Time between two looks where the system reports no changes.
const WITHOUT_REPORTS: Duration = Duration::from_secs(10);

/// Watches them in a thread.
pub(super) fn watch(home: PathBuf, sender: Sender<ShellNote>) {
    thread::spawn(move || JournalFolders::new(home).run(&sender));
}

/// The folders that are watched, and the ends of agents in their journals.
struct JournalFolders {
    home: PathBuf,
    watch: FolderWatch,
    folders: BTreeMap<FolderId, PathBuf>,
    ended: BTreeMap<PathBuf, Vec<EndedAgent>>,
}

/// The end of an agent in a journal.
struct EndedAgent {
    spawn: u32,
    day: String,
    tokens: u64,
}

impl JournalFolders {
    fn new(home: PathBuf) -> JournalFolders {
        let watch = FolderWatch::new(ReportedWrites::Each, WITHOUT_REPORTS);
        JournalFolders { home, watch, folders: BTreeMap::new(), ended: BTreeMap::new() }
    }

    /// Reports changes until nobody listens.
    fn run(&mut self, sender: &Sender<ShellNote>) {
        let folders = self.all();
        self.follow(&folders);
        written_today(&folders).iter().for_each(|folder| self.count(folder));
        let send = |event| sender.send(ShellNote::Event(event)).is_ok();
        if !send(Event::Tokens(self.ended())) {
            return;
        }
        loop {
            self.watch.wait(None, None);
            let changes = self.watch.take_until_quiet(QUIET, LONGEST);
            let folders = self.all();
            let changed = self.changed(changes, &folders);
            self.follow(&folders);
            if !changed.is_any {
                continue;
            }
            for folder in &changed.journals {
                self.count(folder);
            }
            let is_heard = send(Event::Changed)
                && (!changed.has_text || send(Event::Edited))
                && (!changed.has_settings || send(Event::Settings))
                && send(Event::Tokens(self.ended()));
            if !is_heard {
                return;
            }
        }
    }

    /// The home, and the folders of projects and tasks that are there.
    fn all(&self) -> BTreeSet<PathBuf> {
        let mut folders = BTreeSet::from([self.home.clone(), self.home.join("workflows")]);
        for kind in ["tasks", "missions"] {
            let all = self.home.join(kind);
            for project in folders_in(&all) {
                folders.extend(folders_in(&project));
                folders.insert(project);
            }
            folders.insert(all);
        }
        folders
    }

    /// Watches the folders that are not watched yet. One that goes away meanwhile is left out.
    fn follow(&mut self, folders: &BTreeSet<PathBuf>) {
        let known: BTreeSet<PathBuf> = self.folders.values().cloned().collect();
        for folder in folders.difference(&known) {
            let id = self.watch.add(folder);
            self.folders.extend(id.map(|id| (id, folder.clone())));
        }
    }

    /// Summary of these changes. Where reports are lost, everything in these folders may have changed.
    fn changed(&mut self, changes: Vec<FolderChange>, folders: &BTreeSet<PathBuf>) -> Changed {
        let mut changed = Changed::default();
        for change in changes {
            match change {
                FolderChange::Entry { folder, name, .. } => {
                    if let Some(folder) = self.folders.get(&folder) {
                        changed.add(&self.home, folder, &name);
                    }
                }
                FolderChange::Gone(folder) => {
                    changed.is_any |= self.folders.remove(&folder).is_some();
                }
                FolderChange::Lost => {
                    let journals = written_today(folders);
                    changed = Changed { is_any: true, has_text: true, has_settings: true, journals };
                }
            }
        }
        changed
    }

    /// Reads the ends of agents in a journal again. One that cannot be read has none; its row says why.
    fn count(&mut self, folder: &Path) {
        let journal = File::open(folder.join("history.jsonl")).ok();
        let journal = journal.and_then(|file| read::read(BufReader::new(file), usize::MAX).ok());
        let ended = journal.iter().flat_map(|journal| &journal.records).filter_map(ended).collect();
        self.ended.insert(folder.to_owned(), ended);
    }

    fn ended(&self) -> EndedToday {
        let mut all = EndedToday { day: today(), ..EndedToday::default() };
        for (folder, agents) in &self.ended {
            let task = folder.file_name().unwrap_or_default().to_string_lossy();
            for EndedAgent { spawn, day, tokens } in agents {
                all.tokens += if *day == all.day { *tokens } else { 0 };
                all.agents.insert((task.clone().into_owned(), *spawn));
            }
        }
        all
    }
}

/// Changes since the last report.
#[derive(Default)]
struct Changed {
    is_any: bool,
    has_text: bool,
    has_settings: bool,
    /// The folders whose journals were written.
    journals: BTreeSet<PathBuf>,
}

impl Changed {
    /// Adds the change of an entry of this folder.
    fn add(&mut self, home: &Path, folder: &Path, name: &str) {
        // The home itself has files that say nothing about tasks.
        if folder == home && !matches!(name, "tasks" | "missions" | "projects.json" | "workflows") {
            return;
        }
        let is_settings = matches!(name, "projects.json" | "workflows");
        self.has_settings |=
            is_settings && folder == home || matters(name) && folder == home.join("workflows");
        self.is_any |= matters(name);
        self.has_text |= name == "TASK.md";
        if name == "history.jsonl" {
            self.journals.insert(folder.to_owned());
        }
    }
}

/// The folders whose journal was written today: another one says nothing about today.
fn written_today(folders: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    let midnight = OffsetDateTime::now_utc().replace_time(time::Time::MIDNIGHT);
    let written =
        |folder: &Path| fs::metadata(folder.join("history.jsonl")).and_then(|it| it.modified()).ok();
    let is_of_today =
        |folder: &&PathBuf| written(folder).is_some_and(|it| OffsetDateTime::from(it) >= midnight);
    folders.iter().filter(is_of_today).cloned().collect()
}

/// True if a file of a task is read by a list. Temporary files and locks are not.
fn matters(name: &str) -> bool {
    !name.starts_with('.') && !name.ends_with(".lock") && !name.ends_with(".tmp")
}

/// The end of an agent, if this is one.
fn ended(record: &Record) -> Option<EndedAgent> {
    let Journaled::AgentExited(exited) = &record.event else { return None };
    let day = record.timestamp.get(..10)?.to_owned();
    Some(EndedAgent { spawn: exited.spawn, day, tokens: exited.spent().tokens.unwrap_or_default() })
}

/// Today in UTC, as a journal writes it.
fn today() -> String {
    OffsetDateTime::now_utc().date().to_string()
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|it| it.is_dir());
    let is_hidden = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with('.');
    entries.filter(|entry| is_folder(entry) && !is_hidden(entry)).map(|entry| entry.path()).collect()
}
