//! Conditions of steps: expressions over what steps have reported and what a mission was started with.

use alloc::vec::Vec;

use super::{InputId, Literal, OutputId, StepId, StepSet, ValueRef};

/// Condition of a step: `a.result == 'PASS' && !(b.score > 3 || inputs.target in ['web'])`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepCondition<'a> {
    /// One of these holds.
    Or(&'a [StepCondition<'a>]),
    /// All of these hold.
    And(&'a [StepCondition<'a>]),
    /// This is false; a test of a value that is not there is neither true nor false.
    Not(&'a StepCondition<'a>),
    /// One test of one value.
    Test(StepTest<'a>),
}

/// A test of one value with literals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepTest<'a> {
    /// Value that is tested.
    pub of: Operand,
    /// Items of a fan-out for which it must hold; `None` of a plain step and of an input.
    pub items: Option<Items>,
    /// Comparison with the value.
    pub is: Comparison<'a>,
}

/// A value that a condition or a prompt reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operand {
    /// Part of what a step, a direct or indirect dependency, has reported.
    Step(StepId, Field),
    /// A value that the mission was started with.
    Input(InputId),
}

/// Items of a fan-out for which a test must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Items {
    /// Every completed item.
    All,
    /// One completed item or more.
    Any,
}

/// Part of what a step has reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// Result of a report, one word.
    Result,
    /// Summary of a report, any text.
    Summary,
    /// A declared output; of a handler, one of the step that it handles.
    Output(OutputId),
    /// True once the step, or its handler, has completed; always there.
    Ran,
    /// Number of completions of the step and of its handler; always there.
    Rounds,
}

/// Comparison of a value with literals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison<'a> {
    /// `== 'PASS'`, `<= 20`
    Is(Relation, Literal<'a>),
    /// `in ['low', 'high']`
    In(&'a [&'a str]),
    /// `'web' in step.parts`
    Has(&'a str),
}

/// Relation of a value to a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

impl Relation {
    /// Every relation, the longer of two with a common beginning first.
    pub const ALL: [Relation; 6] = [
        Relation::Equal,
        Relation::Unequal,
        Relation::AtMost,
        Relation::AtLeast,
        Relation::Less,
        Relation::Greater,
    ];

    /// Its sign in conditions.
    pub const fn as_str(self) -> &'static str {
        match self {
            Relation::Equal => "==",
            Relation::Unequal => "!=",
            Relation::Less => "<",
            Relation::AtMost => "<=",
            Relation::Greater => ">",
            Relation::AtLeast => ">=",
        }
    }

    /// True if it compares order, which numbers alone have.
    pub const fn is_order(self) -> bool {
        match self {
            Relation::Equal | Relation::Unequal => false,
            Relation::Less | Relation::AtMost | Relation::Greater | Relation::AtLeast => true,
        }
    }

    /// True if the number on the left has this relation to the one on the right.
    pub const fn holds(self, left: i64, right: i64) -> bool {
        match self {
            Relation::Equal => left == right,
            Relation::Unequal => left != right,
            Relation::Less => left < right,
            Relation::AtMost => left <= right,
            Relation::Greater => left > right,
            Relation::AtLeast => left >= right,
        }
    }
}

impl Items {
    /// Its word in conditions.
    pub const fn as_str(self) -> &'static str {
        match self {
            Items::All => "all",
            Items::Any => "any",
        }
    }
}

impl Operand {
    /// The step whose report it is part of.
    pub fn step(self) -> Option<StepId> {
        match self {
            Operand::Step(step, _) => Some(step),
            Operand::Input(_) => None,
        }
    }
}

impl<'a> StepCondition<'a> {
    /// `step.field == 'value'`
    pub const fn equal(step: StepId, field: Field, value: &'a str) -> StepCondition<'a> {
        let is = Comparison::Is(Relation::Equal, Literal::Text(value));
        StepCondition::Test(StepTest { of: Operand::Step(step, field), items: None, is })
    }

    /// The parts of a condition that is one test of this form: `step.field == 'value'`.
    pub fn equality(&self) -> Option<(StepId, Field, &'a str)> {
        match self {
            StepCondition::Test(StepTest {
                of: Operand::Step(step, field),
                items: None,
                is: Comparison::Is(Relation::Equal, Literal::Text(value)),
            }) => Some((*step, *field, value)),
            StepCondition::Test(_) | StepCondition::Or(_) | StepCondition::And(_) | StepCondition::Not(_) => {
                None
            }
        }
    }

    /// Its tests, in the order in which they are written.
    pub fn tests(&self) -> Vec<StepTest<'a>> {
        let mut found = Vec::new();
        self.collect(&mut found);
        found
    }

    fn collect(&self, found: &mut Vec<StepTest<'a>>) {
        match self {
            StepCondition::Or(parts) | StepCondition::And(parts) => {
                parts.iter().for_each(|it| it.collect(found));
            }
            StepCondition::Not(part) => part.collect(found),
            StepCondition::Test(test) => found.push(*test),
        }
    }

    /// The steps that it reads, each once, in the order in which they are written.
    pub fn steps(&self) -> Vec<StepId> {
        let mut found = Vec::new();
        for step in self.tests().iter().filter_map(|it| it.of.step()) {
            if !found.contains(&step) {
                found.push(step);
            }
        }
        found
    }

    /// True if it reads one of these steps.
    pub fn reads_one_of(&self, steps: &StepSet) -> bool {
        self.steps().into_iter().any(|it| steps.has(it))
    }

    /// True if it holds for the values that `value` finds. A test of a value that is not there is not true, also under `!`.
    pub fn holds<'v>(&self, value: &dyn Fn(Operand) -> Option<ValueRef<'v>>) -> bool {
        self.holds_by(&|test| test.answer(value(test.of)))
    }

    /// True if it holds with these answers of its tests. A test without an answer is not true, also under `!`.
    pub fn holds_by(&self, answer: &dyn Fn(&StepTest<'a>) -> Option<bool>) -> bool {
        self.is(true, &|test, wanted| answer(test) == Some(wanted))
    }

    /// True if it may come to hold once these steps have run: it holds where every test that reads one of them is true, and is true
    /// under `!`, too.
    pub fn may_hold<'v>(&self, steps: &StepSet, value: &dyn Fn(Operand) -> Option<ValueRef<'v>>) -> bool {
        self.is_possible(&|of| of.step().is_some_and(|it| steps.has(it)), value)
    }

    /// True if it holds where every test of an open operand is true, and is true under `!`, too.
    pub fn is_possible<'v>(
        &self,
        is_open: &dyn Fn(Operand) -> bool,
        value: &dyn Fn(Operand) -> Option<ValueRef<'v>>,
    ) -> bool {
        self.is_possible_by(is_open, &|test| test.answer(value(test.of)))
    }

    /// True if it holds with these answers of its tests, where every test of an open operand is true, and is true under `!`, too.
    pub fn is_possible_by(
        &self,
        is_open: &dyn Fn(Operand) -> bool,
        answer: &dyn Fn(&StepTest<'a>) -> Option<bool>,
    ) -> bool {
        self.is(true, &|test, wanted| is_open(test.of) || answer(test) == Some(wanted))
    }

    /// True if it has this truth value, with negations pushed to the tests.
    fn is(&self, wanted: bool, test: &dyn Fn(&StepTest<'a>, bool) -> bool) -> bool {
        match self {
            StepCondition::Or(parts) if wanted => parts.iter().any(|it| it.is(true, test)),
            StepCondition::And(parts) if !wanted => parts.iter().any(|it| it.is(false, test)),
            StepCondition::Or(parts) | StepCondition::And(parts) => {
                parts.iter().all(|it| it.is(wanted, test))
            }
            StepCondition::Not(part) => part.is(!wanted, test),
            StepCondition::Test(it) => test(it, wanted),
        }
    }
}

impl StepTest<'_> {
    /// Answer of the test for a value; `None` where it is not there.
    pub fn answer(&self, value: Option<ValueRef<'_>>) -> Option<bool> {
        match (self.is, value?) {
            (Comparison::Is(relation, Literal::Number(right)), ValueRef::Number(left)) => {
                Some(relation.holds(left, right))
            }
            (Comparison::Is(relation, Literal::Text(right)), ValueRef::Text(left)) => {
                equality(relation, left == right)
            }
            (Comparison::Is(relation, Literal::Bool(right)), ValueRef::Bool(left)) => {
                equality(relation, left == right)
            }
            (Comparison::In(words), ValueRef::Text(left)) => Some(words.contains(&left)),
            (Comparison::Has(word), ValueRef::List(items)) => Some(items.iter().any(|it| it == word)),
            // The compiler refuses tests whose sides differ in type.
            (Comparison::Is(..) | Comparison::In(_) | Comparison::Has(_), _) => None,
        }
    }

    /// Answer of the test for the values of the completed items of a fan-out; `None` where there is no item, or where an item lacks the
    /// value and the other items leave the answer open.
    pub fn answer_of_items<'v>(
        &self,
        values: impl IntoIterator<Item = Option<ValueRef<'v>>>,
    ) -> Option<bool> {
        let decides = self.items == Some(Items::Any);
        let mut answers = values.into_iter().map(|it| self.answer(it)).peekable();
        answers.peek()?;
        let mut is_open = false;
        for answer in answers {
            if answer == Some(decides) {
                return answer;
            }
            is_open |= answer.is_none();
        }
        (!is_open).then_some(!decides)
    }
}

/// The answer of `==` or `!=`; values other than numbers have no order.
fn equality(relation: Relation, is_equal: bool) -> Option<bool> {
    match relation {
        Relation::Equal => Some(is_equal),
        Relation::Unequal => Some(!is_equal),
        Relation::Less | Relation::AtMost | Relation::Greater | Relation::AtLeast => None,
    }
}
