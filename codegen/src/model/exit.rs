//! Exit rules: what happens when an agent has died.

use super::decoder::{Decoder, Field, ObjectFields};
use super::ending;
use super::gate::{flag, gates};
use super::hooks::at_least_one;
use super::keys::{CLAUSE, EXIT_MONITORING, EXIT_RULE};
use super::scope::Scope;
use super::{
    Clause, Condition, DEFAULT_STUCK_AFTER, Ending, ExitMonitoring, ExitRule, Gate, MAX_RESUME_AFTER,
    Outcome, SectionGate, StateId,
};
use crate::catalogue::{A06, C4D, Level, S04, S09};
use crate::diag::Diagnostic;
use crate::guard::Guard;
use crate::span::{Span, Spanned};
use crate::syntax::{Node, NodeKind};

impl ExitRule {
    /// Its name in messages to the author.
    pub fn what(&self) -> &'static str {
        match &self.condition {
            Condition::Overdue(_) => "deadline",
            Condition::Spent => "budget",
            Condition::Ended(Ending { after: Some(_), .. }) => "timeout",
            Condition::Ended(_) | Condition::HasArtifact(_) | Condition::NoArtifact | Condition::Always => {
                "exit rule"
            }
        }
    }
}

impl Condition {
    /// Its requirements on sections.
    pub fn section_gates(&self) -> impl Iterator<Item = &SectionGate> {
        self.gates().iter().flat_map(Gate::sections)
    }

    /// The gates that it asks for.
    pub fn gates(&self) -> &[Gate] {
        match self {
            Self::HasArtifact(gates) => gates,
            Self::NoArtifact | Self::Ended(_) | Self::Overdue(_) | Self::Spent | Self::Always => &[],
        }
    }
}

/// Seconds between two looks of the monitor where the workflow does not say.
const DEFAULT_POLL_INTERVAL: u32 = 30;

impl Outcome {
    /// The states that it may lead to, in source order; the crash state is not among them.
    pub fn targets(&self) -> impl Iterator<Item = StateId> {
        let (one, clauses): (_, &[Clause]) = match self {
            Self::Then(to) => (Some(to.value), &[]),
            Self::ThenWhen(clauses) => (None, clauses),
            Self::Crash { .. } | Self::MarkDead | Self::Wait { .. } => (None, &[]),
        };
        one.into_iter().chain(clauses.iter().map(|it| it.then.value))
    }
}

#[derive(Clone, Copy)]
enum RuleAction {
    Crash,
    MarkDead,
    Wait,
}

const RULE_ACTIONS: [(&str, RuleAction); 3] =
    [("crash", RuleAction::Crash), ("mark_dead", RuleAction::MarkDead), ("wait", RuleAction::Wait)];

/// `exit_monitoring`, and what is known of rules that were not understood as a whole.
#[derive(Default)]
pub(super) struct Exits {
    pub(super) monitoring: ExitMonitoring,
    /// The guards of every `then_when` whose clauses were understood, wherever they lead.
    pub(super) choices: Vec<Vec<Guard>>,
}

impl Default for ExitMonitoring {
    fn default() -> Self {
        Self { poll_interval: DEFAULT_POLL_INTERVAL, rules: Vec::new() }
    }
}

/// `exit_monitoring`
pub(super) fn exit_monitoring(decoder: &mut Decoder<'_>, scope: &Scope<'_>, field: &Field<'_>) -> Exits {
    let mut exits = Exits::default();
    let Some(fields) = decoder.object(field.value, &EXIT_MONITORING) else { return exits };
    if let Some(seconds) = fields.get("poll_interval").and_then(|it| at_least_one(decoder, &it)) {
        exits.monitoring.poll_interval = seconds;
    }
    for item in fields.get("rules").map_or(&[][..], |rules| decoder.list(&rules)) {
        let rule = rule(decoder, scope, item, &mut exits.choices);
        exits.monitoring.rules.extend(rule);
    }
    exits
}

fn rule(
    decoder: &mut Decoder<'_>,
    scope: &Scope<'_>,
    node: &Node,
    choices: &mut Vec<Vec<Guard>>,
) -> Option<ExitRule> {
    let fields = decoder.object(node, &EXIT_RULE)?;
    let status = fields.get("status").and_then(|it| scope.some_state(decoder, &it));
    let condition = condition(decoder, scope, &fields);
    let outcome = outcome(decoder, scope, &fields, choices);
    Some(ExitRule { span: node.span, status: status?, condition: condition?, outcome: outcome? })
}

fn condition(decoder: &mut Decoder<'_>, scope: &Scope<'_>, fields: &ObjectFields<'_>) -> Option<Condition> {
    let artifact = fields.get("has_artifact");
    let absent = fields.get("no_artifact");
    let ended = fields.get("exit").or(fields.get("on_output"));
    let given: Vec<Field<'_>> = [artifact, absent, ended].into_iter().flatten().collect();
    for pair in given.windows(2) {
        exclusive(decoder, &pair[0], &pair[1]);
    }
    let no_artifact = flag(decoder, fields, "no_artifact");
    let ending = ended.and_then(|_| ending::ending(decoder, fields));
    match (artifact, ended) {
        (Some(artifact), _) => {
            Some(gates(decoder, scope, &artifact)).filter(|it| !it.is_empty()).map(Condition::HasArtifact)
        }
        (None, Some(_)) => ending.map(Condition::Ended),
        (None, None) if no_artifact => Some(Condition::NoArtifact),
        (None, None) => Some(Condition::Always),
    }
}

fn outcome(
    decoder: &mut Decoder<'_>,
    scope: &Scope<'_>,
    fields: &ObjectFields<'_>,
    choices: &mut Vec<Vec<Guard>>,
) -> Option<Outcome> {
    let given: Vec<Field<'_>> =
        ["then", "then_when", "action"].iter().filter_map(|key| fields.get(key)).collect();
    for pair in given.windows(2) {
        exclusive(decoder, &pair[0], &pair[1]);
    }
    if given.is_empty() {
        let at = fields.get("status").map_or(fields.span, |it| it.key.to(it.value.span));
        let found =
            Diagnostic::new(&S09, at, "an exit rule says what happens: `then`, `then_when` or `action`");
        decoder
            .report(found.help("add `then: STATE`, `action: crash`, `action: mark_dead` or `action: wait`"));
    }
    let then = fields.get("then").and_then(|it| scope.state(decoder, &it, &A06)).map(Outcome::Then);
    let then_when = fields.get("then_when").and_then(|it| then_when(decoder, scope, &it, choices));
    let action = action(decoder, fields);
    (given.len() == 1).then_some(then.or(then_when).or(action))?
}

pub(super) fn then_when(
    decoder: &mut Decoder<'_>,
    scope: &Scope<'_>,
    field: &Field<'_>,
    choices: &mut Vec<Vec<Guard>>,
) -> Option<Outcome> {
    let items = decoder.list(field);
    let clauses: Vec<_> = items.iter().map(|item| clause(decoder, scope, item)).collect();
    if clauses.is_empty() && matches!(field.value.kind, NodeKind::Sequence(_)) {
        let found = Diagnostic::new(&S04, field.value.span, "`then_when` has no clause");
        decoder.report(found.help("add `- {when: …, then: …}`, or write `then: STATE`"));
    }
    // What is exclusive and exhaustive is a question about all clauses, and about guards alone.
    let guards: Option<Vec<Guard>> = clauses.iter().map(|(when, _)| when.clone()).collect();
    choices.extend(guards.filter(|it| !it.is_empty()));
    let clauses: Option<Vec<Clause>> =
        clauses.into_iter().map(|(when, then)| Some(Clause { when: when?, then: then? })).collect();
    clauses.filter(|it| !it.is_empty()).map(Outcome::ThenWhen)
}

fn clause(
    decoder: &mut Decoder<'_>,
    scope: &Scope<'_>,
    node: &Node,
) -> (Option<Guard>, Option<Spanned<StateId>>) {
    let Some(fields) = decoder.object(node, &CLAUSE) else { return (None, None) };
    let when = fields.get("when").and_then(|it| scope.guard(decoder, &it));
    let then = fields.get("then").and_then(|it| scope.state(decoder, &it, &A06));
    (when, then)
}

fn action(decoder: &mut Decoder<'_>, fields: &ObjectFields<'_>) -> Option<Outcome> {
    let action = fields.get("action").and_then(|it| decoder.word(&it, &RULE_ACTIONS));
    let stuck_after = fields.get("stuck_after").and_then(|it| at_least_one(decoder, &it));
    let respawn = flag(decoder, fields, "respawn");
    let resume_after = fields.get("resume_after").and_then(|it| resume_after(decoder, &it));
    match action.map(|it| (it.value, it.span)) {
        Some((RuleAction::Crash, named)) => {
            without(decoder, fields, &OF_WAIT, Some(named));
            let stuck_after = stuck_after.unwrap_or(DEFAULT_STUCK_AFTER);
            if respawn && stuck_after == 1 {
                never_respawns(decoder, fields);
            }
            Some(Outcome::Crash { named, stuck_after, respawn })
        }
        Some((RuleAction::MarkDead, named)) => {
            without(decoder, fields, &OF_CRASH, Some(named));
            without(decoder, fields, &OF_WAIT, Some(named));
            Some(Outcome::MarkDead)
        }
        Some((RuleAction::Wait, named)) => {
            without(decoder, fields, &OF_CRASH, Some(named));
            if fields.get("resume_after").is_none() {
                decoder.missing("resume_after", "`action: wait`", named);
            }
            Some(Outcome::Wait { named, resume_after: resume_after? })
        }
        None if fields.get("action").is_none() => {
            without(decoder, fields, &OF_CRASH, None);
            without(decoder, fields, &OF_WAIT, None);
            None
        }
        None => None,
    }
}

/// The first crash escalates, or calls for a person: no agent is started again before.
fn never_respawns(decoder: &mut Decoder<'_>, fields: &ObjectFields<'_>) {
    let (Some(stuck_after), Some(respawn)) = (fields.get("stuck_after"), fields.get("respawn")) else {
        return;
    };
    let span = stuck_after.key.to(stuck_after.value.span);
    let message = "`stuck_after: 1` leaves nothing to `respawn: true`: the first crash is one too many";
    decoder.report(
        Diagnostic::new(&C4D, span, message)
            .at_level(Level::Warn)
            .label(span, "escalates after the first crash")
            .label(respawn.key.to(respawn.value.span), "starts the agent again before that")
            .help("write `stuck_after: 2` or more, or delete `respawn`"),
    );
}

fn resume_after(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Option<u32> {
    let seconds = at_least_one(decoder, field)?;
    if seconds > MAX_RESUME_AFTER {
        let message = format!("`resume_after: {seconds}` is longer than a week");
        let help = format!("write a number of seconds from 1 to {MAX_RESUME_AFTER}");
        decoder.report(Diagnostic::new(&S04, field.value.span, message).help(help));
    }
    Some(seconds.min(MAX_RESUME_AFTER))
}

/// Keys that one action alone reads: their names, that action, and why no other does.
struct Own {
    keys: &'static [&'static str],
    action: &'static str,
    reason: &'static str,
}

const OF_CRASH: Own =
    Own { keys: &["stuck_after", "respawn"], action: "crash", reason: "this rule counts no crash" };
const OF_WAIT: Own = Own { keys: &["resume_after"], action: "wait", reason: "this rule does not wait" };

fn without(decoder: &mut Decoder<'_>, fields: &ObjectFields<'_>, own: &Own, named: Option<Span>) {
    for field in own.keys.iter().filter_map(|key| fields.get(key)) {
        let message = format!("`{}` belongs to `action: {}`, and {}", field.name, own.action, own.reason);
        let found = Diagnostic::new(&S04, field.key, message).help(format!("delete `{}`", field.name));
        decoder.report(match named {
            Some(named) => found.label(field.key, "has no effect").label(named, "what the rule does"),
            None => found,
        });
    }
}

pub(super) fn exclusive(decoder: &mut Decoder<'_>, first: &Field<'_>, second: &Field<'_>) {
    let message = format!("`{}` and `{}` exclude each other", first.name, second.name);
    decoder.report(
        Diagnostic::new(&S04, second.key, message)
            .label(first.key, "one")
            .label(second.key, "the other")
            .help("delete one of the two, or make two rules of them"),
    );
}
