//! Every value is read as it was written, and version 1 stays what it is.

use std::collections::BTreeSet;

use orange_core::mission::{
    AnswerEffect, Attempt, AttemptEnd, Cap, Event as MissionEvent, Mission, MissionStatus, Pause,
    PauseReason, Refusal, Report, StepFailure, StepState, StepStatus,
};
use orange_core::plan::{Execution, Inputs, Intervene, Plan, Policy, StepId};
use orange_core::scheduler::{self, Ability, Crab, Event as SchedulerEvent, Item, Lease, Scheduler, Waiting};

use super::{UnreadableText, mission, read, write};
use crate::host::{ActorReply, Event};
use crate::simulate::measure::FIVE;

static PLAN: &Plan<'static> = &FIVE;

fn report() -> Report {
    Report {
        result: Some("PASS".to_owned()),
        summary: "it \"works\"\n".to_owned(),
        warning: Some("ä".to_owned()),
        ..Report::default()
    }
}

fn item(step: u16) -> Item {
    Item::of_lane("any", "m".to_owned(), StepId(step), 2)
}

/// A mission in which everything that can be there is there.
fn full() -> Mission {
    let ended = |end| Attempt { end, ..Attempt::default() };
    let failed =
        |failure| StepState { status: StepStatus::Failed, failure: Some(failure), ..StepState::default() };
    Mission {
        status: MissionStatus::Paused,
        policy: Policy { execution: Execution::Step, intervene: Intervene::OnWarning },
        steps: vec![
            StepState {
                status: StepStatus::Completed,
                attempts: vec![
                    ended(Some(AttemptEnd::Lost)),
                    ended(Some(AttemptEnd::Failed { reason: "no".to_owned() })),
                    ended(Some(AttemptEnd::Abandoned)),
                    ended(Some(AttemptEnd::Withdrawn)),
                    ended(Some(AttemptEnd::Completed(report()))),
                ],
                lost: 1,
                abandoned: 3,
                completions: 2,
                granted: 3,
                is_exhausted: true,
                failure: None,
                is_handled: true,
                latest: Some(report()),
                sent_back_by: Some(StepId(4)),
                ..StepState::default()
            },
            StepState { status: StepStatus::Running, attempts: vec![ended(None)], ..StepState::default() },
            failed(StepFailure::Stuck(2)),
            failed(StepFailure::Because(StepId(2))),
            failed(StepFailure::Reported("no".to_owned())),
        ],
        questions: vec![Pause { number: 7, reason: PauseReason::Warning(StepId(1)), is_pointless: false }],
        pauses: 7,
        inputs: Inputs::new(),
        cap: None,
    }
}

const MISSION: &str = r#"{"v":1,"status":"paused","policy":{"execution":"step","intervene":"on-warning"},"steps":[{"status":"completed","attempts":[{"end":"lost"},{"end":{"failed":{"reason":"no"}}},{"end":"abandoned"},{"end":"withdrawn"},{"end":{"completed":{"result":"PASS","summary":"it \"works\"\n","warning":"ä"}}}],"lost":1,"abandoned":3,"completions":2,"granted":3,"is_exhausted":true,"is_handled":true,"latest":{"result":"PASS","summary":"it \"works\"\n","warning":"ä"},"sent_back_by":4},{"status":"running","attempts":[{}]},{"status":"failed","failure":{"stuck":2}},{"status":"failed","failure":{"because":2}},{"status":"failed","failure":{"reported":"no"}}],"pause":{"number":7,"reason":{"warning":1}},"pauses":7}"#;

#[test]
fn a_mission_is_read_as_it_was_written() {
    assert_eq!(write(&full()), MISSION);
    assert_eq!(mission::read(MISSION, PLAN).unwrap(), full());
    let new = Mission::new(PLAN, Policy::DEFAULT);
    assert_eq!(mission::read(&write(&new), PLAN).unwrap(), new);
    let reasons = [
        PauseReason::Boundary(StepId(0)),
        PauseReason::Error(StepId(1)),
        PauseReason::Exhausted(StepId(2)),
        PauseReason::Cap(StepId(3)),
        PauseReason::Obstacle("no worktree".to_owned()),
    ];
    for reason in reasons {
        let paused = Mission { questions: vec![Pause { number: 1, reason, is_pointless: false }], ..full() };
        assert_eq!(mission::read(&write(&paused), PLAN).unwrap(), paused);
    }
    for (status, step) in MissionStatus::ALL.into_iter().zip(StepStatus::ALL) {
        let mut other = Mission { status, ..full() };
        (other.steps[1].status, other.steps[2].failure) = (step, Some(StepFailure::Exhausted(3)));
        other.steps[4].failure = Some(StepFailure::Abandoned(5));
        other.steps[3].failure = Some(StepFailure::Cap);
        other.cap = Some(Cap { left: 3, is_final: true });
        let text = write(&other);
        assert!(text.contains(&format!("\"status\":\"{}\"", status.as_str())), "{text}");
        assert_eq!(mission::read(&text, PLAN).unwrap(), other);
    }
}

#[test]
fn several_questions_are_read_as_they_were_written() {
    let asked = |number, reason, is_pointless| Pause { number, reason, is_pointless };
    let questions = vec![
        asked(6, PauseReason::Error(StepId(2)), true),
        asked(7, PauseReason::Exhausted(StepId(1)), false),
    ];
    let mission = Mission { questions, ..full() };
    let text = write(&mission);
    let list = r#""pause":[{"number":6,"reason":{"error":2},"is_pointless":true},{"number":7,"reason":{"exhausted":1}}]"#;
    assert!(text.contains(list), "{text}");
    assert_eq!(mission::read(&text, PLAN).unwrap(), mission);
    let unknown = text.replace(r#""exhausted":1"#, r#""exhausted":99"#);
    assert!(matches!(mission::read(&unknown, PLAN), Err(UnreadableText::Broken(_))));
}

#[test]
fn a_newer_mission_is_refused_whole() {
    let newer = MISSION.replacen("\"v\":1", "\"v\":2", 1).replace("\"lost\":1", "\"lost\":{\"times\":1}");
    assert_eq!(mission::read(&newer, PLAN), Err(UnreadableText::Newer(2)));
    assert!(UnreadableText::Newer(2).to_string().contains("upgrade orange-fleet"));
}

#[test]
fn a_damaged_mission_is_refused_with_the_reason() {
    let changes = [
        ("\"v\":1,", ""),
        ("\"v\":1", "\"v\":0"),
        ("\"v\":1", "\"v\":-1"),
        ("\"paused\"", "\"hopeful\""),
        ("\"because\":2", "\"because\":5"),
        ("\"warning\":1}", "\"warning\":5}"),
        ("\"sent_back_by\":4", "\"sent_back_by\":5"),
        (",{\"status\":\"failed\",\"failure\":{\"stuck\":2}}", ""),
        ("}}", "}"),
    ];
    for (from, to) in changes {
        assert!(MISSION.contains(from), "{from}");
        let read = mission::read(&MISSION.replacen(from, to, 1), PLAN);
        assert!(matches!(read, Err(UnreadableText::Broken(_))), "{to}: {read:?}");
    }
    assert!(mission::read("", PLAN).is_err());
}

#[test]
fn a_scheduler_is_read_as_it_was_written() {
    let lease = Lease {
        crab: "c".to_owned(),
        item: item(3),
        ticket: 5,
        is_accepted: true,
        is_running: true,
        silent: 1,
        version: 9,
        others: vec![Waiting { item: item(4), ticket: 6, version: 9 }],
    };
    let crab = Crab {
        roles: vec!["worker".to_owned(), "any".to_owned()],
        abilities: BTreeSet::new(),
        is_parked: true,
        mission: Some("m".to_owned()),
        fault: Some("full".to_owned()),
    };
    let scheduler = Scheduler {
        crabs: [("c".to_owned(), crab), ("d".to_owned(), Crab::default())].into(),
        leases: [("m".to_owned(), lease)].into(),
        sweeps: 12,
    };
    let text = r#"{"v":1,"crabs":{"c":{"roles":["worker","any"],"is_parked":true,"mission":"m","fault":"full"},"d":{"roles":[]}},"leases":{"m":{"crab":"c","item":{"mission":"m","step":3,"attempt":2,"role":"any"},"ticket":5,"is_accepted":true,"is_running":true,"silent":1,"version":9,"others":[{"item":{"mission":"m","step":4,"attempt":2,"role":"any"},"ticket":6,"version":9}]}},"sweeps":12}"#;
    assert_eq!(write(&scheduler), text);
    assert_eq!(read::<Scheduler>(text).unwrap(), scheduler);
    assert_eq!(read::<Scheduler>(&text.replacen("\"v\":1", "\"v\":3", 1)), Err(UnreadableText::Newer(3)));
    assert!(read::<Scheduler>("{\"v\":1}").is_err());
    let able = Crab { abilities: Ability::ALL.into_iter().collect(), ..Crab::default() };
    let able = Scheduler { crabs: [("d".to_owned(), able)].into(), ..Scheduler::default() };
    let text = r#"{"v":1,"crabs":{"d":{"roles":[],"abilities":["gates","wall"]}},"leases":{},"sweeps":0}"#;
    assert_eq!(write(&able), text);
    assert_eq!(read::<Scheduler>(text).unwrap(), able);
}

#[test]
fn events_are_read_as_they_were_written() {
    let (step, attempt) = (StepId(1), 2);
    let missions = [
        MissionEvent::Begin,
        MissionEvent::Assign { step, attempt },
        MissionEvent::Start { step, attempt },
        MissionEvent::Complete { step, attempt, report: report() },
        MissionEvent::Fail { step, attempt, reason: "no".to_owned() },
        MissionEvent::Lose { step, attempt },
        MissionEvent::Abandon { step, attempt },
        MissionEvent::Obstruct { reason: "no".to_owned() },
        MissionEvent::Continue {
            pause: Some(1),
            accept_failure: true,
            execution: Some(Execution::Auto),
            intervene: Some(Intervene::Never),
        },
        MissionEvent::Continue { pause: None, accept_failure: false, execution: None, intervene: None },
        MissionEvent::Retry { step: Some(step) },
        MissionEvent::Retry { step: None },
        MissionEvent::Cancel,
    ];
    let (crab, mission) = ("c".to_owned(), "m".to_owned());
    let waiting = Waiting { item: item(1), ticket: 4, version: 3 };
    let schedulers = [
        SchedulerEvent::Register {
            crab: crab.clone(),
            roles: vec!["any".to_owned()],
            abilities: BTreeSet::new(),
        },
        SchedulerEvent::Leave { crab: crab.clone() },
        SchedulerEvent::Want {
            mission: mission.clone(),
            version: 3,
            ticket: 4,
            next: vec![item(1), item(2)],
            running: Some((step, attempt)),
            waiting: vec![waiting],
        },
        SchedulerEvent::Want {
            mission: mission.clone(),
            version: 3,
            ticket: 4,
            next: Vec::new(),
            running: None,
            waiting: Vec::new(),
        },
        SchedulerEvent::Park { crab: crab.clone() },
        SchedulerEvent::Unpark { crab: crab.clone() },
        SchedulerEvent::Heartbeat { leases: vec![(crab.clone(), mission.clone(), step, attempt)] },
        SchedulerEvent::GiveBack { crab, mission, step, attempt, reason: "no".to_owned() },
        SchedulerEvent::Sweep { seen: None },
        SchedulerEvent::Sweep { seen: Some(7) },
    ];
    let id = || "x".to_owned();
    let events = missions.into_iter().map(|event| Event::Mission { id: id(), event });
    let events = events.chain(schedulers.into_iter().map(|event| Event::Scheduler { id: id(), event }));
    for written in events {
        let text = write(&written);
        assert_eq!(read(&text), Ok(written), "{text}");
    }
    let unknown = r#"{"v":1,"actor":"mission","id":"x","event":"dance"}"#;
    assert!(matches!(read::<Event>(unknown), Err(UnreadableText::Broken(_))));
    assert_eq!(read::<Event>(&unknown.replace("\"v\":1", "\"v\":2")), Err(UnreadableText::Newer(2)));
}

#[test]
fn outcomes_are_read_as_they_were_written() {
    let done = |answered, offers| ActorReply::Done {
        version: 3,
        mission: Some("m".to_owned()),
        is_repeated: true,
        answered,
        offers,
    };
    let step = StepId(1);
    let mut outcomes = vec![
        done(None, Vec::new()),
        done(Some(AnswerEffect::WentOn), vec![("c".to_owned(), item(1))]),
        done(Some(AnswerEffect::TriedAgain(step)), Vec::new()),
        done(Some(AnswerEffect::Granted(step)), Vec::new()),
        done(Some(AnswerEffect::Extended), Vec::new()),
        done(Some(AnswerEffect::Capped), Vec::new()),
        done(Some(AnswerEffect::Accepted(step)), Vec::new()),
        ActorReply::NotFound,
        ActorReply::Conflict,
        ActorReply::BranchTaken { mission: "m".to_owned() },
    ];
    let taken = scheduler::Refusal::RoleTaken { role: "worker".to_owned(), holder: "atlas".to_owned() };
    let refusals = [
        taken,
        scheduler::Refusal::NoRole,
        scheduler::Refusal::NoSuchCrab,
        scheduler::Refusal::NoSuchLease,
        scheduler::Refusal::HasSwept,
    ];
    outcomes.extend(refusals.map(ActorReply::SchedulerRefused));
    let refusals = [
        Refusal::Closed(MissionStatus::Failed),
        Refusal::HasBegun,
        Refusal::Pending,
        Refusal::Paused,
        Refusal::NoSuchStep,
        Refusal::Stale { current: 3 },
        Refusal::NoSuchAttempt { current: 3 },
        Refusal::HasEnded,
        Refusal::NotQueued(StepStatus::Skipped),
        Refusal::Busy(step),
        Refusal::ResultNeeded,
        Refusal::ResultUndeclared,
        Refusal::NotPaused,
        Refusal::OtherPause { current: 3 },
        Refusal::NothingToAccept,
        Refusal::NotFailed(MissionStatus::Running),
        Refusal::NothingToRetry,
    ];
    outcomes.extend(refusals.map(ActorReply::MissionRefused));
    for written in outcomes {
        let text = write(&written);
        assert_eq!(read(&text), Ok(written), "{text}");
    }
}
