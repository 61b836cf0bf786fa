//! Conditions as the model has them: expressions of tests, with places.

use orange_core::plan::{Field, Items, Operand, Relation, StepId};

use super::TypedValue;
use crate::span::{Span, Spanned};

/// Condition of a step.
#[derive(Clone, Debug)]
pub struct StepCondition {
    /// As it is written.
    pub text: String,
    /// Place of the condition in the file.
    pub span: Span,
    /// Expression that must hold.
    pub expression: Expression,
}

/// An expression of tests.
#[derive(Clone, Debug)]
pub enum Expression {
    /// One of these holds.
    Or(Vec<Expression>),
    /// All of these hold.
    And(Vec<Expression>),
    /// This is false.
    Not(Box<Expression>),
    /// One test.
    Test(ConditionTest),
}

/// A test of one value.
#[derive(Clone, Debug)]
pub struct ConditionTest {
    /// Place of the test.
    pub span: Span,
    /// Value that it tests.
    pub of: Operand,
    /// Items of a fan-out for which it must hold; `None` of one value.
    pub items: Option<Items>,
    /// Place of the name of the step or input.
    pub name: Span,
    /// Comparison with the value.
    pub is: Compared,
}

/// Comparison of a value with literals.
#[derive(Clone, Debug)]
pub enum Compared {
    /// `== 'PASS'`, `<= 20`
    Is(Relation, Spanned<TypedValue>),
    /// `in ['low', 'high']`
    In(Vec<Spanned<String>>),
    /// `'web' in step.parts`
    Has(Spanned<String>),
}

/// The parts of `step.field == 'value'`.
#[derive(Clone, Copy, Debug)]
pub struct Equality<'c> {
    /// The step.
    pub step: Spanned<StepId>,
    /// Part of its report.
    pub field: Field,
    /// Value with which that is compared.
    pub value: Spanned<&'c str>,
}

impl StepCondition {
    /// Its tests, in the order in which they are written.
    pub fn tests(&self) -> Vec<&ConditionTest> {
        let mut found = Vec::new();
        self.expression.collect(&mut found);
        found
    }

    /// The steps that it reads, each once, at its first place.
    pub fn steps(&self) -> Vec<Spanned<StepId>> {
        let mut found: Vec<Spanned<StepId>> = Vec::new();
        for (step, name) in self.tests().into_iter().filter_map(|it| Some((it.of.step()?, it.name))) {
            if found.iter().all(|it| it.value != step) {
                found.push(Spanned::new(step, name));
            }
        }
        found
    }

    /// True if it reads this step.
    pub fn reads(&self, step: StepId) -> bool {
        self.tests().iter().any(|it| it.of.step() == Some(step))
    }

    /// The parts of a condition that is one test of a text: `step.field == 'value'`.
    pub fn equality(&self) -> Option<Equality<'_>> {
        match &self.expression {
            Expression::Test(ConditionTest { items: Some(_), .. }) => None,
            Expression::Test(ConditionTest { of: Operand::Step(step, field), name, is, .. }) => match is {
                Compared::Is(Relation::Equal, value) => match &value.value {
                    TypedValue::Text(word) => Some(Equality {
                        step: Spanned::new(*step, *name),
                        field: *field,
                        value: Spanned::new(word, value.span),
                    }),
                    TypedValue::Bool(_) | TypedValue::Number(_) | TypedValue::List(_) => None,
                },
                Compared::Is(..) | Compared::In(_) | Compared::Has(_) => None,
            },
            Expression::Test(_) | Expression::Or(_) | Expression::And(_) | Expression::Not(_) => None,
        }
    }
}

impl Expression {
    fn collect<'e>(&'e self, found: &mut Vec<&'e ConditionTest>) {
        match self {
            Expression::Or(parts) | Expression::And(parts) => parts.iter().for_each(|it| it.collect(found)),
            Expression::Not(part) => part.collect(found),
            Expression::Test(test) => found.push(test),
        }
    }
}

impl ConditionTest {
    /// The words with which it compares a text.
    pub fn words(&self) -> Vec<Spanned<&str>> {
        match &self.is {
            Compared::Is(_, value) => match &value.value {
                TypedValue::Text(word) => vec![Spanned::new(word, value.span)],
                TypedValue::Bool(_) | TypedValue::Number(_) | TypedValue::List(_) => Vec::new(),
            },
            Compared::In(words) => words.iter().map(Spanned::as_str).collect(),
            Compared::Has(word) => vec![word.as_str()],
        }
    }
}
