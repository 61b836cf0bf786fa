//! Step workflows: their steps, and what these refer to.

use super::budget;
use super::decoder::{Decoder, Field, ObjectFields, shortened};
use super::different::different;
use super::keys::{STEP, STEP_HEADER, STEP_WORKFLOW};
use super::scope::NameTable;
use super::step_number::number;
use super::step_roles::{AgentKeys, RoleDefaults};
use super::step_scope::StepScope;
use super::{
    Execution, Intervene, Permissions, Policy, RoleId, Step, StepCondition, StepId, Steps, header, sandbox,
    step_ask, step_condition, step_fan_out, step_gate, step_program, step_prompt, step_roles, step_values,
};
use crate::catalogue::{B02, B03, B16, B26, B27, Check, S04};
use crate::diag::Diagnostic;
use crate::prompt_files::PromptFiles;
use crate::span::Spanned;
use crate::syntax::limits::{MAX_PROMPTS, exceeded};
use crate::syntax::{Node, NodeKind};

/// The role that everybody has.
pub const ANY: &str = "any";

/// The most completions of a loop step, and ends without a word.
const MAX_TIMES: u16 = 1_000;

/// The most attempts that a cap may allow.
const MAX_ATTEMPTS: u32 = 100_000;

/// The ends without a word that fail a step which does not say how many: as many as the crashes that escalate a task.
const DEFAULT_STUCK_AFTER: u16 = orange_core::DEFAULT_STUCK_AFTER as u16;

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
    let budget = header.get("budget").and_then(|it| budget::budget(decoder, &it));
    let max_attempts = header.get("max_attempts").and_then(|it| number(decoder, &it, 1..=MAX_ATTEMPTS));
    let parallel = step_fan_out::parallel(decoder, &header);
    let declared = header.get("roles").map(|it| words(decoder, &it, "role"));

    let tables: Vec<ObjectFields<'_>> = nodes.iter().filter_map(|it| decoder.object(it, &STEP)).collect();
    let mut scope = StepScope {
        steps: NameTable::default(),
        has_declared_roles: declared.is_some(),
        roles: declared.unwrap_or_default(),
        files,
        inputs: Vec::new(),
        outputs: Vec::new(),
        handles: Vec::new(),
        fan_outs: Vec::new(),
        has_item: true,
    };
    if !scope.roles.iter().any(|it| it.value == ANY) {
        scope.roles.push(Spanned::new(ANY.to_owned(), header.span));
    }
    let tables: Vec<_> = tables.iter().filter(|it| add_name(decoder, &mut scope.steps, it)).collect();
    declare(decoder, &mut scope, &fields, &tables);
    let sandbox = header.get("sandbox").and_then(|it| sandbox::sandbox(decoder, &it));
    let of_roles = fields.get("roles").map(|it| step_roles::roles(decoder, &scope, &it)).unwrap_or_default();
    let mut step = |(table, id): (&&ObjectFields<'_>, u16)| {
        let step = step(decoder, &mut scope, &of_roles, table, StepId(id))?;
        let of_all = sandbox.filter(|_| step.run.is_empty() && step.ask.is_none());
        Some(Step { demand: step.demand.and(sandbox::joined([of_all])), ..step })
    };
    let steps = tables.iter().zip(0..).filter_map(&mut step).collect();
    step_roles::check(decoder, &of_roles, &scope.roles);
    Some(Steps {
        name: name?,
        version,
        description,
        policy,
        notices,
        budget,
        inputs: scope.inputs,
        max_attempts,
        parallel,
        sandbox,
        roles: scope.roles,
        steps,
    })
}

/// Adds what conditions and prompts of any step refer to: inputs, outputs, and which step handles which.
fn declare(
    decoder: &mut Decoder<'_>,
    scope: &mut StepScope<'_>,
    workflow: &ObjectFields<'_>,
    tables: &[&ObjectFields<'_>],
) {
    scope.inputs = workflow.get("inputs").map(|it| step_values::inputs(decoder, &it)).unwrap_or_default();
    scope.handles = vec![None; tables.len()];
    scope.fan_outs = tables.iter().map(|it| it.get("for_each").is_some()).collect();
    for (table, at) in tables.iter().zip(0..) {
        let outputs = table.get("outputs").map(|it| step_values::outputs(decoder, &it));
        scope.outputs.push(outputs.unwrap_or_default());
        let handler = table.get("on_fail").and_then(|it| scope.steps.id(it.value.text()?));
        if let Some(handled) = handler.and_then(|it| scope.handles.get_mut(usize::from(it))) {
            *handled = Some(StepId(at));
        }
    }
    step_ask::check_handlers(decoder, scope, tables);
    for (table, handled) in tables.iter().zip(&scope.handles) {
        if let (Some(field), Some(handled)) = (table.get("outputs"), handled) {
            let name = scope.steps.name(handled.0);
            let message = format!("this step handles `{name}`, and reports its outputs");
            let found = Diagnostic::new(&S04, field.key, message);
            decoder.report(found.help(format!("declare them at `{name}`, and delete `outputs` here")));
        }
    }
}

fn policy(decoder: &mut Decoder<'_>, header: &ObjectFields<'_>) -> Policy {
    let default = Policy::default();
    let execution =
        header.get("execution").and_then(|it| decoder.word(&it, &Execution::ALL.map(|it| (it.as_str(), it))));
    let intervene =
        header.get("intervene").and_then(|it| decoder.word(&it, &Intervene::ALL.map(|it| (it.as_str(), it))));
    Policy {
        execution: execution.map_or(default.execution, |it| it.value),
        intervene: intervene.map_or(default.intervene, |it| it.value),
    }
}

fn list<'n>(decoder: &mut Decoder<'_>, field: &Field<'n>) -> &'n [Node] {
    let items = decoder.list(field);
    if items.is_empty() && matches!(field.value.kind, NodeKind::Sequence(_)) {
        let found = Diagnostic::new(&S04, field.key, "a step workflow has at least one step");
        decoder.report(found.help("add `[[steps]]` with an `id` and a `prompt_file`"));
    }
    if items.len() > MAX_PROMPTS {
        decoder.report(exceeded("steps", MAX_PROMPTS, field.key));
    }
    &items[..items.len().min(MAX_PROMPTS)]
}

/// Adds the name of a step. A second step of one name is reported and left out.
fn add_name<'n>(decoder: &mut Decoder<'_>, steps: &mut NameTable<'n>, fields: &ObjectFields<'n>) -> bool {
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
    header::check_identifier(decoder, &name, "step", "code-review");
    steps.add(name);
    true
}

/// A list of different words.
pub(super) fn words(decoder: &mut Decoder<'_>, field: &Field<'_>, kind: &str) -> Vec<Spanned<String>> {
    let mut items = decoder.list(field);
    if items.len() > MAX_PROMPTS {
        decoder.report(exceeded(field.name, MAX_PROMPTS, field.key));
        items = &items[..MAX_PROMPTS];
    }
    let words = items.iter().filter_map(|item| decoder.string(&field.item(item))).collect();
    let words = different(decoder, words, |it| shortened(it));
    words.iter().for_each(|it| header::check_identifier(decoder, &it.as_str(), kind, "code-review"));
    words
}

fn step(
    decoder: &mut Decoder<'_>,
    scope: &mut StepScope<'_>,
    of_roles: &[RoleDefaults],
    fields: &ObjectFields<'_>,
    id: StepId,
) -> Option<Step> {
    let name = fields.get("id").and_then(|it| decoder.string(&it))?;
    let role = role(decoder, scope, fields);
    let of_role = scope
        .roles
        .get(usize::from(role.value.0))
        .and_then(|role| of_roles.iter().find(|it| it.name.value == role.value));
    let (keys, parts) = of_role.map(|it| (it.agent.clone(), it.parts.clone())).unwrap_or_default();
    scope.has_item = scope.is_fan_out(id);
    let run = step_program::program(decoder, scope, fields, &name);
    let answers = fields.get("ask").and(fields.get("answers")).map(|it| words(decoder, &it, "answer"));
    let (ask, answers) = step_ask::ask(decoder, fields, &name, answers).unzip();
    let has_agent = fields.get("run").or(fields.get("ask")).is_none();
    let agent =
        if has_agent { AgentKeys::of(decoder, fields).with_those_of(&keys) } else { AgentKeys::default() };
    let condition = fields.get("condition").and_then(|it| step_condition::condition(decoder, scope, &it));
    let sends_back = fields.get("requeue").is_some();
    let retries = fields.get("max_retries");
    // A loop with a number that is refused has one all the same: nothing else says that it is missing.
    let refused = retries.as_ref().filter(|_| sends_back).map(|it| Spanned::new(1, it.value.span));
    let max_retries = retries.and_then(|it| number(decoder, &it, 0..=MAX_TIMES)).or(refused);
    let requeue = fields.get("requeue").map(|it| names(decoder, scope, &it, &B27));
    let reads = condition.iter().flat_map(StepCondition::steps);
    let is_loop = max_retries.is_some_and(|it| it.value > 0);
    Some(Step {
        span: fields.span,
        title: fields.get("title").and_then(|it| decoder.string(&it)).map(|it| it.value),
        prompt: step_prompt::prompt(decoder, scope, fields, &name, (&parts, role.span)),
        role,
        run,
        ask,
        gates: step_gate::gates(decoder, scope, fields, &name),
        worktree: step_fan_out::worktree(decoder, fields, &name),
        fan_out: step_fan_out::fan_out(decoder, scope, fields, (id, &name)),
        depends_on: fields.get("depends_on").map(|it| names(decoder, scope, &it, &B02)).unwrap_or_default(),
        outputs: scope.outputs.get(id.index()).cloned().unwrap_or_default(),
        results: answers
            .or_else(|| fields.get("results").map(|it| words(decoder, &it, "result")))
            .unwrap_or_default(),
        requeue: requeue.unwrap_or_else(|| reads.filter(|it| is_loop && it.value != id).collect()),
        condition,
        max_retries,
        on_fail: fields.get("on_fail").and_then(|it| reference(decoder, scope, &it, &B26)),
        harness: agent.harness,
        model: agent.model,
        effort: agent.effort,
        permissions: agent.permissions.unwrap_or(Permissions::Full),
        sandbox: agent.sandbox,
        demand: sandbox::joined([agent.sandbox, keys.sandbox.filter(|_| has_agent)]),
        timeout: fields.get("timeout").and_then(|it| number(decoder, &it, 1..=u32::MAX)).map(|it| it.value),
        stuck_after: fields
            .get("stuck_after")
            .and_then(|it| number(decoder, &it, 1..=MAX_TIMES))
            .map_or(DEFAULT_STUCK_AFTER, |it| it.value),
        independent: fields.get("independent").and_then(|it| decoder.boolean(&it)).unwrap_or(false),
        id: name,
    })
}

/// The role of a step. Where the workflow declares none, each that a step names is one.
fn role(decoder: &mut Decoder<'_>, scope: &mut StepScope<'_>, fields: &ObjectFields<'_>) -> Spanned<RoleId> {
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
            header::check_identifier(decoder, &name.as_str(), "role", "reviewer");
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
    let items = decoder.list(field).iter();
    let names = items.filter_map(|item| reference(decoder, scope, &field.item(item), check)).collect();
    different(decoder, names, |it| scope.steps.name(it.0).to_owned())
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
