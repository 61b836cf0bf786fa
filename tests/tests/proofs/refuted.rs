//! A run that refutes a property is taken as a walk, and the monitor sees the breach.

use orange_analysis::prove::{Judged, ProofVerdict};
use orange_analysis::walk::command::Command;
use orange_analysis::walk::{Act, Happened, WalkEnd};
use orange_codegen::diag::{Trace, TraceStep};
use orange_core::Actor;
use orange_tests::monitor::TaskActor;

use crate::run::WatchedWalk;

/// The runs with which a property is refuted, each with whether it ends where the property is broken.
pub(crate) fn traces(judged: &Judged) -> Vec<(&Trace, bool)> {
    let ProofVerdict::Refuted { findings, trace } = &judged.verdict else { return Vec::new() };
    // A counter that never rises leaves some loop without a bound, and where no agent is alive none ends: these runs only lead to
    // what a finding is about.
    let is_whole = |code: &str| !matches!(code, "C25" | "C63" | "C68");
    let found = findings.iter().filter_map(|it| Some((it.trace.as_ref()?, is_whole(it.code()))));
    found.chain(trace.iter().map(|it| (it, true))).collect()
}

/// Ends the agents that are alive, in this order.
pub(crate) fn end_all(run: &mut WatchedWalk<'_>, order: [Actor; 2]) {
    for agent in order {
        if run.is_alive(agent) {
            let act = Act::End { agent, name: None, ended: WalkEnd::default() };
            run.act(&act, TaskActor::Person, false).map_or_else(|it| panic!("{}", it.0), drop);
        }
    }
}

/// Takes the steps of a run; says what is not as it tells.
pub(crate) fn replay(
    run: &mut WatchedWalk<'_>,
    steps: &[TraceStep],
    turn: Option<u32>,
) -> Result<(), String> {
    for step in steps {
        for (at, line) in step.script.iter().enumerate() {
            let Ok(Some(Command::Act(mut act))) = Command::parse(line) else {
                return Err(format!("`{line}` is not an act"));
            };
            // In another turn of a loop, this is another text.
            if let (Act::Write { text, .. }, Some(turn)) = (&mut act, turn) {
                *text += &format!("\n<!-- {turn} -->");
            }
            let by_engine = at > 0 && matches!(act, Act::Respawn);
            let author = author(run, &act, &step.script);
            let story = run.act(&act, author, by_engine).map_err(|it| format!("`{line}`: {}", it.0))?;
            if let Some(Happened::Refused { message, .. }) = story.first() {
                return Err(format!("`{line}` is refused: {message}"));
            }
        }
    }
    Ok(())
}

/// Author of an act that writes: the actor that acts next, else an agent that is alive; without one, a person.
fn author(run: &WatchedWalk<'_>, act: &Act, script: &[String]) -> TaskActor {
    let parsed = script.iter().filter_map(|line| Command::parse(line).ok().flatten());
    let actors = parsed.filter_map(|it| {
        let Command::Act(act) = it else { return None };
        match act {
            Act::Request { by, .. } => Some(Actor::built_in(&by).map_or(TaskActor::Program, crate::run::who)),
            Act::End { agent, .. } => Some(crate::run::who(agent)),
            Act::Write { .. }
            | Act::Answer { .. }
            | Act::Checks { .. }
            | Act::Children { .. }
            | Act::Commit { .. }
            | Act::Fact { .. }
            | Act::Elapse { .. }
            | Act::Spawn
            | Act::Respawn
            | Act::Fail { .. }
            | Act::RetryHooks => None,
        }
    });
    let alive = [Actor::Worker, Actor::Reviewer].into_iter().filter(|it| run.is_alive(*it));
    let mut all = actors.chain(alive.map(crate::run::who));
    let is_write = matches!(act, Act::Write { .. });
    all.next().filter(|_| is_write).unwrap_or(TaskActor::Person)
}

/// True if the last steps of a run can be taken again and again, without a person, and each time some transition.
pub(crate) fn goes_round(run: &WatchedWalk<'_>, steps: &[TraceStep]) -> bool {
    (1..=steps.len()).any(|length| {
        let (mut again, turn) = (run.clone(), &steps[steps.len() - length..]);
        (0..4).all(|number| {
            let (status, before) = (again.monitor.status, again.monitor.unattended);
            replay(&mut again, turn, Some(number)).is_ok()
                && again.monitor.status == status
                && again.monitor.unattended > before
        })
    })
}
