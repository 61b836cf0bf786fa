//! Hooks: actions and exactly their parameters.

use orange_core::action::{ParameterKind, SYNC_STRATEGIES, Starts};
use orange_core::wall::GitAccess;
use orange_core::{Action, Actor};

use super::agents;
use super::decoder::{Decoder, Field, ObjectFields};
use super::keys::{ACTIONS, HOOK, INCREMENT_REVIEW_ROUND, Object};
use super::prompts;
use super::reviewers;
use super::sandbox;
use super::scope::Scope;
use super::{AgentSettings, Hook, OnFailure, Permissions, REVIEW_ROUND, Role, Spawn, Value};
use crate::catalogue::{A04, C4D, S04, S09};
use crate::diag::Diagnostic;
use crate::span::Spanned;
use crate::syntax::limits::{MAX_HOOKS, exceeded};
use crate::syntax::{Node, NodeKind, Text};

/// Keys of the frontmatter that no hook may write, since the engine owns them; it owns counters, too.
const ENGINE_KEYS: [&str; 6] = ["status", "workspace", "tmux_session", "workflow", "attention", "id"];

const ROLES: [(&str, Role); 2] = [("worker", Role::Worker), ("reviewer", Role::Reviewer)];
pub(super) const PERMISSIONS: [(&str, Permissions); 2] =
    [("full", Permissions::Full), ("reduced", Permissions::Reduced)];
const ON_FAILURE: [(&str, OnFailure); 2] = [("stop", OnFailure::Stop), ("go-on", OnFailure::GoOn)];

/// The hooks of a transition, in order.
pub(super) fn hooks(decoder: &mut Decoder<'_>, scope: &Scope<'_>, field: &Field<'_>) -> Vec<Hook> {
    let items = decoder.list(field);
    if items.len() > MAX_HOOKS {
        decoder.report(exceeded("hooks", MAX_HOOKS, field.key));
    }
    items.iter().take(MAX_HOOKS).filter_map(|item| hook(decoder, scope, item)).collect()
}

/// The hooks that the `reset` of a transition stands for.
pub(super) fn resets(decoder: &mut Decoder<'_>, scope: &Scope<'_>, field: &Field<'_>) -> Vec<Hook> {
    let counters = decoder.one_or_list(field);
    let counters = counters.iter().filter_map(|it| scope.counter_of(decoder, it));
    counters
        .map(|counter| Hook {
            counter: Some(counter),
            ..Hook::new(Action::Reset, counter.span, counter.span)
        })
        .collect()
}

fn hook(decoder: &mut Decoder<'_>, scope: &Scope<'_>, node: &Node) -> Option<Hook> {
    let named = action_of(decoder, node)?;
    let object = known_action(decoder, &named)?;
    let fields = decoder.object(node, object)?;
    let action = Action::named(object.what).unwrap_or(Action::Increment);
    let mut hook = Hook::new(action, node.span, named.span);
    if let Some(on_failure) = fields.get("on_failure").and_then(|it| decoder.word(&it, &ON_FAILURE)) {
        hook.on_failure = on_failure.value;
    }
    if object.what == INCREMENT_REVIEW_ROUND {
        hook.counter = Some(Spanned::new(REVIEW_ROUND, named.span));
    } else {
        parameters(decoder, scope, &fields, &mut hook)?;
    }
    Some(hook)
}

/// The value of `action`, which says what the other keys may be.
fn action_of<'n>(decoder: &mut Decoder<'_>, node: &'n Node) -> Option<Spanned<&'n str>> {
    let NodeKind::Mapping(entries) = &node.kind else {
        decoder.object(node, &HOOK);
        return None;
    };
    let is_action = |key: &Node| matches!(&key.kind, NodeKind::Scalar(it) if it.text.value == "action");
    match entries.iter().find(|(key, _)| is_action(key)) {
        Some((key, value)) => {
            let text = decoder.text(&Field { name: "action", key: key.span, value })?;
            Some(Spanned::new(text.value.as_str(), value.span))
        }
        None => {
            let span = entries.first().map_or(node.span, |(key, _)| key.span);
            let found = Diagnostic::new(&S09, span, "a hook needs the key `action`");
            let example = "add `action: …`, for example `action: kill_session`";
            let help = decoder.writer().hook_of_keys(entries).unwrap_or_else(|| example.to_owned());
            decoder.report(found.help(help));
            None
        }
    }
}

fn known_action(decoder: &mut Decoder<'_>, named: &Spanned<&str>) -> Option<&'static Object> {
    let object = ACTIONS.iter().find(|it| it.what == named.value);
    if object.is_none() {
        decoder.unknown(&S04, ("action", "actions"), named, ACTIONS.iter().map(|it| it.what));
    }
    object
}

/// Reads the parameters of a hook: `None` where one that its action needs cannot be read.
fn parameters(
    decoder: &mut Decoder<'_>,
    scope: &Scope<'_>,
    fields: &ObjectFields<'_>,
    hook: &mut Hook,
) -> Option<()> {
    let defaults = (Role::Worker, Permissions::Full);
    let (usual, mut permissions) = hook.action.traits().starts.map_or(defaults, Starts::defaults);
    let (mut prompt, mut role, mut agent) = (None, None, AgentSettings::default());
    let (mut reviewer, mut demand) = (None, None);
    let mut is_whole = true;
    for parameter in hook.action.parameters() {
        let is_read = match (parameter.kind, fields.get(parameter.name)) {
            (ParameterKind::Seconds(default), field) => {
                let seconds = field.and_then(|it| at_least_one(decoder, &it));
                hook.timeout = seconds.unwrap_or(default);
                true
            }
            (_, None) => false,
            (ParameterKind::Prompt, Some(field)) => {
                prompt = scope.prompt(decoder, &field, &A04);
                prompt.is_some()
            }
            (ParameterKind::Role, Some(field)) => {
                role = decoder.word(&field, &ROLES).map(|it| it.value);
                role.is_some()
            }
            (ParameterKind::Harness, Some(field)) => {
                agent.harness = agents::harness(decoder, &field);
                agent.harness.is_some()
            }
            (ParameterKind::Model, Some(field)) => {
                agent.model = agents::argument(decoder, &field);
                agent.model.is_some()
            }
            (ParameterKind::Effort, Some(field)) => {
                agent.effort = agents::argument(decoder, &field);
                agent.effort.is_some()
            }
            (ParameterKind::Reviewer, Some(field)) => {
                reviewer = reviewers::name(decoder, &field);
                reviewer.is_some()
            }
            (ParameterKind::Permissions, Some(field)) => {
                decoder.word(&field, &PERMISSIONS).map(|it| permissions = it.value).is_some()
            }
            (ParameterKind::Counter, Some(field)) => {
                hook.counter = scope.counter_of(decoder, &field);
                hook.counter.is_some()
            }
            (ParameterKind::Message, Some(field)) => {
                hook.message = message(decoder, scope, hook.action, &field);
                hook.message.is_some()
            }
            (ParameterKind::Field, Some(field)) => {
                own_field(decoder, scope, &field).map(|it| hook.field = it).is_some()
            }
            (ParameterKind::Value, Some(field)) => {
                decoder.scalar(&field).map(|it| hook.value = it.value).is_some()
            }
            (ParameterKind::SyncStrategy, Some(field)) => {
                let strategy = decoder.word(&field, &SYNC_STRATEGIES.map(|it| (it, it)));
                strategy.map(|it| it.value.clone_into(&mut hook.value)).is_some()
            }
            (ParameterKind::Sandbox, Some(field)) => {
                demand = sandbox::sandbox(decoder, &field);
                demand.is_some()
            }
            (ParameterKind::Argv, Some(field)) => argv(decoder, &field).map(|it| hook.argv = it).is_some(),
        };
        is_whole &= is_read || !parameter.required;
    }
    let may_review = hook.action.parameters().iter().any(|it| it.kind == ParameterKind::Role);
    let implied = agent.harness.as_ref().filter(|_| may_review).and_then(|it| it.value.role());
    let role = role.or(implied).unwrap_or(usual);
    // Without the name, nothing else is found of a reviewer that there is not.
    if let Some(name) = reviewer.take_if(|_| role == Role::Worker) {
        let message = format!("`{}` names a worker, and only reviewers have names", name.value);
        decoder
            .report(Diagnostic::new(&S04, name.span, message).help("delete `name`, or write `as: reviewer`"));
    }
    if let Some(found) = demand.filter(|it| role == Role::Reviewer && it.demand.git == Some(GitAccess::Own)) {
        let message = "a reviewer reads the repository of the project, and has no private one";
        decoder
            .report(Diagnostic::new(&S04, found.span, message).help("write `git: read`, or leave `git` out"));
    }
    hook.spawn = prompt.map(|prompt| Spawn { prompt, role, agent, permissions, reviewer, sandbox: demand });
    is_whole.then_some(())
}

/// The message to an agent or a person: the text itself but for the program's name, unlike a prompt.
fn message(decoder: &mut Decoder<'_>, scope: &Scope<'_>, action: Action, field: &Field<'_>) -> Option<Text> {
    let text = decoder.text(field)?;
    let is_for_agent = action.traits().tells == Some(Actor::Worker);
    let filled_in: &[Value] = if is_for_agent { &[Value::Orange] } else { &[] };
    prompts::without_placeholders(decoder, scope, text, filled_in);
    Some(text.clone())
}

/// A key of the frontmatter that a hook may write.
fn own_field(decoder: &mut Decoder<'_>, scope: &Scope<'_>, field: &Field<'_>) -> Option<String> {
    let field = decoder.string(field)?;
    let is_counter = scope.counter(&field.value).is_some();
    if is_counter || ENGINE_KEYS.contains(&field.value.as_str()) {
        let message = format!("`{}` belongs to the engine; a hook cannot set it", field.value);
        let help = if is_counter { "use `action: increment`" } else { "choose a key of your own" };
        decoder.report(Diagnostic::new(&S04, field.span, message).help(help));
        return None;
    }
    let is_key = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-');
    if field.value.is_empty() || !field.value.chars().all(is_key) {
        let message = format!("`{}` is not a key of a frontmatter", super::decoder::shortened(&field.value));
        decoder.report(Diagnostic::new(&S04, field.span, message).help("use letters, digits, `_` and `-`"));
        return None;
    }
    Some(field.value)
}

/// A number that means nothing when it is 0; then 1 is taken in its place.
pub(super) fn at_least_one(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Option<u32> {
    let number = decoder.integer(field)?;
    if number == 0 {
        let message = format!("`{}: 0` has no meaning", field.name);
        decoder.report(Diagnostic::new(&C4D, field.value.span, message).help("write 1 or more"));
    }
    Some(number.max(1))
}

/// The program and its arguments.
pub(super) fn argv(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Option<Vec<String>> {
    let items = decoder.list(field);
    let argv: Vec<String> =
        items.iter().filter_map(|item| decoder.scalar(&field.item(item))).map(|it| it.value).collect();
    if matches!(field.value.kind, NodeKind::Sequence(_)) && items.is_empty() {
        let found = Diagnostic::new(&S04, field.value.span, "`argv` names no program");
        decoder.report(found.help("write the program and its arguments: `argv: [cargo, test]`"));
    }
    (!argv.is_empty() && argv.len() == items.len()).then_some(argv)
}
