//! `budget`: limits of a task, of a stay in a state, or of a mission.

use orange_core::Budget;
use orange_core::budget::BudgetKind;

use super::decoder::{Decoder, Field, shortened};
use super::keys::BUDGET;
use crate::catalogue::S04;
use crate::diag::Diagnostic;
use crate::span::{Span, Spanned};
use crate::syntax::NodeKind;

/// Limits, as they are written.
#[derive(Clone, Debug)]
pub struct WrittenBudget {
    /// The key and its value.
    pub span: Span,
    /// The limits by kind; at least one.
    pub limits: Vec<WrittenLimit>,
}

/// A limit of one kind.
#[derive(Clone, Copy, Debug)]
pub struct WrittenLimit {
    /// The kind, and the key and its value.
    pub kind: Spanned<BudgetKind>,
    /// Millionths of a dollar, tokens, seconds, or starts, by its kind.
    pub value: u64,
}

impl WrittenBudget {
    /// The limits as a value.
    pub fn limits(&self) -> Budget {
        let mut budget = Budget::NONE;
        self.limits.iter().for_each(|it| budget.set(it.kind.value, Some(it.value)));
        budget
    }
}

/// The limits that could be understood; `None` if there are none.
pub(super) fn budget(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Option<WrittenBudget> {
    let fields = decoder.object(field.value, &BUDGET)?;
    let mut limits = Vec::new();
    for kind in BudgetKind::ALL {
        let Some(limit) = fields.get(kind.as_str()) else { continue };
        let Some(text) = decoder.scalar(&limit) else { continue };
        match kind.read(text.value.trim()) {
            Ok(value) => {
                let kind = Spanned::new(kind, limit.key.to(limit.value.span));
                limits.push(WrittenLimit { kind, value });
            }
            Err(form) => {
                let message = format!("`{}: {}` is not a limit", limit.name, shortened(&text.value));
                decoder.report(Diagnostic::new(&S04, text.span, message).help(form));
            }
        }
    }
    if matches!(&field.value.kind, NodeKind::Mapping(entries) if entries.is_empty()) {
        let found = Diagnostic::new(&S04, field.value.span, "a budget has at least one limit");
        decoder.report(found.help("write one: `budget: {cost: 5.00, time: 2h, starts: 12}`"));
    }
    let span = field.key.to(field.value.span);
    (!limits.is_empty()).then_some(WrittenBudget { span, limits })
}

#[cfg(test)]
mod tests {
    use orange_core::Budget;

    use crate::lower::{Arena, lower};
    use crate::{Source, compile};

    fn source(budget: &str, state: &str) -> Source {
        let text = format!(
            "name: w\n{budget}states:\n  a: {{}}\n  b: {{respawn_prompt: p{state}}}\n  c: {{terminal: true}}\ntransitions:\n\
             - {{from: a, to: b, hooks: [{{action: spawn_agent, prompt: p}}]}}\n- {{from: b, to: [a, c]}}\nprompts: {{p: go}}\n"
        );
        Source::new("w.yml", text)
    }

    #[track_caller]
    fn check(budget: &str, state: &str, expect: &[&str]) {
        let found = compile(&source(budget, state)).diagnostics;
        let messages: Vec<_> = found.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(messages, expect);
    }

    #[test]
    fn budgets_stand_in_the_machine() {
        let all = "budget: {cost: 5.00, time: 2h, starts: 12, tokens: 20M, fresh_tokens: 500k}\n";
        let compiled = compile(&source(all, ", budget: {cost: 0.5, time: 90s}"));
        let checked = compiled.checked.as_ref().unwrap();
        let arena = Arena::default();
        let machine = lower(checked, &arena).unwrap();
        let parse = |text| Budget::parse(text).unwrap();
        assert_eq!(machine.budget, parse("cost=5,time=2h,starts=12,tokens=20M,fresh_tokens=500k"));
        let states: Vec<Budget> = machine.states.iter().map(|it| it.budget).collect();
        assert_eq!(states, [Budget::NONE, parse("cost=0.50,time=90s"), Budget::NONE]);
    }

    #[test]
    fn limits_without_a_meaning_are_reported() {
        check("budget: {cost: five}\n", "", &["`cost: five` is not a limit"]);
        check(
            "budget: {time: 2}\n",
            ", budget: {starts: 0}",
            &["`time: 2` is not a limit", "`starts: 0` is not a limit"],
        );
        check("budget: {}\n", "", &["a budget has at least one limit"]);
        check("budget: {price: 5}\n", "", &["unknown key `price` in a budget"]);
        check("", ", on_budget: c", &["`on_budget` says what follows, and no `budget` when"]);
        check("", ", budget: {cost: 1}, on_budget: d", &["unknown state `d`"]);
    }
}
