//! A task or a mission: the values of people and agents from its text, those of the engine from the journal.

use std::io;
use std::path::Path;
use std::time::Duration;

use orange_core::Workspace;
use orange_core::intake::Source;

use crate::store::event::Event;
use crate::store::frontmatter::{Document, FrontmatterFlaw};
use crate::store::history::{Owned, WorkItemHistory};
use crate::store::journal::{self, Journal};
use crate::store::scalar::Value;
use crate::store::{Name, WorkItemDir, WorkItemKind};
use crate::{Error, ErrorKind, Result};
use orange_system::{nofollow, regular};

/// The harness of a task whose frontmatter names none.
pub const DEFAULT_HARNESS: &str = "claude";

/// A task or a mission as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkItem {
    pub kind: WorkItemKind,
    pub id: String,
    /// The name of its project.
    pub project: String,
    pub branch: String,
    /// The summary in its creator's words; any text.
    pub summary: String,
    /// The harness of its workers.
    pub harness: String,
    /// The harness of its reviewers.
    pub review_harness: String,
    /// The effort of its agents, in their harness's own words.
    pub effort: Option<String>,
    /// The model of its agents, likewise.
    pub model: Option<String>,
    /// The values that only the engine changes: status, counters, workspace, session, workflow.
    pub owned: Owned,
    /// Of waiting tasks, the one with the highest number starts first.
    pub priority: i32,
    /// The ids of the tasks that are to be merged before it starts.
    pub blocked_by: Vec<String>,
    /// A reason for which a person has to act, such as a failed hook.
    pub attention: Option<String>,
    /// The address of its pull request.
    pub pr_url: Option<String>,
    /// Time of its creation, RFC 3339 UTC.
    pub created_at: String,
    /// Time at which the engine last wrote its `TASK.md`, RFC 3339 UTC.
    pub updated_at: String,
    /// The markdown below the frontmatter.
    pub body: String,
}

impl WorkItem {
    /// Workspace that it holds for its agents. Its plain folder has its id for a name, which no worktree has.
    pub fn holds(&self) -> Option<Workspace> {
        let name = self.owned.workspace.as_ref()?;
        Some(if *name == *self.id { Workspace::Folder } else { Workspace::Worktree })
    }

    /// The name of the worktree that it holds.
    pub fn worktree(&self) -> Option<&Name> {
        self.owned.workspace.as_ref().filter(|_| self.holds() == Some(Workspace::Worktree))
    }

    /// A task with the frontmatter's values for what people own, and the journal's for the rest.
    pub(crate) fn of(dir: &WorkItemDir, document: Document, history: &WorkItemHistory) -> Result<WorkItem> {
        WorkItem::with(dir, document, history.owned.clone(), (&history.branch.name, &history.created_at))
            .map_err(|flaw| corrupt(dir, &flaw, history))
    }

    /// As `of`, from the parts of the journal that it needs: the values, the first branch and the time of creation.
    pub(crate) fn with(
        dir: &WorkItemDir,
        document: Document,
        owned: Owned,
        (first_branch, created_at): (&str, &str),
    ) -> std::result::Result<WorkItem, FrontmatterFlaw> {
        let get = |key: &str| document.get(key);
        Ok(WorkItem {
            kind: dir.kind,
            id: dir.id.clone(),
            project: dir.project.clone(),
            branch: get("branch")?.unwrap_or_else(|| first_branch.to_owned()),
            summary: get("summary")?.unwrap_or_default(),
            harness: get("harness")?.unwrap_or_else(|| DEFAULT_HARNESS.to_owned()),
            review_harness: get("review_harness")?.unwrap_or_else(|| DEFAULT_HARNESS.to_owned()),
            effort: get("effort")?.filter(|effort| !effort.trim().is_empty()),
            model: get("model")?.filter(|model| !model.trim().is_empty()),
            owned,
            priority: get("priority")?.and_then(|text| text.trim().parse().ok()).unwrap_or_default(),
            blocked_by: get("blocked_by")?.map(|text| ids(&text)).unwrap_or_default(),
            attention: get("attention")?,
            pr_url: get("pr_url")?,
            created_at: get("created_at")?.unwrap_or_else(|| created_at.to_owned()),
            updated_at: get("updated_at")?.unwrap_or_default(),
            body: document.into_body(),
        })
    }

    /// True if its work comes from a text of other people, so that its agents get no access to a forge.
    pub fn is_foreign(&self) -> bool {
        self.owned.source.as_deref().is_some_and(Source::is_foreign)
    }

    pub fn status(&self) -> &str {
        &self.owned.status
    }

    /// The counter's value; 0 if the task has no such counter.
    pub fn counter(&self, name: &str) -> u32 {
        self.owned.counter(name)
    }
}

/// The ids in a list on one line, such as `a, b`.
fn ids(text: &str) -> Vec<String> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// Checks that there is such a task or mission.
pub(crate) fn exists(dir: &WorkItemDir) -> Result<()> {
    if nofollow::metadata(&dir.path).is_ok_and(|found| found.is_dir()) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::NotFound, format!("there is no {} in project {}", dir.shown(), dir.project))
        .help(dir.kind.list_command("")))
}

/// The journal of a task.
pub(crate) fn read_journal(dir: &WorkItemDir) -> Result<Journal> {
    read_journal_last(dir, usize::MAX)
}

/// The journal of a task, with its last `keep` records.
pub(crate) fn read_journal_last(dir: &WorkItemDir, keep: usize) -> Result<Journal> {
    let path = dir.history();
    let journal = match journal::read_last(&path, keep) {
        Err(error) if error.kind == ErrorKind::Corrupt && path.symlink_metadata().is_err() => {
            return exists(dir).and_then(|()| Err(no_history(dir, "is missing")));
        }
        read => read?,
    };
    let has_status = !journal.history().owned.status.is_empty();
    if has_status { Ok(journal) } else { Err(no_history(dir, "does not say the task's status")) }
}

/// The task's `TASK.md`, once it is complete.
pub(crate) fn document(dir: &WorkItemDir, history: &WorkItemHistory) -> Result<Document> {
    let is_broken =
        |read: &Result<Document>| read.as_ref().is_err_and(|error| error.kind == ErrorKind::Corrupt);
    once_whole(&dir.task_md(), || glance(dir, history), is_broken)
}

/// Reads a file that a process may be in the middle of writing: some editors first empty or remove it. A file that stays
/// broken is returned as it is.
pub(crate) fn once_whole<T>(path: &Path, read: impl Fn() -> T, is_broken: impl Fn(&T) -> bool) -> T {
    const NAPS: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];
    for nap in NAPS {
        let found = read();
        if !is_broken(&found) || !was_just_written(path) {
            return found;
        }
        std::thread::sleep(Duration::from_millis(nap));
    }
    read()
}

fn was_just_written(path: &Path) -> bool {
    const JUST: Duration = Duration::from_secs(1);
    let metadata = path.symlink_metadata().or_else(|_| path.parent().unwrap_or(path).symlink_metadata());
    let Ok(metadata) = metadata.and_then(|found| Ok((found.is_file() || found.is_dir(), found.modified()?)))
    else {
        return false;
    };
    let (may_be_written, written) = metadata;
    may_be_written && written.elapsed().unwrap_or_default() < JUST
}

/// The task's `TASK.md` at this moment.
pub(crate) fn glance(dir: &WorkItemDir, history: &WorkItemHistory) -> Result<Document> {
    let path = dir.task_md();
    match nofollow::read(&path, regular::LIMIT) {
        Ok(bytes) => Document::parse(&bytes).map_err(|flaw| corrupt(dir, &flaw, history)),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
            Err(Error::new(ErrorKind::Corrupt, format!("{} is missing", path.display()))
                .help(rewrite_help(&path, history)))
        }
        Err(cause) => Err(Error::io("read", &path, &cause)),
    }
}

/// The engine-owned keys whose values differ from the journal's, as events of their repair.
pub(crate) fn differences(dir: &WorkItemDir, document: &Document, owned: &Owned) -> Vec<Event> {
    differences_from(dir, |key| document.get(key).unwrap_or_default(), owned)
}

/// The engine-owned keys whose values differ from the journal's, for a text of which `get` knows the values.
pub(crate) fn differences_from(
    dir: &WorkItemDir,
    get: impl Fn(&str) -> Option<String>,
    owned: &Owned,
) -> Vec<Event> {
    let differing = |(key, value): (&str, Value)| difference(get(key), key, value);
    fields(dir, owned).into_iter().filter_map(differing).collect()
}

/// Every frontmatter key that the engine owns, with its value.
pub(crate) fn fields<'a>(dir: &'a WorkItemDir, owned: &'a Owned) -> Vec<(&'a str, Value<'a>)> {
    let mut fields = vec![("id", Value::Text(&dir.id)), ("project", Value::Text(&dir.project))];
    fields.extend(owned_fields(owned));
    fields
}

/// Every frontmatter key that the engine owns except `id` and `project`, with its value, in the order of a new file.
pub(crate) fn owned_fields(owned: &Owned) -> Vec<(&str, Value<'_>)> {
    const FIRST: [&str; 2] = ["review_round", "crash_count"];
    let mut fields = vec![("status", Value::Text(&owned.status)), ("workflow", Value::Text(&owned.workflow))];
    let first = FIRST.iter().filter_map(|name| owned.counters.get_key_value(*name));
    let others = owned.counters.iter().filter(|(name, _)| !FIRST.contains(&name.as_str()));
    fields.extend(first.chain(others).map(|(name, value)| (name.as_str(), Value::Number(*value))));
    fields.extend(owned.base.as_deref().map(|base| ("base", Value::Text(base))));
    fields.extend(owned.parent.as_deref().map(|parent| ("parent", Value::Text(parent))));
    fields.extend(owned.source.as_deref().map(|source| ("source", Value::Text(source))));
    fields.push(("workspace", Value::text_or_null(owned.workspace.as_deref())));
    fields.push(("tmux_session", Value::text_or_null(owned.tmux_session.as_deref())));
    fields
}

/// The error for a flaw of the task's `TASK.md`.
pub(crate) fn corrupt(dir: &WorkItemDir, flaw: &FrontmatterFlaw, history: &WorkItemHistory) -> Error {
    let path = dir.task_md();
    match flaw.line {
        0 => Error::new(ErrorKind::Corrupt, format!("{}: {flaw}", path.display()))
            .help(rewrite_help(&path, history)),
        line => Error::new(ErrorKind::Corrupt, format!("{}:{line}: {flaw}", path.display()))
            .help(format!("{}; nothing was changed", flaw.mend)),
    }
}

fn difference(found: Option<String>, key: &str, value: Value) -> Option<Event> {
    let kept = value.decoded().map(String::from);
    // A missing counter is 0.
    let same = found == kept || found.is_none() && value == Value::Number(0);
    (!same).then(|| Event::TaskRepaired { field: key.to_owned(), found, kept })
}

/// Instructions for writing a missing file again: the engine fills in its values.
fn rewrite_help(path: &Path, history: &WorkItemHistory) -> String {
    let owned = &history.owned;
    format!(
        "put back what was there, or write {} again with the three lines `---`, `branch: {}`, `---` and the text below \
         them; the engine fills in what it knows (status {}, workflow {}); nothing was changed",
        path.display(),
        Value::Text(&history.branch.name).encoded(),
        owned.status,
        owned.workflow,
    )
}

fn no_history(dir: &WorkItemDir, what: &str) -> Error {
    let path = dir.history();
    let word = dir.kind.word();
    let mend = match dir.kind {
        WorkItemKind::Task => {
            ", or begin a new one with one line such as \
             {\"seq\":1,\"timestamp\":\"2026-01-01T00:00:00Z\",\"type\":\"task.created\",\"branch\":\"…\",\"actor\":\"human\",\
             \"set\":{\"status\":\"…\",\"workflow\":\"…\",\"workspace\":null}}"
        }
        WorkItemKind::Mission => "",
    };
    Error::new(ErrorKind::Corrupt, format!("{} {what}", path.display()))
        .help(format!("it is the engine's record of the {word}: restore it from a backup{mend}"))
}
