//! The run that a finding shows can be walked: over all fixtures, pages and shipped workflows, each step of each trace
//! does what it says, and ends in the state that it names.

#![expect(clippy::expect_used, reason = "a test that cannot read its files has failed")]

mod sources;

use orange_analysis::lint;
use orange_analysis::plan_walk::PlanWalk;
use orange_analysis::plan_walk::command::Command as PlanCommand;
use orange_analysis::walk::command::Command;
use orange_analysis::walk::{Happened, Walk};
use orange_codegen::diag::TraceStep;
use orange_codegen::lower::{Arena, PlanArena, lower, lower_plan};
use orange_codegen::{Diagnostic, Source, Trace, compile};
use orange_core::plan::{Execution, Intervene, Policy};

use self::sources::sources;

/// A section whose heading reads like the beginning of its text.
const COLON: &str = "\
name: colon
states: {pending: {}, working: {}, reviewing: {}, done: {terminal: true}}
transitions:
  - {from: pending, to: working, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: worker}]}
  - {from: working, to: reviewing, gate: {section: '## Done: all', required: true}}
  - {from: reviewing, to: working, hooks: [{action: spawn_agent, prompt: worker}]}
  - {from: reviewing, to: done, hooks: [{action: kill_session}, {action: release_workspace}]}
prompts:
  worker: 'Write ## Done: all, then run: orange task update --status reviewing'
";

/// Replays a trace in a walk; the error says where the two differ.
fn replay(walk: &mut Walk<'_>, trace: &Trace) -> Result<(), String> {
    for (at, step) in trace.steps.iter().enumerate() {
        let story = perform(walk, step)?;
        for happened in &story {
            match happened {
                Happened::Refused { message, .. } => return Err(format!("{step:?} is refused: {message}")),
                Happened::Transitioned { hooks, .. }
                    if !hooks.iter().map(|it| it.hook).eq(step.hooks.iter()) =>
                {
                    return Err(format!("{step:?} runs {hooks:?}"));
                }
                Happened::Wrote { .. }
                | Happened::Transitioned { .. }
                | Happened::Started { .. }
                | Happened::Crashed { .. }
                | Happened::Marked { .. }
                | Happened::HooksWait { .. }
                | Happened::Answers { .. }
                | Happened::WillFail { .. }
                | Happened::Committed { .. }
                | Happened::Over { .. }
                | Happened::Waits { .. } => {}
            }
        }
        let status = walk.machine().state(walk.status()).name;
        let judged_later = trace.steps.get(at + 1).is_some_and(|it| it.script.is_empty());
        if status != step.to && !judged_later {
            return Err(format!("{step:?} comes to `{status}`"));
        }
    }
    Ok(())
}

fn perform(walk: &mut Walk<'_>, step: &TraceStep) -> Result<Vec<Happened>, String> {
    let mut story = Vec::new();
    for line in &step.script {
        match Command::parse(line) {
            Ok(Some(Command::Act(act))) => {
                story.extend(walk.act(&act).map_err(|it| format!("{line}: {}", it.0))?);
            }
            other => return Err(format!("{line} is not an act: {other:?}")),
        }
    }
    Ok(story)
}

#[test]
fn every_trace_of_every_finding_can_be_walked() {
    let (mut replayed, mut wrong) = (0, Vec::new());
    for source in sources("yaml", "yml").into_iter().chain([Source::new("colon.yml", COLON)]) {
        let Some(checked) = compile(&source).checked else { continue };
        let arena = Arena::default();
        let Ok(machine) = lower(&checked, &arena) else { continue };
        for finding in lint::findings(&checked, &source) {
            let Diagnostic { trace: Some(trace), .. } = &finding else { continue };
            let start = machine.state_named(&trace.start).expect("a trace starts in a state");
            let outcome = replay(&mut Walk::at(&machine, start), trace);
            replayed += 1;
            wrong.extend(
                outcome.err().map(|it| format!("{}: {}: {it}\n  {trace}", source.path, finding.message)),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(replayed > 100, "only {replayed} traces");
}

/// Replays the trace of a mission in a walk; the error says where the two differ.
fn replay_mission(walk: &mut PlanWalk<'_>, trace: &Trace) -> Result<(), String> {
    let stand = |walk: &PlanWalk<'_>| match walk.mission.busy() {
        Some(step) => walk.plan.step(step).id.to_owned(),
        None => walk.mission.status.as_str().to_owned(),
    };
    let mut start = stand(walk);
    for step in &trace.steps {
        for line in &step.script {
            match PlanCommand::parse(walk.plan, line) {
                Ok(Some(PlanCommand::Act(act))) => {
                    walk.act(&act, None).map_err(|refusal| format!("{step:?} is refused: {refusal:?}"))?;
                }
                Ok(Some(PlanCommand::Start(inputs))) => {
                    *walk = PlanWalk::with_inputs(walk.plan, walk.mission.policy, inputs);
                    start = stand(walk);
                }
                _ => return Err(format!("{line} is not an act")),
            }
        }
        if start != trace.start {
            return Err(format!("the mission starts at `{start}`"));
        }
        if stand(walk) != step.to {
            return Err(format!("{step:?} comes to `{}`", stand(walk)));
        }
    }
    Ok(())
}

#[test]
fn every_trace_of_a_step_workflow_can_be_walked() {
    let (mut replayed, mut wrong) = (Vec::new(), Vec::new());
    for source in sources("toml", "toml") {
        let Some(checked) = compile(&source).checked else { continue };
        let arena = PlanArena::default();
        let Some(plan) = lower_plan(&checked, &arena) else { continue };
        for finding in lint::findings(&checked, &source) {
            let Diagnostic { trace: Some(trace), .. } = &finding else { continue };
            let policy = Policy { execution: Execution::Auto, intervene: Intervene::Never };
            let outcome = replay_mission(&mut PlanWalk::new(&plan, policy), trace);
            replayed.push(finding.code());
            wrong.extend(
                outcome.err().map(|it| format!("{}: {}: {it}\n  {trace}", source.path, finding.message)),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for code in ["B09", "B10", "B12", "B15"] {
        assert!(replayed.contains(&code), "no trace of {code}: {replayed:?}");
    }
}
