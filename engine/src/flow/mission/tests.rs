//! Tests of the state that a mission's journal folds to, without tmux and git.

mod side_by_side;

use std::sync::Mutex;
use std::time::Duration;

use orange_core::MAX_RESTARTS;
use orange_core::mission::MissionStatus;
use orange_core::plan::Plan;

use super::attempt_end::{failed, lost};
use super::notices::send_by;
use super::projection::named;
use super::{LockedMission, Projection, limit, wait};
use crate::ErrorKind;
use crate::app::App;
use crate::machines::Machines;
use crate::store::activity::{self, ActivityNote, NoteKind as Noted};
use crate::store::event::{EndedAttempt, Exited, PauseReason, Spawn, StepEnd};
use crate::store::{self, Event, Set, WorkItemDir, create, tests};
use orange_api::stored_plan;
use orange_testkit::plan::PLAN;

/// A mission that follows [`PLAN`], in a home without tmux and git.
fn lab() -> (tempfile::TempDir, App, WorkItemDir) {
    lab_of(None)
}

/// A mission that follows [`PLAN`], started by an agent of the task with this id, if one is given.
fn lab_of(creator: Option<&str>) -> (tempfile::TempDir, App, WorkItemDir) {
    lab_with(&PLAN, creator)
}

/// A mission that follows this plan.
fn lab_with(plan: &Plan<'_>, creator: Option<&str>) -> (tempfile::TempDir, App, WorkItemDir) {
    let (folder, home) = tests::home();
    let draft = store::WorkItemDraft {
        workflow: PLAN.name.to_owned(),
        definition: PLAN.source_hash.to_owned(),
        status: "pending".to_owned(),
        mission: Some(create::NewMission {
            plan: stored_plan::write(plan).unwrap(),
            prompt: "Make it faster".to_owned(),
            execution: "auto".to_owned(),
            intervene: "on-error".to_owned(),
            notices: true,
            attempts_before: 0,
            inputs: std::collections::BTreeMap::new(),
            creator_spawn: creator.map(|_| 1),
        }),
        creator: creator.map(str::to_owned),
        ..tests::draft("fast")
    };
    let dir = store::create(&home, &draft, |_| Ok(())).unwrap().dir().clone();
    let app = App::for_tests(Machines::only(&[]), home, folder.path());
    (folder, app, dir)
}

fn started(step: &str, attempt: u32) -> Event {
    Event::StepStarted {
        step: step.to_owned(),
        attempt,
        worker: "local".to_owned(),
        spawn: attempt,
        found: None,
    }
}

fn complete(step: &str, attempt: u32, result: &str) -> Event {
    Event::StepEnded(EndedAttempt {
        step: step.to_owned(),
        attempt,
        end: StepEnd::Completed,
        result: Some(result.to_owned()),
        summary: Some("Done".to_owned()),
        ..EndedAttempt::default()
    })
}

fn begin() -> Event {
    Event::MissionStarted { workspace: "coffee--1".to_owned() }
}

/// The answer to this pause, after which these older ones are open.
fn continued(pause: u32, still_open: &[u32]) -> Event {
    Event::MissionContinued {
        pause,
        accept_failure: false,
        execution: None,
        intervene: None,
        still_open: still_open.to_vec(),
        actor: Default::default(),
        via: None,
    }
}

/// Records these events, each in a process of its own; the journal always folds to what the process has seen.
#[track_caller]
fn record(app: &App, dir: &WorkItemDir, events: Vec<Event>) -> Projection {
    for event in events {
        let mut mission = LockedMission::lock(app, dir).unwrap();
        mission.record(event, Vec::new()).unwrap();
        let again = Projection::of(dir, mission.locked.history()).unwrap();
        assert_eq!(again.mission, mission.projection.mission);
        assert_eq!(mission.locked.task().status(), again.mission.status.as_str());
    }
    let mission = LockedMission::lock(app, dir).unwrap();
    mission.projection.clone()
}

#[test]
fn a_quick_answer_repeats_no_notice() {
    let (folder, app, dir) = lab_of(Some("starter"));
    // What another test starts has the locks of this process for a moment: only this one does not wait.
    let hasty = App::for_tests(Machines::only(&[]), app.home.clone().patient(Duration::ZERO), folder.path());
    record(&app, &dir, vec![begin(), started("work", 1)]);
    let sent = Mutex::new(Vec::new());
    let note = |text: &str| sent.lock().unwrap().push(text.to_owned());
    send_by(&app, &dir, &|_, _, _, text| {
        note(text);
        // While this is delivered, the next event has another process send its message.
        record(&app, &dir, vec![complete("work", 1, "FAIL")]);
        let other = std::thread::scope(|scope| {
            let send = || {
                send_by(&hasty, &dir, &|_, _, _, text| {
                    note(text);
                    Ok(())
                })
            };
            scope.spawn(send).join().unwrap()
        });
        assert_eq!(other.unwrap_err().kind, ErrorKind::Locked);
        Ok(())
    })
    .unwrap();
    send_by(&app, &dir, &|_, _, _, text| {
        note(text);
        Ok(())
    })
    .unwrap();
    let sent = sent.into_inner().unwrap();
    let about = |what: &str| sent.iter().map(|text| text.contains(what)).collect::<Vec<_>>();
    assert_eq!(about("Step work has started"), [true, false], "{sent:?}");
    assert_eq!(about("Step work is complete"), [false, true], "{sent:?}");
}

#[test]
fn the_journal_has_the_whole_course() {
    let (_folder, app, dir) = lab();
    let projection = record(
        &app,
        &dir,
        vec![
            begin(),
            started("work", 1),
            complete("work", 1, "FAIL"),
            started("fix", 1),
            lost("fix", 1),
            started("fix", 2),
            complete("fix", 2, "PASS"),
            started("work", 2),
            complete("work", 2, "PASS"),
            started("report", 1),
            failed("report", 1, "no network"),
        ],
    );
    assert_eq!(projection.mission.status, MissionStatus::Paused);
    let pause = projection.pause(&dir.id).unwrap();
    assert_eq!((pause.number, pause.what.as_str()), (1, "report failed: no network"));
    let mut accepted = continued(1, &[]);
    if let Event::MissionContinued { accept_failure, intervene, .. } = &mut accepted {
        (*accept_failure, *intervene) = (true, Some("never".to_owned()));
    }
    let projection = record(&app, &dir, vec![accepted, started("rescue", 1), complete("rescue", 1, "PASS")]);
    assert_eq!(projection.mission.status, MissionStatus::Completed);
    assert_eq!(projection.mission.policy.intervene.as_str(), "never");
    let history = store::work_item::read_journal(&dir).unwrap().history();
    let steps = projection.steps(&dir.id, &history);
    assert_eq!(
        steps[1].attempts.iter().map(|it| it.status.as_deref().unwrap()).collect::<Vec<_>>(),
        ["lost", "completed"]
    );
    assert_eq!(projection.last_result(&dir.id, &history).unwrap().step, "rescue");
}

/// A mission that met an obstacle while its agent worked, which then failed.
fn twice_paused() -> (tempfile::TempDir, App, WorkItemDir) {
    let (folder, app, dir) = lab();
    let obstacle = Event::MissionPaused {
        number: 1,
        reason: PauseReason::Obstacle,
        step: None,
        obstacle: Some("no worktree".to_owned()),
    };
    let events = vec![begin(), started("work", 1), obstacle, failed("work", 1, "red")];
    let projection = record(&app, &dir, events);
    let pauses: Vec<_> = projection.pauses(&dir.id).into_iter().map(|it| (it.number, it.what)).collect();
    assert_eq!(pauses, [(1, "no worktree".to_owned()), (2, "work failed: red".to_owned())]);
    assert_eq!(projection.commands(&dir.id).len(), 4);
    (folder, app, dir)
}

#[test]
fn a_mission_goes_on_when_no_pause_is_open() {
    let (_folder, app, dir) = twice_paused();
    let projection = record(&app, &dir, vec![continued(2, &[1])]);
    assert_eq!(projection.mission.status, MissionStatus::Paused);
    assert_eq!(projection.pause(&dir.id).map(|it| it.number), Some(1));
    let projection = record(&app, &dir, vec![continued(1, &[]), started("work", 2)]);
    assert_eq!(projection.mission.status, MissionStatus::Running);
}

#[test]
fn an_answer_in_an_older_journal_closes_older_pauses() {
    let (_folder, app, dir) = twice_paused();
    let projection = record(&app, &dir, vec![continued(2, &[]), started("work", 2)]);
    assert_eq!(projection.mission.status, MissionStatus::Running);
}

#[test]
fn a_refused_event_writes_nothing() {
    let (_folder, app, dir) = lab();
    record(&app, &dir, vec![begin(), started("work", 1)]);
    let before = std::fs::read(dir.history()).unwrap();
    let refused = |event: Event, kind: ErrorKind, part: &str| {
        let error = LockedMission::lock(&app, &dir).unwrap().record(event, Vec::new()).unwrap_err();
        assert_eq!(error.kind, kind, "{error}");
        assert!(error.message.contains(part), "{error}");
    };
    refused(begin(), ErrorKind::Refused, "has begun");
    refused(started("fix", 1), ErrorKind::NotFound, "no attempt yet");
    refused(complete("work", 2, "PASS"), ErrorKind::NotFound, "the current one is 1");
    refused(complete("work", 1, "MAYBE"), ErrorKind::Usage, "no such result");
    refused(complete("walk", 1, "PASS"), ErrorKind::NotFound, "no step `walk`");
    refused(
        Event::MissionRetried { step: None, actor: Default::default() },
        ErrorKind::Refused,
        "is running",
    );
    assert_eq!(std::fs::read(dir.history()).unwrap(), before);
}

#[test]
fn the_same_report_again_writes_nothing() {
    let (_folder, app, dir) = lab();
    record(&app, &dir, vec![begin(), started("work", 1), complete("work", 1, "PASS")]);
    let before = std::fs::read(dir.history()).unwrap();
    record(&app, &dir, vec![complete("work", 1, "PASS")]);
    assert_eq!(std::fs::read(dir.history()).unwrap(), before);
    let error = LockedMission::lock(&app, &dir).unwrap().record(complete("work", 1, "FAIL"), Vec::new());
    assert!(error.unwrap_err().message.contains("has ended, with another report"));
}

#[test]
fn a_journal_that_does_not_fit_its_plan_is_corrupt() {
    let (_folder, app, dir) = lab();
    record(&app, &dir, vec![begin()]);
    let mut locked = store::LockedWorkItem::lock(&app.home, &dir).unwrap();
    locked.append(complete("work", 7, "PASS"), Set::new()).unwrap();
    drop(locked);
    let error = LockedMission::lock(&app, &dir).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Corrupt);
    assert!(error.message.contains("does not fit the mission"), "{error}");
}

#[test]
fn a_step_that_is_not_there_is_named() {
    let error = named(&PLAN, "wok").unwrap_err();
    assert_eq!(error.help, "its steps are: work, fix, report, rescue");
}

/// The agent of this number, which works at the first attempt of `work`.
fn agent(dir: &WorkItemDir, app: &App, number: u32) {
    let record = Spawn { spawn: number, step: Some("work".to_owned()), attempt: Some(1), ..Spawn::default() };
    let mut mission = LockedMission::lock(app, dir).unwrap();
    mission.locked.append(Event::AgentSpawned(record), Set::new()).unwrap();
}

/// Its end after its harness has reported a limit.
fn ends_at_limit(dir: &WorkItemDir, app: &App, number: u32) -> String {
    let text = Some("429, try again in 15 minutes".to_owned());
    activity::append(dir, &ActivityNote { text, ..ActivityNote::now(number, Noted::Limit) }).unwrap();
    let end = Exited::of(number, "exited with 3");
    let exited = Event::AgentExited(Exited { spawn: number, ..Exited::default() }).into();
    let mut mission = LockedMission::lock(app, dir).unwrap();
    limit::ended_at_one(app, &mut mission, &end, &exited).unwrap().unwrap()
}

#[test]
fn the_attempt_of_an_agent_at_a_limit_stays_open() {
    let (_folder, app, dir) = lab();
    record(&app, &dir, vec![begin(), started("work", 1)]);
    agent(&dir, &app, 1);
    let story = ends_at_limit(&dir, &app, 1);
    assert!(
        story.starts_with("agent 1 has met a limit (429, try again in 15 minutes), and has ended"),
        "{story}"
    );
    let mission = LockedMission::lock(&app, &dir).unwrap();
    let history = mission.locked.history();
    let waiting = history.agents.waiting.clone().unwrap();
    assert_eq!((waiting.spawn, (895..=910).contains(&waiting.after)), (1, true), "{waiting:?}");
    assert!(history.agents.alive.is_empty() && wait::is_early(history));
    let state = mission.projection.mission.step(mission.projection.mission.busy().unwrap());
    assert_eq!((state.attempt(), state.lost), (1, 0));
    drop(mission);
    let over = [complete("work", 1, "PASS"), failed("work", 1, "too long"), lost("work", 1)];
    let cancelled = Event::MissionCancelled { actor: Default::default() };
    for event in over.into_iter().chain([cancelled]) {
        assert!(event.ends_waiting(), "{event:?}");
    }
    record(&app, &dir, vec![complete("work", 1, "PASS")]);
    assert_eq!(LockedMission::lock(&app, &dir).unwrap().locked.history().agents.waiting, None);
}

#[test]
fn an_attempt_that_waits_without_end_is_left_to_a_person() {
    let (_folder, app, dir) = lab();
    record(&app, &dir, vec![begin(), started("work", 1)]);
    for number in 1..=MAX_RESTARTS {
        agent(&dir, &app, number);
        assert!(ends_at_limit(&dir, &app, number).contains("; it goes on at "));
    }
    agent(&dir, &app, 99);
    let story = ends_at_limit(&dir, &app, 99);
    assert!(story.contains("the step has waited 20 times"), "{story}");
    let mission = LockedMission::lock(&app, &dir).unwrap();
    assert_eq!(mission.projection.pause(&dir.id).unwrap().what, story);
    assert!(mission.projection.mission.busy().is_some() && mission.locked.history().agents.waiting.is_none());
    drop(mission);
    record(&app, &dir, vec![continued(1, &[])]);
    assert_eq!(LockedMission::lock(&app, &dir).unwrap().locked.history().agents.restarts, 0);
}

/// The end without a word of the agent of this number, which works at this attempt of `work`.
fn ends_without_a_word(dir: &WorkItemDir, app: &App, number: u32, attempt: u32) -> String {
    agent(dir, app, number);
    let end = Exited::of(number, "exited with 1");
    let exited = Event::AgentExited(Exited { spawn: number, ..Exited::default() }).into();
    let mut mission = LockedMission::lock(app, dir).unwrap();
    wait::after_loss(app, &mut mission, &end, ("work", attempt), exited).unwrap()
}

/// The seconds that the mission waits, and the attempts of `work`.
fn waits(dir: &WorkItemDir, app: &App) -> (Option<u32>, usize) {
    let mission = LockedMission::lock(app, dir).unwrap();
    let waiting = mission.locked.history().agents.waiting.as_ref();
    (waiting.map(|waiting| waiting.after), mission.projection.mission.steps[0].attempts.len())
}

/// A mission whose step `work` runs, and may end so often without a word.
fn patient(stuck_after: u16) -> (tempfile::TempDir, App, WorkItemDir) {
    let mut steps = PLAN.steps.to_vec();
    steps[0].stuck_after = stuck_after;
    let (folder, app, dir) = lab_with(&Plan { steps: &steps, ..PLAN }, None);
    record(&app, &dir, vec![begin(), started("work", 1)]);
    (folder, app, dir)
}

#[test]
fn a_step_is_tried_again_later_each_time() {
    let (_folder, app, dir) = patient(100);
    for (number, expect) in (1..).zip([0, 10, 20, 40, 80, 160, 300, 300]) {
        let story = ends_without_a_word(&dir, &app, number, number);
        assert!(
            story.starts_with(&format!("agent {number} has ended without a word: exited with 1")),
            "{story}"
        );
        assert_eq!(story.contains("; it goes on at "), expect > 0, "{story}");
        assert_eq!(waits(&dir, &app), (Some(expect), number as usize + 1));
        let history = store::work_item::read_journal(&dir).unwrap().history();
        assert!(history.agents.alive.is_empty() && wait::is_early(&history) == (expect > 0));
        record(&app, &dir, vec![started("work", number + 1)]);
    }
    // A report is an end of the row.
    record(&app, &dir, vec![complete("work", 9, "FAIL"), started("fix", 1), complete("fix", 1, "PASS")]);
    record(&app, &dir, vec![started("work", 10)]);
    ends_without_a_word(&dir, &app, 20, 10);
    assert_eq!(waits(&dir, &app), (Some(0), 11));
}

#[test]
fn a_step_that_never_goes_on_is_left_to_a_person() {
    let (_folder, app, dir) = patient(u16::MAX);
    for number in 1..=MAX_RESTARTS {
        ends_without_a_word(&dir, &app, number, number);
        record(&app, &dir, vec![started("work", number + 1)]);
    }
    let story = ends_without_a_word(&dir, &app, 21, 21);
    assert!(story.ends_with("; the step has waited 20 times"), "{story}");
    let mission = LockedMission::lock(&app, &dir).unwrap();
    assert_eq!(mission.projection.pause(&dir.id).unwrap().what, story);
    assert_eq!(mission.locked.history().agents.waiting, None);
}

#[test]
fn a_step_that_is_stuck_does_not_wait() {
    let (_folder, app, dir) = patient(2);
    ends_without_a_word(&dir, &app, 1, 1);
    record(&app, &dir, vec![started("work", 2)]);
    let story = ends_without_a_word(&dir, &app, 2, 2);
    assert_eq!(story, "agent 2 has ended without a word: exited with 1");
    assert_eq!(waits(&dir, &app), (None, 2));
    let mission = LockedMission::lock(&app, &dir).unwrap();
    assert_eq!(mission.projection.mission.status, MissionStatus::Paused);
}
