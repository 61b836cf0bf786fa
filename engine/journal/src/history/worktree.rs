//! The worktree of a task: its preparation, and its reclaim for another task.

use crate::event::Preparation;

/// Worktree of a task.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct WorktreeHistory {
    /// The worktree that is being reclaimed for another task.
    pub reclaiming: Option<Reclaim>,
    /// The worktree that was reclaimed for another task.
    pub reclaimed: Option<Reclaim>,
    /// True if its reclaimed worktree was restored, and it has made no transition since.
    pub was_restored: bool,
    /// Preparation of its worktree, which has begun or is complete.
    pub prepared: Option<Prepared>,
    /// That it was reopened and has no worktree yet, with the commit of the uncommitted work that belongs into that one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reopening: Option<Option<String>>,
}

/// Reclaim of a worktree, with the backups of its work.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Reclaim {
    /// Name of the worktree.
    pub workspace: String,
    /// Commit at which it stood.
    pub head: String,
    /// The commits of the backups, the first of which has the work.
    pub kept: Vec<String>,
    /// True if an actor has asked for the worktree.
    pub is_requested: bool,
}

/// Preparation of a worktree from its repository, and its progress.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Prepared {
    /// Preparation that it is to get.
    pub wanted: Preparation,
    /// Number of its programs that have succeeded.
    pub succeeded: usize,
    /// True if it has everything.
    pub is_complete: bool,
    /// Files that it did not get, each with why.
    pub left_out: Vec<String>,
}

impl Prepared {
    /// The files that it was to get, without those that it did not get.
    pub fn given(&self) -> Vec<String> {
        let paths = self.wanted.copied.iter().chain(&self.wanted.linked);
        let is_why = |said: &String, path: &str| {
            let why = said.strip_prefix(path);
            why.is_some_and(|why| why.starts_with(" is in git,") || why.starts_with(" is not in "))
        };
        paths.filter(|path| !self.left_out.iter().any(|said| is_why(said, path))).cloned().collect()
    }
}

impl WorktreeHistory {
    pub(super) fn begin_reclaim(&mut self, workspace: &str, head: &str) {
        let (workspace, head) = (workspace.to_owned(), head.to_owned());
        self.reclaiming = Some(Reclaim { workspace, head, ..Reclaim::default() });
    }

    /// A backup that is made while the worktree is being reclaimed belongs to that reclaim.
    pub(super) fn keep(&mut self, commit: &str) {
        self.reclaiming.iter_mut().for_each(|reclaim| reclaim.kept.push(commit.to_owned()));
    }

    pub(super) fn end_reclaim(&mut self) {
        self.reclaimed = self.reclaiming.take().or(self.reclaimed.take());
    }

    pub(super) fn request(&mut self) {
        self.reclaimed.iter_mut().for_each(|reclaim| reclaim.is_requested = true);
    }

    pub(super) fn restore(&mut self) {
        (self.reclaiming, self.reclaimed) = (None, None);
        self.was_restored = true;
    }

    pub(super) fn begin_preparation(&mut self, wanted: &Preparation) {
        self.prepared = Some(Prepared { wanted: wanted.clone(), ..Prepared::default() });
    }

    pub(super) fn end_setup(&mut self, error: Option<&String>) {
        let succeeded = usize::from(error.is_none());
        self.prepared.iter_mut().for_each(|prepared| prepared.succeeded += succeeded);
    }

    pub(super) fn end_preparation(&mut self, left_out: &[String]) {
        if let Some(prepared) = &mut self.prepared {
            prepared.is_complete = true;
            prepared.left_out = left_out.to_vec();
        }
    }
}
