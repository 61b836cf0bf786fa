//! The mission of a job in the crab's own home, as `orange mission show --json` describes it.

use serde::Deserialize;

use super::decide::Local;
use super::job::Verdict;

/// What a crab reads of a mission.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Shown {
    /// Its status.
    pub status: String,
    /// Its worktree, if it has one.
    pub worktree: Option<String>,
    /// Its session, if it has one.
    pub tmux_session: Option<String>,
    /// What it asks a person.
    pub pause: Option<Pause>,
    /// Its steps.
    pub steps: Vec<LocalStep>,
    /// What its living agents do.
    pub agents: Vec<serde_json::Value>,
    /// What a person should look at.
    pub attention: Option<String>,
    /// Its file, beside which its journal is.
    pub path: String,
}

/// A pause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Pause {
    /// Its reason in one word.
    pub reason: String,
    /// What has happened.
    pub what: String,
}

/// A step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct LocalStep {
    /// Its name.
    pub id: String,
    /// Its status.
    pub status: String,
    /// Its result.
    pub result: Option<String>,
    /// Its summary.
    pub summary: Option<String>,
    /// Why it has failed.
    pub failure: Option<String>,
    /// Its attempts.
    pub attempts: Vec<Attempt>,
}

/// An attempt of the local mission: one agent, unless a limit of its provider has ended that.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Attempt {
    /// How it has ended, if it has.
    pub status: Option<String>,
    /// When its agent was started.
    pub started_at: Option<String>,
    /// What a person should look at.
    pub warning: Option<String>,
    /// Why it has failed.
    pub reason: Option<String>,
}

impl Shown {
    /// Where the step of this name stands. `is_late` says that a worktree would be free by now.
    pub fn local(&self, step: &str, is_late: bool) -> Local {
        let has_session = self.tmux_session.is_some() || !self.agents.is_empty();
        let found = self.steps.iter().find(|it| it.id == step);
        match (self.status.as_str(), found) {
            ("pending", _) => Local::Pending { is_late },
            ("cancelled" | "completed", _) if has_session || self.has_worktree() => Local::Ending,
            ("cancelled" | "completed", _) | (_, None) => Local::Over,
            (_, Some(step)) => self.standing(step, has_session),
        }
    }

    /// One whose worktree could not be given back calls for a person, who has to do that.
    fn has_worktree(&self) -> bool {
        self.worktree.is_some() && self.attention.is_none()
    }

    fn standing(&self, step: &LocalStep, has_session: bool) -> Local {
        let has_worked = step.attempts.iter().any(|it| it.started_at.is_some());
        match (step.status.as_str(), &self.pause) {
            ("completed" | "failed", _) if has_session => Local::Ending,
            ("completed", _) => Local::Ended(step.completed()),
            ("failed", _) => Local::Ended(step.failed()),
            (_, Some(pause)) => Local::Obstructed { what: pause.what.clone(), has_worked },
            (_, None) => Local::Running { has_agent: has_worked },
        }
    }
}

impl LocalStep {
    fn completed(&self) -> Verdict {
        Verdict::Completed {
            result: self.result.clone(),
            summary: self.summary.clone().unwrap_or_default(),
            warning: self.attempts.last().and_then(|it| it.warning.clone()),
        }
    }

    fn failed(&self) -> Verdict {
        let reported = self.attempts.last().filter(|it| it.status.as_deref() == Some("failed"));
        let prefix = format!("{} failed: ", self.id);
        let failure = self.failure.as_ref().map(|it| it.strip_prefix(&prefix).unwrap_or(it).to_owned());
        let reason = reported.and_then(|it| it.reason.clone()).or(failure);
        Verdict::failed(reason.unwrap_or_else(|| "its agents have ended without a report".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[track_caller]
    fn check(shown: Value, expect: &Local) {
        let shown: Shown = serde_json::from_value(shown).unwrap();
        assert_eq!(shown.local("plan", false), *expect);
    }

    fn mission(status: &str, session: Option<&str>, step: Value) -> Value {
        json!({ "status": status, "worktree": "/w", "tmux_session": session, "agents": [], "steps": [step] })
    }

    fn step(status: &str) -> Value {
        json!({ "id": "plan", "status": status, "result": "PASS", "summary": "done", "failure": "plan failed: it ended",
            "attempts": [{ "status": null, "started_at": "now", "warning": "slow" }] })
    }

    #[test]
    fn a_step_has_ended_when_its_agent_is_gone() {
        check(mission("running", Some("s"), step("running")), &Local::Running { has_agent: true });
        check(mission("paused", Some("s"), step("completed")), &Local::Ending);
        let completed = Verdict::Completed {
            result: Some("PASS".to_owned()),
            summary: "done".to_owned(),
            warning: Some("slow".to_owned()),
        };
        check(mission("paused", None, step("completed")), &Local::Ended(completed));
        check(mission("failed", None, step("failed")), &Local::Ended(Verdict::failed("it ended")));
    }

    #[test]
    fn a_step_that_was_reported_as_failed_says_why() {
        let mut failed = step("failed");
        failed["attempts"][0]["status"] = "failed".into();
        failed["attempts"][0]["reason"] = "no tests".into();
        check(mission("failed", None, failed), &Local::Ended(Verdict::failed("no tests")));
    }

    #[test]
    fn an_obstacle_before_the_first_agent_differs_from_later_ones() {
        let mut shown =
            mission("paused", None, json!({ "id": "plan", "status": "queued", "attempts": [{}] }));
        shown["pause"] = json!({ "reason": "obstacle", "what": "no claude" });
        let expect = |has_worked| Local::Obstructed { what: "no claude".to_owned(), has_worked };
        check(shown.clone(), &expect(false));
        shown["steps"] = json!([step("queued")]);
        check(shown, &expect(true));
    }

    #[test]
    fn a_cancelled_mission_is_over_without_its_worktree() {
        let mut shown = mission("cancelled", None, step("cancelled"));
        check(shown.clone(), &Local::Ending);
        shown["attention"] = "git cannot write".into();
        check(shown.clone(), &Local::Over);
        shown["worktree"] = Value::Null;
        check(shown, &Local::Over);
        check(mission("pending", None, step("blocked")), &Local::Pending { is_late: false });
    }
}
