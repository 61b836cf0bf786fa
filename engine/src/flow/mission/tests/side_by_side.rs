//! Steps that read side by side.

use orange_core::plan::{Step, StepId, WorktreeUse};

use super::*;
use crate::flow::mission::attempt::{Claim, OwnAttempt, own};
use crate::store::event::WorktreeState;

/// Two steps that read, which work at their first attempts: agent 1 at `one`, agent 2 at `two`.
fn two_readers() -> (tempfile::TempDir, App, WorkItemDir) {
    let reads = |id| Step { id, title: id, worktree: WorktreeUse::Read, ..Step::EMPTY };
    let steps = [reads("one"), reads("two")];
    let plan = Plan { steps: &steps, order: &[StepId(0), StepId(1)], ..PLAN };
    let (folder, app, dir) = lab_with(&plan, None);
    record(&app, &dir, vec![begin(), started("one", 1), started("two", 1)]);
    for (spawn, step) in [(1, "one"), (2, "two")] {
        let (name, step) = (Some(step.to_owned()), Some(step.to_owned()));
        let agent = Spawn { spawn, step, name, attempt: Some(1), ..Spawn::default() };
        let mut mission = LockedMission::lock(&app, &dir).unwrap();
        mission.locked.append(Event::AgentSpawned(agent), Set::new()).unwrap();
    }
    (folder, app, dir)
}

/// The end without a word of the agent of this number at the first attempt of a step.
fn ends(app: &App, dir: &WorkItemDir, number: u32, step: &str) {
    let end = Exited::of(number, "exited with 1");
    let exited = Event::AgentExited(Exited { spawn: number, ..Exited::default() }).into();
    let mut mission = LockedMission::lock(app, dir).unwrap();
    wait::after_loss(app, &mut mission, &end, (step, 1), exited).unwrap();
}

#[test]
fn each_agent_has_its_own_attempt() {
    let (_folder, app, dir) = two_readers();
    let mission = LockedMission::lock(&app, &dir).unwrap();
    let history = mission.locked.history();
    for (spawn, step) in [(1, "one"), (2, "two")] {
        let expect = OwnAttempt { step: step.to_owned(), attempt: 1 };
        assert_eq!(own(history, spawn, &Claim::default()).unwrap(), expect);
        let other = Claim { step: Some("other".to_owned()), attempt: Some(1) };
        assert_eq!(own(history, spawn, &other).unwrap_err().kind, ErrorKind::NotAllowed);
        assert_eq!(mission.projection.attempt_of(&history.agents.alive[&spawn]), Some((step, 1)));
    }
    drop(mission);
    // The record of the attempt at `two` names agent 2 as its first: 3 is none of its.
    ends(&app, &dir, 1, "one");
    let history = store::work_item::read_journal(&dir).unwrap().history();
    let late = own(&history, 1, &Claim::default()).unwrap();
    assert_eq!((late.step.as_str(), late.attempt), ("one", 1), "an agent may report after its end");
}

#[test]
fn one_agent_is_lost_and_the_other_works_on() {
    let (_folder, app, dir) = two_readers();
    ends(&app, &dir, 1, "one");
    let mission = LockedMission::lock(&app, &dir).unwrap();
    let working: Vec<(StepId, u32)> = mission.projection.mission.working().collect();
    assert_eq!(working, [(StepId(1), 1)]);
    let next: Vec<(StepId, u32)> = mission.projection.mission.startable(mission.projection.plan).collect();
    assert_eq!(next, [(StepId(0), 2)]);
    assert_eq!(mission.locked.history().agents.waiting.as_ref().map(|it| it.after), Some(0));
}

#[test]
fn the_wait_of_a_living_agent_outlives_the_end_of_another() {
    let (_folder, app, dir) = two_readers();
    let text = Some("429, try again in 15 minutes".to_owned());
    activity::append(&dir, &ActivityNote { text, ..ActivityNote::now(1, Noted::Limit) }).unwrap();
    limit::met(&app, &dir, 1).unwrap().unwrap();
    let waiting =
        || store::work_item::read_journal(&dir).unwrap().history().agents.waiting.map(|it| it.spawn);
    assert_eq!(waiting(), Some(1));
    let end = Exited::of(2, "exited with 1");
    let mut mission = LockedMission::lock(&app, &dir).unwrap();
    let exited = Event::AgentExited(Exited { spawn: 2, ..Exited::default() }).into();
    wait::begin(&app, &mut mission, 2, orange_core::Delay::Ended, "agent 2 has ended", vec![exited]).unwrap();
    drop(mission);
    assert_eq!(waiting(), Some(1), "agent {} would never be told to go on", end.spawn);
}

#[test]
fn a_worktree_that_changes_pauses_under_any_policy() {
    let (_folder, app, dir) = two_readers();
    let changed = Event::WorktreeChanged {
        files: vec!["src/a.rs".to_owned()],
        found: WorktreeState { head: "1".to_owned(), ..WorktreeState::default() },
    };
    record(&app, &dir, vec![changed]);
    let report = |step: &str| {
        let Event::StepEnded(ended) = complete(step, 1, "PASS") else { panic!("{step} has not ended") };
        Event::StepEnded(EndedAttempt { result: None, ..ended })
    };
    let projection = record(&app, &dir, vec![report("one"), report("two")]);
    let pause = projection.pause(&dir.id).unwrap();
    assert_eq!(pause.reason, "changed");
    assert_eq!(pause.what, "the worktree changed while only readers ran: src/a.rs");
    assert_eq!(projection.mission.status, MissionStatus::Paused, "a person looks, though all is complete");
    let history = store::work_item::read_journal(&dir).unwrap().history();
    let reasons: Vec<PauseReason> = history
        .mission
        .records
        .iter()
        .filter_map(|it| {
            let Event::MissionPaused { reason, .. } = &it.event else { return None };
            Some(reason.clone())
        })
        .collect();
    assert_eq!(reasons, [PauseReason::Changed]);
    let projection = record(&app, &dir, vec![continued(1, &[])]);
    assert_eq!(projection.mission.status, MissionStatus::Completed);
}
