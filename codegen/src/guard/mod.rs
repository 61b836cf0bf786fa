//! Guards: the `when` clauses, parsed and decided.

pub mod cells;
pub mod decide;
pub mod parse;
mod region;

#[cfg(test)]
mod tests;

use crate::span::Span;
use orange_core::CounterId;

/// An unsigned 32-bit integer of a task's frontmatter.
#[derive(Clone, Debug)]
pub struct Counter {
    /// Its key in the frontmatter, `[a-z_][a-z0-9_]*`.
    pub name: String,
    /// Its value in a new task.
    pub start: u32,
    /// Place of its declaration in `fields`; absent for the two built-in ones.
    pub declared: Option<Span>,
}

/// A `when` clause.
#[derive(Clone, Debug)]
pub struct Guard {
    /// As the author wrote it.
    pub text: String,
    /// The whole scalar, quotes included.
    pub span: Span,
    /// The clause inside the quotes.
    pub clause: Span,
    /// The condition.
    pub expr: Expr,
}

/// A condition over counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// `a || b`: any of these; two or more.
    Or(Vec<Expr>),
    /// `a && b`: all of these; two or more.
    And(Vec<Expr>),
    /// `!a`
    Not(Box<Expr>),
    /// `counter op integer`
    Compare(Compare),
}

/// One comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compare {
    /// The comparison, inside the string.
    pub span: Span,
    /// The counter that is compared.
    pub counter: CounterId,
    /// The operator.
    pub op: Op,
    /// The value that it is compared with.
    pub value: u32,
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
}

impl Expr {
    /// Every comparison in it, in source order.
    pub fn comparisons(&self) -> Vec<&Compare> {
        match self {
            Self::Or(all) | Self::And(all) => all.iter().flat_map(Self::comparisons).collect(),
            Self::Not(inner) => inner.comparisons(),
            Self::Compare(it) => vec![it],
        }
    }

    /// True if it holds for these values, indexed by [`CounterId`]; a counter that is not given is 0.
    pub fn holds(&self, counters: &[u32]) -> bool {
        match self {
            Self::Or(any) => any.iter().any(|it| it.holds(counters)),
            Self::And(all) => all.iter().all(|it| it.holds(counters)),
            Self::Not(inner) => !inner.holds(counters),
            Self::Compare(it) => {
                it.op.holds(counters.get(usize::from(it.counter.0)).copied().unwrap_or(0), it.value)
            }
        }
    }
}

impl Op {
    /// Every operator.
    pub const ALL: [Self; 6] =
        [Self::Less, Self::AtMost, Self::Greater, Self::AtLeast, Self::Equal, Self::NotEqual];

    /// As a guard spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
        }
    }

    /// True if `left op right`.
    pub const fn holds(self, left: u32, right: u32) -> bool {
        match self {
            Self::Less => left < right,
            Self::AtMost => left <= right,
            Self::Greater => left > right,
            Self::AtLeast => left >= right,
            Self::Equal => left == right,
            Self::NotEqual => left != right,
        }
    }
}
