//! Everything that conditions can read at one time: each step has completed with values of one kind, or has not.

use std::collections::BTreeMap;

use orange_core::plan::{Field, Operand, Plan, StepCondition, StepId, StepTest, Value, ValueType};

use super::report;

/// The most worlds that are looked at.
const MOST: usize = 20_000;

/// Values that some conditions read, in every combination that they distinguish.
#[derive(Debug)]
pub(crate) struct Worlds(Vec<World>);

/// Values of what conditions read. An absent one is not there.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    values: Values,
    /// The completed items of fan-outs, each with its values.
    items: BTreeMap<StepId, Vec<Values>>,
}

/// Values of operands.
type Values = BTreeMap<Operand, Value>;

/// The tests that read each operand.
type TestsByOperand<'c> = BTreeMap<Operand, Vec<StepTest<'c>>>;

impl Worlds {
    /// The worlds of these conditions; `None` where there are too many.
    pub(crate) fn of(plan: &Plan<'_>, conditions: &[StepCondition<'_>]) -> Option<Worlds> {
        let mut tests: TestsByOperand<'_> = BTreeMap::new();
        for test in conditions.iter().flat_map(StepCondition::tests) {
            tests.entry(test.of).or_default().push(test);
        }
        let mut worlds = vec![World::default()];
        let mut steps: Vec<_> = tests.keys().map(|it| it.step()).collect();
        steps.dedup();
        for step in steps {
            let read = |it: &Operand| it.step() == step;
            let (of_items, of_one): (TestsByOperand<'_>, TestsByOperand<'_>) = tests
                .iter()
                .filter(|(of, _)| read(of))
                .map(|(of, tests)| (*of, tests.clone()))
                .partition(|(_, tests)| tests.iter().any(|it| it.items.is_some()));
            let mut of_step: Vec<World> = combinations(plan, &of_one)?
                .into_iter()
                .map(|values| World { values, ..World::default() })
                .collect();
            if let Some(step) = step.filter(|_| !of_items.is_empty()) {
                let sets = item_sets(&combinations(plan, &of_items)?, of_items.values().flatten().count())?;
                of_step =
                    of_step.iter().flat_map(|it| sets.iter().map(|set| it.with_items(step, set))).collect();
            }
            // A step that has not completed has neither run nor reported.
            let absent = step.map(|step| {
                let absent = World::default().with(Operand::Step(step, Field::Ran), &Value::Bool(false));
                absent.with(Operand::Step(step, Field::Rounds), &Value::Number(0))
            });
            of_step.extend(absent);
            worlds =
                worlds.iter().flat_map(|it| of_step.iter().map(|more| it.and(more))).take(MOST + 1).collect();
            if worlds.len() > MOST {
                return None;
            }
        }
        Some(Worlds(worlds))
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &World> {
        self.0.iter()
    }
}

/// Every combination of the values of these operands.
fn combinations(plan: &Plan<'_>, tests: &TestsByOperand<'_>) -> Option<Vec<Values>> {
    let mut found = vec![Values::new()];
    for (of, tests) in tests {
        let values = present(plan, *of, tests);
        let with = |it: &Values, value: &Value| {
            let mut more = it.clone();
            more.insert(*of, value.clone());
            more
        };
        found = found.iter().flat_map(|it| values.iter().map(move |value| with(it, value))).collect();
        if found.len() > MOST {
            return None;
        }
    }
    Some(found)
}

/// The sets of at least one of these items and at most as many as there are tests: each test has at most one item as its witness.
fn item_sets(items: &[Values], tests: usize) -> Option<Vec<Vec<Values>>> {
    let mut sets: Vec<Vec<usize>> = (0..items.len()).map(|it| vec![it]).collect();
    let mut at = 0;
    while let Some(set) = sets.get(at).cloned() {
        let next = set.last().map_or(0, |it| it + 1);
        if set.len() < tests {
            sets.extend((next..items.len()).map(|it| [&set[..], &[it]].concat()));
        }
        if sets.len() > MOST {
            return None;
        }
        at += 1;
    }
    Some(sets.iter().map(|set| set.iter().map(|it| items[*it].clone()).collect()).collect())
}

impl World {
    fn with(&self, of: Operand, value: &Value) -> World {
        let mut world = self.clone();
        world.values.insert(of, value.clone());
        world
    }

    fn with_items(&self, step: StepId, items: &[Values]) -> World {
        let mut world = self.clone();
        world.items.insert(step, items.to_vec());
        world
    }

    fn and(&self, other: &World) -> World {
        let mut world = self.clone();
        world.values.extend(other.values.iter().map(|(of, value)| (*of, value.clone())));
        world.items.extend(other.items.iter().map(|(step, items)| (*step, items.clone())));
        world
    }

    /// True if a condition holds there.
    pub(crate) fn holds(&self, condition: &StepCondition<'_>) -> bool {
        condition.holds_by(&|test| match test.items {
            None => test.answer(self.values.get(&test.of).map(Value::as_ref)),
            Some(_) => {
                let items = test.of.step().and_then(|it| self.items.get(&it))?;
                test.answer_of_items(items.iter().map(|it| it.get(&test.of).map(Value::as_ref)))
            }
        })
    }

    /// True if everything that a condition reads is there.
    pub(crate) fn has_all(&self, condition: &StepCondition<'_>) -> bool {
        condition.tests().iter().all(|it| match it.items {
            None => self.values.contains_key(&it.of),
            Some(_) => it.of.step().is_some_and(|it| self.items.contains_key(&it)),
        })
    }
}

/// The values of an operand that is there, as far as these tests distinguish them.
fn present(plan: &Plan<'_>, of: Operand, tests: &[StepTest<'_>]) -> Vec<Value> {
    match of {
        Operand::Input(input) => match plan.inputs.get(input.index()) {
            Some(input) => report::values(&input.kind, tests),
            None => Vec::new(),
        },
        Operand::Step(_, Field::Ran) => vec![Value::Bool(true)],
        Operand::Step(_, Field::Rounds) => {
            report::values(&ValueType::Number { min: 1, max: i64::from(u32::MAX) }, tests)
        }
        Operand::Step(step, Field::Result) => match plan.results_of(step) {
            [] => report::values(&ValueType::Text, tests),
            words => report::values(&ValueType::Words(words), tests),
        },
        Operand::Step(_, Field::Summary) => report::values(&ValueType::Text, tests),
        Operand::Step(step, Field::Output(output)) => match plan.outputs_of(step).get(output.index()) {
            Some(output) => report::values(&output.kind, tests),
            None => Vec::new(),
        },
    }
}
