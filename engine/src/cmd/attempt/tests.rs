//! States of attempts, by the record of their missions.

use orange_api::{MissionAttempt, MissionPause, MissionPolicy, SessionState};
use orange_core::plan::{Execution, Intervene};

use super::*;

#[track_caller]
fn check(shown: &ShownMission, expect: &AttemptState) {
    assert_eq!(state_of(shown, "plan"), *expect);
}

fn mission(status: MissionStatus, session: Option<&str>, step: MissionStep) -> ShownMission {
    ShownMission {
        run_id: "m".to_owned(),
        workflow_id: "run-a".to_owned(),
        definition: String::new(),
        project: "toy".to_owned(),
        branch: "fix".to_owned(),
        prompt: String::new(),
        inputs: std::collections::BTreeMap::new(),
        status,
        current_step_index: None,
        last_step_result: None,
        policy: MissionPolicy { execution: Execution::Auto, intervene: Intervene::Never },
        pause: None,
        pauses: Vec::new(),
        asks: Vec::new(),
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
        items: Vec::new(),
        attempts: vec![attempt],
    }
}

#[test]
fn an_attempt_has_ended_when_its_agent_is_gone() {
    let running = step(StepStatus::Running);
    check(&mission(MissionStatus::Running, Some("s"), running), &AttemptState::Running { has_agent: true });
    check(&mission(MissionStatus::Paused, Some("s"), step(StepStatus::Completed)), &AttemptState::Ending);
    let completed = AttemptState::Completed {
        result: Some("PASS".to_owned()),
        summary: "done".to_owned(),
        warning: Some("slow".to_owned()),
        outputs: std::collections::BTreeMap::new(),
    };
    let over = mission(MissionStatus::Paused, None, step(StepStatus::Completed));
    check(&over, &completed);
    let failed = mission(MissionStatus::Failed, None, step(StepStatus::Failed));
    check(&failed, &AttemptState::Failed { reason: "it ended".to_owned() });
}

#[test]
fn a_step_that_another_one_failed_says_so() {
    let failure = "plan did not run, because fetch failed".to_owned();
    let because = MissionStep { failure: Some(failure), reason: None, ..step(StepStatus::Failed) };
    let expect = AttemptState::Failed { reason: "plan did not run, because fetch failed".to_owned() };
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
    let expect = |has_worked| AttemptState::Obstructed { what: "no claude".to_owned(), has_worked };
    check(&shown, &expect(false));
    check(&ShownMission { steps: vec![step(StepStatus::Queued)], ..shown }, &expect(true));
}

#[test]
fn a_cancelled_attempt_is_over_without_its_worktree() {
    let shown = mission(MissionStatus::Cancelled, None, step(StepStatus::Cancelled));
    check(&shown, &AttemptState::Ending);
    let shown = ShownMission { attention: Some("git cannot write".to_owned()), ..shown };
    check(&shown, &AttemptState::Over);
    check(&ShownMission { worktree: None, ..shown }, &AttemptState::Over);
    let pending = mission(MissionStatus::Pending, None, step(StepStatus::Blocked));
    check(&pending, &AttemptState::Pending);
}
