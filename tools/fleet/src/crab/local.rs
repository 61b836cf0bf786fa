//! The mission of a job in the crab's own home, as `orange mission show --json` describes it.

use orange_api::{MissionStep, ShownMission};
use orange_core::mission::{MissionStatus, StepStatus};

use super::decide::Local;
use super::job::AttemptVerdict;

/// The state of the step of this name. `is_late` says that a worktree would be free by now.
pub fn local(mission: &ShownMission, step: &str, is_late: bool) -> Local {
    let has_session = mission.tmux_session.is_some() || !mission.agents.is_empty();
    let found = mission.steps.iter().find(|it| it.id == step);
    match (mission.status, found) {
        (MissionStatus::Pending, _) => Local::Pending { is_late },
        (MissionStatus::Cancelled | MissionStatus::Completed, _) if has_session || has_worktree(mission) => {
            Local::Ending
        }
        (MissionStatus::Cancelled | MissionStatus::Completed, _) | (_, None) => Local::Over,
        (MissionStatus::Running | MissionStatus::Paused | MissionStatus::Failed, Some(step)) => {
            standing(mission, step, has_session)
        }
    }
}

/// One whose worktree could not be given back calls for a person, who has to do that.
fn has_worktree(mission: &ShownMission) -> bool {
    mission.worktree.is_some() && mission.attention.is_none()
}

fn standing(mission: &ShownMission, step: &MissionStep, has_session: bool) -> Local {
    let has_worked = step.attempts.iter().any(|it| it.started_at.is_some());
    match (step.status, &mission.pause) {
        (StepStatus::Completed | StepStatus::Failed, _) if has_session => Local::Ending,
        (StepStatus::Completed, _) => Local::Ended(completed(step)),
        (StepStatus::Failed, _) => Local::Ended(failed(step)),
        (_, Some(pause)) => Local::Obstructed { what: pause.what.clone(), has_worked },
        (_, None) => Local::Running { has_agent: has_worked },
    }
}

fn completed(step: &MissionStep) -> AttemptVerdict {
    AttemptVerdict::Completed {
        result: step.result.clone(),
        summary: step.summary.clone().unwrap_or_default(),
        warning: step.attempts.last().and_then(|it| it.warning.clone()),
    }
}

fn failed(step: &MissionStep) -> AttemptVerdict {
    let reason = step.reason.as_ref().or(step.failure.as_ref());
    AttemptVerdict::failed(reason.cloned().unwrap_or_else(|| "its agents ended without a report".to_owned()))
}

#[cfg(test)]
mod tests {
    use orange_api::{MissionAttempt, MissionPause, MissionPolicy, SessionState};
    use orange_core::plan::{Execution, Intervene};

    use super::*;

    #[track_caller]
    fn check(shown: &ShownMission, expect: &Local) {
        assert_eq!(local(shown, "plan", false), *expect);
    }

    fn mission(status: MissionStatus, session: Option<&str>, step: MissionStep) -> ShownMission {
        ShownMission {
            run_id: "m".to_owned(),
            workflow_id: "run-a".to_owned(),
            definition: String::new(),
            project: "toy".to_owned(),
            branch: "fix".to_owned(),
            prompt: String::new(),
            status,
            current_step_index: None,
            last_step_result: None,
            policy: MissionPolicy { execution: Execution::Auto, intervene: Intervene::Never },
            pause: None,
            steps: vec![step],
            worktree: Some("/w".to_owned()),
            tmux_session: session.map(str::to_owned),
            session: SessionState::Inactive,
            unnoticed: None,
            agents: Vec::new(),
            waiting_until: None,
            waiting: None,
            restoring: Vec::new(),
            need: None,
            attention: None,
            path: String::new(),
            created_at: String::new(),
            updated_at: String::new(),
            history: Vec::new(),
        }
    }

    fn step(status: StepStatus) -> MissionStep {
        let attempt = MissionAttempt {
            started_at: Some("now".to_owned()),
            warning: Some("slow".to_owned()),
            ..MissionAttempt::default()
        };
        MissionStep {
            id: "plan".to_owned(),
            title: "plan".to_owned(),
            role: "planner".to_owned(),
            status,
            result: Some("PASS".to_owned()),
            summary: Some("done".to_owned()),
            failure: Some("plan failed: it ended".to_owned()),
            reason: Some("it ended".to_owned()),
            loops: None,
            attempts: vec![attempt],
        }
    }

    #[test]
    fn a_step_has_ended_when_its_agent_is_gone() {
        let running = step(StepStatus::Running);
        check(&mission(MissionStatus::Running, Some("s"), running), &Local::Running { has_agent: true });
        check(&mission(MissionStatus::Paused, Some("s"), step(StepStatus::Completed)), &Local::Ending);
        let completed = AttemptVerdict::Completed {
            result: Some("PASS".to_owned()),
            summary: "done".to_owned(),
            warning: Some("slow".to_owned()),
        };
        let over = mission(MissionStatus::Paused, None, step(StepStatus::Completed));
        check(&over, &Local::Ended(completed));
        let failed = mission(MissionStatus::Failed, None, step(StepStatus::Failed));
        check(&failed, &Local::Ended(AttemptVerdict::failed("it ended")));
    }

    #[test]
    fn a_step_that_another_one_failed_says_so() {
        let failure = "plan did not run, because fetch failed".to_owned();
        let because = MissionStep { failure: Some(failure), reason: None, ..step(StepStatus::Failed) };
        let expect = Local::Ended(AttemptVerdict::failed("plan did not run, because fetch failed"));
        check(&mission(MissionStatus::Failed, None, because), &expect);
    }

    #[test]
    fn an_obstacle_before_the_first_agent_differs_from_later_ones() {
        let unstarted = MissionStep { attempts: vec![MissionAttempt::default()], ..step(StepStatus::Queued) };
        let pause = MissionPause {
            number: 1,
            reason: "obstacle".to_owned(),
            step: None,
            what: "no claude".to_owned(),
            offers: Vec::new(),
        };
        let shown = ShownMission { pause: Some(pause), ..mission(MissionStatus::Paused, None, unstarted) };
        let expect = |has_worked| Local::Obstructed { what: "no claude".to_owned(), has_worked };
        check(&shown, &expect(false));
        check(&ShownMission { steps: vec![step(StepStatus::Queued)], ..shown }, &expect(true));
    }

    #[test]
    fn a_cancelled_mission_is_over_without_its_worktree() {
        let shown = mission(MissionStatus::Cancelled, None, step(StepStatus::Cancelled));
        check(&shown, &Local::Ending);
        let shown = ShownMission { attention: Some("git cannot write".to_owned()), ..shown };
        check(&shown, &Local::Over);
        check(&ShownMission { worktree: None, ..shown }, &Local::Over);
        let pending = mission(MissionStatus::Pending, None, step(StepStatus::Blocked));
        check(&pending, &Local::Pending { is_late: false });
    }
}
