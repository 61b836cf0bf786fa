//! From the syntax tree to the model: names first, then everything that refers to them.

use super::commands::{self, WrittenCommands};
use super::deadlines;
use super::decoder::{Decoder, Field, NamedEntry, shortened};
use super::gate::flag;
use super::keys::WORKFLOW;
use super::scope::{NameTable, Scope};
use super::transitions::Ends;
use super::verdicts::SectionVerdicts;
use super::{Counter, StateId, Steps, Workflow};
use super::{
    actors, budget, exit, gate, header, prompts, reviewers, sandbox, shapes, states, steps, transitions,
    watch,
};
use crate::catalogue::{S04, S08};
use crate::diag::Diagnostic;
use crate::guard::Guard;
use crate::prompt_files::PromptFiles;
use crate::recognise::WorkflowKind;
use crate::source::Source;
use crate::span::{Span, Spanned};
use crate::syntax::limits::{MAX_COUNTERS, MAX_NAMED_GATES, MAX_PROMPTS, MAX_STATES, exceeded};
use crate::syntax::{Node, NodeKind};

/// A definition as far as it could be understood.
pub enum Draft {
    /// A state machine workflow.
    Machine(Box<MachineDraft>),
    /// A step workflow.
    Steps(Box<Steps>),
}

/// A state machine workflow as far as it could be understood, and what the checks must know about the rest.
pub struct MachineDraft {
    /// The workflow, as far as it was understood.
    pub workflow: Workflow,
    /// The states between which transitions are declared.
    pub ends: Ends,
    /// The guards of every `then_when` whose clauses were understood, wherever they lead.
    pub choices: Vec<Vec<Guard>>,
    /// True if `commands` names a crash state that does not exist.
    pub crash_is_unknown: bool,
}

impl Draft {
    /// The workflow's name.
    pub fn name(&self) -> &Spanned<String> {
        match self {
            Self::Machine(draft) => &draft.workflow.name,
            Self::Steps(steps) => &steps.name,
        }
    }
}

/// Resolves every name of a tree; what does not resolve drops only what depends on it. Gives nothing when not even the
/// beginning could be understood, and adds all that is wrong to `found`.
pub fn resolve(
    tree: &Node,
    source: &Source,
    kind: WorkflowKind,
    found: &mut Vec<Diagnostic>,
) -> Option<Draft> {
    let mut decoder = Decoder::new(source);
    let files = &source.prompt_files;
    let draft = match kind {
        WorkflowKind::Machine => {
            workflow(&mut decoder, tree, files).map(|draft| Draft::Machine(Box::new(draft)))
        }
        WorkflowKind::Steps => steps::steps(&mut decoder, tree, files).map(|it| Draft::Steps(Box::new(it))),
    };
    found.extend(decoder.finish());
    draft
}

/// The finding that a file holds no workflow; its tree, if there is one, says what else it may be.
pub fn no_workflow(span: Span, message: &str, tree: Option<&Node>) -> Diagnostic {
    let help = tree.and_then(shapes::of_another_program).unwrap_or_else(|| {
        "a workflow begins with `name:` and has `states:` and `transitions:`, or in TOML `[workflow]` and `[[steps]]`"
            .to_owned()
    });
    Diagnostic::new(&S08, span, message).help(help)
}

fn workflow(decoder: &mut Decoder<'_>, tree: &Node, files: &PromptFiles) -> Option<MachineDraft> {
    let fields = decoder.object(tree, &WORKFLOW)?;
    let name = header::name(decoder, &fields);
    let version = header::version(decoder, &fields);
    let description = fields.get("description").and_then(|it| decoder.string(&it)).map(|it| it.value);

    let mut scope = Scope::default();
    let state_entries = fields.get("states").map(|it| state_names(decoder, &it)).unwrap_or_default();
    let prompt_entries = fields.get("prompts").map(|it| prompt_names(decoder, &it)).unwrap_or_default();
    add_all(&mut scope.states, &state_entries);
    add_all(&mut scope.prompts, &prompt_entries);
    counters(decoder, &mut scope, fields.get("fields").as_ref());
    scope.actors = fields.get("actors").map(|it| actors::declared(decoder, &it)).unwrap_or_default();
    scope.verdicts = SectionVerdicts::declared(tree);
    let gate_entries = fields.get("gates").map(|it| gate_names(decoder, &it)).unwrap_or_default();
    add_all(&mut scope.gate_names, &gate_entries);
    scope.gates = gate_entries.iter().map(|entry| gate::named(decoder, &scope, entry)).collect();

    let initial = fields.get("initial").and_then(|it| scope.some_state(decoder, &it));
    let initial = initial.map_or(StateId(0), |it| it.value);
    let commands = fields.get("commands").map(|it| commands::written(decoder, &scope, &it));
    let mut states = states::states(decoder, &scope, &state_entries);
    states::mark_entries(&mut states, usize::from(initial.0));
    let mut declared = fields
        .get("transitions")
        .map(|it| transitions::transitions(decoder, &scope, &it))
        .unwrap_or_default();
    let exits = fields.get("exit_monitoring").map(|it| exit::exit_monitoring(decoder, &scope, &it));
    let mut exits = exits.unwrap_or_default();
    let watch = fields.get("watch").map(|it| watch::watch(decoder, &scope, &it, &mut exits.choices));
    let watch = watch.unwrap_or_default();
    let deadlines = fields.get("deadlines").map(|it| deadlines::deadlines(decoder, &scope, &it));
    let deadlines = deadlines.unwrap_or_default();
    exits.monitoring.rules.splice(0..0, deadlines::rules(&states, &deadlines));
    reviewers::assign(&mut declared.transitions, &mut exits.monitoring.rules);
    let prompts = prompts::prompts(decoder, files, &scope, &prompt_entries);

    let commands = commands.unwrap_or_else(WrittenCommands::default);
    let workflow = Workflow {
        name: name.unwrap_or_else(|| Spanned::new(String::new(), fields.span)),
        version,
        description,
        initial,
        unattended: flag(decoder, &fields, "unattended"),
        budget: fields.get("budget").and_then(|it| budget::budget(decoder, &it)),
        sandbox: fields.get("sandbox").and_then(|it| sandbox::sandbox(decoder, &it)),
        commands: commands.resolve(&scope, initial, &declared.transitions),
        counters: scope.counters,
        actors: scope.actors,
        gates: scope.gates,
        states,
        transitions: declared.transitions,
        watch,
        deadlines,
        exit_monitoring: exits.monitoring,
        prompts,
        included: decoder.included().clone(),
    };
    let crash_is_unknown = commands.crash_is_unknown();
    Some(MachineDraft { workflow, ends: declared.ends, choices: exits.choices, crash_is_unknown })
}

fn add_all<'n>(table: &mut NameTable<'n>, entries: &[NamedEntry<'n>]) {
    entries.iter().for_each(|entry| table.add(entry.name));
}

/// The entries of `states`.
fn state_names<'n>(decoder: &mut Decoder<'_>, field: &Field<'n>) -> Vec<NamedEntry<'n>> {
    let mut entries = decoder.names(field);
    if entries.is_empty() && matches!(field.value.kind, NodeKind::Mapping(_)) {
        let found = Diagnostic::new(&S04, field.key, "a workflow has at least one state");
        decoder.report(found.help("add one: `states: {pending: {}}`"));
    }
    truncate(decoder, &mut entries, "states", MAX_STATES, field.key);
    entries.iter().for_each(|it| header::check_identifier(decoder, &it.name, "state", "agent-review"));
    entries
}

fn prompt_names<'n>(decoder: &mut Decoder<'_>, field: &Field<'n>) -> Vec<NamedEntry<'n>> {
    let mut entries = decoder.names(field);
    truncate(decoder, &mut entries, "prompts", MAX_PROMPTS, field.key);
    for NamedEntry { name, .. } in entries.iter().filter(|it| it.name.value.trim().is_empty()) {
        decoder.report(
            Diagnostic::new(&S04, name.span, "a prompt needs a name").help("name what the prompt is for"),
        );
    }
    entries
}

fn gate_names<'n>(decoder: &mut Decoder<'_>, field: &Field<'n>) -> Vec<NamedEntry<'n>> {
    let mut entries = decoder.names(field);
    truncate(decoder, &mut entries, "gates", MAX_NAMED_GATES, field.key);
    entries.iter().for_each(|it| header::check_identifier(decoder, &it.name, "gate", "handoff"));
    entries
}

/// `review_round`, `crash_count`, then what `fields` declares.
fn counters(decoder: &mut Decoder<'_>, scope: &mut Scope<'_>, field: Option<&Field<'_>>) {
    for name in ["review_round", "crash_count"] {
        scope.add_counter(Counter { name: name.to_owned(), start: 0, declared: None });
    }
    let Some(field) = field else { return };
    let mut entries = decoder.names(field);
    truncate(decoder, &mut entries, "counters", MAX_COUNTERS - scope.counters.len(), field.key);
    for NamedEntry { name, value } in entries {
        let start = decoder.integer(&Field { name: name.value, key: name.span, value });
        if scope.counter(name.value).is_some() {
            let message = format!("the counter `{}` is always there", name.value);
            decoder.report(
                Diagnostic::new(&S04, name.span, message).help("delete it from `fields`; it starts at 0"),
            );
            continue;
        }
        if !is_counter_name(name.value) {
            let message = format!("`{}` is not a name for a counter", shortened(name.value));
            decoder.report(
                Diagnostic::new(&S04, name.span, message)
                    .help("a small letter or `_` first, then small letters, digits and `_`: `fix_attempts`"),
            );
        } else if RESERVED.contains(&name.value) {
            let message = format!("the frontmatter of a task has another `{}`", name.value);
            decoder.report(Diagnostic::new(&S04, name.span, message).help("give the counter another name"));
        }
        let (name, declared) = (name.value.to_owned(), Some(name.span));
        scope.add_counter(Counter { name, start: start.unwrap_or(0), declared });
    }
}

/// Keys of a task's frontmatter that are not counters.
const RESERVED: [&str; 14] = [
    "attention",
    "branch",
    "created_at",
    "harness",
    "id",
    "pr_url",
    "project",
    "review_harness",
    "status",
    "summary",
    "tmux_session",
    "updated_at",
    "workflow",
    "workspace",
];

fn is_counter_name(name: &str) -> bool {
    name.starts_with(|it: char| it.is_ascii_lowercase() || it == '_')
        && name.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'_')
}

fn truncate(
    decoder: &mut Decoder<'_>,
    entries: &mut Vec<NamedEntry<'_>>,
    what: &str,
    limit: usize,
    at: Span,
) {
    if entries.len() > limit {
        decoder.report(exceeded(what, limit, at));
        entries.truncate(limit);
    }
}
