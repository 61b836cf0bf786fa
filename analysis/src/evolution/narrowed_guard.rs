//! D03: a guard leaves values out that it let through.

use super::both::{Both, TransitionPair, guard_place, label};
use super::{ChangeFinding, D03, Side};
use orange_codegen::catalogue::A10;
use orange_codegen::diag::{Diagnostic, Witness};
use orange_codegen::guard::cells::Undecided;
use orange_codegen::guard::{Expr, decide};

pub(super) fn find(both: &Both<'_>) -> Vec<ChangeFinding> {
    both.pairs().filter(|pair| !pair.new.is_empty()).filter_map(|pair| in_pair(both, &pair)).collect()
}

fn in_pair(both: &Both<'_>, pair: &TransitionPair<'_>) -> Option<ChangeFinding> {
    let new: Option<Vec<&Expr>> = pair.new.iter().map(|it| Some(&it.when.as_ref()?.expr)).collect();
    // A transition without a guard is always open.
    let new = new?;
    for (at, old) in both.old_guards(pair).iter().enumerate() {
        match left_out(both, old.as_ref(), &new) {
            Ok(None) => {}
            Ok(Some(witness)) => return Some(narrowed(both, pair, at, witness)),
            Err(_) => return Some(undecided(both, pair)),
        }
    }
    None
}

fn left_out(both: &Both<'_>, old: Option<&Expr>, new: &[&Expr]) -> Result<Option<Witness>, Undecided> {
    decide::beyond(old, new, &both.counters, &mut both.new.work.borrow_mut())
}

fn narrowed(both: &Both<'_>, pair: &TransitionPair<'_>, at: usize, witness: Witness) -> ChangeFinding {
    let (old, new) = (pair.old[at], pair.new[0]);
    let message = format!("{} is refused now where it was open: {}", both.new.arrow(new), witness.range);
    let mut finding = Diagnostic::new(&D03, guard_place(both.new, new), message);
    for transition in &pair.new {
        let when = transition.when.as_ref().map_or("always", |guard| guard.text.as_str());
        finding = finding.label(guard_place(both.new, transition), format!("open when {when}"));
    }
    let finding = finding.witness(witness).help(
        "let the guard hold for these values, too, or see that no task is there with them: `orange task list --status` \
         lists the tasks of a state",
    );
    let was = old
        .when
        .as_ref()
        .map_or("it was always open".to_owned(), |it| format!("it was open when {}", it.text));
    ChangeFinding::on(Side::New, finding).beside(label(guard_place(both.old, old), was))
}

fn undecided(both: &Both<'_>, pair: &TransitionPair<'_>) -> ChangeFinding {
    let new = pair.new[0];
    let message = format!("whether {} refuses more than before was not decided", both.new.arrow(new));
    let finding = Diagnostic::new(&A10, guard_place(both.new, new), message)
        .help("compare fewer counters, or with fewer different numbers");
    ChangeFinding::on(Side::New, finding)
}
