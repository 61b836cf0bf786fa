//! `orange workflow`: the workflows that tasks and missions can follow, and what each asks of agents.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Display;

use orange_core::plan::{Plan, StepId};
use orange_core::{Commands, Machine, StateId, Workflow};

use crate::Result;
use crate::app::App;
use crate::cmd::answer::{CommandAnswer, table};
use crate::cmd::args::WorkflowCommand;
use crate::machines::WorkflowEntry;
use orange_api::contract::{self, askers, gate_words};
use orange_api::{
    self, DeclaredValue, ListedWorkflow, PlanStep, ShownMachine, ShownPlan, ShownWorkflow, State, Transition,
    WatchRule,
};

pub fn run(app: &App, command: &WorkflowCommand) -> Result<CommandAnswer> {
    match command {
        WorkflowCommand::List => list(&app.machines.all()?),
        WorkflowCommand::Show { name } => show(app.machines.any(name)?),
        WorkflowCommand::Contract { name } => contract(app.machines.named(name)?),
    }
}

/// A workflow that cannot be compiled is listed with the reason, beside the others.
fn list(listed: &[WorkflowEntry]) -> Result<CommandAnswer> {
    let workflows: Vec<_> = listed.iter().map(to_answer).collect();
    let rows: Vec<_> = workflows.iter().map(row).collect();
    let faults = listed.iter().filter_map(|listed| listed.workflow.as_ref().err());
    let text = [table(["WORKFLOW", "VERSION", "STATES", "TRANSITIONS", "STEPS", "HASH", "FILE"], &rows)]
        .into_iter()
        .chain(faults.map(|error| format!("\n{error}")));
    CommandAnswer::of(&workflows, text.collect::<Vec<_>>().join("\n"))
}

fn to_answer(listed: &WorkflowEntry) -> ListedWorkflow<'_> {
    let file = listed.file.as_ref().map(|file| file.display().to_string());
    match &listed.workflow {
        Ok(Workflow::Machine(machine)) => ListedWorkflow::Compiled { workflow: figures(machine), file },
        Ok(Workflow::Plan(plan)) => ListedWorkflow::Plan { plan: plan_figures(plan), file },
        Err(error) => {
            ListedWorkflow::Broken { name: listed.name.as_str().into(), file, error: Cow::Borrowed(error) }
        }
    }
}

fn row(listed: &ListedWorkflow<'_>) -> [String; 7] {
    let none = || "-".to_owned();
    let (name, [version, states, transitions, steps, hash], file) = match listed {
        ListedWorkflow::Compiled { workflow, file } => {
            let orange_api::Workflow { name, version, states, transitions, source_hash, .. } = workflow;
            let figures = [&version as &dyn Display, states, transitions, &"-", source_hash];
            (name.as_str(), figures.map(ToString::to_string), file)
        }
        ListedWorkflow::Plan { plan, file } => {
            let orange_api::Plan { name, version, steps, source_hash, .. } = plan;
            let version = if version.is_empty() { "-" } else { version };
            (
                name.as_str(),
                [version.to_owned(), none(), none(), steps.to_string(), source_hash.clone()],
                file,
            )
        }
        ListedWorkflow::Broken { name, file, .. } => (name.as_ref(), [(); 5].map(|()| none()), file),
    };
    let file = file.clone().unwrap_or_else(|| "compiled in".to_owned());
    [name.to_owned(), version, states, transitions, steps, hash, file]
}

fn show(workflow: Workflow<'static>) -> Result<CommandAnswer> {
    let (shown, text) = match workflow {
        Workflow::Machine(machine) => show_machine(machine),
        Workflow::Plan(plan) => show_plan(plan),
    };
    CommandAnswer::of(&shown, text.join("\n"))
}

fn show_plan(plan: &'static Plan<'static>) -> (ShownWorkflow, Vec<String>) {
    let (execution, intervene) = (plan.policy.execution.as_str(), plan.policy.intervene.as_str());
    let names = |ids: &[StepId]| ids.iter().map(|it| plan.step(*it).id.to_owned()).collect();
    let step = |id: &StepId| {
        let step = plan.step(*id);
        PlanStep {
            id: step.id.into(),
            title: step.title.into(),
            role: plan.role(step.role).into(),
            depends_on: names(step.depends_on),
            condition: step.condition.map(|it| plan.condition_text(&it)),
            results: owned(plan.results_of(*id)),
            outputs: plan.outputs_of(*id).iter().map(DeclaredValue::of_output).collect(),
            max_retries: step.max_retries,
            requeue: names(step.requeue),
            on_fail: step.on_fail.map(|it| plan.step(it).id).map(Into::into),
        }
    };
    let shown = ShownPlan {
        plan: plan_figures(plan),
        execution: plan.policy.execution,
        intervene: plan.policy.intervene,
        notices: plan.notices,
        roles: owned(plan.roles),
        inputs: plan.inputs.iter().map(DeclaredValue::of_input).collect(),
        step_list: plan.order.iter().map(step).collect(),
    };
    let orange_api::Plan { name, version, description, source_hash, .. } = &shown.plan;
    let version = if version.is_empty() { String::new() } else { format!("version {version}, ") };
    let mut text = vec![format!("{name} ({version}{source_hash})")];
    if !description.is_empty() {
        text.push(description.to_owned());
    }
    text.extend(shown.inputs.iter().map(|it| {
        let default = it.default.as_ref().map(|it| format!(", {} by default", it.text())).unwrap_or_default();
        format!("input {}: {}{default}", it.name, it.takes())
    }));
    text.push(format!("A mission pauses as `execution: {execution}` and `intervene: {intervene}` say."));
    text.extend(shown.step_list.iter().flat_map(|it| step_lines(plan, it)));
    (ShownWorkflow::Plan(shown), text)
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn step_lines(plan: &Plan<'_>, step: &PlanStep) -> Vec<String> {
    let PlanStep { id, title, role, depends_on, condition, results, outputs, max_retries, requeue, on_fail } =
        step;
    let about = if title == id { String::new() } else { format!(": {title}") };
    let mut lines = vec![format!("\n{id} ({role}){about}")];
    if !depends_on.is_empty() {
        lines.push(format!("  after {}", depends_on.join(", ")));
    }
    lines.extend(condition.iter().map(|it| format!("  when {it}")));
    let handled = plan.step_named(id).and_then(|it| plan.step(it).handles).map(|it| plan.step(it).id);
    lines.extend(handled.map(|it| format!("  when {it} has failed")));
    if !results.is_empty() {
        lines.push(format!("  reports {}", results.join(" or ")));
    }
    lines.extend(outputs.iter().map(|it| format!("  reports {}: {}", it.name, it.takes())));
    if *max_retries > 0 {
        let times = if *max_retries == 1 { "once".to_owned() } else { format!("{max_retries} times") };
        lines.push(format!("  sends back {}, at most {times}", requeue.join(", ")));
    }
    lines.extend(on_fail.iter().map(|it| format!("  its failure leads to {it}")));
    lines
}

fn show_machine(machine: &'static Machine<'static>) -> (ShownWorkflow, Vec<String>) {
    let shown = ShownMachine {
        workflow: figures(machine),
        state_list: machine.state_ids().map(|id| state(machine, id)).collect(),
        transition_list: machine.transitions.iter().map(|it| transition(machine, it)).collect(),
        watch_list: machine.watch.iter().map(|it| watch_rule(machine, it)).collect(),
        commands: commands(machine),
    };
    let orange_api::Workflow { name, version, description, source_hash, .. } = &shown.workflow;
    let mut text = vec![format!("{name} (version {version}, {source_hash})")];
    if !description.is_empty() {
        text.push(description.to_owned());
    }
    for state in &shown.state_list {
        text.push(format!("\n{}", described(state)));
        let leaving = shown.transition_list.iter().filter(|it| it.from == state.name);
        text.extend(leaving.map(|it| format!("  → {}", conditions(it))));
        let watched = shown.watch_list.iter().filter(|it| it.status == state.name);
        text.extend(watched.map(|it| format!("  on {}", watched_line(it))));
    }
    (ShownWorkflow::Machine(shown), text)
}

/// The state that each command leads to, if there is one.
fn commands(machine: &'static Machine<'static>) -> BTreeMap<String, String> {
    let Commands { spawn, clarify, review, merge, cancel, crash } = machine.commands;
    let all = [
        ("spawn", spawn),
        ("clarify", clarify),
        ("review", review),
        ("merge", merge),
        ("cancel", cancel),
        ("crash", crash),
    ];
    all.into_iter()
        .filter_map(|(name, state)| Some((name.to_owned(), machine.state(state?).name.to_owned())))
        .collect()
}

/// Contract of a workflow: what agents must write and run, status by status.
fn contract(machine: &Machine<'_>) -> Result<CommandAnswer> {
    let head = format!(
        "What `{}` asks of agents. A request that is not listed here is refused and changes nothing.",
        machine.name
    );
    let contract = contract::of(machine);
    CommandAnswer::of(&contract, format!("{head}\n\n{}", contract::text(&contract)))
}

fn plan_figures(plan: &'static Plan<'static>) -> orange_api::Plan {
    orange_api::Plan {
        name: plan.name.into(),
        version: plan.version.into(),
        description: plan.description.into(),
        steps: plan.steps.len(),
        source_hash: plan.source_hash.into(),
    }
}

fn figures(machine: &'static Machine<'static>) -> orange_api::Workflow {
    orange_api::Workflow {
        name: machine.name.into(),
        version: machine.version,
        description: machine.description.into(),
        states: machine.states.len(),
        transitions: machine.transitions.len(),
        guards: machine.transitions.iter().filter(|it| it.guard.is_some()).count(),
        source_hash: machine.source_hash.into(),
        prompts_hash: machine.prompts_hash.into(),
    }
}

fn state(machine: &'static Machine<'static>, id: StateId) -> State {
    let state = machine.state(id);
    State {
        name: state.name.into(),
        initial: id == machine.initial,
        terminal: state.terminal,
        entry: state.entry,
        waits_for_human: state.waits_for_human,
        waits_for: machine.waits_for(id),
        respawnable: state.respawn.is_some(),
    }
}

fn transition(machine: &'static Machine<'static>, it: &orange_core::Transition<'static>) -> Transition {
    Transition {
        from: machine.state(it.from).name.into(),
        to: machine.state(it.to).name.into(),
        by: askers(machine, it.by),
        cause: it.cause.map(|cause| cause.as_str().to_owned()),
        guard: it.guard.map(|guard| guard.text).map(Into::into),
        gate: gate_words(it.gates),
        hooks: it.hooks.iter().map(|hook| hook.name().to_owned()).collect(),
    }
}

fn watch_rule(machine: &'static Machine<'static>, it: &orange_core::WatchRule<'static>) -> WatchRule {
    WatchRule {
        status: machine.state(it.state).name.into(),
        fact: it.fact.to_string(),
        guard: it.guard.map(|guard| guard.text.to_owned()),
        rerun: it.rerun,
        then: it.outcome.targets().map(|to| machine.state(to).name.to_owned()).collect(),
    }
}

fn watched_line(rule: &WatchRule) -> String {
    let when = rule.guard.as_ref().map(|guard| format!("  when {guard}")).unwrap_or_default();
    let rerun = if rule.rerun > 0 { format!("  rerun {}", rule.rerun) } else { String::new() };
    format!("{}{when}{rerun} → {}", rule.fact, rule.then.join(" or "))
}

fn described(state: &State) -> String {
    let note = |holds: bool, note: &str| holds.then(|| note.to_owned());
    let notes = [
        note(state.initial, "initial"),
        note(state.terminal, "final"),
        state.waits_for.as_ref().map(|whom| format!("waits for {whom}")),
        note(state.respawnable, "can be respawned"),
    ];
    let notes: Vec<_> = notes.into_iter().flatten().collect();
    if notes.is_empty() { state.name.to_owned() } else { format!("{} ({})", state.name, notes.join(", ")) }
}

fn conditions(transition: &Transition) -> String {
    let Transition { to, cause, guard, gate, hooks, .. } = transition;
    let mut text = (*to).to_owned();
    text.extend(cause.iter().map(|cause| format!("  for {cause}")));
    text.extend(guard.iter().map(|guard| format!("  when {guard}")));
    text.extend(gate.iter().map(|gate| format!("  needs {gate}")));
    if !hooks.is_empty() {
        text += &format!("  [{}]", hooks.join(", "));
    }
    text
}
