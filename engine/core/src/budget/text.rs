//! Budgets and their amounts as texts.

use alloc::format;
use alloc::string::{String, ToString};

use super::{Budget, BudgetKind, ReachedLimit};

/// The highest amount of a kind.
const HIGHEST: u64 = 1_000_000_000_000_000;

impl Budget {
    /// Reads `cost=5,time=2h,starts=12`.
    ///
    /// # Errors
    /// A sentence about the part that has no meaning.
    pub fn parse(text: &str) -> Result<Budget, String> {
        let mut budget = Budget::default();
        for part in text.split(',') {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let kind = BudgetKind::named(key.trim()).ok_or_else(|| unknown(key.trim()))?;
            if budget.get(kind).is_some() {
                return Err(format!("`{}` stands there twice", kind.as_str()));
            }
            budget.set(kind, Some(kind.read(value.trim())?));
        }
        Ok(budget)
    }

    /// The values as an argument: `cost=5,time=2h`.
    pub fn written(&self) -> String {
        let mut text = String::new();
        for kind in BudgetKind::ALL {
            if let Some(value) = self.get(kind) {
                let comma = if text.is_empty() { "" } else { "," };
                text += &format!("{comma}{}={}", kind.as_str(), kind.written(value));
            }
        }
        text
    }

    /// The values in words: `$5.00, 12 starts`.
    pub fn words(&self) -> String {
        let mut text = String::new();
        for kind in BudgetKind::ALL {
            if let Some(value) = self.get(kind) {
                let comma = if text.is_empty() { "" } else { ", " };
                text += &format!("{comma}{}", amount(kind, value));
            }
        }
        text
    }
}

fn unknown(key: &str) -> String {
    let mut known = String::new();
    for kind in BudgetKind::ALL {
        let comma = if known.is_empty() { "" } else { ", " };
        known += &format!("{comma}{}", kind.as_str());
    }
    format!("`{key}` is not a kind of budget: give {known}, such as `cost=5,time=2h,starts=12`")
}

impl BudgetKind {
    /// Reads an amount of the kind, in the form of settings and arguments.
    ///
    /// # Errors
    /// A sentence with the form.
    pub fn read(self, text: &str) -> Result<u64, String> {
        let read = match self {
            BudgetKind::Cost => dollars(text),
            BudgetKind::Tokens | BudgetKind::FreshTokens => {
                united(text, &[("", 1), ("k", 1_000), ("M", 1_000_000)])
            }
            BudgetKind::Time => united(text, &[("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)]),
            BudgetKind::Starts => united(text, &[("", 1)]),
        };
        read.filter(|value| (1..=HIGHEST).contains(value)).ok_or_else(|| {
            let form = match self {
                BudgetKind::Cost => "dollars, such as 5 or 0.50",
                BudgetKind::Tokens | BudgetKind::FreshTokens => {
                    "a number of tokens, such as 500000, 500k or 20M"
                }
                BudgetKind::Time => "a number and its unit: 90s, 20m, 2h or 1d",
                BudgetKind::Starts => "a number of starts from 1",
            };
            format!("`{}` is {form}", self.as_str())
        })
    }

    /// An amount of the kind in the form that `read` takes.
    fn written(self, value: u64) -> String {
        let shortest = |units: &[(&str, u64)]| {
            let unit = units.iter().rev().find(|(_, size)| value.is_multiple_of(*size)).copied();
            let (unit, size) = unit.unwrap_or(("", 1));
            format!("{}{unit}", value / size)
        };
        match self {
            BudgetKind::Cost if value.is_multiple_of(1_000_000) => (value / 1_000_000).to_string(),
            BudgetKind::Cost => {
                let digits = format!("{:06}", value % 1_000_000);
                format!("{}.{:0<2}", value / 1_000_000, digits.trim_end_matches('0'))
            }
            BudgetKind::Tokens | BudgetKind::FreshTokens => {
                shortest(&[("", 1), ("k", 1_000), ("M", 1_000_000)])
            }
            BudgetKind::Time => shortest(&[("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)]),
            BudgetKind::Starts => value.to_string(),
        }
    }
}

/// Dollars with at most six decimals, in millionths.
fn dollars(text: &str) -> Option<u64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    if !is_number(whole) || !is_number(decimals) || decimals.len() > 6 {
        return None;
    }
    let millionths: u64 = format!("{decimals:0<6}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(millionths)
}

/// A whole number with one of these units.
fn united(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.trim_end_matches(|it: char| !it.is_ascii_digit());
    let (_, size) = units.iter().find(|(unit, _)| *unit == &text[digits.len()..])?;
    let is_plain = digits.bytes().all(|it| it.is_ascii_digit());
    digits.parse::<u64>().ok().filter(|_| is_plain)?.checked_mul(*size)
}

/// An amount in words: `$5.00`, `20000000 tokens`, `2 h`, `12 starts`.
pub fn amount(kind: BudgetKind, value: u64) -> String {
    match kind {
        BudgetKind::Cost => format!("${}.{:02}", value / 1_000_000, value % 1_000_000 / 10_000),
        BudgetKind::Tokens => format!("{value} tokens"),
        BudgetKind::FreshTokens => format!("{value} fresh tokens"),
        BudgetKind::Time => match value {
            0..120 => format!("{value} s"),
            120..7200 => format!("{} min", value / 60),
            _ if value.is_multiple_of(3600) => format!("{} h", value / 3600),
            _ => format!("{} h {} min", value / 3600, value % 3600 / 60),
        },
        BudgetKind::Starts if value == 1 => "1 start".into(),
        BudgetKind::Starts => format!("{value} starts"),
    }
}

impl ReachedLimit {
    /// The spent amount and the limit in words: `$5.10 of $5.00`.
    pub fn words(&self) -> String {
        format!("{} of {}", amount(self.kind, self.spent), amount(self.kind, self.limit))
    }
}
