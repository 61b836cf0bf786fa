//! The branch of a task, its merge and its pull request.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::{BranchSync, Checks, ChecksSeen, Event, MergeUndo, PostedAnswer, Strategy, ThreadAnswer};

/// Branch of a task.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct BranchHistory {
    /// Its name when the task was created.
    pub name: String,
    /// The branches that the engine created for the task, and the commits at which they began.
    pub made: BTreeMap<String, String>,
    /// The commit to which its last merge was to move the default branch.
    pub merge: Option<String>,
    /// The last merge that was begun here, with what it was to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begun: Option<BegunMerge>,
    /// The programs that have succeeded on the result of a merge: for each the last one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checked_results: Vec<CheckedResult>,
    /// A sync with its base that was begun and has not ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syncing: Option<BranchSync>,
    /// The last merge that was taken back, or is about to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undone: Option<MergeUndo>,
    /// True if it was merged by `orange` or by the forge.
    pub is_merged: bool,
    /// Its pull request.
    pub pr: Option<String>,
    /// The merge of that pull request that the forge was asked for last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_merge: Option<AskedMerge>,
    /// Last known state of the checks of that pull request.
    pub checks: Option<ChecksSeen>,
    /// The last request to run the failed checks of a commit again, by commit.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reruns: BTreeMap<String, RequestedRerun>,
    /// The fact whose watch rule waits for an agent that is at work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<WaitingFact>,
    /// The commit whose checks run again, or are about to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerunning: Option<String>,
    /// Commits and comments on which watch rules have acted, by the kind and the value of the fact.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub watched: BTreeMap<String, BTreeSet<String>>,
    /// The number of the newest feedback that was written down for a watch rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<u32>,
    /// Answers to threads of that pull request that wait for a push.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<ThreadAnswer>,
    /// The round in which each thread was last answered.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub answered: BTreeMap<String, u32>,
}

/// A request to run the failed checks of a commit again.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct RequestedRerun {
    /// Its number, from 1.
    pub number: u32,
    /// The most requests that the rule allows for a commit.
    pub most: u32,
    /// The runs that had failed.
    pub failed: Vec<String>,
    /// Its time, RFC 3339 UTC.
    pub at: String,
    /// True if the forge has refused it.
    pub is_refused: bool,
}

/// A fact whose watch rule waits for an agent that is at work.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct WaitingFact {
    /// Kind of the fact.
    pub cause: String,
    /// Word of the fact, such as `red-early`.
    pub value: String,
    /// Time since when it is known to wait, RFC 3339 UTC.
    pub since: String,
}

/// A program that has succeeded on the result of a merge.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CheckedResult {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// The files of the result.
    pub tree: String,
}

/// A merge of a pull request that its forge was asked for.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct AskedMerge {
    /// Address of the pull request.
    pub url: String,
    /// The commit of its branch.
    pub commit: String,
    /// Answer of the forge, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<AskedAnswer>,
}

/// Answer of a forge that was asked for a merge.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum AskedAnswer {
    /// The forge merges it under this name, since then.
    Pending { id: String, since: String },
    /// The pull request is in the queue of its repository, since then.
    Queued { since: String },
    /// The forge does not merge it, for this reason.
    Refused { error: String },
}

/// A merge that was begun: the target branch has moved to its commit, or was about to.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct BegunMerge {
    /// The target branch.
    pub into: String,
    /// The commit of that branch before, here.
    pub from: Option<String>,
    /// Its commit before, here or on the remote: the newer one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub onto: Option<String>,
    /// The new commit of that branch.
    pub commit: String,
    /// The commit of the task's branch.
    pub source: String,
    /// Strategy of the merge.
    pub strategy: Strategy,
}

impl BranchHistory {
    /// The task is open again: what was merged of it was taken back.
    pub(super) fn reopen(&mut self) {
        if self.is_merged {
            self.is_merged = false;
            (self.merge, self.begun, self.asked_merge) = (None, None, None);
        }
    }

    /// The forge has shown checks. Those that have ended no longer run again.
    pub(super) fn see(&mut self, checks: &ChecksSeen) {
        let runs = checks.state == Checks::Pending && self.rerunning.as_ref() == Some(&checks.commit);
        if !runs {
            self.rerunning = None;
        }
        self.checks = Some(checks.clone());
    }

    /// Failed checks are to run again.
    pub(super) fn rerun(&mut self, commit: &str, rerun: RequestedRerun) {
        self.reruns.insert(commit.to_owned(), rerun);
        self.rerunning = Some(commit.to_owned());
    }

    /// The forge does not run failed checks again.
    pub(super) fn refuse_rerun(&mut self, commit: &str) {
        self.rerunning = None;
        if let Some(rerun) = self.reruns.get_mut(commit) {
            rerun.is_refused = true;
        }
    }

    /// The request to run checks again whose end the forge has not shown.
    pub fn open_rerun(&self) -> Option<&RequestedRerun> {
        self.reruns.get(self.rerunning.as_ref()?)
    }

    /// A watch rule has acted on a fact.
    pub(super) fn watch(&mut self, cause: &str, value: &str, items: &[String], feedback: Option<u32>) {
        (self.rerunning, self.waiting) = (None, None);
        self.watched.entry(watched_key(cause, value)).or_default().extend(items.iter().cloned());
        self.feedback = feedback.or(self.feedback);
    }

    /// True if a watch rule has acted on all of these items of a fact.
    pub fn has_watched(&self, cause: &str, value: &str, items: &[String]) -> bool {
        let seen = self.watched.get(&watched_key(cause, value));
        seen.is_some_and(|seen| items.iter().all(|item| seen.contains(item)))
    }

    /// A thread was answered.
    pub(super) fn answer(&mut self, answer: &ThreadAnswer) {
        self.answered.insert(answer.thread.clone(), answer.round);
        self.answers.push(answer.clone());
    }

    /// The forge is about to be asked for a merge.
    pub(super) fn ask_merge(&mut self, url: &str, commit: &str) {
        self.asked_merge = Some(AskedMerge { url: url.to_owned(), commit: commit.to_owned(), answer: None });
    }

    /// The forge has accepted the merge.
    pub(super) fn accept_merge(&mut self, id: Option<&str>, at: &str) {
        let since = at.to_owned();
        self.answer_merge(match id {
            Some(id) => AskedAnswer::Pending { id: id.to_owned(), since },
            None => AskedAnswer::Queued { since },
        });
    }

    /// The forge does not merge.
    pub(super) fn refuse_merge(&mut self, error: &str) {
        self.answer_merge(AskedAnswer::Refused { error: error.to_owned() });
    }

    fn answer_merge(&mut self, answer: AskedAnswer) {
        if let Some(asked) = &mut self.asked_merge {
            asked.answer = Some(answer);
        }
    }

    /// An answer was posted, or has no thread any more.
    pub(super) fn end_answer(&mut self, posted: &PostedAnswer) {
        let is_other = |it: &ThreadAnswer| it.round != posted.round || it.thread != posted.thread;
        self.answers.retain(is_other);
    }

    /// A program has run on the result of a merge.
    pub(super) fn check_result(&mut self, argv: &[String], tree: &str, has_passed: bool) {
        self.checked_results.retain(|checked| checked.argv != argv);
        if has_passed {
            self.checked_results.push(CheckedResult { argv: argv.to_vec(), tree: tree.to_owned() });
        }
    }

    pub(super) fn begin_merge(&mut self, begun: &Event) {
        let Event::MergeStarted { into, commit, from, onto, source, strategy } = begun else { return };
        self.merge = Some(commit.clone());
        let (source, strategy) = (source.clone(), strategy.clone());
        self.begun = source.zip(strategy).map(|(source, strategy)| BegunMerge {
            into: into.clone(),
            from: from.clone(),
            onto: onto.clone(),
            commit: commit.clone(),
            source,
            strategy,
        });
    }
}

fn watched_key(cause: &str, value: &str) -> String {
    format!("{cause} {value}")
}
