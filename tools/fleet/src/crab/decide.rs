//! Decides the next action of a crab: a function of its job, the mission in its home, and the last answer of the gateway. It does
//! no I/O.

use super::job::{Job, Verdict};

/// State of a lease, as its crab knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lease {
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
    Ended(Verdict),
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
pub enum Action {
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
    Decide(Verdict),
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
pub fn next(job: &Job, local: &Local, lease: Lease) -> Action {
    if lease == Lease::Lost || job.is_reported {
        return if matches!(local, Local::Absent | Local::Over) { Action::Forget } else { Action::Cancel };
    }
    if job.verdict.is_some() {
        return Action::Report;
    }
    if job.ready.is_none() {
        return Action::Prepare;
    }
    if job.mission.is_none() {
        return Action::Start;
    }
    under_way(job, local)
}

fn under_way(job: &Job, local: &Local) -> Action {
    match local {
        Local::Running { has_agent: false } => Action::Wait,
        Local::Running { has_agent: true } | Local::Ending => after_start(job, || Action::Wait),
        Local::Ended(verdict) => after_push(job, || verdict.clone()),
        Local::Pending { is_late: false } => Action::Wait,
        Local::Pending { is_late: true } => Action::Decide(cannot_go_on(job, NO_WORKTREE)),
        Local::Obstructed { what, has_worked: false } => Action::Decide(cannot_go_on(job, what)),
        Local::Obstructed { what, has_worked: true } => after_push(job, || Verdict::failed(what)),
        Local::Absent => Action::Decide(cannot_go_on(job, GONE)),
        Local::Over => Action::Decide(Verdict::failed(CANCELLED)),
    }
}

/// The gateway hears of the start before anything else.
fn after_start(job: &Job, then: impl FnOnce() -> Action) -> Action {
    if job.is_started { then() } else { Action::ReportStart }
}

/// The work of an agent is on the remote before the gateway hears of its end, since the next step may run on another machine.
fn after_push(job: &Job, verdict: impl FnOnce() -> Verdict) -> Action {
    after_start(job, || match job.pushed {
        Some(_) => Action::Decide(with_notes(verdict(), &job.notes)),
        None => Action::Push,
    })
}

/// A step that has not started goes back to the queue; one that has started has failed.
fn cannot_go_on(job: &Job, why: &str) -> Verdict {
    if job.is_started { Verdict::failed(why) } else { Verdict::given_back(why) }
}

fn with_notes(verdict: Verdict, notes: &[String]) -> Verdict {
    match verdict {
        Verdict::Completed { result, summary, warning } if !notes.is_empty() => {
            let all: Vec<&str> = warning.iter().chain(notes).map(String::as_str).collect();
            Verdict::Completed { result, summary, warning: Some(all.join("\n")) }
        }
        Verdict::Completed { .. } | Verdict::Failed { .. } | Verdict::GivenBack { .. } => verdict,
    }
}

/// Verdict on an attempt whose work cannot be pushed for this reason.
pub fn unfit(local: &Local, why: &str) -> Verdict {
    match local {
        Local::Ended(Verdict::Failed { summary }) => Verdict::failed(format!("{summary}\n\n{why}")),
        Local::Obstructed { what, .. } => Verdict::failed(format!("{what}\n\n{why}")),
        Local::Ended(Verdict::Completed { .. } | Verdict::GivenBack { .. })
        | Local::Absent
        | Local::Pending { .. }
        | Local::Running { .. }
        | Local::Ending
        | Local::Over => Verdict::failed(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crab::job::Ready;
    use crate::crab::job::tests::assigned;

    fn completed() -> Verdict {
        Verdict::Completed { result: Some("PASS".to_owned()), summary: "done".to_owned(), warning: None }
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
    fn check(stage: usize, local: &Local, expect: &Action) {
        for lease in [Lease::Held, Lease::Unheard] {
            assert_eq!(next(&job(stage), local, lease), *expect);
        }
    }

    #[test]
    fn a_job_goes_from_its_assignment_to_its_report() {
        check(0, &Local::Absent, &Action::Prepare);
        check(1, &Local::Absent, &Action::Start);
        check(2, &Local::Pending { is_late: false }, &Action::Wait);
        check(2, &Local::Running { has_agent: false }, &Action::Wait);
        check(2, &Local::Running { has_agent: true }, &Action::ReportStart);
        check(3, &Local::Running { has_agent: true }, &Action::Wait);
        check(3, &Local::Ending, &Action::Wait);
        check(3, &ended(), &Action::Push);
        check(4, &ended(), &Action::Decide(completed()));
        check(5, &ended(), &Action::Report);
        check(6, &ended(), &Action::Cancel);
        check(6, &Local::Over, &Action::Forget);
    }

    #[test]
    fn a_fast_agent_is_reported_as_started_first() {
        check(2, &ended(), &Action::ReportStart);
        check(2, &Local::Ending, &Action::ReportStart);
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
            assert_eq!(next(&job(stage), local, Lease::Lost), Action::Cancel);
        }
        for stage in 0..=5 {
            assert_eq!(next(&job(stage), &Local::Absent, Lease::Lost), Action::Forget);
            assert_eq!(next(&job(stage), &Local::Over, Lease::Lost), Action::Forget);
        }
    }

    #[test]
    fn what_cannot_start_goes_back_and_what_has_started_fails() {
        let obstructed = |has_worked| Local::Obstructed { what: "no harness".to_owned(), has_worked };
        check(2, &obstructed(false), &Action::Decide(Verdict::given_back("no harness")));
        check(2, &obstructed(true), &Action::ReportStart);
        check(3, &obstructed(false), &Action::Decide(Verdict::failed("no harness")));
        check(3, &obstructed(true), &Action::Push);
        check(4, &obstructed(true), &Action::Decide(Verdict::failed("no harness")));
        check(2, &Local::Pending { is_late: true }, &Action::Decide(Verdict::given_back(NO_WORKTREE)));
        check(2, &Local::Absent, &Action::Decide(Verdict::given_back(GONE)));
        check(3, &Local::Absent, &Action::Decide(Verdict::failed(GONE)));
        check(3, &Local::Over, &Action::Decide(Verdict::failed(CANCELLED)));
    }

    #[test]
    fn notes_of_the_push_become_a_warning() {
        let job = Job { notes: vec!["a repository in vendor/ is not pushed".to_owned()], ..job(4) };
        let warned = |warning: &str| Verdict::Completed {
            result: None,
            summary: "done".to_owned(),
            warning: Some(warning.to_owned()),
        };
        let local = Local::Ended(warned("slow"));
        let expect = warned("slow\na repository in vendor/ is not pushed");
        assert_eq!(next(&job, &local, Lease::Held), Action::Decide(expect));
    }

    #[test]
    fn a_failure_that_cannot_be_pushed_says_both() {
        assert_eq!(unfit(&ended(), "it rebases"), Verdict::failed("it rebases"));
        let failed = Local::Ended(Verdict::failed("no tests"));
        assert_eq!(unfit(&failed, "it rebases"), Verdict::failed("no tests\n\nit rebases"));
    }
}
