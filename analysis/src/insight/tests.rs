//! Facts about the parts of a workflow.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use orange_codegen::lower::{Arena, lower};
use orange_codegen::{Diagnostic, PromptFiles, Source, compile};

use super::{Insight, of};
use crate::lint;
use crate::search::{Cut, Search, SearchLimits};

const DEFAULT: &str = include_str!("../../../workflows/default.yml");
const STEPS: &str = include_str!("../../../workflows/dev-task.toml");

fn source(path: &str, text: &str) -> Source {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workflows");
    Source::new(path, text).with_files(PromptFiles::Folder(folder))
}

#[track_caller]
fn insight(path: &str, text: &str) -> Insight {
    let source = source(path, text);
    of(&source, &compile(&source), &SearchLimits::default()).expect("nobody stops it")
}

#[test]
fn nothing_is_known_of_a_search_that_somebody_has_stopped() {
    let stop = AtomicBool::new(true);
    let limits = SearchLimits { stop: Some(&stop), ..SearchLimits::default() };
    for (path, text) in [("default.yml", DEFAULT), ("dev-task.toml", STEPS)] {
        let source = source(path, text);
        let compilation = compile(&source);
        assert!(of(&source, &compilation, &limits).is_none());
        let found = lint::findings_within(compilation.checked.as_ref().expect("sound"), &source, &limits);
        assert_eq!(found.iter().map(Diagnostic::code).collect::<Vec<_>>(), ["A10"]);
    }
}

#[test]
fn a_search_is_stopped_after_one_configuration() {
    let stop = AtomicBool::new(true);
    let limits = SearchLimits { stop: Some(&stop), ..SearchLimits::default() };
    let compilation = compile(&source("default.yml", DEFAULT));
    let arena = Arena::default();
    let machine = lower(compilation.checked.as_ref().expect("sound"), &arena).expect("a state machine");
    let search = Search::within(&machine, &limits);
    assert_eq!(search.cut(), Some(Cut::Stopped));
    assert!(search.configurations().skip(1).all(|(id, _)| search.edges_from(id).is_empty()));
}

#[test]
fn states_have_their_agents_counters_and_runs() {
    let insight = insight("default.yml", DEFAULT);
    let machine = insight.machine().expect("a state machine");
    let review = machine.state("agent-review").expect("a state");
    let range = review.counters.iter().find(|it| it.counter == "review_round").expect("a range");
    assert_eq!((range.least, range.most, range.or_more), (0, 2, true));
    assert!(review.agents.iter().any(|it| it.agent == orange_core::Actor::Reviewer && !it.is_always));
    let states: Vec<&str> = review.run.as_ref().expect("a run").states();
    assert_eq!(states.last(), Some(&"agent-review"));
    assert!(machine.states.iter().all(|it| it.is_reached == Some(true)));
    assert!(machine.transitions.iter().all(|it| it.fires == Some(true) && !it.by.is_empty()));
    assert!(machine.transitions.iter().any(|it| it.most == Some(2)));
    assert!(machine.rules.iter().all(|it| it.decides == Some(true)));
}

#[test]
fn what_no_run_reaches_is_known_too() {
    let text = "\
name: flow
states: {working: {}, lost: {}, done: {terminal: true}, cancelled: {terminal: true}}
transitions:
- {from: working, to: [done, cancelled]}
- {from: lost, to: done}
exit_monitoring: {rules: [{status: lost, action: mark_dead}]}
";
    let insight = insight("flow.yml", text);
    let machine = insight.machine().expect("a state machine");
    let lost = machine.state("lost").expect("a state");
    assert_eq!((lost.is_reached, &lost.run, &lost.counters[..]), (Some(false), &None, &[][..]));
    let fires: Vec<_> = machine.transitions.iter().map(|it| (it.to.as_str(), it.fires)).collect();
    assert_eq!(fires, [("done", Some(true)), ("cancelled", Some(true)), ("done", Some(false))]);
    assert_eq!(machine.rules[0].decides, Some(false));
}

#[test]
fn steps_have_their_attempts_and_readers() {
    let insight = insight("dev-task.toml", STEPS);
    let steps = &insight.steps().expect("steps").steps;
    assert!(steps.iter().all(|it| it.runs == Some(true) && it.most.is_some() && it.run.is_some()));
    assert!(steps.iter().any(|it| it.readers.iter().any(|it| it.field == "result" && it.value.is_some())));
    assert!(steps.iter().any(|it| it.readers.iter().any(|it| it.field == "summary" && it.value.is_none())));
}

#[test]
fn a_workflow_with_errors_has_the_findings_alone() {
    let insight = insight("flow.yml", "name: flow\nstates: {a: {}}\ntransitions: [{from: a, to: b}]\n");
    assert!(!insight.findings.is_empty());
    assert!(insight.known.as_ref().is_err_and(Vec::is_empty));
}

/// An editor keeps it on another thread.
const _: fn() = || {
    fn is_shared<T: Send + Sync + 'static>() {}
    is_shared::<Insight>();
};
