//! The job of a crab: one attempt, from its assignment to the answer of the gateway.

use std::collections::BTreeMap;
use std::fmt::Write;

use orange_api::NewAttempt;
use orange_api::gateway::TaskAssigned;
use orange_core::plan::Value;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The version of the file of a job.
pub const VERSION: u32 = 1;

/// Prefix of the keys of attempts.
const KEY: &str = "run-";

/// An attempt, and how far the crab is with it. The crab writes it down before and after everything that a kill must not repeat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The version of this file.
    pub v: u32,
    /// Its id: an attempt that was given back can come to the same crab again, as another job.
    #[serde(default)]
    pub id: String,
    /// The attempt to run.
    pub assigned: TaskAssigned,
    /// State of the remote before the attempt; `None` until the branch is ready.
    #[serde(default)]
    pub ready: Option<Ready>,
    /// The mission in the crab's own home.
    #[serde(default)]
    pub mission: Option<String>,
    /// The gateway knows that the agent has started.
    #[serde(default)]
    pub is_started: bool,
    /// The commit of the branch that is on the remote.
    #[serde(default)]
    pub pushed: Option<String>,
    /// Notes on the push, for a person.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Verdict that the crab reports.
    #[serde(default)]
    pub verdict: Option<AttemptVerdict>,
    /// Number of times that the crab has tried to send the transcript and the diff.
    #[serde(default)]
    pub sendings: u32,
    /// Nothing is left to be sent of them.
    #[serde(default)]
    pub is_sent: bool,
    /// The gateway has taken the report.
    #[serde(default)]
    pub is_reported: bool,
}

/// The branch as an attempt finds it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// The folder of the crab's clone.
    pub clone: String,
    /// The name of that clone as a project.
    pub project: String,
    /// The commit of the branch on the remote; `None` if it had none.
    pub found: Option<String>,
    /// The commit from which the attempt starts.
    pub start: String,
    /// The commit with which this attempt has claimed the branch.
    pub claim: String,
    /// Path of the worktree in which the agent works.
    pub worktree: String,
}

/// Verdict on an attempt, as the crab reports it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum AttemptVerdict {
    /// The step is complete.
    Completed {
        /// Its result in one word.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<String>,
        /// Summary of the work.
        summary: String,
        /// Call for a person's attention.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        warning: Option<String>,
        /// Its declared outputs, by name.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        outputs: BTreeMap<String, Value>,
    },
    /// The attempt has failed.
    Failed { summary: String },
    /// It could not start here.
    GivenBack { reason: String },
}

impl Job {
    /// A job that nothing has been done about.
    pub fn new(assigned: TaskAssigned, id: String) -> Job {
        Job {
            v: VERSION,
            id,
            assigned,
            ready: None,
            mission: None,
            is_started: false,
            pushed: None,
            notes: Vec::new(),
            verdict: None,
            sendings: 0,
            is_sent: false,
            is_reported: false,
        }
    }

    pub fn run(&self) -> &str {
        &self.assigned.run_id
    }

    /// The key of its attempt in the crab's own home. No other job has it.
    pub fn key(&self) -> String {
        format!("{KEY}{}", short_hash(&format!("{}{}", self.run(), self.id)))
    }

    /// Its attempt, as the crab's own `orange` runs it.
    pub fn attempt(&self, ready: &Ready, harness: Option<&str>) -> NewAttempt {
        let assigned = &self.assigned;
        NewAttempt {
            key: self.key(),
            project: ready.project.clone(),
            branch: assigned.branch.clone(),
            step: assigned.step_id.clone(),
            role: assigned.role.clone(),
            attempt: assigned.attempt,
            prompt: assigned.prompt_in(&ready.worktree),
            run: assigned.run_in(&ready.worktree),
            gates: assigned.gates_in(&ready.worktree),
            harness: assigned.harness.as_deref().or(harness).map(str::to_owned),
            model: assigned.model.clone(),
            effort: assigned.effort,
            permissions: assigned.permissions,
            sandbox: assigned.sandbox,
            results: assigned.results.clone(),
            needs_result: assigned.needs_result,
            outputs: assigned.outputs.clone(),
            timeout: assigned.timeout,
            stuck_after: assigned.stuck_after,
        }
    }
}

/// True if this is the key of a job's attempt.
pub fn is_key(key: &str) -> bool {
    key.starts_with(KEY)
}

/// The beginning of a hash, for names.
pub fn short_hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(8).fold(String::new(), |text, byte| {
        let mut text = text;
        // Writing to a string cannot fail.
        write!(text, "{byte:02x}").unwrap_or_default();
        text
    })
}

impl AttemptVerdict {
    /// A failure for this reason.
    pub fn failed(summary: impl Into<String>) -> AttemptVerdict {
        AttemptVerdict::Failed { summary: summary.into() }
    }

    /// The return of a step for this reason.
    pub fn given_back(reason: impl Into<String>) -> AttemptVerdict {
        AttemptVerdict::GivenBack { reason: reason.into() }
    }

    /// Cuts its texts to at most this many bytes.
    pub fn within(self, longest: usize) -> AttemptVerdict {
        match self {
            AttemptVerdict::Completed { result, summary, warning, outputs } => AttemptVerdict::Completed {
                outputs,
                result,
                summary: cut(summary, longest),
                warning: warning.map(|it| cut(it, longest)),
            },
            AttemptVerdict::Failed { summary } => AttemptVerdict::Failed { summary: cut(summary, longest) },
            AttemptVerdict::GivenBack { reason } => {
                AttemptVerdict::GivenBack { reason: cut(reason, longest) }
            }
        }
    }
}

fn cut(text: String, longest: usize) -> String {
    match text.len() > longest {
        true => format!("{}\n(cut here)", &text[..text.floor_char_boundary(longest)]),
        false => text,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use orange_api::gateway::RunStatus;
    use orange_core::Permissions;
    use orange_core::wall::Demand;

    use super::*;

    /// The first attempt at a step of the mission `m`.
    pub(in crate::crab) fn assigned(step: &str) -> TaskAssigned {
        TaskAssigned {
            run_id: format!("m.{step}.1"),
            mission_id: "m".to_owned(),
            colony_id: "c".to_owned(),
            step_id: step.to_owned(),
            title: String::new(),
            attempt: 1,
            role: "reviewer".to_owned(),
            status: RunStatus::Assigned,
            prompt: String::new(),
            worktree_token: String::new(),
            context: String::new(),
            branch: "m/one".to_owned(),
            repository: "/srv/git/toy.git".to_owned(),
            base: None,
            run: Vec::new(),
            gates: Vec::new(),
            harness: None,
            model: None,
            effort: None,
            permissions: Permissions::Full,
            sandbox: Demand::NONE,
            results: Vec::new(),
            needs_result: false,
            outputs: Vec::new(),
            timeout: None,
            stuck_after: 2,
            worktree_path: None,
        }
    }

    #[test]
    fn every_job_has_a_key_of_its_own() {
        let key = |run: &str, id: &str| {
            Job::new(TaskAssigned { run_id: run.to_owned(), ..assigned("plan") }, id.to_owned()).key()
        };
        assert_eq!(key("m.plan.1", "a"), key("m.plan.1", "a"));
        assert_ne!(key("m.plan.1", "a"), key("m.plan.1", "b"));
        assert_ne!(key("m.plan.1", "a"), key("m.plan.2", "a"));
        assert!(is_key(&key("m.plan.1", "a")) && !is_key("dev-task"));
    }

    #[test]
    fn a_long_summary_is_cut_between_characters() {
        assert_eq!(AttemptVerdict::failed("öö").within(4), AttemptVerdict::failed("öö"));
        assert_eq!(AttemptVerdict::failed("öö").within(3), AttemptVerdict::failed("ö\n(cut here)"));
    }

    #[test]
    fn a_verdict_is_written_down_with_its_status() {
        let verdict = AttemptVerdict::Completed {
            result: None,
            summary: "s".to_owned(),
            warning: None,
            outputs: BTreeMap::new(),
        };
        assert_eq!(serde_json::to_string(&verdict).unwrap(), r#"{"status":"completed","summary":"s"}"#);
        assert_eq!(
            serde_json::to_string(&AttemptVerdict::failed("s")).unwrap(),
            r#"{"status":"failed","summary":"s"}"#
        );
    }
}
