//! Reading a file of scenarios of a step workflow, collecting every fault in it.

use orange_codegen::catalogue::S09;
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::decoder::{Decoder, Field, ObjectFields};
use orange_codegen::model::keys::{MapKeys, NameKind, Object, Takes, key, required};
use orange_codegen::source::Source;
use orange_codegen::span::Spanned;
use orange_codegen::syntax::Node;
use orange_core::mission::{MissionStatus, StepStatus};
use orange_core::plan::{Execution, Intervene};

use super::{NamedAct, PlanExpectation, PlanScenario, ScenarioAct};
use crate::missions::PauseReply;
use crate::plan_walk::{PAUSES, REFUSALS};
use crate::scenario_file::{self, WORKFLOW, entries, is_done, items, one_act, only_beside};

const EXECUTIONS: Takes = Takes::Word(&["step", "auto"]);
const INTERVENTIONS: Takes = Takes::Word(&["never", "on-warning", "on-error", "always"]);

/// The keys of a file of scenarios.
pub static FILE: Object = Object {
    what: "a file of scenarios",
    keys: &[WORKFLOW, required("scenarios", Takes::List(&Takes::Object(&SCENARIO)), "The scenarios.")],
};

const VALUES: Takes = Takes::Map(MapKeys::Known(NameKind::Outputs), &Takes::OneOrList(&Takes::Scalar));
const STEP: Takes = Takes::Name(NameKind::Steps);
const MISSION_STATUSES: [&str; 6] = {
    let mut words = [""; 6];
    let mut at = 0;
    while at < words.len() {
        words[at] = MissionStatus::ALL[at].as_str();
        at += 1;
    }
    words
};
const STEP_STATUSES: [&str; 9] = {
    let mut words = [""; 9];
    let mut at = 0;
    while at < words.len() {
        words[at] = StepStatus::ALL[at].as_str();
        at += 1;
    }
    words
};
const STEP_STATUS: Takes = Takes::Word(&STEP_STATUSES);

const PAUSE: Takes = Takes::Word(PAUSES.split_at(1).1);

static SCENARIO: Object = Object {
    what: "a scenario",
    keys: &[
        required("name", Takes::Text, "What it shows."),
        key("execution", EXECUTIONS, "How far the mission goes by itself; the workflow's by default."),
        key("intervene", INTERVENTIONS, "After what it pauses; the workflow's by default."),
        key("inputs", VALUES, "What the mission is started with; by default the defaults."),
        required("steps", Takes::List(&Takes::Object(&ACT)), "What happens, in order."),
    ],
};

static ACT: Object = Object {
    what: "a step of a scenario",
    keys: &[
        key("complete", STEP, "The agent of this step completes it."),
        key("result", Takes::Name(NameKind::Results), "The word that it reports, or the answer."),
        key("summary", Takes::Scalar, "What it has done."),
        key("warning", Takes::Scalar, "What a person should look at."),
        key("outputs", VALUES, "The outputs that it reports."),
        key("fail", STEP, "The agent of this step reports a failure."),
        key("reason", Takes::Scalar, "Why."),
        key("lose", STEP, "The agent of this step ends without a word."),
        key("answer", STEP, "A person answers the question of this step."),
        key("comment", Takes::Scalar, "What they say about it."),
        key("expire", STEP, "Nobody answers the question of this step in time."),
        key("by", Takes::Name(NameKind::Roles), "The role of that agent; by default it may be any."),
        key("attempt", Takes::Integer(0), "The attempt of that agent; the current one by default."),
        key("continue", Takes::Boolean, "A person answers a pause."),
        key(
            "pause",
            Takes::Integer(0),
            "The number of the pause that they mean; by default the oldest open one.",
        ),
        key("accept_failure", Takes::Boolean, "Whether they take the failure as it is."),
        key("execution", EXECUTIONS, "How far the mission goes by itself from then on."),
        key("intervene", INTERVENTIONS, "After what it pauses from then on."),
        key("retry", Takes::Boolean, "A person runs the failed mission again."),
        key("step", STEP, "From this step; by default from every step that has failed."),
        key("cancel", Takes::Boolean, "A person ends the mission."),
        key("expect", Takes::Object(&EXPECT), "What is expected then."),
    ],
};

static EXPECT: Object = Object {
    what: "`expect`",
    keys: &[
        key("status", Takes::Word(&MISSION_STATUSES), "The status of the mission."),
        key("steps", Takes::Map(MapKeys::Known(NameKind::Steps), &STEP_STATUS), "The statuses of steps."),
        key(
            "context",
            Takes::Map(MapKeys::Known(NameKind::Steps), &Takes::Scalar),
            "Texts that contexts of steps contain.",
        ),
        key("pause", Takes::Word(&PAUSES), "What the mission's oldest open pause is for."),
        key("pauses", Takes::List(&PAUSE), "What its open pauses are for, the oldest first."),
        key("refusal", Takes::Word(&REFUSALS), "Why the act was refused."),
    ],
};

/// Reads the scenarios of a file, and everything that is wrong with it. Steps that they name must exist when they are run.
pub fn read(source: &Source) -> (Option<Vec<PlanScenario>>, Vec<Diagnostic>) {
    scenario_file::read(source, |decoder, tree| {
        let fields = decoder.object(tree, &FILE)?;
        Some(items(decoder, &fields, "scenarios", scenario))
    })
}

fn scenario(decoder: &mut Decoder<'_>, node: &Node) -> Option<PlanScenario> {
    let fields = decoder.object(node, &SCENARIO)?;
    let name = fields.get("name").and_then(|it| decoder.string(&it));
    let (execution, intervene) = policy(decoder, &fields);
    let acts = items(decoder, &fields, "steps", scenario_act);
    let inputs = values(decoder, &fields, "inputs");
    Some(PlanScenario { name: name?, execution, intervene, inputs, acts })
}

/// Values by name as `NAME=VALUE`; of a list, one for each item, and of an empty one `NAME=`.
fn values(decoder: &mut Decoder<'_>, fields: &ObjectFields<'_>, key: &str) -> Vec<String> {
    let Some(field) = fields.get(key) else { return Vec::new() };
    let mut found = Vec::new();
    for entry in decoder.names(&field) {
        let name = entry.name.value;
        let value = Field { name: field.name, key: entry.name.span, value: entry.value };
        let items: Vec<_> = decoder.one_or_list(&value);
        if items.is_empty() {
            found.push(format!("{name}="));
        }
        let texts = items.iter().filter_map(|it| decoder.scalar(it)).map(|it| format!("{name}={}", it.value));
        found.extend(texts.collect::<Vec<_>>());
    }
    found
}

fn policy(decoder: &mut Decoder<'_>, fields: &ObjectFields<'_>) -> (Option<Execution>, Option<Intervene>) {
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
const BESIDE: [(&str, &[&str]); 13] = [
    ("outputs", &["complete"]),
    ("result", &["complete", "answer"]),
    ("comment", &["answer"]),
    ("summary", &["complete"]),
    ("warning", &["complete"]),
    ("reason", &["fail"]),
    ("by", &["complete", "fail", "lose"]),
    ("attempt", &["complete", "fail", "lose", "answer", "expire"]),
    ("pause", &["continue"]),
    ("accept_failure", &["continue"]),
    ("execution", &["continue"]),
    ("intervene", &["continue"]),
    ("step", &["retry"]),
];

/// Names of the acts that a step can have.
pub const ACTS: [&str; 8] = ["complete", "fail", "lose", "answer", "expire", "continue", "retry", "cancel"];

/// An item says exactly one thing that happens.
fn act(decoder: &mut Decoder<'_>, fields: &ObjectFields<'_>) -> Option<NamedAct> {
    let messages = ["nothing happens in this step", "several things happen in this step"];
    let one = &one_act(decoder, fields, &ACTS, messages)?;
    only_beside(decoder, fields, one, &BESIDE);
    let outputs = values(decoder, fields, "outputs");
    let mut text = |key: &str| fields.get(key).and_then(|it| decoder.scalar(&it)).map(|it| it.value);
    let (result, summary, warning, reason, comment) =
        (text("result"), text("summary"), text("warning"), text("reason"), text("comment"));
    match one.name {
        "complete" => Some(NamedAct::Complete {
            step: decoder.string(one)?,
            result,
            summary: summary.unwrap_or_default(),
            warning,
            outputs,
        }),
        "fail" => Some(NamedAct::Fail { step: decoder.string(one)?, reason: reason.unwrap_or_default() }),
        "lose" => decoder.string(one).map(NamedAct::Lose),
        "answer" => {
            let step = decoder.string(one)?;
            if result.is_none() {
                let found = Diagnostic::new(&S09, one.key, "this answer says nothing");
                decoder.report(found.help("add `result`, with the answer"));
            }
            Some(NamedAct::Answer { step, word: result?, comment: comment.unwrap_or_default() })
        }
        "expire" => decoder.string(one).map(NamedAct::Expire),
        "continue" => {
            let pause = fields.get("pause").and_then(|it| decoder.integer(&it));
            let accept_failure = fields.get("accept_failure").and_then(|it| decoder.boolean(&it));
            let (execution, intervene) = policy(decoder, fields);
            let accept_failure = accept_failure.unwrap_or(false);
            let answer = PauseReply { pause, accept_failure, execution, intervene };
            is_done(decoder, one).then_some(NamedAct::Continue(answer))
        }
        "retry" => {
            let step = fields.get("step").and_then(|it| decoder.string(&it));
            is_done(decoder, one).then_some(NamedAct::Retry(step))
        }
        _ => is_done(decoder, one).then_some(NamedAct::Cancel),
    }
}

fn expect(decoder: &mut Decoder<'_>, node: &Node) -> Option<PlanExpectation> {
    let fields = decoder.object(node, &EXPECT)?;
    let mut word = |key: &str, words: &[&'static str]| {
        let words: Vec<_> = words.iter().map(|it| (*it, *it)).collect();
        fields.get(key).and_then(|it| decoder.word(&it, &words)).map(|it| it.map(str::to_owned))
    };
    let status = word("status", &MissionStatus::ALL.map(MissionStatus::as_str));
    let (pause, refusal) = (word("pause", &PAUSES), word("refusal", &REFUSALS));
    let pauses = fields.get("pauses").and_then(|it| pauses(decoder, &it));
    let statuses = StepStatus::ALL.map(|it| (it.as_str(), it.as_str()));
    let steps = entries(decoder, &fields, "steps", |decoder, field| {
        decoder.word(field, &statuses).map(|it| it.map(str::to_owned))
    });
    let context = entries(decoder, &fields, "context", |decoder, field| decoder.scalar(field));
    Some(PlanExpectation { status, steps, context, pause, pauses, refusal })
}

/// Names of the open pauses; an empty list says that there is none.
fn pauses(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Option<Spanned<Vec<String>>> {
    let names: Vec<_> = PAUSES.iter().skip(1).map(|it| (*it, *it)).collect();
    let items = decoder.list(field).iter();
    let read: Option<Vec<_>> = items.map(|it| decoder.word(&field.item(it), &names)).collect();
    let value = read?.into_iter().map(|it| it.value.to_owned()).collect();
    Some(Spanned { value, span: field.value.span })
}
