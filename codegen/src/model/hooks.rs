//! Hooks: actions and exactly their parameters.

use super::decoder::{Decoder, Field, Fields};
use super::keys::{ACTIONS, HOOK, Object};
use super::prompts;
use super::scope::Scope;
use super::{Action, CounterId, HarnessOf, Hook, Permissions, REVIEW_ROUND, Spawn, Value};
use crate::catalogue::{A04, S04, S09};
use crate::diag::Diagnostic;
use crate::span::Spanned;
use crate::syntax::limits::{MAX_HOOKS, exceeded};
use crate::syntax::{Kind, Node, Text};

/// Seconds that `run_command` gives a program where the workflow does not say.
const DEFAULT_TIMEOUT: u32 = 60;

/// Keys of the frontmatter that the engine owns (design §6); counters are its own too.
const ENGINE_KEYS: [&str; 6] = ["status", "workspace", "tmux_session", "workflow", "attention", "id"];

const HARNESSES: [(&str, HarnessOf); 2] = [("task", HarnessOf::Task), ("review", HarnessOf::Review)];
const PERMISSIONS: [(&str, Permissions); 2] =
    [("full", Permissions::Full), ("reduced", Permissions::Reduced)];

/// The hooks of a transition, in order.
pub(super) fn hooks(decoder: &mut Decoder<'_>, scope: &Scope<'_>, field: &Field<'_>) -> Vec<Hook> {
    let items = decoder.list(field);
    if items.len() > MAX_HOOKS {
        decoder.report(exceeded("hooks", MAX_HOOKS, field.key));
    }
    items.iter().take(MAX_HOOKS).filter_map(|item| hook(decoder, scope, item)).collect()
}

fn hook(decoder: &mut Decoder<'_>, scope: &Scope<'_>, node: &Node) -> Option<Hook> {
    let named = action_of(decoder, node)?;
    let object = known_action(decoder, &named)?;
    let fields = decoder.object(node, object)?;
    let action = action(decoder, scope, &fields)?;
    Some(Hook { span: node.span, named: named.span, action })
}

/// The value of `action`, which says what the other keys may be.
fn action_of<'n>(decoder: &mut Decoder<'_>, node: &'n Node) -> Option<Spanned<&'n str>> {
    let Kind::Mapping(entries) = &node.kind else {
        decoder.object(node, &HOOK);
        return None;
    };
    let is_action = |key: &Node| matches!(&key.kind, Kind::Scalar(it) if it.text.value == "action");
    match entries.iter().find(|(key, _)| is_action(key)) {
        Some((key, value)) => {
            let text = decoder.text(&Field { name: "action", key: key.span, value })?;
            Some(Spanned::new(text.value.as_str(), value.span))
        }
        None => {
            let span = entries.first().map_or(node.span, |(key, _)| key.span);
            let found = Diagnostic::new(&S09, span, "a hook needs the key `action`");
            decoder.report(found.help("add `action: …`, for example `action: kill_session`"));
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

fn action(decoder: &mut Decoder<'_>, scope: &Scope<'_>, fields: &Fields<'_>) -> Option<Action> {
    Some(match fields.object.what {
        "acquire_workspace" => Action::AcquireWorkspace,
        "release_workspace" => Action::ReleaseWorkspace,
        "spawn_agent" => {
            Action::SpawnAgent(spawn(decoder, scope, fields, HarnessOf::Task, Permissions::Full)?)
        }
        "spawn_reviewer" => {
            Action::SpawnReviewer(spawn(decoder, scope, fields, HarnessOf::Review, Permissions::Reduced)?)
        }
        "kill_session" => Action::KillSession,
        "kill_reviewer" => Action::KillReviewer,
        "notify_worker" => notify_worker(decoder, scope, fields)?,
        "spawn_next" => Action::SpawnNext,
        "push_branch" => Action::PushBranch,
        "create_pr" => Action::CreatePr,
        "delete_remote_branch" => Action::DeleteRemoteBranch,
        "increment" => Action::Increment { field: counter(decoder, scope, fields, "field")? },
        "increment_review_round" => {
            let at = fields.get("action").map_or(fields.span, |it| it.value.span);
            Action::Increment { field: Spanned::new(REVIEW_ROUND, at) }
        }
        "set_field" => set_field(decoder, scope, fields)?,
        "notify" => Action::Notify { message: message(decoder, scope, fields, &[])? },
        "run_command" => run_command(decoder, fields)?,
        // The table has no other; a test decodes every action of it.
        _ => return None,
    })
}

/// A worker that is started in the place of the one that should have got the message runs as workers do.
fn notify_worker(decoder: &mut Decoder<'_>, scope: &Scope<'_>, fields: &Fields<'_>) -> Option<Action> {
    let prompt = match fields.get("prompt") {
        Some(field) => Some(scope.prompt(decoder, &field, &A04)?),
        None => None,
    };
    let (harness, permissions) = (HarnessOf::Task, Permissions::Full);
    let otherwise = prompt.map(|prompt| Spawn { prompt, harness, permissions, increment: None });
    Some(Action::NotifyWorker { message: message(decoder, scope, fields, &[Value::Orange])?, otherwise })
}

fn spawn(
    decoder: &mut Decoder<'_>,
    scope: &Scope<'_>,
    fields: &Fields<'_>,
    harness: HarnessOf,
    permissions: Permissions,
) -> Option<Spawn> {
    let prompt = fields.get("prompt").and_then(|it| scope.prompt(decoder, &it, &A04));
    let harness =
        fields.get("harness").and_then(|it| decoder.word(&it, &HARNESSES)).map_or(harness, |it| it.value);
    let permissions = fields
        .get("permissions")
        .and_then(|it| decoder.word(&it, &PERMISSIONS))
        .map_or(permissions, |it| it.value);
    let increment = counter(decoder, scope, fields, "increment");
    Some(Spawn { prompt: prompt?, harness, permissions, increment })
}

fn counter(
    decoder: &mut Decoder<'_>,
    scope: &Scope<'_>,
    fields: &Fields<'_>,
    key: &str,
) -> Option<Spanned<CounterId>> {
    fields.get(key).and_then(|it| scope.counter_of(decoder, &it))
}

/// The message to an agent or a person: the text itself but for these values, unlike a prompt.
fn message(
    decoder: &mut Decoder<'_>,
    scope: &Scope<'_>,
    fields: &Fields<'_>,
    filled_in: &[Value],
) -> Option<Text> {
    let text = fields.get("message").and_then(|it| decoder.text(&it))?;
    prompts::without_placeholders(decoder, scope, text, filled_in);
    Some(text.clone())
}

fn set_field(decoder: &mut Decoder<'_>, scope: &Scope<'_>, fields: &Fields<'_>) -> Option<Action> {
    let value = fields.get("value").and_then(|it| decoder.scalar(&it));
    let field = fields.get("field").and_then(|it| decoder.string(&it))?;
    let is_counter = scope.counter(&field.value).is_some();
    if is_counter || ENGINE_KEYS.contains(&field.value.as_str()) {
        let message = format!("`{}` belongs to the engine; a hook cannot set it", field.value);
        let help = if is_counter { "use `action: increment`" } else { "choose a key of your own" };
        decoder.report(Diagnostic::new(&S04, field.span, message).help(help));
        return None;
    }
    let is_key = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-');
    if field.value.is_empty() || !field.value.chars().all(is_key) {
        let message = format!("`{}` is no key of a frontmatter", super::decoder::shortened(&field.value));
        decoder.report(Diagnostic::new(&S04, field.span, message).help("use letters, digits, `_` and `-`"));
        return None;
    }
    Some(Action::SetField { field, value: value?.value })
}

fn run_command(decoder: &mut Decoder<'_>, fields: &Fields<'_>) -> Option<Action> {
    let timeout = fields.get("timeout").and_then(|it| super::exit::at_least_one(decoder, &it));
    let field = fields.get("argv")?;
    let items = decoder.list(&field);
    let argv: Vec<String> =
        items.iter().filter_map(|item| decoder.scalar(&field.item(item))).map(|it| it.value).collect();
    if matches!(field.value.kind, Kind::Sequence(_)) && items.is_empty() {
        let found = Diagnostic::new(&S04, field.value.span, "`argv` names no program");
        decoder.report(found.help("write the program and its arguments: `argv: [cargo, test]`"));
    }
    (!argv.is_empty() && argv.len() == items.len())
        .then_some(Action::RunCommand { argv, timeout: timeout.unwrap_or(DEFAULT_TIMEOUT) })
}
