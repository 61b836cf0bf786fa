//! Reading a file of scenarios, collecting every fault in it.

use orange_core::{Actor, Fact, FactKind};

use super::{Expect, GivenTask, Scenario, ScenarioStep, Scenarios};
use crate::scenario_file::{self, WORKFLOW, entries, is_done, items, one_act, only_beside};
use crate::walk::{Act, CHECKS, CHILDREN, WalkEnd};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::decoder::{Decoder, Field, ObjectFields};
use orange_codegen::model::keys::{MapKeys, NameKind, Object, PULL_REQUEST_FACT, Takes, key, required};
use orange_codegen::model::watched_fact;
use orange_codegen::source::Source;
use orange_codegen::span::Spanned;
use orange_codegen::syntax::{self, Node};

const COUNTERS: Takes = Takes::Map(MapKeys::Known(NameKind::Counters), &Takes::Integer(0));
const STATE: Takes = Takes::Name(NameKind::States);
const AGENT: Takes = Takes::Word(&["worker", "reviewer"]);
const AGENTS: Takes = Takes::List(&AGENT);
const NAMES: Takes = Takes::List(&Takes::Name(NameKind::Reviewers));

/// The keys of a file of scenarios.
pub static FILE: Object = Object {
    what: "a file of scenarios",
    keys: &[WORKFLOW, required("scenarios", Takes::List(&Takes::Object(&SCENARIO)), "The scenarios.")],
};

static SCENARIO: Object = Object {
    what: "a scenario",
    keys: &[
        required("name", Takes::Text, "Its name in the output."),
        key("given", Takes::Object(&GIVEN), "The task before the first step."),
        required("steps", Takes::List(&Takes::Object(&STEP)), "The steps, in order."),
    ],
};

static GIVEN: Object = Object {
    what: "`given`",
    keys: &[
        key("status", STATE, "The state of the task; the initial one by default."),
        key("body", Takes::Text, "Its body."),
        key("counters", COUNTERS, "Values of counters."),
        key("agents", AGENTS, "The agents that are alive."),
        key("reviewers", NAMES, "The reviewers with these names, which are alive."),
        key(
            "workspace",
            Takes::Boolean,
            "True if it has a worktree, as with an agent, unless its state says `workspace: none`.",
        ),
    ],
};

static STEP: Object = Object {
    what: "a step",
    keys: &[
        key("spawn", Takes::Boolean, "`orange task spawn`."),
        key("write", Takes::Heading, "The section that is written."),
        key("text", Takes::Text, "Its new text."),
        key("request", STATE, "The requested state."),
        key(
            "by",
            Takes::NameOr(NameKind::Actors, &["worker", "reviewer", "human"]),
            "The actor of the request; a person by default.",
        ),
        key("end", AGENT, "The agent that ends."),
        key(
            "name",
            Takes::Name(NameKind::Reviewers),
            "Its name, if it is one of several reviewers; without it, all of them end.",
        ),
        key("code", Takes::Integer(0), "Its exit status."),
        key("signal", Takes::Integer(1), "The signal that ended it."),
        key("output", Takes::Text, "Its last lines."),
        key("after", Takes::Integer(0), "The seconds that the task has then been in its state."),
        key("spent", Takes::Boolean, "True if the budget of the state is then used up."),
        key("respawn", Takes::Boolean, "`orange task respawn`."),
        key("fail", Takes::Name(NameKind::Actions), "The next hook with this action fails."),
        key("retry_hooks", Takes::Boolean, "`orange task update --retry-hooks`."),
        key(
            "program",
            Takes::Text,
            "A program that gates ask, by its command line: it succeeds from now on.",
        ),
        key("succeeds", Takes::Boolean, "False if it fails from now on."),
        key("checks", Takes::Word(&CHECK_WORDS), "The checks of the pull request, from now on."),
        key(
            "pr",
            Takes::Object(&PULL_REQUEST_FACT),
            "This fact of the pull request holds, and the workflow watches it.",
        ),
        key("base", Takes::Word(&BASE_WORDS), "This fact of the base holds, and the workflow watches it."),
        key(
            "children",
            Takes::Word(&CHILDREN_WORDS),
            "Of the tasks that it has created, `some` are open from now on, or `none`; or they are `merged` or have `ended`, and the workflow watches that.",
        ),
        key("commit", Takes::Boolean, "The work changes."),
        key(
            "sync",
            Takes::Boolean,
            "The work takes in what the base has, without a conflict: its own changes stay the same.",
        ),
        key(
            "elapse",
            Takes::Boolean,
            "A `timeout` or a deadline is over: the next one, or what is over `after` so long.",
        ),
        key("expect", Takes::Object(&EXPECT), "The expectation after the step."),
    ],
};

static EXPECT: Object = Object {
    what: "`expect`",
    keys: &[
        key("status", STATE, "The state of the task."),
        key("rejection", Takes::Word(&REJECTIONS), "The reason of the refusal."),
        key("hooks", Takes::List(&Takes::Name(NameKind::Actions)), "The hooks that ran, in order."),
        key("counters", COUNTERS, "Values of counters."),
        key("agents", AGENTS, "The agents that are alive, and no other."),
        key("reviewers", NAMES, "The reviewers with names that are alive, and no other."),
        key("workspace", Takes::Boolean, "True if a worktree is bound to it."),
    ],
};

const REJECTIONS: [&str; 5] = ["no_transition", "not_allowed", "guard_failed", "gate_failed", "hooks_wait"];
const CHECK_WORDS: [&str; 4] = [CHECKS[0].0, CHECKS[1].0, CHECKS[2].0, CHECKS[3].0];
const CHILDREN_WORDS: [&str; 4] =
    [CHILDREN[0].0, CHILDREN[1].0, Fact::ChildrenMerged.value(), Fact::ChildrenEnded.value()];
const BASE_WORDS: [&str; 2] = [Fact::BaseMoved.value(), Fact::BaseConflict.value()];
const ENDING: [(&str, Actor); 2] = [("worker", Actor::Worker), ("reviewer", Actor::Reviewer)];

/// Reads the scenarios of a file, and everything that is wrong with it. States, counters and files that they name must exist when they are run.
pub fn read(source: &Source) -> (Option<Scenarios>, Vec<Diagnostic>) {
    scenario_file::read(source, file)
}

/// The workflow that a file of scenarios names, of either kind.
pub fn workflow(source: &Source) -> Option<String> {
    let tree = syntax::parse(source).0?;
    tree.value_of("workflow")?.text().map(str::to_owned)
}

/// True if a file is a workflow, of either kind, and has no scenarios.
pub fn is_workflow(source: &Source) -> bool {
    let Some(tree) = syntax::parse(source).0 else { return false };
    let has = |key| tree.value_of(key).is_some();
    (has("states") || has("steps")) && !has("scenarios")
}

fn file(decoder: &mut Decoder<'_>, tree: &Node) -> Option<Scenarios> {
    let fields = decoder.object(tree, &FILE)?;
    let workflow = fields.get("workflow").and_then(|it| decoder.string(&it));
    let all = items(decoder, &fields, "scenarios", scenario);
    Some(Scenarios { workflow, all })
}

fn scenario(decoder: &mut Decoder<'_>, node: &Node) -> Option<Scenario> {
    let fields = decoder.object(node, &SCENARIO)?;
    let name = fields.get("name").and_then(|it| decoder.string(&it));
    let given = fields.get("given").and_then(|it| given(decoder, it.value)).unwrap_or_default();
    let steps = items(decoder, &fields, "steps", step);
    Some(Scenario { name: name?, given, steps })
}

fn given(decoder: &mut Decoder<'_>, node: &Node) -> Option<GivenTask> {
    let fields = decoder.object(node, &GIVEN)?;
    Some(GivenTask {
        status: fields.get("status").and_then(|it| decoder.string(&it)),
        body: fields.get("body").and_then(|it| decoder.text(&it)).map(|it| it.value.clone()),
        counters: counters(decoder, &fields).into_iter().map(|(name, it)| (name, it.value)).collect(),
        agents: agents(decoder, &fields).map(|it| it.value).unwrap_or_default(),
        reviewers: texts(decoder, &fields, "reviewers").map(|it| it.value).unwrap_or_default(),
        workspace: fields.get("workspace").and_then(|it| decoder.boolean(&it)),
    })
}

fn step(decoder: &mut Decoder<'_>, node: &Node) -> Option<ScenarioStep> {
    let fields = decoder.object(node, &STEP)?;
    let act = act(decoder, &fields);
    let expect = fields.get("expect").and_then(|it| expect(decoder, it.value)).unwrap_or_default();
    Some(ScenarioStep { span: node.span, act: act?, expect })
}

/// Names of the acts that a step can have.
pub const ACTS: [&str; 15] = [
    "spawn",
    "write",
    "request",
    "end",
    "respawn",
    "fail",
    "retry_hooks",
    "elapse",
    "program",
    "checks",
    "pr",
    "base",
    "children",
    "commit",
    "sync",
];

/// Keys that may stand beside acts, each with those acts.
const BESIDE: [(&str, &[&str]); 8] = [
    ("text", &["write"]),
    ("by", &["request"]),
    ("succeeds", &["program"]),
    ("name", &["end"]),
    ("code", &["end"]),
    ("signal", &["end"]),
    ("output", &["end"]),
    ("spent", &["end"]),
];

/// A step says exactly one thing that is done.
fn act(decoder: &mut Decoder<'_>, fields: &ObjectFields<'_>) -> Option<Act> {
    let one = &one_act(decoder, fields, &ACTS, ["this step does nothing", "this step does several things"])?;
    only_beside(decoder, fields, one, &BESIDE);
    if one.name != "elapse" {
        only_beside(decoder, fields, one, &[("after", &["end"])]);
    }
    match one.name {
        "spawn" => is_done(decoder, one).then_some(Act::Spawn),
        "respawn" => is_done(decoder, one).then_some(Act::Respawn),
        "retry_hooks" => is_done(decoder, one).then_some(Act::RetryHooks),
        "pr" | "base" => watched_fact(decoder, fields).map(|it| Act::Fact { fact: it.value }),
        "commit" | "sync" => is_done(decoder, one).then_some(Act::Commit { is_sync: one.name == "sync" }),
        "elapse" => {
            let after = fields.get("after").and_then(|it| decoder.integer(&it));
            is_done(decoder, one).then_some(Act::Elapse { after })
        }
        "fail" => Some(Act::Fail { hook: decoder.string(one)?.value }),
        "program" => {
            let succeeds = fields.get("succeeds").and_then(|it| decoder.boolean(&it)).unwrap_or(true);
            Some(Act::Answer { program: decoder.string(one)?.value, succeeds })
        }
        "checks" => {
            let words = CHECK_WORDS.map(|it| (it, it));
            decoder.word(one, &words).map(|it| Act::Checks { word: it.value.to_owned() })
        }
        "children" => {
            let word = decoder.word(one, &CHILDREN_WORDS.map(|it| (it, it)))?.value;
            let fact = Fact::of(FactKind::Children, word);
            Some(fact.map_or_else(|| Act::Children { word: word.to_owned() }, |fact| Act::Fact { fact }))
        }
        "end" => {
            let ended = ended(decoder, fields);
            let name = fields.get("name").and_then(|it| decoder.string(&it)).map(|it| it.value);
            decoder.word(one, &ENDING).map(|it| Act::End { agent: it.value, name, ended })
        }
        "request" => {
            let by = fields.get("by").and_then(|it| decoder.string(&it));
            let to = decoder.string(one)?.value;
            Some(Act::Request { to, by: by.map_or_else(|| Actor::Human.kind().to_owned(), |it| it.value) })
        }
        _ => {
            let text = fields.get("text").and_then(|it| decoder.scalar(&it)).map(|it| it.value);
            let heading = decoder.string(one)?.value;
            Some(Act::Write { heading, text: text.unwrap_or_default() })
        }
    }
}

fn ended(decoder: &mut Decoder<'_>, fields: &ObjectFields<'_>) -> WalkEnd {
    let mut number = |key| {
        let number = fields.get(key).and_then(|it| decoder.integer(&it));
        number.and_then(|it| i32::try_from(it).ok())
    };
    let (code, signal) = (number("code"), number("signal"));
    let output = fields.get("output").and_then(|it| decoder.scalar(&it)).map(|it| it.value);
    let after = fields.get("after").and_then(|it| decoder.integer(&it));
    let spent = fields.get("spent").and_then(|it| decoder.boolean(&it)).unwrap_or_default();
    let of = WalkEnd::of(code, signal, output.unwrap_or_default());
    WalkEnd { lasted: after.unwrap_or_default(), spent, ..of }
}

fn expect(decoder: &mut Decoder<'_>, node: &Node) -> Option<Expect> {
    let fields = decoder.object(node, &EXPECT)?;
    let words = REJECTIONS.map(|it| (it, it));
    Some(Expect {
        status: fields.get("status").and_then(|it| decoder.string(&it)),
        rejection: fields
            .get("rejection")
            .and_then(|it| decoder.word(&it, &words))
            .map(|it| it.map(str::to_owned)),
        hooks: texts(decoder, &fields, "hooks"),
        counters: counters(decoder, &fields),
        agents: agents(decoder, &fields),
        reviewers: texts(decoder, &fields, "reviewers"),
        workspace: fields
            .get("workspace")
            .and_then(|it| decoder.boolean(&it).map(|bound| Spanned::new(bound, it.value.span))),
    })
}

fn texts(decoder: &mut Decoder<'_>, fields: &ObjectFields<'_>, key: &str) -> Option<Spanned<Vec<String>>> {
    let field = fields.get(key)?;
    let items: Vec<Field<'_>> = decoder.list(&field).iter().map(|item| field.item(item)).collect();
    let texts = items.iter().filter_map(|it| decoder.string(it)).map(|it| it.value).collect();
    Some(Spanned::new(texts, field.value.span))
}

fn counters(decoder: &mut Decoder<'_>, fields: &ObjectFields<'_>) -> Vec<(Spanned<String>, Spanned<u32>)> {
    entries(decoder, fields, "counters", |decoder, field| {
        decoder.integer(field).map(|it| Spanned::new(it, field.value.span))
    })
}

fn agents(decoder: &mut Decoder<'_>, fields: &ObjectFields<'_>) -> Option<Spanned<Vec<Actor>>> {
    let field = fields.get("agents")?;
    let items: Vec<Field<'_>> = decoder.list(&field).iter().map(|item| field.item(item)).collect();
    let agents = items.iter().filter_map(|it| decoder.word(it, &ENDING)).map(|it| it.value).collect();
    Some(Spanned::new(agents, field.value.span))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        let (scenarios, found) = read(&Source::new("flow.test.yml", text));
        let messages: Vec<&str> = found.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(messages, expect);
        assert_eq!(scenarios.is_some(), expect.is_empty());
    }

    #[test]
    fn every_key_is_read() {
        check(
            "workflow: flow.yml\nscenarios:\n  - name: all of it\n    given: {status: a, body: x, counters: {tries: 1}, agents: [worker], \
             reviewers: [one], workspace: true}\n    steps:\n      - {write: '## S', text: t}\n      - {request: b, by: worker, expect: {status: b, \
             rejection: gate_failed, hooks: [notify], counters: {tries: 2}, agents: [], reviewers: [], workspace: false}}\n      - {end: worker, code: 75, signal: 9, output: rate limit, after: 60}\n      - {end: reviewer, name: one}\n      \
             - {spawn: true}\n      - {respawn: true}\n      - {fail: run_command}\n      - {retry_hooks: true}\n      - {elapse: true, after: 60}\n      - {program: make test, succeeds: false}\n      - {checks: green}\n      - {pr: {checks: red}}\n      - {base: moved}\n      - {commit: true}\n      - {sync: true}\n",
            &[],
        );
    }

    #[test]
    fn every_fault_is_reported() {
        check("", &["this file is empty"]);
        check("scenarios:\n  - {name: a, steps: [{}]}\n", &["this step does nothing"]);
        check("scenarios:\n  - {name: a, steps: [{spawn: false}]}\n", &["`spawn: false` does nothing"]);
        check(
            "scenarios:\n  - {name: a, steps: [{spawn: true, end: worker}, {spawn: true, by: human}]}\n",
            &["this step does several things", "`by` says nothing without `request`"],
        );
        check(
            "scenarios:\n  - {name: a, steps: [{spawn: true, code: 3}]}\n",
            &["`code` says nothing without `end`"],
        );
        check(
            "scenarios:\n  - {steps: [{end: robot}]}\nworkflows: x\n",
            &[
                "unknown key `workflows` in a file of scenarios",
                "a scenario needs the key `name`",
                "unknown value `robot` of `end`",
            ],
        );
    }
}
