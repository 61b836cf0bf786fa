//! C20: a guard that no values of the counters satisfy.

use super::C20;
use super::shared::{GuardOwner, GuardSite, guards, undecided};
use crate::lint::Facts;
use orange_codegen::diag::Diagnostic;
use orange_codegen::guard::{Expr, decide};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    guards(facts).into_iter().filter_map(|site| judge(facts, &site)).collect()
}

fn judge(facts: &Facts<'_>, site: &GuardSite<'_>) -> Option<Diagnostic> {
    match holds_somewhere(facts, &site.guard.expr) {
        Some(true) => None,
        Some(false) => Some(never(facts, site)),
        None => Some(undecided(site.guard.clause, &format!("`{}` ever holds", site.guard.text))),
    }
}

fn never(facts: &Facts<'_>, site: &GuardSite<'_>) -> Diagnostic {
    let guard = site.guard;
    let (so, delete) = match site.decides {
        GuardOwner::Transition(transition) => {
            (format!("{} is never open", facts.arrow(transition)), "transition")
        }
        GuardOwner::Watch => ("the watch rule never applies".to_owned(), "rule"),
        GuardOwner::Clause(_, clause) => {
            (format!("the clause never leads to `{}`", facts.name(clause.then.value)), "clause")
        }
    };
    let message = format!("no values of the counters satisfy `{}`: {so}", guard.text);
    let help = match either(facts, site) {
        Some(either) => format!("write `{either}` if one of them is enough, or delete the {delete}"),
        None => format!("let it hold for some value from 0 on, or delete the {delete}"),
    };
    Diagnostic::new(&C20, guard.clause, message)
        .label(guard.clause, "counters are whole numbers from 0 on")
        .help(help)
}

/// The guard with `||` in the place of `&&`, where that is all that is wrong with it.
fn either(facts: &Facts<'_>, site: &GuardSite<'_>) -> Option<String> {
    let Expr::And(parts) = &site.guard.expr else { return None };
    let simple = parts.iter().all(|it| matches!(it, Expr::Compare(_)));
    let holds = simple && holds_somewhere(facts, &Expr::Or(parts.clone()))?;
    holds.then(|| site.guard.text.replace("&&", "||"))
}

fn holds_somewhere(facts: &Facts<'_>, expr: &Expr) -> Option<bool> {
    let found = decide::somewhere(expr, &facts.workflow.counters, &mut facts.work.borrow_mut());
    found.ok().map(|it| it.is_some())
}
