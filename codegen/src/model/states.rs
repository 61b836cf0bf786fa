//! States, and which of them a task may be created in.

use orange_core::{DelegateInto, Delegates};

use super::agents;
use super::budget;
use super::decoder::{Decoder, Field, NamedEntry, ObjectFields};
use super::gate::flag;
use super::hooks::at_least_one;
use super::keys::{DELEGATES, STATE};
use super::sandbox;
use super::scope::Scope;
use super::{AgentSettings, Condition, Ending, ExitRule, MAX_RESUME_AFTER, Outcome, State, StateId, Wait};
use crate::catalogue::{A05, A06, S04, S09};
use crate::diag::Diagnostic;
use crate::span::{Span, Spanned};

/// The `delegates` of a state.
#[derive(Clone, Debug)]
pub struct StateDelegates {
    /// The key and its value.
    pub span: Span,
    /// The most tasks that a task may create; at least 1.
    pub most: u32,
    /// The deepest level of a created task; at least 1.
    pub depth: u32,
    /// The workflow of the created tasks.
    pub workflow: Option<String>,
    /// The branch into which their work is merged.
    pub into: DelegateInto,
}
use crate::syntax::NodeKind;

/// The states that tasks are created in where none is marked, beside the initial one.
const USUAL_ENTRIES: [&str; 3] = ["clarification", "agent-review", "reviewing"];

/// The states, in the order of the scope's table.
pub(super) fn states(decoder: &mut Decoder<'_>, scope: &Scope<'_>, entries: &[NamedEntry<'_>]) -> Vec<State> {
    (0..).map(StateId).zip(entries).map(|(id, entry)| state(decoder, scope, id, entry)).collect()
}

/// Marks the usual entry states when the author marked none.
pub(super) fn mark_entries(states: &mut [State], initial: usize) {
    if states.iter().any(|state| state.entry) {
        return;
    }
    for (at, state) in states.iter_mut().enumerate() {
        state.entry = at == initial || USUAL_ENTRIES.contains(&state.name.value.as_str());
    }
}

/// The exit rule that `timeout` and `on_timeout` stand for.
fn timeout(
    decoder: &mut Decoder<'_>,
    scope: &Scope<'_>,
    id: StateId,
    name: Span,
    fields: &ObjectFields<'_>,
) -> Option<ExitRule> {
    let (timeout, then) = (fields.get("timeout"), fields.get("on_timeout"));
    let Some(timeout) = timeout else {
        report_lonely(decoder, &then?, "timeout", "timeout: 2h");
        return None;
    };
    let after = duration(decoder, &timeout);
    let outcome = match then.filter(|then| !is_notify(then)) {
        Some(then) => Outcome::Then(scope.state(decoder, &then, &A06)?),
        None => Outcome::MarkDead,
    };
    let span = timeout.key.to(timeout.value.span);
    let ending = Ending { span, codes: Vec::new(), signals: Vec::new(), output: None, after: Some(after?) };
    let status = Spanned::new(id, name);
    Some(ExitRule { span, status, condition: Condition::Ended(ending), outcome })
}

/// Reports `on_timeout` or `on_budget` without the key that says when.
fn report_lonely(decoder: &mut Decoder<'_>, then: &Field<'_>, when: &str, example: &str) {
    let key = then.name;
    let found = Diagnostic::new(&S09, then.key, format!("`{key}` says what follows, and no `{when}` when"));
    decoder.report(found.help(format!("add `{example}`, or delete `{key}`")));
}

/// The exit rule that `on_budget` stands for.
fn spent(
    decoder: &mut Decoder<'_>,
    scope: &Scope<'_>,
    id: StateId,
    name: Span,
    fields: &ObjectFields<'_>,
) -> Option<ExitRule> {
    let then = fields.get("on_budget")?;
    if fields.get("budget").is_none() {
        report_lonely(decoder, &then, "budget", "budget: {cost: 5.00}");
        return None;
    }
    let span = then.key.to(then.value.span);
    let outcome = Outcome::Then(scope.state(decoder, &then, &A06)?);
    Some(ExitRule { span, status: Spanned::new(id, name), condition: Condition::Spent, outcome })
}

/// True if a value asks for a notice in the place of a state.
pub(super) fn is_notify(field: &Field<'_>) -> bool {
    matches!(&field.value.kind, NodeKind::Scalar(it) if it.text.value == "notify")
}

/// A whole number of seconds, minutes, hours or days: `90s`.
pub(super) fn duration(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Option<u32> {
    let text = decoder.scalar(field)?;
    let digits = text.value.trim_end_matches(|it: char| !it.is_ascii_digit());
    let unit = match &text.value[digits.len()..] {
        "s" => Some(1),
        "m" => Some(60),
        "h" => Some(3600),
        "d" => Some(86_400),
        _ => None,
    };
    let seconds = unit.zip(digits.parse::<u32>().ok()).and_then(|(unit, number)| number.checked_mul(unit));
    let fits = seconds.filter(|seconds| (1..=MAX_RESUME_AFTER).contains(seconds));
    if fits.is_none() {
        let message = format!("`{}: {}` is not a time up to a week", field.name, text.value);
        let found = Diagnostic::new(&S04, field.value.span, message);
        decoder.report(found.help("write a number and its unit: `90s`, `20m`, `2h`, `1d`"));
    }
    fits
}

fn state(decoder: &mut Decoder<'_>, scope: &Scope<'_>, id: StateId, entry: &NamedEntry<'_>) -> State {
    let name = entry.name.map(str::to_owned);
    let nothing = matches!(&entry.value.kind, NodeKind::Scalar(it) if it.is_null());
    let fields = if nothing { None } else { decoder.object(entry.value, &STATE) };
    let Some(fields) = fields else {
        return State {
            name,
            terminal: false,
            respawn_prompt: None,
            description: None,
            wait: None,
            entry: false,
            timeout: None,
            budget: None,
            spent: None,
            agent: AgentSettings::default(),
            sandbox: None,
            delegates: None,
        };
    };
    State {
        name,
        terminal: flag(decoder, &fields, "terminal"),
        respawn_prompt: fields.get("respawn_prompt").and_then(|it| scope.prompt(decoder, &it, &A05)),
        description: fields
            .get("description")
            .and_then(|it| decoder.string(&it))
            .map(|it: Spanned<String>| it.value),
        wait: fields.get("wait").and_then(|it| decoder.word(&it, &[("human", Wait::Human)])),
        entry: flag(decoder, &fields, "entry"),
        timeout: timeout(decoder, scope, id, entry.name.span, &fields),
        budget: fields.get("budget").and_then(|it| budget::budget(decoder, &it)),
        spent: spent(decoder, scope, id, entry.name.span, &fields),
        agent: fields.get("agent").map_or_else(AgentSettings::default, |it| agents::agent(decoder, &it)),
        sandbox: fields.get("sandbox").and_then(|it| sandbox::sandbox(decoder, &it)),
        delegates: fields.get("delegates").and_then(|it| delegates(decoder, &it)),
    }
}

fn delegates(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Option<StateDelegates> {
    let fields = decoder.object(field.value, &DELEGATES)?;
    let words = DelegateInto::ALL.map(|it| (it.as_str(), it));
    let most = fields.get("most").and_then(|it| at_least_one(decoder, &it));
    let depth = fields.get("depth").map(|it| at_least_one(decoder, &it));
    let into = fields.get("into").map(|it| decoder.word(&it, &words));
    Some(StateDelegates {
        span: field.key.to(field.value.span),
        most: most?,
        depth: depth.unwrap_or(Some(Delegates::DEPTH))?,
        workflow: fields.get("workflow").and_then(|it| decoder.string(&it)).map(|it| it.value),
        into: into.map_or(Some(DelegateInto::Parent), |it| it.map(|it| it.value))?,
    })
}
