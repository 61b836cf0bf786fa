//! One thing after the other, and what follows from each.

use orange_core::mission::{Event, MissionStatus, Refusal, Report, StepStatus};
use orange_core::plan::{Execution, Intervene, Policy, StepId};
use orange_core::scheduler::{self, Event as SchedulerEvent, Item, SILENT_SWEEPS, UNACCEPTED_SWEEPS};

use super::memory::{COLONY, Memory, by, step};
use crate::actors::{CrabChange, HostChange};
use crate::host::{ActorReply, CallDetails, Delivery, Instruction};
use crate::simulate::measure::APART;

/// A colony with a crab for each role, all parked.
fn colony() -> Memory {
    let mut memory = Memory::new();
    for role in ["planner", "worker", "reviewer"] {
        memory.register(role, role);
        memory.park(role);
    }
    memory
}

fn item(mission: &str, name: &str, attempt: u32, role: &str) -> Item {
    Item::of_lane(role, mission.to_owned(), step(name), attempt)
}

fn instructed(crab: &str, what: Instruction) -> Delivery {
    Delivery { colony: COLONY.to_owned(), crab: crab.to_owned(), what }
}

fn end_agent(mission: &str, name: &str, attempt: u32) -> Instruction {
    Instruction::EndAgent { mission: mission.to_owned(), step: step(name), attempt }
}

fn done(version: u64) -> ActorReply {
    ActorReply::Done { version, mission: None, is_repeated: false, answered: None, offers: Vec::new() }
}

fn start(memory: &mut Memory, crab: &str, id: &str, name: &str, attempt: u32) -> ActorReply {
    memory.mission(by(crab), id, Event::Start { step: step(name), attempt })
}

#[test]
fn a_new_mission_offers_its_first_step_to_a_parked_crab() {
    let mut memory = colony();
    let plan = item("m", "plan", 1, "planner");
    let outcome = memory.create("m", Policy::DEFAULT);
    let offers = vec![("planner".to_owned(), plan.clone())];
    assert_eq!(
        outcome,
        ActorReply::Done { version: 1, mission: None, is_repeated: false, answered: None, offers }
    );
    assert_eq!(memory.deliveries, [instructed("planner", Instruction::Offer(plan))]);
    assert_eq!(memory.kinds(), ["step.queued", "run.offered"]);
}

#[test]
fn a_step_waits_without_a_crab_and_the_next_one_gets_it() {
    let mut memory = Memory::new();
    assert_eq!(memory.create("m", Policy::DEFAULT), done(1));
    assert_eq!(memory.waiting["m"][0].item, item("m", "plan", 1, "planner"));
    memory.register("c", "any");
    memory.park("c");
    assert_eq!(memory.deliveries, [instructed("c", Instruction::Offer(item("m", "plan", 1, "planner")))]);
    assert!(memory.waiting.is_empty());
}

#[test]
fn a_crab_gets_the_first_step_that_it_takes() {
    let mut memory = Memory::new();
    memory.create_of(&APART, "m", Policy::DEFAULT);
    memory.register("worker", "worker");
    memory.park("worker");
    let second = Item::of_lane("worker", "m".to_owned(), StepId(1), 1);
    assert_eq!(memory.deliveries, [instructed("worker", Instruction::Offer(second))]);
    assert!(memory.waiting.is_empty(), "the steps of a mission run one after the other");
    memory.mission(by("worker"), "m", Event::Start { step: StepId(1), attempt: 1 });
    let report = Report { result: None, summary: "done".to_owned(), warning: None, ..Report::default() };
    memory.mission(by("worker"), "m", Event::Complete { step: StepId(1), attempt: 1, report });
    assert_eq!(memory.waiting["m"][0].item.step, StepId(0));
}

#[test]
fn a_parked_crab_that_asks_again_gets_its_offer_again() {
    let mut memory = colony();
    memory.create("m", Policy::DEFAULT);
    let ActorReply::Done { offers, .. } = memory.park("planner") else { panic!("refused") };
    assert_eq!(offers, [("planner".to_owned(), item("m", "plan", 1, "planner"))]);
    assert_eq!(memory.kinds(), [""; 0], "it is no news");
}

#[test]
fn a_crab_that_reports_is_not_asked_to_end_its_agent() {
    let mut memory = colony();
    memory.create("m", Policy::DEFAULT);
    start(&mut memory, "planner", "m", "plan", 1);
    assert_eq!(memory.kinds(), ["run.started"]);
    memory.complete("planner", "m", "plan", 1, None);
    assert_eq!(
        memory.deliveries,
        [instructed("worker", Instruction::Offer(item("m", "implement", 1, "worker")))]
    );
    assert_eq!(memory.kinds(), ["run.completed", "step.queued", "run.offered"]);
}

#[test]
fn a_fix_ends_before_its_review_waits_again() {
    let mut memory = colony();
    memory.create("m", Policy::DEFAULT);
    for (crab, name, result) in
        [("planner", "plan", None), ("worker", "implement", None), ("reviewer", "review", Some("FAIL"))]
    {
        memory.park(crab);
        start(&mut memory, crab, "m", name, 1);
        memory.complete(crab, "m", name, 1, result);
    }
    memory.park("reviewer");
    memory.park("worker");
    start(&mut memory, "worker", "m", "fix", 1);
    memory.complete("worker", "m", "fix", 1, None);
    assert_eq!(memory.kinds(), ["run.completed", "step.queued", "run.offered"]);
}

#[test]
fn a_failure_that_the_gateway_reports_ends_the_agent() {
    let mut memory = colony();
    memory.create("m", Policy::DEFAULT);
    start(&mut memory, "planner", "m", "plan", 1);
    let reason = "its time was over".to_owned();
    memory.mission(CallDetails::default(), "m", Event::Fail { step: step("plan"), attempt: 1, reason });
    assert_eq!(memory.deliveries, [instructed("planner", end_agent("m", "plan", 1))]);
    assert_eq!(memory.kinds(), ["run.failed", "step.failed", "mission.paused"]);
}

#[test]
fn a_cancelled_mission_ends_its_agent_and_its_waiting_step() {
    let mut memory = colony();
    memory.create("m", Policy::DEFAULT);
    memory.create("n", Policy::DEFAULT);
    start(&mut memory, "planner", "m", "plan", 1);
    memory.park("planner");
    memory.mission(CallDetails::default(), "m", Event::Cancel);
    let freed = instructed("planner", Instruction::Offer(item("n", "plan", 1, "planner")));
    assert_eq!(memory.deliveries, [instructed("planner", end_agent("m", "plan", 1)), freed]);
    memory.create("o", Policy::DEFAULT);
    assert!(memory.waiting.contains_key("o"));
    memory.mission(CallDetails::default(), "o", Event::Cancel);
    assert!(memory.waiting.is_empty());
    assert_eq!(memory.kinds(), ["run.withdrawn", "mission.cancelled"]);
}

#[test]
fn a_silent_crab_loses_its_attempt_and_a_new_one_waits() {
    let mut memory = colony();
    memory.create("m", Policy::DEFAULT);
    start(&mut memory, "planner", "m", "plan", 1);
    for _ in 0..SILENT_SWEEPS {
        memory.colony(SchedulerEvent::Sweep { seen: None });
    }
    assert_eq!(memory.kinds(), ["crab.lost", "lease.lost", "run.abandoned", "step.queued"]);
    assert_eq!(memory.waiting["m"][0].item, item("m", "plan", 2, "planner"));
    let plan = memory.missions["m"].mission.step(step("plan"));
    assert_eq!((plan.lost, plan.abandoned), (0, 1), "nobody knows how its agent has ended");
    let left = |it: &HostChange| matches!(it, HostChange::Crab { what: CrabChange::Left, .. });
    assert!(memory.changes.iter().any(left));
    let late = memory.complete("planner", "m", "plan", 1, None);
    assert_eq!(late, ActorReply::MissionRefused(Refusal::Stale { current: 2 }));
}

#[test]
fn an_offer_that_nobody_accepts_waits_again_as_the_same_attempt() {
    let mut memory = colony();
    memory.create("m", Policy::DEFAULT);
    for _ in 0..UNACCEPTED_SWEEPS {
        memory.colony(SchedulerEvent::Sweep { seen: None });
    }
    assert_eq!(memory.waiting["m"][0].item, item("m", "plan", 1, "planner"));
    assert_eq!(memory.kinds(), ["lease.lost"]);
    assert_eq!(memory.missions["m"].version, 1, "the mission has not heard of it");
}

#[test]
fn a_step_that_is_given_back_waits_and_its_crab_is_marked() {
    let mut memory = colony();
    memory.create("m", Policy::DEFAULT);
    let give_back = SchedulerEvent::GiveBack {
        crab: "planner".to_owned(),
        mission: "m".to_owned(),
        step: step("plan"),
        attempt: 1,
        reason: "the disk is full".to_owned(),
    };
    memory.colony(give_back.clone());
    assert_eq!(memory.kinds(), ["step.given-back"]);
    assert_eq!(memory.waiting["m"][0].item, item("m", "plan", 1, "planner"));
    assert_eq!(memory.colony.scheduler.crabs["planner"].fault.as_deref(), Some("the disk is full"));
    let again = memory.colony(give_back);
    assert_eq!(again, ActorReply::SchedulerRefused(scheduler::Refusal::NoSuchLease));
}

#[test]
fn only_the_crab_with_the_lease_speaks_for_an_open_attempt() {
    let mut memory = colony();
    memory.create("m", Policy::DEFAULT);
    let refused = ActorReply::SchedulerRefused(scheduler::Refusal::NoSuchLease);
    assert_eq!(start(&mut memory, "worker", "m", "plan", 1), refused);
    assert_eq!(memory.complete("worker", "m", "plan", 1, None), refused);
    start(&mut memory, "planner", "m", "plan", 1);
    assert_eq!(memory.complete("worker", "m", "plan", 1, None), refused);
    assert_eq!(
        memory.complete("planner", "m", "plan", 1, None),
        ActorReply::Done {
            version: 3,
            mission: None,
            is_repeated: false,
            answered: None,
            offers: vec![("worker".to_owned(), item("m", "implement", 1, "worker"))],
        }
    );
    // The mission judges reports of ended attempts: the same report again is a repetition.
    assert_eq!(
        memory.complete("planner", "m", "plan", 1, None),
        ActorReply::Done { version: 3, mission: None, is_repeated: true, answered: None, offers: Vec::new() }
    );
    assert_eq!(memory.kinds(), [""; 0]);
}

#[test]
fn a_mission_that_nobody_can_read_waits_no_longer() {
    let mut memory = colony();
    memory.create("m", Policy::DEFAULT);
    memory.create("n", Policy::DEFAULT);
    memory.unreadable.insert("m".to_owned());
    memory.unreadable.insert("n".to_owned());
    let outcome = start(&mut memory, "planner", "m", "plan", 1);
    assert_eq!(outcome, done(memory.colony.version), "the store answers that it cannot be read");
    assert_eq!(memory.deliveries, [instructed("planner", end_agent("m", "plan", 1))]);
    memory.park("planner");
    assert_eq!(memory.deliveries.len(), 2, "{:?}", memory.deliveries);
    assert!(memory.waiting.is_empty() && memory.colony.scheduler.leases.is_empty());
}

#[test]
fn an_answer_says_what_it_has_done() {
    let mut memory = colony();
    memory.create("m", Policy { execution: Execution::Step, intervene: Intervene::Never });
    start(&mut memory, "planner", "m", "plan", 1);
    memory.complete("planner", "m", "plan", 1, None);
    assert_eq!(memory.missions["m"].mission.status, MissionStatus::Paused);
    let go_on = |pause| Event::Continue { pause, accept_failure: false, execution: None, intervene: None };
    let ActorReply::Done { answered, offers, .. } =
        memory.mission(CallDetails::default(), "m", go_on(Some(1)))
    else {
        panic!("refused")
    };
    assert_eq!(answered, Some(orange_core::mission::AnswerEffect::WentOn));
    assert_eq!(offers.len(), 1);
    let twice = memory.mission(CallDetails::default(), "m", go_on(Some(1)));
    assert_eq!(twice, ActorReply::MissionRefused(Refusal::NotPaused));
    assert_eq!(memory.missions["m"].mission.step(step("implement")).status, StepStatus::Queued);
}

#[test]
fn what_there_is_not_is_not_found() {
    let mut memory = Memory::new();
    assert_eq!(memory.mission(CallDetails::default(), "m", Event::Cancel), ActorReply::NotFound);
}
