//! Conditions of stored plans. A condition of the form `step.result == 'PASS'` is stored as before there were others.

use orange_core::plan::{
    Comparison, Field, InputId, Items, Literal, Operand, OutputId, Relation, StepCondition, StepId, StepTest,
};
use serde::{Deserialize, Serialize};

use super::{owned, words};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum StoredCondition {
    Equality { step: u16, reads_summary: bool, value: String },
    Expression(StoredExpression),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StoredExpression {
    Or(Vec<StoredExpression>),
    And(Vec<StoredExpression>),
    Not(Box<StoredExpression>),
    Test {
        of: StoredOperand,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        items: Option<StoredItems>,
        is: StoredComparison,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StoredItems {
    All,
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StoredOperand {
    Step(u16, StoredField),
    Input(u16),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StoredField {
    Result,
    Summary,
    Output(u16),
    Ran,
    Rounds,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StoredComparison {
    /// The sign of a relation, and its right side.
    Is(String, StoredLiteral),
    In(Vec<String>),
    Has(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StoredLiteral {
    Text(String),
    Number(i64),
    Bool(bool),
    List(Vec<String>),
}

impl StoredCondition {
    pub(super) fn of(condition: &StepCondition<'_>) -> StoredCondition {
        match condition.equality() {
            Some((step, field @ (Field::Result | Field::Summary), value)) => StoredCondition::Equality {
                step: step.0,
                reads_summary: field == Field::Summary,
                value: value.to_owned(),
            },
            Some(_) | None => StoredCondition::Expression(StoredExpression::of(condition)),
        }
    }

    /// `None` where a number or a word means nothing.
    pub(super) fn leak(self, id: &dyn Fn(u16) -> Option<StepId>) -> Option<StepCondition<'static>> {
        match self {
            StoredCondition::Equality { step, reads_summary, value } => {
                let field = if reads_summary { Field::Summary } else { Field::Result };
                Some(StepCondition::equal(id(step)?, field, value.leak()))
            }
            StoredCondition::Expression(it) => it.leak(id),
        }
    }
}

impl StoredExpression {
    fn of(condition: &StepCondition<'_>) -> StoredExpression {
        match condition {
            StepCondition::Or(parts) => StoredExpression::Or(parts.iter().map(Self::of).collect()),
            StepCondition::And(parts) => StoredExpression::And(parts.iter().map(Self::of).collect()),
            StepCondition::Not(part) => StoredExpression::Not(Box::new(Self::of(part))),
            StepCondition::Test(StepTest { of, items, is }) => StoredExpression::Test {
                of: StoredOperand::of(*of),
                items: items.map(|it| match it {
                    Items::All => StoredItems::All,
                    Items::Any => StoredItems::Any,
                }),
                is: StoredComparison::of(is),
            },
        }
    }

    fn leak(self, id: &dyn Fn(u16) -> Option<StepId>) -> Option<StepCondition<'static>> {
        let all = |parts: Vec<StoredExpression>| -> Option<&'static [StepCondition<'static>]> {
            let parts: Option<Vec<_>> = parts.into_iter().map(|it| it.leak(id)).collect();
            parts.map(|it| &*it.leak())
        };
        Some(match self {
            StoredExpression::Or(parts) => StepCondition::Or(all(parts)?),
            StoredExpression::And(parts) => StepCondition::And(all(parts)?),
            StoredExpression::Not(part) => StepCondition::Not(Box::leak(Box::new(part.leak(id)?))),
            StoredExpression::Test { of, items, is } => StepCondition::Test(StepTest {
                of: of.leak(id)?,
                items: items.map(|it| match it {
                    StoredItems::All => Items::All,
                    StoredItems::Any => Items::Any,
                }),
                is: is.leak()?,
            }),
        })
    }
}

impl StoredOperand {
    pub(super) fn of(operand: Operand) -> StoredOperand {
        match operand {
            Operand::Input(input) => StoredOperand::Input(input.0),
            Operand::Step(step, field) => StoredOperand::Step(
                step.0,
                match field {
                    Field::Result => StoredField::Result,
                    Field::Summary => StoredField::Summary,
                    Field::Output(output) => StoredField::Output(output.0),
                    Field::Ran => StoredField::Ran,
                    Field::Rounds => StoredField::Rounds,
                },
            ),
        }
    }

    /// Numbers of outputs and inputs that a plan does not have are values that are not there.
    pub(super) fn leak(self, id: &dyn Fn(u16) -> Option<StepId>) -> Option<Operand> {
        Some(match self {
            StoredOperand::Input(input) => Operand::Input(InputId(input)),
            StoredOperand::Step(step, field) => Operand::Step(
                id(step)?,
                match field {
                    StoredField::Result => Field::Result,
                    StoredField::Summary => Field::Summary,
                    StoredField::Output(output) => Field::Output(OutputId(output)),
                    StoredField::Ran => Field::Ran,
                    StoredField::Rounds => Field::Rounds,
                },
            ),
        })
    }
}

impl StoredComparison {
    fn of(is: &Comparison<'_>) -> StoredComparison {
        match is {
            Comparison::Is(relation, value) => {
                StoredComparison::Is(relation.as_str().to_owned(), StoredLiteral::of(value))
            }
            Comparison::In(words) => StoredComparison::In(owned(words)),
            Comparison::Has(word) => StoredComparison::Has((*word).to_owned()),
        }
    }

    fn leak(self) -> Option<Comparison<'static>> {
        Some(match self {
            StoredComparison::Is(sign, value) => {
                let relation = Relation::ALL.into_iter().find(|it| it.as_str() == sign)?;
                Comparison::Is(relation, value.leak())
            }
            StoredComparison::In(texts) => Comparison::In(words(texts)),
            StoredComparison::Has(word) => Comparison::Has(word.leak()),
        })
    }
}

impl StoredLiteral {
    fn of(value: &Literal<'_>) -> StoredLiteral {
        match value {
            Literal::Text(it) => StoredLiteral::Text((*it).to_owned()),
            Literal::Number(it) => StoredLiteral::Number(*it),
            Literal::Bool(it) => StoredLiteral::Bool(*it),
            Literal::List(items) => StoredLiteral::List(owned(items)),
        }
    }

    fn leak(self) -> Literal<'static> {
        match self {
            StoredLiteral::Text(it) => Literal::Text(it.leak()),
            StoredLiteral::Number(it) => Literal::Number(it),
            StoredLiteral::Bool(it) => Literal::Bool(it),
            StoredLiteral::List(items) => Literal::List(words(items)),
        }
    }
}
