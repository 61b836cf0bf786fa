//! Random conditions, outputs and inputs, and an evaluation of conditions that is written apart from the core's.

use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use super::random::{RESULTS, Random};
use crate::plan::*;

/// Inputs of every random plan.
pub const INPUTS: [Input<'static>; 2] = [
    Input { name: "target", kind: ValueType::Words(&WORDS), default: None },
    Input { name: "most", kind: ValueType::Number { min: 0, max: 3 }, default: Some(Literal::Number(1)) },
];

const WORDS: [&str; 3] = ["low", "mid", "high"];
const ITEMS: [&str; 2] = ["web", "api"];

const OUTPUTS: [Output<'static>; 5] = [
    Output { name: "risk", kind: ValueType::Words(&WORDS) },
    Output { name: "score", kind: ValueType::Number { min: -1, max: 3 } },
    Output { name: "ok", kind: ValueType::Bool },
    Output { name: "parts", kind: ValueType::List { max_items: 2 } },
    Output { name: "note", kind: ValueType::Text },
];

/// Some outputs, or none.
pub fn outputs(random: &mut Random) -> Vec<Output<'static>> {
    match random.percent(35) {
        true => OUTPUTS.into_iter().filter(|_| random.percent(40)).collect(),
        false => Vec::new(),
    }
}

/// The inputs of a mission. They follow from the plan's size, so that both evaluations start with the same.
pub fn inputs(plan: &Plan<'_>) -> Inputs {
    let size = plan.steps.len();
    let target = Value::Text(WORDS[size % 3].to_string());
    let most = Value::Number(size as i64 % 4);
    let all = [("target", target), ("most", most)];
    all.into_iter()
        .filter(|_| !size.is_multiple_of(7))
        .map(|(name, value)| (name.to_string(), value))
        .collect()
}

/// Outputs of a report, each of which is missing or wrong so often in a hundred.
pub fn reported(random: &mut Random, declared: &[Output<'_>], faults: usize) -> Inputs {
    let mut values = Inputs::new();
    for output in declared {
        if random.percent(faults) {
            continue;
        }
        let kind = if random.percent(faults) { random.one_of(&OUTPUTS).kind } else { output.kind };
        let value = match kind {
            ValueType::Words(words) => Value::Text(random.one_of(words).to_string()),
            ValueType::Text => Value::Text(random.one_of(&["one", "two"]).to_string()),
            ValueType::Number { min, max } => {
                let most = (max - min + 1) as usize + usize::from(random.percent(faults));
                Value::Number(min + random.below(most) as i64)
            }
            ValueType::Bool => Value::Bool(random.percent(50)),
            ValueType::List { .. } => {
                Value::List(ITEMS.iter().filter(|_| random.percent(50)).map(ToString::to_string).collect())
            }
        };
        values.insert(output.name.to_string(), value);
    }
    if random.percent(faults) {
        values.insert("other".to_string(), Value::Bool(true));
    }
    values
}

/// A condition that reads these steps, with their outputs.
pub fn condition(
    random: &mut Random,
    readable: &[(StepId, Vec<Output<'static>>)],
    depth: usize,
) -> StepCondition<'static> {
    let parts = |random: &mut Random| -> &'static [StepCondition<'static>] {
        (0..2 + random.below(2)).map(|_| condition(random, readable, depth - 1)).collect::<Vec<_>>().leak()
    };
    match random.below(if depth == 0 { 4 } else { 10 }) {
        0..5 => StepCondition::Test(test(random, readable)),
        5..7 => StepCondition::Or(parts(random)),
        7..9 => StepCondition::And(parts(random)),
        _ => StepCondition::Not(Box::leak(Box::new(condition(random, readable, depth - 1)))),
    }
}

fn test(random: &mut Random, readable: &[(StepId, Vec<Output<'static>>)]) -> StepTest<'static> {
    let (step, outputs) = random.one_of(readable);
    let (of, kind) = match random.below(10) {
        0 => (Operand::Input(InputId(0)), INPUTS[0].kind),
        1 => (Operand::Input(InputId(1)), INPUTS[1].kind),
        2 => (Operand::Step(step, Field::Ran), ValueType::Bool),
        3 => (Operand::Step(step, Field::Rounds), ValueType::ANY_NUMBER),
        4..8 if !outputs.is_empty() => {
            let output = random.below(outputs.len());
            (Operand::Step(step, Field::Output(OutputId(output as u16))), outputs[output].kind)
        }
        _ => (Operand::Step(step, Field::Result), ValueType::Words(&RESULTS)),
    };
    let relation = random.one_of(&Relation::ALL);
    let equality = random.one_of(&[Relation::Equal, Relation::Unequal]);
    let is = match kind {
        ValueType::Number { .. } => Comparison::Is(relation, Literal::Number(random.below(4) as i64)),
        ValueType::Bool => Comparison::Is(equality, Literal::Bool(random.percent(70))),
        ValueType::List { .. } => Comparison::Has(random.one_of(&ITEMS)),
        ValueType::Text => Comparison::Is(equality, Literal::Text(random.one_of(&["one", "two"]))),
        ValueType::Words(words) if random.percent(30) => {
            Comparison::In(words.iter().copied().filter(|_| random.percent(60)).collect::<Vec<_>>().leak())
        }
        ValueType::Words(words) => Comparison::Is(equality, Literal::Text(random.one_of(words))),
    };
    StepTest { of, items: None, is }
}

/// The condition with tests that range over the items of these steps.
pub fn over_items(
    condition: &StepCondition<'static>,
    random: &mut Random,
    has_items: &dyn Fn(StepId) -> bool,
) -> StepCondition<'static> {
    let mut all = |parts: &[StepCondition<'static>]| -> &'static [StepCondition<'static>] {
        parts.iter().map(|it| over_items(it, random, has_items)).collect::<Vec<_>>().leak()
    };
    match condition {
        StepCondition::Or(parts) => StepCondition::Or(all(parts)),
        StepCondition::And(parts) => StepCondition::And(all(parts)),
        StepCondition::Not(part) => StepCondition::Not(&all(core::slice::from_ref(part))[0]),
        StepCondition::Test(test) => {
            let items = match test.of {
                Operand::Step(_, Field::Ran | Field::Rounds) | Operand::Input(_) => None,
                Operand::Step(step, _) => has_items(step).then(|| random.one_of(&[Items::All, Items::Any])),
            };
            StepCondition::Test(StepTest { items, ..*test })
        }
    }
}

/// The condition with its steps at other places in the source.
pub fn moved(condition: &StepCondition<'static>, to: &dyn Fn(StepId) -> StepId) -> StepCondition<'static> {
    let all = |parts: &[StepCondition<'static>]| -> &'static [StepCondition<'static>] {
        parts.iter().map(|it| moved(it, to)).collect::<Vec<_>>().leak()
    };
    match condition {
        StepCondition::Or(parts) => StepCondition::Or(all(parts)),
        StepCondition::And(parts) => StepCondition::And(all(parts)),
        StepCondition::Not(part) => StepCondition::Not(Box::leak(Box::new(moved(part, to)))),
        StepCondition::Test(test) => StepCondition::Test(StepTest {
            of: match test.of {
                Operand::Step(step, field) => Operand::Step(to(step), field),
                Operand::Input(input) => Operand::Input(input),
            },
            ..*test
        }),
    }
}

/// Truth of a condition, from 0 for false over 1 for neither to 2 for true. `value` finds values as the design names them: one of each
/// item, or a single one.
pub fn truth(condition: &StepCondition<'_>, value: &dyn Fn(Operand) -> Vec<Option<Value>>) -> u8 {
    let all = |parts: &[StepCondition<'_>]| parts.iter().map(|it| truth(it, value)).collect::<Vec<_>>();
    match condition {
        StepCondition::Or(parts) => all(parts).into_iter().max().unwrap_or(0),
        StepCondition::And(parts) => all(parts).into_iter().min().unwrap_or(2),
        StepCondition::Not(part) => 2 - truth(part, value),
        StepCondition::Test(test) => answer(test, value(test.of)),
    }
}

/// Truth of a test, over all items or any.
fn answer(test: &StepTest<'_>, values: Vec<Option<Value>>) -> u8 {
    let answers = values.iter().map(|it| match it {
        None => 1,
        Some(found) => 2 * u8::from(passes(test.is, found)),
    });
    let answer = if test.items == Some(Items::Any) { answers.max() } else { answers.min() };
    answer.unwrap_or(1)
}

/// True if a condition can be true, and if it can be false, when every test of these steps can be both.
pub fn possible(
    condition: &StepCondition<'_>,
    is_open: &dyn Fn(StepId) -> bool,
    value: &dyn Fn(Operand) -> Vec<Option<Value>>,
) -> [bool; 2] {
    let all = |parts: &[StepCondition<'_>]| {
        parts.iter().map(|it| possible(it, is_open, value)).collect::<Vec<[bool; 2]>>()
    };
    match condition {
        StepCondition::Or(parts) => [all(parts).iter().any(|it| it[0]), all(parts).iter().all(|it| it[1])],
        StepCondition::And(parts) => [all(parts).iter().all(|it| it[0]), all(parts).iter().any(|it| it[1])],
        StepCondition::Not(part) => {
            let [yes, no] = possible(part, is_open, value);
            [no, yes]
        }
        StepCondition::Test(test) => match test.of {
            Operand::Step(step, _) if is_open(step) => [true, true],
            Operand::Step(..) | Operand::Input(_) => {
                let truth = answer(test, value(test.of));
                [truth == 2, truth == 0]
            }
        },
    }
}

/// Answer of a comparison whose sides have one type.
fn passes(is: Comparison<'_>, found: &Value) -> bool {
    match (is, found) {
        (Comparison::In(words), Value::Text(it)) => words.iter().any(|word| word == it),
        (Comparison::Has(word), Value::List(items)) => items.contains(&word.to_string()),
        (Comparison::Is(relation, literal), _) => {
            let order = found.cmp(&literal.value());
            let wanted = match relation {
                Relation::Equal => vec![0],
                Relation::Unequal => vec![-1, 1],
                Relation::Less => vec![-1],
                Relation::AtMost => vec![-1, 0],
                Relation::Greater => vec![1],
                Relation::AtLeast => vec![0, 1],
            };
            wanted.contains(&(order as i8))
        }
        (Comparison::In(_) | Comparison::Has(_), _) => panic!("{is:?} does not fit {found:?}"),
    }
}

#[test]
fn conditions_agree_with_a_second_evaluation() {
    let readable: Vec<(StepId, Vec<Output<'static>>)> =
        vec![(StepId(0), OUTPUTS.to_vec()), (StepId(1), Vec::new()), (StepId(2), OUTPUTS[..2].to_vec())];
    let mut seen = [0_u32; 3];
    for seed in 0..20_000 {
        let random = &mut Random::new(seed);
        let condition = condition(random, &readable, 4);
        let mut values = alloc::collections::BTreeMap::new();
        for test in condition.tests() {
            let found = match test.is {
                Comparison::Is(_, Literal::Number(_)) => Value::Number(random.below(5) as i64 - 1),
                Comparison::Is(_, Literal::Bool(_)) => Value::Bool(random.percent(50)),
                Comparison::Has(_) => Value::List(vec![random.one_of(&ITEMS).to_string()]),
                Comparison::Is(..) | Comparison::In(_) => {
                    Value::Text(random.one_of(&["PASS", "FAIL", "low", "high", "one"]).to_string())
                }
            };
            // A value that is not there is as frequent as one that is.
            let found = (random.percent(60) && test.of.step() != Some(StepId(1))).then_some(found);
            values.entry(test.of).or_insert(found);
        }
        let find = |of: Operand| vec![values[&of].clone()];
        let expect = truth(&condition, &find);
        seen[usize::from(expect)] += 1;
        let negated = StepCondition::Not(&condition);
        let holds = |it: &StepCondition<'_>| it.holds(&|of| values[&of].as_ref().map(Value::as_ref));
        assert_eq!(
            (holds(&condition), holds(&negated)),
            (expect == 2, expect == 0),
            "seed {seed}: {condition:?}"
        );
        for open in [None, Some(StepId(0)), Some(StepId(1))] {
            let mut set = StepSet::none(&THREE);
            open.iter().for_each(|it| set.add(*it));
            let expect = possible(&condition, &|it| Some(it) == open, &find);
            let may =
                |it: &StepCondition<'_>| it.may_hold(&set, &|of| values[&of].as_ref().map(Value::as_ref));
            assert_eq!([may(&condition), may(&negated)], expect, "seed {seed}, {open:?}: {condition:?}");
        }
    }
    assert!(seen.iter().all(|it| *it > 1_000), "{seen:?}");
}

const THREE: Plan<'static> = Plan { steps: &[Step::EMPTY, Step::EMPTY, Step::EMPTY], ..Plan::EMPTY };

#[test]
fn a_condition_is_written_with_the_parentheses_that_it_needs() {
    let named = |id| Step { id, outputs: &OUTPUTS, ..Step::EMPTY };
    let steps = [named("a"), named("b")];
    let plan = Plan { steps: &steps, inputs: &INPUTS, ..Plan::EMPTY };
    let test = |of, is| StepCondition::Test(StepTest { of, items: None, is });
    let ok = test(
        Operand::Step(StepId(0), Field::Output(OutputId(2))),
        Comparison::Is(Relation::Equal, Literal::Bool(true)),
    );
    let is = StepCondition::equal(StepId(1), Field::Result, "PASS");
    let target = test(Operand::Input(InputId(0)), Comparison::In(&["low", "mid"]));
    let has = test(Operand::Step(StepId(0), Field::Output(OutputId(3))), Comparison::Has("web"));
    let rounds =
        test(Operand::Step(StepId(0), Field::Rounds), Comparison::Is(Relation::AtLeast, Literal::Number(3)));
    for (condition, expect) in [
        (
            StepCondition::And(&[StepCondition::Or(&[ok, is]), rounds]),
            "(a.ok || b.result == 'PASS') && a.rounds >= 3",
        ),
        (
            StepCondition::Or(&[StepCondition::And(&[ok, is]), has]),
            "a.ok && b.result == 'PASS' || 'web' in a.parts",
        ),
        (StepCondition::Not(&is), "!(b.result == 'PASS')"),
        (StepCondition::Not(&ok), "!a.ok"),
        (
            StepCondition::Not(&StepCondition::And(&[ok, target])),
            "!(a.ok && inputs.target in ['low', 'mid'])",
        ),
    ] {
        assert_eq!(plan.condition_text(&condition), expect);
    }
}
