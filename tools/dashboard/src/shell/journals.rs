//! Watches the journals of every task and mission, so that nothing is asked while nothing changes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::BufReader;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use orange_journal::{Event as Journaled, Record, read};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
use rustix::io::Errno;
use time::OffsetDateTime;

use super::ShellNote;
use crate::model::effect::Event;
use crate::model::spent::EndedToday;

/// Time without a change, after which the changes before it are reported together.
const QUIET: Timespec = Timespec { tv_sec: 0, tv_nsec: 40_000_000 };

/// Longest time until a report, where something always happens.
const LONGEST: Duration = Duration::from_millis(200);

/// Time between two looks at files that cannot be watched.
const WITHOUT_WATCH: Duration = Duration::from_secs(10);

/// Watches them in a thread.
pub(super) fn watch(home: PathBuf, sender: Sender<ShellNote>) {
    thread::spawn(move || {
        let watched = JournalFolders::new(home).and_then(|mut watch| watch.run(&sender));
        if watched.is_err() {
            while sender.send(ShellNote::Event(Event::Changed)).is_ok() {
                thread::sleep(WITHOUT_WATCH);
            }
        }
    });
}

/// The folders that are watched, and the ends of agents in their journals.
struct JournalFolders {
    home: PathBuf,
    inotify: OwnedFd,
    folders: BTreeMap<i32, PathBuf>,
    ended: BTreeMap<PathBuf, Vec<EndedAgent>>,
}

/// The end of an agent in a journal.
struct EndedAgent {
    spawn: u32,
    day: String,
    tokens: u64,
}

impl JournalFolders {
    fn new(home: PathBuf) -> Result<JournalFolders, Errno> {
        let inotify = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        Ok(JournalFolders { home, inotify, folders: BTreeMap::new(), ended: BTreeMap::new() })
    }

    /// Reports changes until nobody listens.
    fn run(&mut self, sender: &Sender<ShellNote>) -> Result<(), Errno> {
        self.follow_all()?;
        let journals: Vec<PathBuf> = self.folders.values().cloned().collect();
        let midnight = OffsetDateTime::now_utc().replace_time(time::Time::MIDNIGHT);
        for folder in journals {
            // A journal that nobody has written today says nothing about today.
            let written = fs::metadata(folder.join("history.jsonl")).and_then(|it| it.modified()).ok();
            if written.is_some_and(|written| OffsetDateTime::from(written) >= midnight) {
                self.count(&folder);
            }
        }
        let send = |event| sender.send(ShellNote::Event(event)).is_ok();
        if !send(Event::Tokens(self.ended())) {
            return Ok(());
        }
        loop {
            let Some(changed) = self.wait()? else { continue };
            self.follow_all()?;
            for folder in &changed.folders {
                self.count(folder);
            }
            let is_heard = send(Event::Changed)
                && (!changed.has_text || send(Event::Edited))
                && (!changed.has_settings || send(Event::Settings))
                && send(Event::Tokens(self.ended()));
            if !is_heard {
                return Ok(());
            }
        }
    }

    /// Watches the folders of projects and tasks that are there. One that goes away meanwhile is left out.
    fn follow_all(&mut self) -> Result<(), Errno> {
        let mut folders = BTreeSet::from([self.home.clone(), self.home.join("workflows")]);
        for kind in ["tasks", "missions"] {
            let all = self.home.join(kind);
            for project in folders_in(&all) {
                folders.extend(folders_in(&project));
                folders.insert(project);
            }
            folders.insert(all);
        }
        let known: BTreeSet<PathBuf> = self.folders.values().cloned().collect();
        for folder in folders.difference(&known) {
            let what = WatchFlags::CREATE
                | WatchFlags::DELETE
                | WatchFlags::MODIFY
                | WatchFlags::MOVED_FROM
                | WatchFlags::MOVED_TO
                | WatchFlags::ONLYDIR;
            match add_watch(&self.inotify, folder, what) {
                Ok(watched) => drop(self.folders.insert(watched, folder.clone())),
                Err(error @ (Errno::NOSPC | Errno::NOMEM)) => return Err(error),
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Waits for changes, and then until it is quiet.
    fn wait(&mut self) -> Result<Option<Changed>, Errno> {
        let mut changed = Changed::default();
        self.ready(None)?;
        let begin = Instant::now();
        loop {
            self.take(&mut changed)?;
            if begin.elapsed() > LONGEST || !self.ready(Some(&QUIET))? {
                return Ok(changed.is_any.then_some(changed));
            }
        }
    }

    fn ready(&self, wait: Option<&Timespec>) -> Result<bool, Errno> {
        match poll(&mut [PollFd::new(&self.inotify, PollFlags::IN)], wait) {
            Ok(count) => Ok(count > 0),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn take(&mut self, changed: &mut Changed) -> Result<(), Errno> {
        let mut buffer = [MaybeUninit::uninit(); 8192];
        let mut reader = Reader::new(&self.inotify, &mut buffer);
        loop {
            match reader.next() {
                Ok(event) => {
                    let name =
                        event.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                    let Some(folder) = self.folders.get(&event.wd()) else { continue };
                    // The home itself has files that say nothing about tasks.
                    if *folder == self.home
                        && !matches!(name.as_str(), "tasks" | "missions" | "projects.json" | "workflows")
                    {
                        continue;
                    }
                    let is_settings = matches!(name.as_str(), "projects.json" | "workflows");
                    changed.has_settings |= is_settings && *folder == self.home
                        || matters(&name) && *folder == self.home.join("workflows");
                    changed.is_any |= matters(&name);
                    changed.has_text |= name == "TASK.md";
                    if name == "history.jsonl" {
                        changed.folders.insert(folder.clone());
                    }
                }
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
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
    folders: BTreeSet<PathBuf>,
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
