//! Step workflows: their steps, and what these refer to.

use super::decoder::{Decoder, Field, Fields, shortened};
use super::keys::{STEP, STEP_HEADER, STEP_WORKFLOW};
use super::scope::Table;
use super::step_scope::StepScope;
use super::{
    Execution, Intervene, Permissions, Policy, RoleId, Step, StepId, Steps, header, step_condition,
    step_prompt,
};
use crate::catalogue::{B02, B03, B16, B26, B27, Check, S04};
use crate::diag::Diagnostic;
use crate::prompt_files::PromptFiles;
use crate::span::Spanned;
use crate::syntax::limits::{MAX_PROMPTS, exceeded};
use crate::syntax::{Kind, Node};

/// The role that everybody has.
pub const ANY: &str = "any";

/// The most completions of a loop step, and ends without a word.
const MAX_TIMES: u32 = 1_000;

const EXECUTIONS: [(&str, Execution); 2] = [("step", Execution::Step), ("auto", Execution::Auto)];

const INTERVENTIONS: [(&str, Intervene); 4] = [
    ("never", Intervene::Never),
    ("on-warning", Intervene::OnWarning),
    ("on-error", Intervene::OnError),
    ("always", Intervene::Always),
];

const PERMISSIONS: [(&str, Permissions); 2] =
    [("full", Permissions::Full), ("reduced", Permissions::Reduced)];

/// A step workflow.
pub(super) fn steps(decoder: &mut Decoder<'_>, tree: &Node, files: &PromptFiles) -> Option<Steps> {
    let fields = decoder.object(tree, &STEP_WORKFLOW)?;
    let header = fields.get("workflow").and_then(|it| decoder.object(it.value, &STEP_HEADER));
    let nodes = fields.get("steps").map(|it| list(decoder, &it)).unwrap_or_default();
    let header = header?;
    let name = header::name(decoder, &header);
    let version = header.get("version").and_then(|it| decoder.scalar(&it)).map(|it| it.value);
    let description = header.get("description").and_then(|it| decoder.string(&it)).map(|it| it.value);
    let policy = policy(decoder, &header);
    let notices = header.get("notices").is_none_or(|it| decoder.boolean(&it).unwrap_or(true));
    let declared = header.get("roles").map(|it| words(decoder, &it, "role"));

    let tables: Vec<Fields<'_>> = nodes.iter().filter_map(|it| decoder.object(it, &STEP)).collect();
    let mut scope = StepScope {
        steps: Table::default(),
        has_declared_roles: declared.is_some(),
        roles: declared.unwrap_or_default(),
        files,
    };
    if !scope.roles.iter().any(|it| it.value == ANY) {
        scope.roles.push(Spanned::new(ANY.to_owned(), header.span));
    }
    let tables: Vec<_> = tables.iter().filter(|it| add_name(decoder, &mut scope.steps, it)).collect();
    let steps =
        tables.iter().zip(0..).filter_map(|(it, id)| step(decoder, &mut scope, it, StepId(id))).collect();
    Some(Steps { name: name?, version, description, policy, notices, roles: scope.roles, steps })
}

fn policy(decoder: &mut Decoder<'_>, header: &Fields<'_>) -> Policy {
    let default = Policy::default();
    let execution = header.get("execution").and_then(|it| decoder.word(&it, &EXECUTIONS));
    let intervene = header.get("intervene").and_then(|it| decoder.word(&it, &INTERVENTIONS));
    Policy {
        execution: execution.map_or(default.execution, |it| it.value),
        intervene: intervene.map_or(default.intervene, |it| it.value),
    }
}

fn list<'n>(decoder: &mut Decoder<'_>, field: &Field<'n>) -> &'n [Node] {
    let items = decoder.list(field);
    if items.is_empty() && matches!(field.value.kind, Kind::Sequence(_)) {
        let found = Diagnostic::new(&S04, field.key, "a step workflow has at least one step");
        decoder.report(found.help("add `[[steps]]` with an `id` and a `prompt_file`"));
    }
    if items.len() > MAX_PROMPTS {
        decoder.report(exceeded("steps", MAX_PROMPTS, field.key));
    }
    &items[..items.len().min(MAX_PROMPTS)]
}

/// Adds the name of a step. A second step of one name is reported and left out.
fn add_name<'n>(decoder: &mut Decoder<'_>, steps: &mut Table<'n>, fields: &Fields<'n>) -> bool {
    let Some(field) = fields.get("id") else { return false };
    let Some(text) = decoder.text(&field) else { return false };
    let name = Spanned::new(text.value.as_str(), field.value.span);
    if let Some(first) = steps.span(name.value) {
        let message = format!("there are two steps `{}`", shortened(name.value));
        let found = Diagnostic::new(&B03, name.span, message);
        let found = found.label(first, "the first one").label(name.span, "the second one");
        decoder.report(found.help("give one of the two another id"));
        return false;
    }
    is_word(decoder, &name, "step");
    steps.add(name);
    true
}

/// Reports a name that Rust could not spell. It is kept: what refers to it is right.
fn is_word(decoder: &mut Decoder<'_>, name: &Spanned<&str>, kind: &str) {
    let fits = name.value.starts_with(|it: char| it.is_ascii_alphabetic())
        && name.value.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_' || it == b'-');
    if !fits {
        let message = format!("`{}` is no name for a {kind}", shortened(name.value));
        let help =
            "a letter from A to Z or a to z first, then such letters, digits, `_` and `-`: `code-review`";
        decoder.report(Diagnostic::new(&S04, name.span, message).help(help));
    }
}

/// A list of different words.
fn words(decoder: &mut Decoder<'_>, field: &Field<'_>, kind: &str) -> Vec<Spanned<String>> {
    let mut words: Vec<Spanned<String>> = Vec::new();
    for item in decoder.list(field) {
        let Some(word) = decoder.string(&field.item(item)) else { continue };
        is_word(decoder, &word.as_str(), kind);
        match words.iter().find(|it| it.value == word.value) {
            Some(first) => {
                let message = format!("`{}` stands here a second time", shortened(&word.value));
                let found = Diagnostic::new(&S04, word.span, message).label(first.span, "the first one");
                decoder.report(found.label(word.span, "the second one").help("delete one of the two"));
            }
            None => words.push(word),
        }
    }
    words
}

fn step(
    decoder: &mut Decoder<'_>,
    scope: &mut StepScope<'_>,
    fields: &Fields<'_>,
    id: StepId,
) -> Option<Step> {
    let name = fields.get("id").and_then(|it| decoder.string(&it))?;
    let role = role(decoder, scope, fields);
    let condition = fields.get("condition").and_then(|it| step_condition::condition(decoder, scope, &it));
    let max_retries = fields.get("max_retries").and_then(|it| times(decoder, &it));
    let requeue = fields.get("requeue").map(|it| names(decoder, scope, &it, &B27));
    let reads = condition.iter().map(|it| it.step);
    let is_loop = max_retries.is_some_and(|it| it.value > 0);
    Some(Step {
        span: fields.span,
        title: fields.get("title").and_then(|it| decoder.string(&it)).map(|it| it.value),
        role,
        prompt: step_prompt::prompt(decoder, scope.files, fields, &name),
        depends_on: fields.get("depends_on").map(|it| names(decoder, scope, &it, &B02)).unwrap_or_default(),
        results: fields.get("results").map(|it| words(decoder, &it, "result")).unwrap_or_default(),
        requeue: requeue.unwrap_or_else(|| reads.filter(|it| is_loop && it.value != id).collect()),
        condition,
        max_retries,
        on_fail: fields.get("on_fail").and_then(|it| reference(decoder, scope, &it, &B26)),
        harness: fields.get("harness").and_then(|it| decoder.string(&it)),
        permissions: fields
            .get("permissions")
            .and_then(|it| decoder.word(&it, &PERMISSIONS))
            .map_or(Permissions::Full, |it| it.value),
        timeout: fields.get("timeout").and_then(|it| positive(decoder, &it)).map(|it| it.value),
        stuck_after: fields
            .get("stuck_after")
            .and_then(|it| positive(decoder, &it).and_then(|_| times(decoder, &it)))
            .map_or(DEFAULT_STUCK_AFTER, |it| it.value),
        independent: fields.get("independent").and_then(|it| decoder.boolean(&it)).unwrap_or(false),
        id: name,
    })
}

/// The ends without a word that fail a step which does not say how many.
const DEFAULT_STUCK_AFTER: u16 = 2;

/// A number up to 1000.
fn times(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Option<Spanned<u16>> {
    let number = decoder.integer(field)?;
    let times = u16::try_from(number).ok().filter(|it| u32::from(*it) <= MAX_TIMES);
    if times.is_none() {
        let message = format!("`{}` is at most {MAX_TIMES}, and this is {number}", field.name);
        decoder.report(
            Diagnostic::new(&S04, field.value.span, message).help("no loop of agents runs that often"),
        );
    }
    times.map(|times| Spanned::new(times, field.value.span))
}

/// A number from 1.
fn positive(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Option<Spanned<u32>> {
    let number = decoder.integer(field)?;
    if number == 0 {
        let message = format!("`{}` is at least 1", field.name);
        let help = format!("write a larger number, or delete `{}`", field.name);
        decoder.report(Diagnostic::new(&S04, field.value.span, message).help(help));
    }
    (number > 0).then(|| Spanned::new(number, field.value.span))
}

/// The role of a step. Where the workflow declares none, each that a step names is one.
fn role(decoder: &mut Decoder<'_>, scope: &mut StepScope<'_>, fields: &Fields<'_>) -> Spanned<RoleId> {
    let id = |roles: &[Spanned<String>], name: &str| {
        roles.iter().position(|it| it.value == name).map(|index| RoleId(index as u16))
    };
    let any = id(&scope.roles, ANY).unwrap_or(RoleId(0));
    let Some(name) = fields.get("role").and_then(|it| decoder.string(&it)) else {
        return Spanned::new(any, fields.span);
    };
    let found = id(&scope.roles, &name.value);
    match found {
        Some(id) => Spanned::new(id, name.span),
        None if scope.has_declared_roles => {
            let known = scope.roles.iter().map(|it| it.value.as_str());
            decoder.unknown(&B16, ("role", "roles"), &name.as_str(), known);
            Spanned::new(any, name.span)
        }
        None => {
            is_word(decoder, &name.as_str(), "role");
            let id = RoleId(scope.roles.len() as u16);
            let span = name.span;
            scope.roles.push(name);
            Spanned::new(id, span)
        }
    }
}

fn names(
    decoder: &mut Decoder<'_>,
    scope: &StepScope<'_>,
    field: &Field<'_>,
    check: &'static Check,
) -> Vec<Spanned<StepId>> {
    let mut names: Vec<Spanned<StepId>> = Vec::new();
    for item in decoder.list(field) {
        let Some(step) = reference(decoder, scope, &field.item(item), check) else { continue };
        match names.iter().find(|it| it.value == step.value) {
            Some(first) => {
                let message = format!("`{}` stands here a second time", scope.steps.name(step.value.0));
                let found = Diagnostic::new(&S04, step.span, message).label(first.span, "the first one");
                decoder.report(found.label(step.span, "the second one").help("delete one of the two"));
            }
            None => names.push(step),
        }
    }
    names
}

/// The step that a value names; `check` says what an unknown one is called here.
fn reference(
    decoder: &mut Decoder<'_>,
    scope: &StepScope<'_>,
    field: &Field<'_>,
    check: &'static Check,
) -> Option<Spanned<StepId>> {
    let name = Spanned::new(decoder.text(field)?.value.as_str(), field.value.span);
    let id = scope.steps.id(name.value);
    if id.is_none() {
        decoder.unknown(check, ("step", "steps"), &name, scope.steps.names());
    }
    id.map(|id| Spanned::new(StepId(id), name.span))
}
