//! Decides the next action of a crab: a function of its job, the mission in its home, and the last answer of the gateway. It does
//! no I/O.

use super::job::{AttemptVerdict, Job};

/// State of a lease, as its crab knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseState {
    /// The gateway has just confirmed it.
    Held,
    /// The gateway does not answer. Agents go on meanwhile.
    Unheard,
    /// The gateway says that the attempt is over: another agent may work at the step.
    Lost,
}

/// The mission that a job has in the crab's home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Local {
    /// There is none.
    Absent,
    /// It waits for a worktree.
    Pending {
        /// It has waited longer than a worktree needs to be given back.
        is_late: bool,
    },
    /// It is under way.
    Running {
        /// An agent has been started.
        has_agent: bool,
    },
    /// The step has ended, and its agent is about to be ended.
    Ending,
    /// The step has ended, its agents are gone, and its worktree is kept.
    Ended(AttemptVerdict),
    /// It cannot go on.
    Obstructed {
        what: String,
        /// An agent has worked at it before.
        has_worked: bool,
    },
    /// It has ended, and its worktree is given back.
    Over,
}

/// Next action of a crab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CrabAction {
    /// Bring the clone and the branch to where the remote is, and claim the branch.
    Prepare,
    /// Start the mission in its own home.
    Start,
    /// Say that the agent has started.
    ReportStart,
    /// Wait until something changes.
    Wait,
    /// Commit what is left in the worktree, and push the branch.
    Push,
    /// Write this down as what is to be reported.
    Decide(AttemptVerdict),
    /// Report what is written down.
    Report,
    /// End the mission in its own home, with its agent. The engine backs its work up.
    Cancel,
    /// Nothing is left: forget the job.
    Forget,
}

const GONE: &str = "the mission that this crab has started for it is gone";
const CANCELLED: &str = "a person has cancelled its mission on the machine of the crab";
const NO_WORKTREE: &str = "no worktree is free on the machine of the crab: `orange doctor` with the crab's ORANGE_HOME says what holds it";

/// Decides the next action.
pub fn next(job: &Job, local: &Local, lease: LeaseState) -> CrabAction {
    if lease == LeaseState::Lost || job.is_reported {
        return if matches!(local, Local::Absent | Local::Over) {
            CrabAction::Forget
        } else {
            CrabAction::Cancel
        };
    }
    if job.verdict.is_some() {
        return CrabAction::Report;
    }
    if job.ready.is_none() {
        return CrabAction::Prepare;
    }
    if job.mission.is_none() {
        return CrabAction::Start;
    }
    under_way(job, local)
}

fn under_way(job: &Job, local: &Local) -> CrabAction {
    match local {
        Local::Running { has_agent: false } => CrabAction::Wait,
        Local::Running { has_agent: true } | Local::Ending => after_start(job, || CrabAction::Wait),
        Local::Ended(verdict) => after_push(job, || verdict.clone()),
        Local::Pending { is_late: false } => CrabAction::Wait,
        Local::Pending { is_late: true } => CrabAction::Decide(cannot_go_on(job, NO_WORKTREE)),
        Local::Obstructed { what, has_worked: false } => CrabAction::Decide(cannot_go_on(job, what)),
        Local::Obstructed { what, has_worked: true } => after_push(job, || AttemptVerdict::failed(what)),
        Local::Absent => CrabAction::Decide(cannot_go_on(job, GONE)),
        Local::Over => CrabAction::Decide(AttemptVerdict::failed(CANCELLED)),
    }
}

/// The gateway hears of the start before anything else.
fn after_start(job: &Job, then: impl FnOnce() -> CrabAction) -> CrabAction {
    if job.is_started { then() } else { CrabAction::ReportStart }
}

/// The work of an agent is on the remote before the gateway hears of its end, since the next step may run on another machine.
fn after_push(job: &Job, verdict: impl FnOnce() -> AttemptVerdict) -> CrabAction {
    after_start(job, || match job.pushed {
        Some(_) => CrabAction::Decide(with_notes(verdict(), &job.notes)),
        None => CrabAction::Push,
    })
}

/// A step that has not started goes back to the queue; one that has started has failed.
fn cannot_go_on(job: &Job, why: &str) -> AttemptVerdict {
    if job.is_started { AttemptVerdict::failed(why) } else { AttemptVerdict::given_back(why) }
}

fn with_notes(verdict: AttemptVerdict, notes: &[String]) -> AttemptVerdict {
    match verdict {
        AttemptVerdict::Completed { result, summary, warning, outputs } if !notes.is_empty() => {
            let all: Vec<&str> = warning.iter().chain(notes).map(String::as_str).collect();
            AttemptVerdict::Completed { result, summary, warning: Some(all.join("\n")), outputs }
        }
        AttemptVerdict::Completed { .. }
        | AttemptVerdict::Failed { .. }
        | AttemptVerdict::GivenBack { .. } => verdict,
    }
}

/// Verdict on an attempt whose work cannot be pushed for this reason.
pub fn unfit(local: &Local, why: &str) -> AttemptVerdict {
    match local {
        Local::Ended(AttemptVerdict::Failed { summary }) => {
            AttemptVerdict::failed(format!("{summary}\n\n{why}"))
        }
        Local::Obstructed { what, .. } => AttemptVerdict::failed(format!("{what}\n\n{why}")),
        Local::Ended(AttemptVerdict::Completed { .. } | AttemptVerdict::GivenBack { .. })
        | Local::Absent
        | Local::Pending { .. }
        | Local::Running { .. }
        | Local::Ending
        | Local::Over => AttemptVerdict::failed(why),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::crab::job::Ready;
    use crate::crab::job::tests::assigned;

    fn completed() -> AttemptVerdict {
        AttemptVerdict::Completed {
            result: Some("PASS".to_owned()),
            summary: "done".to_owned(),
            warning: None,
            outputs: BTreeMap::new(),
        }
    }

    fn ended() -> Local {
        Local::Ended(completed())
    }

    /// A job in the order of what happens to it: new, ready, started here, reported as started, pushed, decided, reported.
    fn job(stage: usize) -> Job {
        Job {
            ready: (stage >= 1).then(Ready::default),
            mission: (stage >= 2).then(|| "m".to_owned()),
            is_started: stage >= 3,
            pushed: (stage >= 4).then(|| "c".to_owned()),
            verdict: (stage >= 5).then(completed),
            is_reported: stage >= 6,
            ..Job::new(assigned("plan"), "j".to_owned())
        }
    }

    #[track_caller]
    fn check(stage: usize, local: &Local, expect: &CrabAction) {
        for lease in [LeaseState::Held, LeaseState::Unheard] {
            assert_eq!(next(&job(stage), local, lease), *expect);
        }
    }

    #[test]
    fn a_job_goes_from_its_assignment_to_its_report() {
        check(0, &Local::Absent, &CrabAction::Prepare);
        check(1, &Local::Absent, &CrabAction::Start);
        check(2, &Local::Pending { is_late: false }, &CrabAction::Wait);
        check(2, &Local::Running { has_agent: false }, &CrabAction::Wait);
        check(2, &Local::Running { has_agent: true }, &CrabAction::ReportStart);
        check(3, &Local::Running { has_agent: true }, &CrabAction::Wait);
        check(3, &Local::Ending, &CrabAction::Wait);
        check(3, &ended(), &CrabAction::Push);
        check(4, &ended(), &CrabAction::Decide(completed()));
        check(5, &ended(), &CrabAction::Report);
        check(6, &ended(), &CrabAction::Cancel);
        check(6, &Local::Over, &CrabAction::Forget);
    }

    #[test]
    fn a_fast_agent_is_reported_as_started_first() {
        check(2, &ended(), &CrabAction::ReportStart);
        check(2, &Local::Ending, &CrabAction::ReportStart);
    }

    #[test]
    fn a_lost_lease_ends_the_agent_and_pushes_nothing() {
        let locals = [
            ended(),
            Local::Ending,
            Local::Running { has_agent: true },
            Local::Pending { is_late: false },
            Local::Obstructed { what: "no harness".to_owned(), has_worked: true },
        ];
        for (stage, local) in (2..=5).flat_map(|stage| locals.iter().map(move |local| (stage, local))) {
            assert_eq!(next(&job(stage), local, LeaseState::Lost), CrabAction::Cancel);
        }
        for stage in 0..=5 {
            assert_eq!(next(&job(stage), &Local::Absent, LeaseState::Lost), CrabAction::Forget);
            assert_eq!(next(&job(stage), &Local::Over, LeaseState::Lost), CrabAction::Forget);
        }
    }

    #[test]
    fn what_cannot_start_goes_back_and_what_has_started_fails() {
        let obstructed = |has_worked| Local::Obstructed { what: "no harness".to_owned(), has_worked };
        check(2, &obstructed(false), &CrabAction::Decide(AttemptVerdict::given_back("no harness")));
        check(2, &obstructed(true), &CrabAction::ReportStart);
        check(3, &obstructed(false), &CrabAction::Decide(AttemptVerdict::failed("no harness")));
        check(3, &obstructed(true), &CrabAction::Push);
        check(4, &obstructed(true), &CrabAction::Decide(AttemptVerdict::failed("no harness")));
        check(
            2,
            &Local::Pending { is_late: true },
            &CrabAction::Decide(AttemptVerdict::given_back(NO_WORKTREE)),
        );
        check(2, &Local::Absent, &CrabAction::Decide(AttemptVerdict::given_back(GONE)));
        check(3, &Local::Absent, &CrabAction::Decide(AttemptVerdict::failed(GONE)));
        check(3, &Local::Over, &CrabAction::Decide(AttemptVerdict::failed(CANCELLED)));
    }

    #[test]
    fn notes_of_the_push_become_a_warning() {
        let job = Job { notes: vec!["a repository in vendor/ is not pushed".to_owned()], ..job(4) };
        let warned = |warning: &str| AttemptVerdict::Completed {
            result: None,
            summary: "done".to_owned(),
            warning: Some(warning.to_owned()),
            outputs: BTreeMap::new(),
        };
        let local = Local::Ended(warned("slow"));
        let expect = warned("slow\na repository in vendor/ is not pushed");
        assert_eq!(next(&job, &local, LeaseState::Held), CrabAction::Decide(expect));
    }

    #[test]
    fn a_failure_that_cannot_be_pushed_says_both() {
        assert_eq!(unfit(&ended(), "it rebases"), AttemptVerdict::failed("it rebases"));
        let failed = Local::Ended(AttemptVerdict::failed("no tests"));
        assert_eq!(unfit(&failed, "it rebases"), AttemptVerdict::failed("no tests\n\nit rebases"));
    }
}
