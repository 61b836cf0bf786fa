//! Plans as programs store them: the plan with which a mission was started, its prompts included. Later edits of the workflow do not
//! reach it.

mod ask;
mod condition;
mod fan_out;

use orange_core::plan::{
    DEFAULT_PARALLEL, Effort, Execution, Intervene, MOST_PARALLEL, Plan, Policy, RoleId, Step, StepGate,
    StepId, StepPiece, StepPrompt, StepValue,
};
use orange_core::wall::Demand;
use orange_core::{Budget, Permissions};
use serde::{Deserialize, Serialize};

use self::ask::StoredAsk;
use self::condition::{StoredCondition, StoredOperand};
use self::fan_out::{StoredFanOut, StoredUse};
use crate::{DeclaredValue, Error, ErrorKind, Result};

/// A plan as it is written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct StoredPlan {
    name: String,
    version: String,
    description: String,
    source_hash: String,
    execution: String,
    intervene: String,
    notices: bool,
    roles: Vec<String>,
    steps: Vec<StoredStep>,
    order: Vec<u16>,
    #[serde(default, skip_serializing_if = "Budget::is_empty")]
    budget: Budget,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    inputs: Vec<DeclaredValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_attempts: Option<u32>,
    #[serde(default = "usual_parallel", skip_serializing_if = "is_usual_parallel")]
    parallel: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct StoredStep {
    id: String,
    title: String,
    role: u16,
    prompt: Vec<StoredPiece>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    run: Vec<Vec<StoredPiece>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ask: Option<StoredAsk>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    gates: Vec<StoredGate>,
    depends_on: Vec<u16>,
    #[serde(default, skip_serializing_if = "StoredUse::is_usual")]
    worktree: StoredUse,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fan_out: Option<StoredFanOut>,
    condition: Option<StoredCondition>,
    results: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    outputs: Vec<DeclaredValue>,
    max_retries: u16,
    requeue: Vec<u16>,
    on_fail: Option<u16>,
    handles: Option<u16>,
    harness: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    effort: Option<String>,
    full_permissions: bool,
    #[serde(default, skip_serializing_if = "Demand::is_none")]
    sandbox: Demand,
    timeout: Option<u32>,
    stuck_after: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredGate {
    Program { run: Vec<Vec<StoredPiece>>, timeout: u32 },
    File { file: String, contains: String },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredPiece {
    Text(String),
    Value(String),
    Read(StoredOperand),
}

/// The plan as JSON.
///
/// # Errors
/// `environment` when it cannot be written as text.
pub fn write(plan: &Plan<'_>) -> Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(&StoredPlan::of(plan)).map_err(|cause| {
        Error::new(ErrorKind::Environment, format!("the plan cannot be written down: {cause}"))
    })?;
    text.push(b'\n');
    Ok(text)
}

/// The plan of this JSON, which lives as long as the process.
///
/// # Errors
/// What is wrong with the JSON, in words.
pub fn read(text: &[u8]) -> std::result::Result<&'static Plan<'static>, String> {
    let stored: StoredPlan = serde_json::from_slice(text).map_err(|cause| cause.to_string())?;
    stored.leak().ok_or_else(|| "it names a step, a role or a word that it does not have".to_owned())
}

impl StoredPlan {
    fn of(plan: &Plan<'_>) -> StoredPlan {
        StoredPlan {
            name: plan.name.to_owned(),
            version: plan.version.to_owned(),
            description: plan.description.to_owned(),
            source_hash: plan.source_hash.to_owned(),
            execution: plan.policy.execution.as_str().to_owned(),
            intervene: plan.policy.intervene.as_str().to_owned(),
            notices: plan.notices,
            roles: owned(plan.roles),
            steps: plan.steps.iter().map(StoredStep::of).collect(),
            order: numbers(plan.order),
            budget: plan.budget,
            inputs: plan.inputs.iter().map(DeclaredValue::of_input).collect(),
            max_attempts: plan.max_attempts,
            parallel: plan.parallel,
        }
    }

    /// `None` where a number or a word means nothing.
    fn leak(self) -> Option<&'static Plan<'static>> {
        let (steps, roles) = (self.steps.len(), self.roles.len());
        let mut order = self.order.clone();
        order.sort_unstable();
        if order.len() != steps || order.iter().enumerate().any(|(place, id)| usize::from(*id) != place) {
            return None;
        }
        let plan = Plan {
            name: self.name.leak(),
            version: self.version.leak(),
            description: self.description.leak(),
            source_hash: self.source_hash.leak(),
            policy: Policy {
                execution: Execution::from_name(&self.execution)?,
                intervene: Intervene::from_name(&self.intervene)?,
            },
            notices: self.notices,
            roles: words(self.roles),
            steps: self
                .steps
                .into_iter()
                .map(|step| step.leak(steps, roles))
                .collect::<Option<Vec<_>>>()?
                .leak(),
            order: ids(self.order, steps)?,
            budget: self.budget,
            inputs: self
                .inputs
                .into_iter()
                .map(DeclaredValue::leak_input)
                .collect::<Option<Vec<_>>>()?
                .leak(),
            max_attempts: self.max_attempts,
            parallel: (1..=MOST_PARALLEL).contains(&self.parallel).then_some(self.parallel)?,
        };
        Some(Box::leak(Box::new(plan)))
    }
}

impl StoredStep {
    fn of(step: &Step<'_>) -> StoredStep {
        let number = |id: StepId| id.0;
        StoredStep {
            id: step.id.to_owned(),
            title: step.title.to_owned(),
            role: step.role.0,
            prompt: step.prompt.pieces.iter().map(StoredPiece::of).collect(),
            run: stored(step.run),
            ask: step.ask.map(StoredAsk::of),
            gates: step.gates.iter().map(StoredGate::of).collect(),
            depends_on: numbers(step.depends_on),
            worktree: StoredUse::of(step.worktree),
            fan_out: step.fan_out.as_ref().map(StoredFanOut::of),
            condition: step.condition.as_ref().map(StoredCondition::of),
            results: owned(step.results),
            outputs: step.outputs.iter().map(DeclaredValue::of_output).collect(),
            max_retries: step.max_retries,
            requeue: numbers(step.requeue),
            on_fail: step.on_fail.map(number),
            handles: step.handles.map(number),
            harness: step.harness.map(str::to_owned),
            model: step.model.map(str::to_owned),
            effort: step.effort.map(|it| it.as_str().to_owned()),
            full_permissions: step.permissions == Permissions::Full,
            sandbox: step.sandbox,
            timeout: step.timeout,
            stuck_after: step.stuck_after,
        }
    }

    fn leak(self, steps: usize, roles: usize) -> Option<Step<'static>> {
        let id = |number: u16| (usize::from(number) < steps).then_some(StepId(number));
        let optional = |number: Option<u16>| number.map_or(Some(None), |it| id(it).map(Some));
        let condition = match self.condition {
            Some(it) => Some(it.leak(&id)?),
            None => None,
        };
        let effort = match self.effort {
            Some(word) => Some(Effort::from_name(&word)?),
            None => None,
        };
        let [prompt] = leak_all(vec![self.prompt], &id)? else { return None };
        let gates = self.gates.into_iter().map(|it| it.leak(&id)).collect::<Option<Vec<_>>>()?;
        let fan_out = match self.fan_out {
            Some(it) => Some(it.leak(&id)?),
            None => None,
        };
        let ask = match self.ask {
            Some(it) => Some(it.leak(&self.results)?),
            None => None,
        };
        Some(Step {
            id: self.id.leak(),
            title: self.title.leak(),
            role: (usize::from(self.role) < roles).then_some(RoleId(self.role))?,
            prompt: *prompt,
            run: leak_all(self.run, &id)?,
            gates: gates.leak(),
            ask,
            depends_on: ids(self.depends_on, steps)?,
            worktree: self.worktree.leak(),
            fan_out,
            condition,
            results: words(self.results),
            outputs: self
                .outputs
                .into_iter()
                .map(DeclaredValue::leak_output)
                .collect::<Option<Vec<_>>>()?
                .leak(),
            max_retries: self.max_retries,
            requeue: ids(self.requeue, steps)?,
            on_fail: optional(self.on_fail)?,
            handles: optional(self.handles)?,
            harness: self.harness.map(|it| &*it.leak()),
            model: self.model.map(|it| &*it.leak()),
            effort,
            permissions: if self.full_permissions { Permissions::Full } else { Permissions::Reduced },
            sandbox: self.sandbox,
            timeout: self.timeout,
            stuck_after: self.stuck_after,
        })
    }
}

impl StoredGate {
    fn of(gate: &StepGate<'_>) -> StoredGate {
        match gate {
            StepGate::Program { run, timeout } => StoredGate::Program { run: stored(run), timeout: *timeout },
            StepGate::File { file, contains } => {
                StoredGate::File { file: (*file).to_owned(), contains: (*contains).to_owned() }
            }
        }
    }

    fn leak(self, id: &dyn Fn(u16) -> Option<StepId>) -> Option<StepGate<'static>> {
        match self {
            StoredGate::Program { run, timeout } => {
                Some(StepGate::Program { run: leak_all(run, id)?, timeout })
            }
            StoredGate::File { file, contains } => {
                Some(StepGate::File { file: file.leak(), contains: contains.leak() })
            }
        }
    }
}

/// Texts of a step, in pieces.
fn stored(texts: &[StepPrompt<'_>]) -> Vec<Vec<StoredPiece>> {
    texts.iter().map(|it| it.pieces.iter().map(StoredPiece::of).collect()).collect()
}

fn leak_all(
    texts: Vec<Vec<StoredPiece>>,
    id: &dyn Fn(u16) -> Option<StepId>,
) -> Option<&'static [StepPrompt<'static>]> {
    let leak = |it: Vec<StoredPiece>| {
        let pieces = it.into_iter().map(|it| it.leak(id)).collect::<Option<Vec<_>>>()?;
        Some(StepPrompt { pieces: pieces.leak() })
    };
    Some(texts.into_iter().map(leak).collect::<Option<Vec<_>>>()?.leak())
}

impl StoredPiece {
    fn of(piece: &StepPiece<'_>) -> StoredPiece {
        match piece {
            StepPiece::Text(text) => StoredPiece::Text((*text).to_owned()),
            StepPiece::Value(value) => StoredPiece::Value(value.name().to_owned()),
            StepPiece::Read(operand) => StoredPiece::Read(StoredOperand::of(*operand)),
        }
    }

    fn leak(self, id: &dyn Fn(u16) -> Option<StepId>) -> Option<StepPiece<'static>> {
        match self {
            StoredPiece::Text(text) => Some(StepPiece::Text(text.leak())),
            StoredPiece::Value(name) => {
                StepValue::ALL.into_iter().find(|value| value.name() == name).map(StepPiece::Value)
            }
            StoredPiece::Read(operand) => operand.leak(id).map(StepPiece::Read),
        }
    }
}

fn usual_parallel() -> u8 {
    DEFAULT_PARALLEL
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_usual_parallel(parallel: &u8) -> bool {
    *parallel == DEFAULT_PARALLEL
}

fn numbers(ids: &[StepId]) -> Vec<u16> {
    ids.iter().map(|id| id.0).collect()
}

fn ids(numbers: Vec<u16>, steps: usize) -> Option<&'static [StepId]> {
    let known = numbers.iter().all(|number| usize::from(*number) < steps);
    known.then(|| &*numbers.into_iter().map(StepId).collect::<Vec<_>>().leak())
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn words(words: Vec<String>) -> &'static [&'static str] {
    words.into_iter().map(|word| &*word.leak()).collect::<Vec<_>>().leak()
}

#[cfg(test)]
mod tests {
    use orange_core::plan::{
        Comparison, FanOut, Field, Input, InputId, ItemList, Literal, Operand, Output, OutputId, Relation,
        StepCondition, StepTest, ValueType, WorktreeUse,
    };
    use orange_testkit::plan::PLAN;

    use super::*;

    #[test]
    fn a_plan_is_read_as_it_was_written() {
        let text = write(&PLAN).unwrap();
        let read = read(&text).unwrap();
        assert_eq!(format!("{read:?}"), format!("{PLAN:?}"));
        assert_eq!(write(read).unwrap(), text);
    }

    #[test]
    fn a_plan_without_outputs_is_written_as_before_there_were_any() {
        let text = String::from_utf8(write(&PLAN).unwrap()).unwrap();
        assert!(
            text.contains("\"condition\": {\n        \"step\": 0,\n        \"reads_summary\": false,"),
            "{text}"
        );
        assert!(!text.contains("outputs") && !text.contains("inputs") && !text.contains("gates"), "{text}");
    }

    #[test]
    fn conditions_inputs_and_outputs_are_read_as_they_were_written() {
        let outputs = [
            Output { name: "risk", kind: ValueType::Words(&["low", "high"]) },
            Output { name: "score", kind: ValueType::Number { min: -3, max: 10 } },
            Output { name: "count", kind: ValueType::ANY_NUMBER },
            Output { name: "parts", kind: ValueType::List { max_items: 6 } },
            Output { name: "ok", kind: ValueType::Bool },
            Output { name: "note", kind: ValueType::Text },
        ];
        let of = |output| Operand::Step(StepId(0), Field::Output(OutputId(output)));
        let test = |of, is| StepCondition::Test(StepTest { of, items: None, is });
        let parts = [
            test(of(1), Comparison::Is(Relation::AtMost, Literal::Number(3))),
            test(of(4), Comparison::Is(Relation::Equal, Literal::Bool(true))),
            test(Operand::Input(InputId(0)), Comparison::In(&["web"])),
        ];
        let inner = [test(of(3), Comparison::Has("a")), StepCondition::And(&parts)];
        let not = StepCondition::Or(&inner);
        let pieces = [StepPiece::Read(Operand::Input(InputId(0)))];
        let gates = [
            StepGate::Program { run: &[StepPrompt { pieces: &[StepPiece::Text("make")] }], timeout: 60 },
            StepGate::File { file: "NOTES.md", contains: "## Cause" },
        ];
        let steps = [
            Step {
                id: "a",
                outputs: &outputs,
                prompt: StepPrompt { pieces: &pieces },
                gates: &gates,
                ..Step::EMPTY
            },
            Step { id: "b", condition: Some(StepCondition::Not(&not)), ..Step::EMPTY },
        ];
        let kind = ValueType::Words(&["web", "api"]);
        let inputs = [Input { name: "target", kind, default: Some(Literal::Text("web")) }];
        let order = [StepId(0), StepId(1)];
        let plan = Plan { steps: &steps, inputs: &inputs, order: &order, ..Plan::EMPTY };
        let text = write(&plan).unwrap();
        assert_eq!(format!("{:?}", read(&text).unwrap()), format!("{plan:?}"));
    }

    #[test]
    fn a_cap_is_kept_and_without_one_nothing_is_written() {
        let capped = Plan { max_attempts: Some(4), ..PLAN };
        assert_eq!(read(&write(&capped).unwrap()).unwrap().max_attempts, Some(4));
        assert!(!String::from_utf8(write(&PLAN).unwrap()).unwrap().contains("max_attempts"));
    }

    #[test]
    fn fan_outs_are_kept_and_without_them_nothing_is_written() {
        let list = |list, enough| Some(FanOut { list, enough });
        let steps = [
            Step { worktree: WorktreeUse::Read, ..Step::EMPTY },
            Step {
                fan_out: list(ItemList::Output(StepId(0), OutputId(1)), Some(2)),
                worktree: WorktreeUse::Own,
                ..Step::EMPTY
            },
            Step { fan_out: list(ItemList::Input(InputId(0)), None), ..Step::EMPTY },
            Step { fan_out: list(ItemList::Fixed(&["a", "b"]), None), ..Step::EMPTY },
        ];
        let order = [0, 1, 2, 3].map(StepId);
        let plan = Plan { steps: &steps, order: &order, parallel: 7, ..Plan::EMPTY };
        let text = String::from_utf8(write(&plan).unwrap()).unwrap();
        assert_eq!(format!("{:?}", read(text.as_bytes()).unwrap()), format!("{plan:?}"));
        for (from, to) in [("\"parallel\": 7", "\"parallel\": 33"), ("\"enough\": 2", "\"enough\": 0")] {
            assert!(read(text.replacen(from, to, 1).as_bytes()).is_err(), "{to}");
        }
        let usual = String::from_utf8(write(&PLAN).unwrap()).unwrap();
        assert!(!["parallel", "worktree\"", "fan_out"].iter().any(|it| usual.contains(it)), "{usual}");
    }

    #[test]
    fn an_ask_is_kept_and_without_one_nothing_is_written() {
        let ask = orange_core::plan::Ask {
            who: &["ada"],
            shows_context: true,
            shows_diff: false,
            is_approval: true,
            on_timeout: Some("approve"),
        };
        let steps = [Step { id: "q", ask: Some(&ask), results: &["approve"], ..Step::EMPTY }];
        let plan = Plan { steps: &steps, order: &[StepId(0)], ..Plan::EMPTY };
        let text = String::from_utf8(write(&plan).unwrap()).unwrap();
        assert_eq!(read(text.as_bytes()).unwrap().steps[0].ask, Some(&ask));
        let wrong = text.replace("\"on_timeout\": \"approve\"", "\"on_timeout\": \"later\"");
        assert!(read(wrong.as_bytes()).is_err());
        assert!(!String::from_utf8(write(&PLAN).unwrap()).unwrap().contains("\"ask\""));
    }

    #[test]
    fn a_number_that_names_nothing_is_refused() {
        let text = String::from_utf8(write(&PLAN).unwrap()).unwrap();
        let changes = [
            ("\"handles\": 2", "\"handles\": 9"),
            ("\"role\": 1", "\"role\": 2"),
            ("\"execution\": \"auto\"", "\"execution\": \"fast\""),
            ("\"value\": \"mission_prompt\"", "\"value\": \"hope\""),
            ("\"order\": [\n    0,", "\"order\": [\n    1,"),
            ("\"name\"", "\"title\""),
        ];
        for (from, to) in changes {
            assert!(text.contains(from), "{from}");
            assert!(read(text.replacen(from, to, 1).as_bytes()).is_err(), "{to}");
        }
    }
}
