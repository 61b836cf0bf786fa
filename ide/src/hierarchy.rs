//! States as callers: the transitions into a state and out of it, and the exit rules that watch over it.

use orange_codegen::Span;
use orange_codegen::model::keys::NameKind;
use orange_codegen::model::{Definition, StateId, Transition, Workflow};

use crate::document::Document;
use crate::names::Location;
use crate::outline::{OutlineKind, outline};
use crate::project::Project;
use crate::workspace::Workspace;

/// A state of a workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatePlace {
    /// Name of the state.
    pub name: String,
    /// The declaration.
    pub span: Span,
    /// The name in the declaration.
    pub named: Span,
}

/// A state from which or to which transitions lead, and the places of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateCall {
    /// The state.
    pub state: StatePlace,
    /// The targets of the transitions, as they are written.
    pub at: Vec<Span>,
}

/// The workflow of the state whose name stands at this byte of one of its files, and the name.
pub fn state_at(
    workspace: &Workspace,
    document: &Document,
    offset: u32,
) -> Option<(std::path::PathBuf, String)> {
    let project = Project::of(workspace, document)?;
    let occurrence = &project.at(&document.path, offset)?.occurrence;
    (occurrence.kind == NameKind::States).then(|| (project.workflow.path.clone(), occurrence.name.clone()))
}

/// A state of a workflow by its name.
pub fn state(document: &Document, name: &str) -> Option<StatePlace> {
    let entries = outline(document).into_iter().filter(|it| it.kind == OutlineKind::State);
    let entry = entries.into_iter().find(|it| it.name == name)?;
    Some(StatePlace { name: entry.name, span: entry.span, named: entry.named })
}

/// The states from which transitions lead to this one.
pub fn incoming(document: &Document, name: &str) -> Vec<StateCall> {
    calls(document, name, |it| (it.to.value, it.from.value))
}

/// The states to which transitions lead from this one.
pub fn outgoing(document: &Document, name: &str) -> Vec<StateCall> {
    calls(document, name, |it| (it.from.value, it.to.value))
}

/// The places at which exit rules say what follows the end of the agent of the state at this byte.
pub fn exit_rules(workspace: &Workspace, document: &Document, offset: u32) -> Vec<Location> {
    let found = state_at(workspace, document, offset);
    let found = found.and_then(|(path, name)| Some((workspace.read(&path)?, name)));
    let Some((workflow, name)) = found else { return Vec::new() };
    let Some(machine) = machine(&workflow) else { return Vec::new() };
    let rules = machine.exit_monitoring.rules.iter();
    let rules = rules.filter(|it| name_of(machine, it.status.value) == Some(name.as_str()));
    let mut found: Vec<Location> =
        rules.map(|it| Location { path: workflow.path.clone(), span: it.status.span }).collect();
    found.sort();
    found.dedup();
    found
}

/// By the other state of each transition of which this one is the first of the pair.
fn calls(
    document: &Document,
    name: &str,
    pair: impl Fn(&Transition) -> (StateId, StateId),
) -> Vec<StateCall> {
    let Some(machine) = machine(document) else { return Vec::new() };
    let mut calls: Vec<StateCall> = Vec::new();
    for transition in &machine.transitions {
        let (this, other) = pair(transition);
        if name_of(machine, this) != Some(name) {
            continue;
        }
        let Some(other) = name_of(machine, other) else { continue };
        match calls.iter_mut().find(|it| it.state.name == other) {
            Some(call) => call.at.push(transition.to.span),
            None => {
                let state = state(document, other);
                calls.extend(state.map(|state| StateCall { state, at: vec![transition.to.span] }));
            }
        }
    }
    calls
}

fn machine(document: &Document) -> Option<&Workflow> {
    match document.compilation.definition()? {
        Definition::Machine(it) => Some(it),
        Definition::Steps(_) => None,
    }
}

fn name_of(machine: &Workflow, id: StateId) -> Option<&str> {
    machine.states.get(usize::from(id.0)).map(|it| it.name.value.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Language;

    const FLOW: &str = "name: flow\ncommands: {cancel: done}\nstates:\n  pending: {}\n  working: {respawn_prompt: work}\n  done: {terminal: true}\n\
        transitions:\n  - {from: pending, to: working, hooks: [{action: spawn_agent, prompt: work}]}\n  - {from: [pending, working], to: done}\n\
        exit_monitoring:\n  rules:\n    - {status: working, action: crash}\nprompts: {work: do it}\n";

    fn opened() -> Workspace {
        let mut workspace = Workspace::default();
        workspace.open("/nowhere/flow.yml".into(), 1, Language::Workflow, FLOW.to_owned());
        workspace
    }

    fn shown(calls: &[StateCall]) -> Vec<(&str, Vec<&str>)> {
        let at = |it: &StateCall| it.at.iter().map(|it| &FLOW[it.range()]).collect();
        calls.iter().map(|it| (it.state.name.as_str(), at(it))).collect()
    }

    #[test]
    fn transitions_are_calls_between_states() {
        let workspace = opened();
        let document = workspace.documents().next().unwrap();
        let into = incoming(document, "done");
        assert_eq!(shown(&into), [("pending", vec!["done"]), ("working", vec!["done"])]);
        let out = outgoing(document, "pending");
        assert_eq!(shown(&out), [("working", vec!["working"]), ("done", vec!["done"])]);
        assert_eq!(&FLOW[out[0].state.named.range()], "working");
        assert_eq!(&FLOW[out[0].state.span.range()], "working: {respawn_prompt: work}");
        assert!(outgoing(document, "done").is_empty() && incoming(document, "nowhere").is_empty());
    }

    #[test]
    fn exit_rules_implement_a_state() {
        let workspace = opened();
        let document = workspace.documents().next().unwrap();
        let at = |text: &str| exit_rules(&workspace, document, FLOW.find(text).unwrap() as u32);
        let rules = at("working: {");
        let rule = FLOW.find("status: working").unwrap() as u32 + 8;
        assert_eq!(rules.iter().map(|it| it.span.start).collect::<Vec<_>>(), [rule]);
        assert!(at("pending: {").is_empty() && at("work: do it").is_empty());
    }
}
