//! One request under one fault: its result, and whether anything is lost.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::fault::{ReachedStep, TortureFault, steps};
use super::outcome::{Task, TaskState};
use super::prepare::before;
use super::scene::{Scene, SceneAct};
use super::world::{World, end_of, is_alive};
use crate::Result;
use crate::scratch::PROJECT;

/// Good ending of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GoodEnding {
    /// The fault struck no process.
    Missed,
    /// The request answered with success.
    Answered,
    /// The next command finished it without another request.
    Finished,
    /// Nothing had changed, and it was requested again.
    AskedAgain,
    /// A hook failed, and the task says so.
    CalledAttention,
}

/// The result of an attempt.
pub(super) struct AttemptResult {
    pub(super) ending: GoodEnding,
    pub(super) outcome: TaskState,
    /// The steps of the request.
    pub(super) steps: Vec<ReachedStep>,
    pub(super) took: Duration,
    /// The number of lock files of killed gits that were removed by hand.
    pub(super) unlocked: usize,
}

/// Plays a scene on this branch under a fault, runs the next command, and compares the result.
pub(super) fn attempt(
    world: &World,
    scene: &Scene,
    fault: &TortureFault,
    branch: &str,
    expected: Option<&TaskState>,
) -> Result<AttemptResult> {
    let before = scene.prepare(world, branch)?;
    fault.arm(world)?;
    let started = Instant::now();
    let (answer, hit) = act(world, scene, fault, branch, before.as_ref())?;
    let took = started.elapsed();
    let steps = steps(world);
    let acknowledged = answer.as_ref().is_some_and(|answer| answer["error"].is_null());
    if acknowledged && !scene.keeps_its_word(world, branch)? {
        return Err("success was answered, and the change is not there".to_string());
    }
    fault.mend(world)?;
    let unlocked = if fault.kills_called() { unlock(world)? } else { 0 };
    if let Some(before) = &before {
        is_still_called(world, before)?;
    }

    if *fault != TortureFault::None {
        recover(world, branch)?;
    }
    let status = |task: Option<&Task>| task.map(Task::status);
    let mut found = Task::find(world, branch)?;
    let is_untouched = status(found.as_ref()) == status(before.as_ref())
        || before.is_none() && status(found.as_ref()).as_deref() == Some("pending");
    // If a request changes no status, everything else shows whether it was carried out.
    let is_done = match &found {
        Some(task) if task.status() == scene.to => {
            expected.is_some_and(|expected| task.outcome(world, Some(expected)).as_ref() == Ok(expected))
        }
        Some(_) | None => false,
    };
    let asks_again = matches!(scene.act, SceneAct::Ask(_)) && is_untouched && !acknowledged && !is_done;
    if asks_again {
        if !fault.may_fail() {
            return Err(format!("nothing came of it: {answer:?}"));
        }
        scene.ask_again(world, branch, found.as_ref())?;
        world.quiet()?;
        found = Task::find(world, branch)?;
    }
    let task = found.ok_or("the task is gone")?;
    let outcome = task.outcome(world, expected)?;
    let ending = match (hit, acknowledged, asks_again) {
        (false, _, false) => GoodEnding::Missed,
        (true, true, _) => GoodEnding::Answered,
        (_, _, true) => GoodEnding::AskedAgain,
        (true, false, false) => GoodEnding::Finished,
    };
    match expected.filter(|expected| **expected != outcome) {
        Some(_) if fault.starves() && outcome.has_attention => {
            Ok(AttemptResult { ending: GoodEnding::CalledAttention, outcome, steps, took, unlocked })
        }
        Some(expected) => Err(format!("it came out differently:\n{}", difference(expected, &outcome))),
        None => Ok(AttemptResult { ending, outcome, steps, took, unlocked }),
    }
}

/// Checks that a call for attention was cleared only if the task has moved on, also from its end to its end, or the agent exists that
/// answers it.
fn is_still_called(world: &World, before: &Task) -> Result<()> {
    let Some(now) = before.reread(world)? else { return Ok(()) };
    let has_moved = now.status() != before.status() || now.transitions() > before.transitions();
    let is_over = before.has_attention && !now.has_attention && !has_moved;
    if is_over && world.attended(&now.id) == 0 {
        return Err("its call for attention is gone, and no agent is there".to_owned());
    }
    Ok(())
}

/// Removes what a task, and one before it, would leave in the way of the next.
pub(super) fn clear_up(world: &World, branch: &str) -> Result<()> {
    for task in [Some(Task::named(world, branch)?), Task::find(world, &before(branch))?].into_iter().flatten()
    {
        match task.is_mission() {
            _ if task.is_over() => {}
            true => drop(world.orange(&["mission", "cancel", &task.id, "--yes"])?),
            false => drop(world.orange(&["task", "cancel", &task.id, "--yes"])?),
        }
        world.quiet()?;
    }
    let settings = ["--queue", "manual", "--pool-size", "4", "--reclaim-when-waiting", "false"];
    world.orange(&[&["project", "update", PROJECT], &settings[..]].concat()).map(drop)
}

/// Makes the request under the fault, and returns its answer, if it has one.
fn act(
    world: &World,
    scene: &Scene,
    fault: &TortureFault,
    branch: &str,
    before: Option<&Task>,
) -> Result<(Option<Value>, bool)> {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let striking = scope.spawn(|| fault.strike(world, &is_over));
        let asked = match &scene.act {
            SceneAct::Ask(_) => ask(world, scene, fault, branch).map(Some),
            SceneAct::Agent { window, does } => {
                agent(world, window, does, fault, before, &striking).map(|()| None)
            }
        };
        let quiet = asked.and_then(|answer| world.quiet().map(|()| answer));
        is_over.store(true, Ordering::Relaxed);
        let hit = striking.join().map_err(|_| "the fault itself has failed".to_string())??;
        let hit = hit && (!matches!(fault, TortureFault::Step { .. }) || fault.has_struck(world));
        quiet.map(|answer| (answer.flatten(), hit))
    })
}

fn ask(world: &World, scene: &Scene, fault: &TortureFault, branch: &str) -> Result<Option<Value>> {
    let words = scene.words(branch).unwrap_or_default();
    let launcher = fault.launcher();
    let launcher: Vec<&str> = launcher.iter().map(String::as_str).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let output = end_of(world.start(&launcher, &words)?)?;
    let answer: Option<Value> = serde_json::from_slice(&output.stdout).ok();
    let failed = output.status.code() != Some(0);
    if failed && !fault.may_fail() {
        return Err(format!("`orange {}` failed: {answer:?}", words.join(" ")));
    }
    if output.status.code().is_some_and(|code| ![0, 5].contains(&code)) {
        return Err(format!("`orange {}` ended with {}: {answer:?}", words.join(" "), output.status));
    }
    // An incomplete answer counts as none.
    Ok(answer)
}

/// Makes the agent end, and waits for the end and its consequence, or for the fault.
fn agent(
    world: &World,
    window: &str,
    does: &str,
    fault: &TortureFault,
    before: Option<&Task>,
    striking: &thread::ScopedJoinHandle<'_, Result<bool>>,
) -> Result<()> {
    let before = before.ok_or("there is no task yet")?;
    let alive = before.agents_alive(world);
    world.type_at(&before.session(), window, &format!("do: {does}"))?;
    world.until("the agent has ended", || !alive.iter().all(|pid| is_alive(*pid)))?;
    let has_grown = || before.journal().lines().count() > before.length();
    let is_at_a_moment = matches!(fault, TortureFault::Moment { .. });
    let has_struck = || fault.has_struck(world) || is_at_a_moment && striking.is_finished();
    world.until("anything comes of it", || has_grown() || has_struck())
}

/// Removes the locks of gits that were killed with the request, as the doctor says. Returns their number.
pub(super) fn unlock(world: &World) -> Result<usize> {
    world.until("gits that were not killed have ended", || !world.has_git())?;
    // The doctor may find more and fail: the rest of the request is still to be finished.
    let output = end_of(world.start(&[], &["doctor"])?)?;
    let answer: Value = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    let findings = answer["findings"].as_array().into_iter().flatten();
    let remedies = findings.filter(|finding| finding["check"] == "git-locks" && finding["level"] != "ok");
    let locks = remedies.filter_map(|finding| finding["remedy"].as_str()?.split('\'').nth(1));
    let removed = locks.map(|lock| fs::remove_file(lock).map_err(|error| format!("{lock}: {error}")));
    removed.collect::<Result<Vec<()>>>().map(|removed| removed.len())
}

/// Runs the next command, whichever it is. One that changes the task repairs `TASK.md`.
fn recover(world: &World, branch: &str) -> Result<()> {
    let looked = world.orange(&["monitor", "--once"])?;
    if looked["errors"].as_array().is_none_or(|errors| !errors.is_empty()) {
        return Err(format!("the next command could not recover: {looked}"));
    }
    world.until("an agent that is waited for is there", || {
        let is_waiting =
            Task::find(world, branch).is_ok_and(|task| task.is_some_and(|task| task.is_waiting()));
        // The monitor makes round after round.
        !is_waiting || world.orange(&["monitor", "--once"]).is_err()
    })?;
    let is_stale_task = |task: Task| !task.is_mission() && task.is_stale() == Ok(true);
    if Task::find(world, branch)?.is_some_and(is_stale_task) {
        world.orange(&["task", "update", branch, "--summary", "Mend it"])?;
    }
    world.quiet()
}

/// The lines that differ.
fn difference(expected: &TaskState, found: &TaskState) -> String {
    let (expected, found) = (format!("{expected:#?}"), format!("{found:#?}"));
    let only = |text: &str, other: &str, sign: &str| -> String {
        let others: Vec<&str> = other.lines().collect();
        let lines = text.lines().filter(|line| !others.contains(line));
        lines.map(|line| format!("    {sign} {}\n", line.trim())).collect()
    };
    format!("{}{}", only(&expected, &found, "-"), only(&found, &expected, "+"))
}
