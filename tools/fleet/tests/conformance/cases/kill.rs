//! A host that is killed again and again while crabs work: what was acknowledged is there, and nothing is there twice.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use orange_core::mission::{AttemptEnd, Report};
use orange_fleet::fault::POINTS;
use orange_fleet::host::{ActorReply, Host, HostError, MissionFilter, NewMission};
use orange_fleet::simulate::SimulatedCrabs;
use tokio::sync::watch;

use crate::TestedStore;
use crate::child::{AcknowledgedCalls, ChildHost, Faults, Kills};
use crate::world::{World, agent, roles, until};

const RUNS: [&str; 6] = ["plan 1", "implement 1", "review 1", "fix 1", "review 2", "pr 1"];

/// Number of answers that each process gives before it is killed.
const ANSWERS: [u64; 9] = [1, 2, 5, 9, 14, 20, 33, 47, 60];

/// At which passing of a point each process dies. Six callers wait at most for one transaction, and eight missions are 144 calls, so
/// that there are more transactions than the sum of these.
#[cfg(feature = "fail-points")]
const PASSINGS: [u64; 8] = [1, 1, 2, 2, 3, 3, 4, 5];

pub async fn nothing_is_lost_when_the_process_is_killed(store: TestedStore, folder: &Path) {
    let kills: Kills = Box::new(|start| ANSWERS.get(start).copied());
    let starts = drive(store, folder, Box::new(|_| Vec::new()), kills, 12).await;
    assert!(starts > ANSWERS.len(), "it was killed only {starts} times");
}

#[cfg(not(feature = "fail-points"))]
pub async fn nothing_is_lost_at_any_point_of_a_call(_: TestedStore, _: &Path) {
    eprintln!("skipped: {} points of a call need `--features fail-points`", POINTS.len());
}

#[cfg(feature = "fail-points")]
pub async fn nothing_is_lost_at_any_point_of_a_call(store: TestedStore, folder: &Path) {
    for point in POINTS {
        let faults: Faults = Box::new(move |start| {
            let passing = PASSINGS.get(start).map(|it| format!("{point}:{it}"));
            passing.map(|it| ("ORANGE_FLEET_FAIL".to_owned(), it)).into_iter().collect()
        });
        let starts = drive(store, &prepared(store, folder.join(point)), faults, Box::new(|_| None), 8).await;
        assert!(starts > PASSINGS.len(), "{point}: it died only {} times", starts - 1);
    }
}

#[cfg(not(feature = "fail-points"))]
pub async fn an_answer_stands_once_at_any_point_of_its_call(_: TestedStore, _: &Path) {
    eprintln!("skipped: {} points of an answer need `--features fail-points`", POINTS.len());
}

/// The process dies at each point of the answer of a person, which is sent again.
#[cfg(feature = "fail-points")]
pub async fn an_answer_stands_once_at_any_point_of_its_call(store: TestedStore, folder: &Path) {
    use orange_fleet::host::{ActorCall, CallDetails, Event};
    for point in POINTS {
        let folder = prepared(store, folder.join(point));
        let asking = World::new((store.open)(&folder)).await;
        let id = super::asks::asking(&asking, point).await;
        let colony = asking.colony.clone();
        drop(asking);
        let faults: Faults = Box::new(move |start| {
            let first = (start == 0).then(|| ("ORANGE_FLEET_FAIL".to_owned(), format!("{point}:1")));
            first.into_iter().collect()
        });
        let child = ChildHost::new(store, &folder, faults, Box::new(|_| None));
        let event = Event::Mission { id: id.clone(), event: super::asks::answer("approve", "Ada") };
        let call = ActorCall { key: Some("Ada/1".to_owned()), event, about: CallDetails::default() };
        let answer = again(async || child.apply(call.clone()).await).await;
        assert!(matches!(answer, ActorReply::Done { .. }), "{point}: {answer:?}");
        assert_eq!(child.starts(), 2, "{point}: it did not die");
        child.kill();
        let world = World { host: (store.open)(&folder), colony };
        let kinds = world.kinds(Some(&id)).await;
        let count = |kind: &str| kinds.iter().filter(|it| *it == kind).count();
        assert_eq!(
            (count("step.answered"), count("step.asked"), count("step.queued")),
            (1, 1, 3),
            "{point}: {kinds:?}"
        );
        assert_eq!(world.state().await.waiting, [("worker".to_owned(), 1)], "{point}");
    }
}

/// A folder with a store of its own.
#[cfg(feature = "fail-points")]
fn prepared(store: TestedStore, folder: std::path::PathBuf) -> std::path::PathBuf {
    std::fs::create_dir_all(&folder).unwrap();
    assert!((store.prepare)(&folder));
    folder
}

/// Drives missions to their ends through a process that dies, and then looks at the store. Says how often the process was started.
async fn drive(store: TestedStore, folder: &Path, faults: Faults, kills: Kills, missions: usize) -> usize {
    std::fs::create_dir_all(folder).unwrap();
    let child = Arc::new(ChildHost::new(store, folder, faults, kills));
    let host: Arc<dyn Host> = Arc::clone(&child) as _;
    let colony = again(async || {
        let new = crate::world::home();
        host.create_colony(new).await
    })
    .await
    .id;
    let world = World { host: Arc::clone(&host), colony };
    let (stop, stopped) = watch::channel(false);
    let crabs = SimulatedCrabs::new(Arc::clone(&host), &world.colony, "c", agent());
    let lists = roles(&["planner", "worker", "reviewer", "any", "any"]);
    let running = tokio::spawn(crabs.run(lists, stopped));
    for number in 0..missions {
        let draft: NewMission = world.draft(&number.to_string());
        let made = again(async || host.create_mission(draft.clone()).await).await;
        assert!(matches!(made, ActorReply::Done { .. }), "{made:?}");
    }
    let all = vec![("completed".to_owned(), missions as u64)];
    until(&*host, async || {
        let counts = again(async || host.counts().await).await;
        (counts.missions == all).then_some(())
    })
    .await;
    stop.send(true).unwrap();
    running.await.unwrap().unwrap();
    child.kill();
    let world = World { host: (store.open)(folder), colony: world.colony };
    audit(&world, &child.acknowledged(), missions).await;
    child.starts()
}

/// Repeats a call until there is an answer.
async fn again<T>(ask: impl AsyncFn() -> Result<T, HostError>) -> T {
    loop {
        match ask().await {
            Ok(answer) => return answer,
            Err(HostError::Unavailable(_)) => tokio::task::yield_now().await,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Holds the store against what was acknowledged.
async fn audit(world: &World, acknowledged: &AcknowledgedCalls, missions: usize) {
    let page = MissionFilter { limit: 1000, ..MissionFilter::default() };
    let stored = world.host.missions(page).await.unwrap();
    let ids: BTreeSet<String> = stored.iter().map(|it| it.id.clone()).collect();
    let known: BTreeSet<String> = acknowledged.missions.iter().cloned().collect();
    assert_eq!(ids, known, "a mission was lost, or made twice");
    assert_eq!(stored.len(), missions);
    for id in &ids {
        let mission = world.stored(id).await;
        assert_eq!(mission.row.status, "completed");
        let runs: Vec<String> = mission.runs.iter().map(|it| format!("{} {}", it.step, it.attempt)).collect();
        assert_eq!(
            runs, RUNS,
            "{id}: nothing was silent, so that every attempt is the first or what a loop asks for"
        );
        let records = world.host.records(0, Some(id.clone()), 1000).await.unwrap();
        let mut completed = BTreeSet::new();
        for record in records.iter().filter(|it| it.kind == "run.completed") {
            let run = format!("{} {}", record.data["step"].as_str().unwrap(), record.data["attempt"]);
            assert!(completed.insert(run), "{id}: {record:?} was accepted twice");
        }
        assert_eq!(completed.len(), RUNS.len());
    }
    assert!(acknowledged.reports.len() >= missions * RUNS.len());
    for (id, step, attempt, summary) in &acknowledged.reports {
        let mission = world.stored(id).await.mission;
        let end = mission.step(*step).attempts[*attempt as usize - 1].end.clone();
        let Some(AttemptEnd::Completed(Report { summary: stored, .. })) = end else {
            panic!("{id}: {end:?}")
        };
        assert_eq!(stored, *summary);
    }
    let state = world.state().await;
    assert_eq!((state.scheduler.leases.len(), state.waiting), (0, Vec::new()));
    assert_eq!(world.host.counts().await.unwrap().alarms, 0);
}
