//! Step workflows: the checked steps become the tables of a plan.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use orange_core::Budget;
use orange_core::plan::{self, Operand, Plan, StepId};

use super::arena::Pool;
use crate::Checked;
use crate::model::{
    Compared, ConditionTest, Definition, Expression, Field, ProgramArgument, Step, StepAsk, StepFanOut,
    StepGate, StepItemList, StepPiece, Steps, TypedValue, ValueKind,
};

/// Results of a step that declares none, if conditions ask for nothing else of it.
const VERDICTS: [&str; 2] = ["PASS", "FAIL"];

/// The seconds that a program has which says nothing else.
const PROGRAM_TIMEOUT: u32 = 600;

/// The lists that a lowered plan borrows besides its steps.
#[derive(Debug, Default)]
pub struct PlanArena<'a> {
    steps: Pool<plan::Step<'a>>,
    pieces: Pool<plan::StepPiece<'a>>,
    prompts: Pool<plan::StepPrompt<'a>>,
    asks: Pool<plan::Ask<'a>>,
    gates: Pool<plan::StepGate<'a>>,
    ids: Pool<StepId>,
    words: Pool<&'a str>,
    conditions: Pool<plan::StepCondition<'a>>,
    outputs: Pool<plan::Output<'a>>,
    inputs: Pool<plan::Input<'a>>,
}

/// The plan of a checked step workflow; `None` of a state machine workflow.
pub fn lower_plan<'a>(checked: &'a Checked, arena: &'a PlanArena<'a>) -> Option<Plan<'a>> {
    let Definition::Steps(steps) = checked.definition() else { return None };
    let handled = handled(steps);
    Some(Plan {
        name: &steps.name.value,
        version: steps.version.as_deref().unwrap_or_default(),
        description: steps.description.as_deref().unwrap_or_default(),
        source_hash: checked.hash(),
        policy: steps.policy,
        notices: steps.notices,
        roles: arena.words.keep(steps.roles.iter().map(|it| it.value.as_str())),
        steps: arena.steps.keep(
            steps
                .steps
                .iter()
                .zip(results(steps))
                .zip(handled)
                .map(|((it, results), handles)| step(arena, it, results, handles)),
        ),
        order: arena.ids.keep(order(steps)),
        budget: steps.budget.as_ref().map_or(Budget::NONE, |it| it.limits()),
        inputs: arena.inputs.keep(steps.inputs.iter().map(|it| plan::Input {
            name: &it.name.value,
            kind: kind(arena, &it.kind),
            default: it.default.as_ref().map(|it| literal(arena, &it.value)),
        })),
        max_attempts: steps.max_attempts.map(|it| it.value),
        parallel: steps.parallel.map_or(plan::DEFAULT_PARALLEL, |it| it.value),
    })
}

fn step<'a>(
    arena: &'a PlanArena<'a>,
    step: &'a Step,
    results: Vec<&'a str>,
    handles: Option<StepId>,
) -> plan::Step<'a> {
    let retries = step.max_retries.map_or(0, |it| it.value);
    plan::Step {
        id: &step.id.value,
        title: step.title.as_deref().unwrap_or(&step.id.value),
        role: step.role.value,
        prompt: plan::StepPrompt { pieces: arena.pieces.keep(step.prompt.pieces.iter().map(piece)) },
        run: argv(arena, &step.run),
        ask: step.ask.as_ref().and_then(|it| arena.asks.keep([ask(arena, it)]).first()),
        gates: arena.gates.keep(step.gates.iter().map(|it| gate(arena, it))),
        depends_on: arena.ids.keep(step.depends_on.iter().map(|it| it.value)),
        worktree: step.worktree.value,
        fan_out: step.fan_out.as_ref().map(|it| fan_out(arena, it)),
        condition: step.condition.as_ref().map(|it| condition(arena, &it.expression)),
        results: arena.words.keep(results),
        outputs: arena.outputs.keep(
            step.outputs.iter().map(|it| plan::Output { name: &it.name.value, kind: kind(arena, &it.kind) }),
        ),
        max_retries: retries,
        requeue: arena.ids.keep(step.requeue.iter().map(|it| it.value)),
        on_fail: step.on_fail.map(|it| it.value),
        handles,
        harness: step.harness.as_ref().map(|it| it.value.as_str()),
        model: step.model.as_ref().map(|it| it.value.as_str()),
        effort: step.effort.map(|it| it.value),
        permissions: step.permissions,
        sandbox: step.demand,
        timeout: step.timeout.or(step.is_program().then_some(PROGRAM_TIMEOUT)),
        stuck_after: step.stuck_after,
    }
}

fn fan_out<'a>(arena: &'a PlanArena<'a>, fan_out: &'a StepFanOut) -> plan::FanOut<'a> {
    let list = match &fan_out.list {
        StepItemList::Output(step, output) => plan::ItemList::Output(step.value, *output),
        StepItemList::Input(input) => plan::ItemList::Input(*input),
        StepItemList::Fixed(items) => {
            plan::ItemList::Fixed(arena.words.keep(items.iter().map(|it| it.value.as_str())))
        }
    };
    plan::FanOut { list, enough: fan_out.enough.map(|it| it.value) }
}

fn ask<'a>(arena: &'a PlanArena<'a>, ask: &'a StepAsk) -> plan::Ask<'a> {
    plan::Ask {
        who: arena.words.keep(ask.who.iter().map(|it| it.value.as_str())),
        shows_context: ask.shows_context,
        shows_diff: ask.shows_diff,
        is_approval: ask.is_approval,
        on_timeout: ask.on_timeout.as_ref().map(|it| it.value.as_str()),
    }
}

fn argv<'a>(arena: &'a PlanArena<'a>, argv: &'a [ProgramArgument]) -> &'a [plan::StepPrompt<'a>] {
    let pieces = |it: &'a ProgramArgument| arena.pieces.keep(it.pieces.iter().map(piece));
    arena.prompts.keep(argv.iter().map(|it| plan::StepPrompt { pieces: pieces(it) }))
}

fn gate<'a>(arena: &'a PlanArena<'a>, gate: &'a StepGate) -> plan::StepGate<'a> {
    match gate {
        StepGate::Program { run, timeout } => {
            plan::StepGate::Program { run: argv(arena, run), timeout: timeout.unwrap_or(PROGRAM_TIMEOUT) }
        }
        StepGate::File { file, contains } => {
            plan::StepGate::File { file: &file.value, contains: contains.as_deref().unwrap_or_default() }
        }
    }
}

fn piece(piece: &StepPiece) -> plan::StepPiece<'_> {
    match piece {
        StepPiece::Text(text) => plan::StepPiece::Text(text),
        StepPiece::Value(value) => plan::StepPiece::Value(*value),
        StepPiece::Read(operand, _) => plan::StepPiece::Read(*operand),
    }
}

fn condition<'a>(arena: &'a PlanArena<'a>, expression: &'a Expression) -> plan::StepCondition<'a> {
    let all = |parts: &'a [Expression]| arena.conditions.keep(parts.iter().map(|it| condition(arena, it)));
    match expression {
        Expression::Or(parts) => plan::StepCondition::Or(all(parts)),
        Expression::And(parts) => plan::StepCondition::And(all(parts)),
        Expression::Not(part) => match all(std::slice::from_ref(part)) {
            [part, ..] => plan::StepCondition::Not(part),
            [] => plan::StepCondition::Or(&[]),
        },
        Expression::Test(ConditionTest { of, items, is, .. }) => plan::StepCondition::Test(plan::StepTest {
            of: *of,
            items: *items,
            is: match is {
                Compared::Is(relation, value) => {
                    plan::Comparison::Is(*relation, literal(arena, &value.value))
                }
                Compared::In(words) => {
                    plan::Comparison::In(arena.words.keep(words.iter().map(|it| it.value.as_str())))
                }
                Compared::Has(word) => plan::Comparison::Has(&word.value),
            },
        }),
    }
}

fn literal<'a>(arena: &'a PlanArena<'a>, value: &'a TypedValue) -> plan::Literal<'a> {
    match value {
        TypedValue::Text(it) => plan::Literal::Text(it),
        TypedValue::Number(it) => plan::Literal::Number(*it),
        TypedValue::Bool(it) => plan::Literal::Bool(*it),
        TypedValue::List(items) => plan::Literal::List(arena.words.keep(items.iter().map(String::as_str))),
    }
}

fn kind<'a>(arena: &'a PlanArena<'a>, kind: &'a ValueKind) -> plan::ValueType<'a> {
    match kind {
        ValueKind::Words(words) => {
            plan::ValueType::Words(arena.words.keep(words.iter().map(|it| it.value.as_str())))
        }
        ValueKind::Text => plan::ValueType::Text,
        ValueKind::Number { min, max } => plan::ValueType::Number { min: *min, max: *max },
        ValueKind::Bool => plan::ValueType::Bool,
        ValueKind::List { max_items } => plan::ValueType::List { max_items: *max_items },
    }
}

/// By step, the words that it may report. One that declares none reports `PASS` or `FAIL`, if conditions ask for nothing else.
fn results(steps: &Steps) -> Vec<Vec<&str>> {
    let mut is_verdict: Vec<Option<bool>> = vec![None; steps.steps.len()];
    let conditions = steps.steps.iter().filter_map(|it| it.condition.as_ref());
    for test in conditions.flat_map(|it| it.tests()) {
        if let Operand::Step(step, Field::Result) = test.of {
            let is_known = test.words().iter().all(|it| VERDICTS.contains(&it.value));
            let before = &mut is_verdict[step.index()];
            *before = Some(before.unwrap_or(true) && is_known);
        }
    }
    let results = steps.steps.iter().zip(is_verdict).map(|(step, is_verdict)| {
        match step.results.is_empty() && is_verdict == Some(true) {
            true => VERDICTS.to_vec(),
            false => step.results.iter().map(|it| it.value.as_str()).collect(),
        }
    });
    results.collect()
}

/// By step, the one whose failure it handles.
fn handled(steps: &Steps) -> Vec<Option<StepId>> {
    let mut handled = vec![None; steps.steps.len()];
    for (at, step) in (0..).zip(&steps.steps) {
        if let Some(handler) = step.on_fail {
            handled[handler.value.index()] = Some(StepId(at));
        }
    }
    handled
}

/// Every step after those for which it waits, a handler after its step, and otherwise as in the source.
fn order(steps: &Steps) -> Vec<StepId> {
    let mut waits: Vec<usize> = steps.steps.iter().map(|it| it.depends_on.len()).collect();
    let mut after = vec![Vec::new(); steps.steps.len()];
    for (at, step) in (0..).zip(&steps.steps) {
        step.depends_on.iter().for_each(|it| after[it.value.index()].push(StepId(at)));
        if let Some(handler) = step.on_fail {
            waits[handler.value.index()] += 1;
            after[usize::from(at)].push(handler.value);
        }
    }
    let free = (0..).zip(&waits).filter(|(_, waits)| **waits == 0).map(|(at, _)| Reverse(StepId(at)));
    let mut free: BinaryHeap<Reverse<StepId>> = free.collect();
    let mut order = Vec::with_capacity(steps.steps.len());
    while let Some(Reverse(id)) = free.pop() {
        order.push(id);
        for next in &after[id.index()] {
            waits[next.index()] -= 1;
            if waits[next.index()] == 0 {
                free.push(Reverse(*next));
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{PromptFiles, Source, compile};

    const DEV_TASK: &str = include_str!("../../../tests/fixtures/dev-task.toml");

    fn prompts(review: &str) -> PromptFiles {
        let files = [("plan", "{{mission_prompt}}"), ("implement", "do"), ("review", review), ("pr", "ship")];
        let files = files.map(|(name, text)| (format!("do/{name}.md"), text.to_owned()));
        PromptFiles::Given(BTreeMap::from(files))
    }

    fn checked(text: &str, files: PromptFiles) -> Checked {
        let compilation = compile(&Source::new("dev-task.toml", text).with_files(files));
        compilation.checked.unwrap_or_else(|| panic!("{:#?}", compilation.diagnostics))
    }

    #[test]
    fn a_plan_says_what_the_workflow_says() {
        let checked = checked(DEV_TASK, prompts("see {{context}}"));
        let arena = PlanArena::default();
        let plan = lower_plan(&checked, &arena).unwrap();
        let ids = |ids: &[StepId]| ids.iter().map(|it| plan.step(*it).id).collect::<Vec<_>>().join(" ");
        let step = |name| plan.step(plan.step_named(name).unwrap());
        assert_eq!((plan.name, plan.version, plan.policy), ("dev-task", "1.0.0", plan::Policy::default()));
        assert_eq!(ids(plan.order), "plan implement review fix pr");
        assert_eq!(ids(step("fix").depends_on), "review");
        assert_eq!((step("fix").max_retries, ids(step("fix").requeue)), (3, "review".to_owned()));
        assert_eq!((step("review").results, step("plan").results), (&["PASS", "FAIL"][..], &[][..]));
        assert_eq!(
            step("pr").condition.and_then(|it| it.equality()).map(|it| (it.0, it.2)),
            plan.step_named("review").zip(Some("PASS"))
        );
        assert_eq!(plan.role(step("pr").role), "any");
        assert!(
            step("review").prompt.has(plan::StepValue::Context)
                && !step("fix").prompt.has(plan::StepValue::Context)
        );
    }

    #[test]
    fn a_condition_on_another_word_leaves_results_open() {
        let checked = checked(&DEV_TASK.replace("'PASS'", "'DONE'"), prompts("see"));
        let arena = PlanArena::default();
        assert!(lower_plan(&checked, &arena).unwrap().steps.iter().all(|it| it.results.is_empty()));
    }

    #[test]
    fn a_handler_comes_after_its_step() {
        let text = "[workflow]\nname = \"dev-task\"\n[[steps]]\nid = \"rescue\"\nprompt = \"r\"\n[[steps]]\nid = \"b\"\n\
                    prompt = \"b\"\ndepends_on = [\"a\"]\non_fail = \"rescue\"\n[[steps]]\nid = \"a\"\nprompt = \"a\"\n";
        let checked = checked(text, PromptFiles::Nowhere);
        let arena = PlanArena::default();
        let plan = lower_plan(&checked, &arena).unwrap();
        let order: Vec<_> = plan.order.iter().map(|it| plan.step(*it).id).collect();
        assert_eq!(order, ["a", "b", "rescue"]);
        assert_eq!(plan.steps[0].handles, Some(StepId(1)));
    }

    #[test]
    fn the_hash_covers_the_prompts() {
        let hash = |text: &str, files| {
            let checked = checked(text, files);
            let arena = PlanArena::default();
            lower_plan(&checked, &arena).unwrap().source_hash.to_owned()
        };
        let first = hash(DEV_TASK, prompts("a"));
        assert_eq!(first, hash(DEV_TASK, prompts("a")));
        assert_ne!(first, hash(DEV_TASK, prompts("b")));
        assert_ne!(hash(DEV_TASK, prompts("step")), hash(DEV_TASK, prompts("{{step}}")));
        assert_ne!(first, hash(&DEV_TASK.replace("1.0.0", "1.0.1"), prompts("a")));
    }
}
