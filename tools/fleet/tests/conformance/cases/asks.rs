//! Steps that ask people: the question, the answer, and the time.

use std::path::Path;

use orange_core::mission::{Answer, AttemptEnd, Event as MissionEvent, Refusal, Report, StepStatus};
use orange_core::plan::StepId;
use orange_fleet::host::{ActorCall, ActorReply, CallDetails, Event, MissionFilter, OpenQuestion};
use orange_fleet::simulate::measure::ASKED;

use crate::TestedStore;
use crate::world::{World, done};

const HOUR: i64 = 60 * 60 * 1000;
const OK: StepId = StepId(1);

pub fn answer(word: &str, by: &str) -> MissionEvent {
    let answer = Answer { word: word.to_owned(), comment: String::new(), by: by.to_owned(), commit: None };
    MissionEvent::Answer { step: OK, attempt: 1, answer }
}

/// A mission whose first step has completed with this commit, so that it asks.
pub async fn asking(world: &World, commit: &str) -> String {
    world.register("c", "any").await;
    let id = world.start_with(&ASKED, &format!("asks {commit}")).await;
    world.park("c").await.unwrap();
    let step = StepId(0);
    done(&world.mission("c", &id, MissionEvent::Start { step, attempt: 1 }).await);
    let report = Report { summary: "done".to_owned(), ..Report::default() };
    let event = MissionEvent::Complete { step, attempt: 1, report };
    let event = Event::Mission { id: id.clone(), event };
    let about =
        CallDetails { crab: Some("c".to_owned()), commit: Some(commit.to_owned()), ..CallDetails::default() };
    done(&world.host.apply(ActorCall { key: None, event, about }).await.unwrap());
    id
}

async fn count(world: &World, id: &str, kind: &str) -> usize {
    world.kinds(Some(id)).await.iter().filter(|it| *it == kind).count()
}

pub async fn a_question_needs_no_crab_and_is_answered_once(store: TestedStore, folder: &Path) {
    let world = World::new((store.open)(folder)).await;
    let id = asking(&world, "c0ffee").await;
    assert_eq!(world.park("c").await, None);
    drop(world);
    let world = World::new((store.open)(folder)).await;
    let [question] = &world.stored(&id).await.questions()[..] else { panic!("one step asks") };
    assert_eq!((question.step, question.attempt, question.commit.as_deref()), (OK, 1, Some("c0ffee")));
    assert_eq!(question.until, Some(question.since + 4 * HOUR));
    let first = done(&world.mission("", &id, answer("approve", "Ada")).await);
    assert!(!first.1);
    drop(world);
    let world = World::new((store.open)(folder)).await;
    assert_eq!(done(&world.mission("", &id, answer("approve", "Ada")).await), (first.0, true));
    let other = world.mission("", &id, answer("reject", "Bob")).await;
    assert!(matches!(other, ActorReply::MissionRefused(Refusal::Answered { .. })), "{other:?}");
    assert_eq!((count(&world, &id, "step.asked").await, count(&world, &id, "step.answered").await), (1, 1));
    let lease = world.state().await.scheduler.leases[&id].item.clone();
    assert_eq!((lease.step, lease.attempt), (StepId(2), 1), "the crab that waits has the next step");
    assert_eq!(world.host.due().await.unwrap(), []);
}

pub async fn a_question_shows_what_was_pushed_and_holds_the_next_step(store: TestedStore, folder: &Path) {
    let world = World::new((store.open)(folder)).await;
    let id = asking(&world, "c0ffee").await;
    let start = world.mission("c", &id, MissionEvent::Start { step: StepId(2), attempt: 1 }).await;
    assert!(matches!(start, ActorReply::MissionRefused(_)), "{start:?}");
    let report = Report { result: Some("approve".to_owned()), ..Report::default() };
    let by_crab = world.mission("c", &id, MissionEvent::Complete { step: OK, attempt: 1, report }).await;
    assert_eq!(by_crab, ActorReply::MissionRefused(Refusal::NotYours(OK)));
    done(&world.mission("", &id, MissionEvent::Cancel).await);
    assert_eq!(count(&world, &id, "step.withdrawn").await, 1);
    let late = world.mission("", &id, answer("approve", "Ada")).await;
    assert!(matches!(late, ActorReply::MissionRefused(_)), "{late:?}");
}

pub async fn people_are_reminded_once_and_the_time_ends(store: TestedStore, folder: &Path) {
    let mut world = World::new((store.open)(folder)).await;
    let id = asking(&world, "c0ffee").await;
    let question = OpenQuestion { mission: id.clone(), step: OK, attempt: 1 };
    assert!(!world.host.remind(question.clone()).await.unwrap(), "nothing is due yet");
    // Half of four hours, an hour before their end, and their end.
    for (hours, reminders) in [(2, 1), (1, 2), (1, 2)] {
        (store.age)(folder, hours * HOUR);
        drop(world);
        world = World::new((store.open)(folder)).await;
        assert_eq!(world.host.due().await.unwrap(), std::slice::from_ref(&question));
        assert!(world.host.remind(question.clone()).await.unwrap());
        assert!(!world.host.remind(question.clone()).await.unwrap());
        assert_eq!(world.host.due().await.unwrap(), []);
        assert_eq!(count(&world, &id, "step.reminded").await, reminders);
    }
    let stored = world.stored(&id).await;
    let end = stored.mission.step(OK).attempts[0].end.as_ref();
    assert!(matches!(end, Some(AttemptEnd::Failed { reason }) if reason == "nobody answered in time"));
    assert_eq!((stored.row.status.as_str(), count(&world, &id, "step.expired").await), ("paused", 1));
}

pub async fn a_reminder_is_recorded_once_by_two_handles(store: TestedStore, folder: &Path) {
    let (one, two) = (World::new((store.open)(folder)).await, World::new((store.open)(folder)).await);
    let id = asking(&one, "c0ffee").await;
    let question = || OpenQuestion { mission: id.clone(), step: OK, attempt: 1 };
    // What was missed while no gateway ran is one reminder.
    (store.age)(folder, 3 * HOUR);
    let (first, second) = tokio::join!(one.host.remind(question()), two.host.remind(question()));
    assert_eq!(usize::from(first.unwrap()) + usize::from(second.unwrap()), 1);
    assert_eq!(count(&one, &id, "step.reminded").await, 1);
    (store.age)(folder, HOUR);
    let (ended, answered) =
        tokio::join!(one.host.remind(question()), two.mission("", &id, answer("approve", "Ada")));
    ended.unwrap();
    let ends = count(&one, &id, "step.expired").await + count(&one, &id, "step.answered").await;
    assert_eq!(ends, 1, "{answered:?}");
}

pub async fn lists_find_what_asks(store: TestedStore, folder: &Path) {
    let world = World::new((store.open)(folder)).await;
    let id = asking(&world, "c0ffee").await;
    let other = world.start("other").await;
    let filter = || MissionFilter { asks: true, limit: 9, ..MissionFilter::default() };
    let found = world.host.missions(filter()).await.unwrap();
    let [row] = &found[..] else { panic!("{found:?}") };
    assert_eq!(
        (row.id.as_str(), &row.asks[..], row.step.as_deref()),
        (id.as_str(), &["ok".to_owned()][..], Some("ok"))
    );
    assert_eq!(world.host.counts().await.unwrap().asking, 1);
    assert!(world.stored(&other).await.row.asks.is_empty());
    done(&world.mission("", &id, answer("reject", "Ada")).await);
    assert_eq!(world.host.missions(filter()).await.unwrap(), []);
    assert_eq!(world.host.counts().await.unwrap().asking, 0);
    assert_eq!(world.stored(&id).await.mission.step(OK).status, StepStatus::Failed);
}
