//! Everything that conditions can read at one time: each step has completed with values of one kind, or has not.

use std::collections::BTreeMap;

use orange_core::plan::{Field, Operand, Plan, StepCondition, StepTest, Value, ValueType};

use super::report;

/// The most worlds that are looked at.
const MOST: usize = 20_000;

/// Values that some conditions read, in every combination that they distinguish.
#[derive(Debug)]
pub(crate) struct Worlds(Vec<World>);

/// Values of what conditions read. An absent one is not there.
#[derive(Clone, Debug, Default)]
pub(crate) struct World(BTreeMap<Operand, Value>);

impl Worlds {
    /// The worlds of these conditions; `None` where there are too many.
    pub(crate) fn of(plan: &Plan<'_>, conditions: &[StepCondition<'_>]) -> Option<Worlds> {
        let mut tests: BTreeMap<Operand, Vec<StepTest<'_>>> = BTreeMap::new();
        for test in conditions.iter().flat_map(StepCondition::tests) {
            tests.entry(test.of).or_default().push(test);
        }
        let mut worlds = vec![World::default()];
        let mut steps: Vec<_> = tests.keys().map(|it| it.step()).collect();
        steps.dedup();
        for step in steps {
            let read = tests.iter().filter(|(of, _)| of.step() == step);
            let mut of_step = vec![World::default()];
            for (of, tests) in read {
                let values = present(plan, *of, tests);
                of_step =
                    of_step.iter().flat_map(|it| values.iter().map(|value| it.with(*of, value))).collect();
                if of_step.len() > MOST {
                    return None;
                }
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

impl World {
    fn with(&self, of: Operand, value: &Value) -> World {
        let mut world = self.clone();
        world.0.insert(of, value.clone());
        world
    }

    fn and(&self, other: &World) -> World {
        let mut world = self.clone();
        world.0.extend(other.0.iter().map(|(of, value)| (*of, value.clone())));
        world
    }

    /// True if a condition holds there.
    pub(crate) fn holds(&self, condition: &StepCondition<'_>) -> bool {
        condition.holds(&|of| self.0.get(&of).map(Value::as_ref))
    }

    /// True if everything that a condition reads is there.
    pub(crate) fn has_all(&self, condition: &StepCondition<'_>) -> bool {
        condition.tests().iter().all(|it| self.0.contains_key(&it.of))
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
