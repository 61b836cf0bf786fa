//! Reading a file of scenarios of a step workflow, collecting every fault in it.

use orange_codegen::catalogue::{S04, S09};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::decoder::{Decoder, Field, Fields};
use orange_codegen::model::keys::{Key, Object, Takes};
use orange_codegen::source::Source;
use orange_codegen::span::{Span, Spanned};
use orange_codegen::syntax::{self, Node};
use orange_core::mission::{MissionStatus, StepStatus};
use orange_core::plan::{Execution, Intervene};

use super::{Expect, NamedAct, Scenario, ScenarioAct};
use crate::missions::Answer;
use crate::plan_walk::{PAUSES, REFUSALS};

const fn key(name: &'static str, takes: Takes, doc: &'static str) -> Key {
    Key { name, required: false, takes, doc }
}

const fn required(name: &'static str, takes: Takes, doc: &'static str) -> Key {
    Key { name, required: true, takes, doc }
}

const EXECUTIONS: Takes = Takes::Word(&["step", "auto"]);
const INTERVENTIONS: Takes = Takes::Word(&["never", "on-warning", "on-error", "always"]);

/// The keys of a file of scenarios.
pub static FILE: Object = Object {
    what: "a file of scenarios",
    keys: &[
        key("workflow", Takes::Text, "The workflow's file; by default the one of the same stem."),
        required("scenarios", Takes::List(&Takes::Object(&SCENARIO)), "The scenarios."),
    ],
};

static SCENARIO: Object = Object {
    what: "a scenario",
    keys: &[
        required("name", Takes::Text, "What it shows."),
        key("execution", EXECUTIONS, "How far the mission goes by itself; the workflow's by default."),
        key("intervene", INTERVENTIONS, "After what it pauses; the workflow's by default."),
        required("steps", Takes::List(&Takes::Object(&ACT)), "What happens, in order."),
    ],
};

static ACT: Object = Object {
    what: "a step of a scenario",
    keys: &[
        key("complete", Takes::Text, "The agent of this step completes it."),
        key("result", Takes::Scalar, "The word that it reports."),
        key("summary", Takes::Scalar, "What it has done."),
        key("warning", Takes::Scalar, "What a person should look at."),
        key("fail", Takes::Text, "The agent of this step reports a failure."),
        key("reason", Takes::Scalar, "Why."),
        key("lose", Takes::Text, "The agent of this step ends without a word."),
        key("by", Takes::Text, "The role of that agent; by default it may be any."),
        key("attempt", Takes::Integer(0), "The attempt of that agent; the current one by default."),
        key("continue", Takes::Boolean, "A person answers the pause."),
        key("pause", Takes::Integer(0), "The number of the pause that they mean."),
        key("accept_failure", Takes::Boolean, "Whether they take the failure as it is."),
        key("execution", EXECUTIONS, "How far the mission goes by itself from then on."),
        key("intervene", INTERVENTIONS, "After what it pauses from then on."),
        key("retry", Takes::Boolean, "A person runs the failed mission again."),
        key("step", Takes::Text, "From this step; by default from every step that has failed."),
        key("cancel", Takes::Boolean, "A person ends the mission."),
        key("expect", Takes::Object(&EXPECT), "What is expected then."),
    ],
};

static EXPECT: Object = Object {
    what: "`expect`",
    keys: &[
        key("status", Takes::Text, "The status of the mission."),
        key("steps", Takes::Map(&Takes::Text), "The statuses of steps."),
        key("context", Takes::Map(&Takes::Scalar), "Texts that contexts of steps contain."),
        key("pause", Takes::Word(&PAUSES), "What the mission's pause is for."),
        key("refusal", Takes::Word(&REFUSALS), "Why the act was refused."),
    ],
};

/// Reads the scenarios of a file, and everything that is wrong with it. Steps that they name must exist when they are run.
pub fn read(source: &Source) -> (Option<Vec<Scenario>>, Vec<Diagnostic>) {
    let (tree, mut found) = syntax::parse(source);
    let Some(tree) = tree else {
        if found.is_empty() {
            let help = "write `scenarios:` and under it one `- name: …` for each";
            found.push(Diagnostic::new(&S09, Span::at(0), "this file is empty").help(help));
        }
        return (None, found);
    };
    let mut decoder = Decoder::new(source);
    let scenarios = decoder.object(&tree, &FILE).map(|fields| {
        let all = items(&mut decoder, &fields, "scenarios");
        all.into_iter().filter_map(|item| scenario(&mut decoder, item)).collect()
    });
    found.extend(decoder.finish());
    (scenarios.filter(|_| found.iter().all(|it| it.level > orange_codegen::Level::Error)), found)
}

fn scenario(decoder: &mut Decoder<'_>, node: &Node) -> Option<Scenario> {
    let fields = decoder.object(node, &SCENARIO)?;
    let name = fields.get("name").and_then(|it| decoder.string(&it));
    let (execution, intervene) = policy(decoder, &fields);
    let acts = items(decoder, &fields, "steps");
    let acts = acts.into_iter().filter_map(|item| scenario_act(decoder, item)).collect();
    Some(Scenario { name: name?, execution, intervene, acts })
}

fn policy(decoder: &mut Decoder<'_>, fields: &Fields<'_>) -> (Option<Execution>, Option<Intervene>) {
    let executions = Execution::ALL.map(|it| (it.as_str(), it));
    let interventions = Intervene::ALL.map(|it| (it.as_str(), it));
    let execution = fields.get("execution").and_then(|it| decoder.word(&it, &executions));
    let intervene = fields.get("intervene").and_then(|it| decoder.word(&it, &interventions));
    (execution.map(|it| it.value), intervene.map(|it| it.value))
}

fn scenario_act(decoder: &mut Decoder<'_>, node: &Node) -> Option<ScenarioAct> {
    let fields = decoder.object(node, &ACT)?;
    let act = act(decoder, &fields);
    let attempt = fields.get("attempt").and_then(|it| decoder.integer(&it));
    let expect = fields.get("expect").and_then(|it| expect(decoder, it.value)).unwrap_or_default();
    let by = fields.get("by").and_then(|it| decoder.string(&it));
    Some(ScenarioAct { span: node.span, act: act?, by, attempt, expect })
}

/// Keys that may stand beside acts, each with those acts.
const BESIDE: [(&str, &[&str]); 10] = [
    ("result", &["complete"]),
    ("summary", &["complete"]),
    ("warning", &["complete"]),
    ("reason", &["fail"]),
    ("by", &["complete", "fail", "lose"]),
    ("attempt", &["complete", "fail", "lose"]),
    ("pause", &["continue"]),
    ("accept_failure", &["continue"]),
    ("execution", &["continue"]),
    ("intervene", &["continue"]),
];

/// Names of the acts that a step can have.
pub const ACTS: [&str; 6] = ["complete", "fail", "lose", "continue", "retry", "cancel"];

/// An item says exactly one thing that happens.
fn act(decoder: &mut Decoder<'_>, fields: &Fields<'_>) -> Option<NamedAct> {
    let said = ACTS.map(|name| fields.get(name));
    let said: Vec<Field<'_>> = said.into_iter().flatten().collect();
    let [one] = &said[..] else {
        let message = match &said[..] {
            [] => "nothing happens in this step",
            _ => "several things happen in this step",
        };
        let help = "write exactly one of `complete`, `fail`, `lose`, `continue`, `retry` and `cancel`";
        decoder.report(Diagnostic::new(&S04, fields.span, message).help(help));
        return None;
    };
    for (key, with) in BESIDE.into_iter().chain([("step", &["retry"][..])]) {
        if let Some(field) = fields.get(key).filter(|_| !with.contains(&one.name)) {
            let message = format!("`{key}` says nothing without `{}`", with.join("` or `"));
            decoder.report(Diagnostic::new(&S04, field.key, message).help(format!("delete `{key}`")));
        }
    }
    let mut text = |key: &str| fields.get(key).and_then(|it| decoder.scalar(&it)).map(|it| it.value);
    let (result, summary, warning, reason) =
        (text("result"), text("summary"), text("warning"), text("reason"));
    match one.name {
        "complete" => Some(NamedAct::Complete {
            step: decoder.string(one)?,
            result,
            summary: summary.unwrap_or_default(),
            warning,
        }),
        "fail" => Some(NamedAct::Fail { step: decoder.string(one)?, reason: reason.unwrap_or_default() }),
        "lose" => decoder.string(one).map(NamedAct::Lose),
        "continue" => {
            let pause = fields.get("pause").and_then(|it| decoder.integer(&it));
            let accept_failure = fields.get("accept_failure").and_then(|it| decoder.boolean(&it));
            let (execution, intervene) = policy(decoder, fields);
            let accept_failure = accept_failure.unwrap_or(false);
            let answer = Answer { pause, accept_failure, execution, intervene };
            is_meant(decoder, one).then_some(NamedAct::Continue(answer))
        }
        "retry" => {
            let step = fields.get("step").and_then(|it| decoder.string(&it));
            is_meant(decoder, one).then_some(NamedAct::Retry(step))
        }
        _ => is_meant(decoder, one).then_some(NamedAct::Cancel),
    }
}

/// True if the item says `true`. `false` is an error: an act that does not happen is not an item.
fn is_meant(decoder: &mut Decoder<'_>, one: &Field<'_>) -> bool {
    let is_meant = decoder.boolean(one);
    if is_meant == Some(false) {
        let message = format!("`{}: false` does nothing", one.name);
        let help = "write `true`, or delete the step";
        decoder.report(Diagnostic::new(&S04, one.value.span, message).help(help));
    }
    is_meant == Some(true)
}

fn expect(decoder: &mut Decoder<'_>, node: &Node) -> Option<Expect> {
    let fields = decoder.object(node, &EXPECT)?;
    let mut word = |key: &str, words: &[&'static str]| {
        let words: Vec<_> = words.iter().map(|it| (*it, *it)).collect();
        fields.get(key).and_then(|it| decoder.word(&it, &words)).map(|it| it.map(str::to_owned))
    };
    let status = word("status", &MissionStatus::ALL.map(MissionStatus::as_str));
    let (pause, refusal) = (word("pause", &PAUSES), word("refusal", &REFUSALS));
    let statuses = StepStatus::ALL.map(|it| (it.as_str(), it.as_str()));
    let steps = entries(decoder, &fields, "steps", |decoder, field| {
        decoder.word(field, &statuses).map(|it| it.map(str::to_owned))
    });
    let context = entries(decoder, &fields, "context", |decoder, field| decoder.scalar(field));
    Some(Expect { status, steps, context, pause, refusal })
}

fn entries(
    decoder: &mut Decoder<'_>,
    fields: &Fields<'_>,
    key: &str,
    read: impl Fn(&mut Decoder<'_>, &Field<'_>) -> Option<Spanned<String>>,
) -> Vec<(Spanned<String>, Spanned<String>)> {
    let Some(field) = fields.get(key) else { return Vec::new() };
    let entries = decoder.names(&field).into_iter();
    let read = entries.filter_map(|entry| {
        let value = Field { name: entry.name.value, key: entry.name.span, value: entry.value };
        Some((entry.name.map(str::to_owned), read(decoder, &value)?))
    });
    read.collect()
}

fn items<'n>(decoder: &mut Decoder<'_>, fields: &Fields<'n>, name: &str) -> Vec<&'n Node> {
    fields.get(name).map(|field| decoder.list(&field).iter().collect()).unwrap_or_default()
}
