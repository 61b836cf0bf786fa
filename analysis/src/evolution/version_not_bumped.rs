//! D06: the workflow behaves differently, and its version says that it does not.

use super::behaviour::behaviour;
use super::both::{Both, label};
use super::{ChangeFinding, D06, Side};
use orange_codegen::diag::Diagnostic;

/// Differences that a message still names.
const MAX_NAMED: usize = 3;

pub(super) fn find(both: &Both<'_>) -> Vec<ChangeFinding> {
    let (old, new) = (both.old.workflow.version, both.new.workflow.version);
    let changed = if new.value > old.value { Vec::new() } else { differences(both) };
    if changed.is_empty() {
        return Vec::new();
    }
    let stays = if new.value == old.value { "is still" } else { "went back to" };
    let message = format!("{} changed, and the version {stays} {}", listed(&changed), new.value);
    let place = both.new.first_line(new.span);
    let next = old.value.saturating_add(1);
    let finding = Diagnostic::new(&D06, place, message)
        .label(place, format!("version {}", new.value))
        .help(format!("write `version: {next}`"));
    let was = label(both.old.first_line(old.span), format!("version {}", old.value));
    vec![ChangeFinding::on(Side::New, finding).beside(was)]
}

/// Names of the parts that behave differently.
fn differences(both: &Both<'_>) -> Vec<String> {
    let (old, new) = (behaviour(both.old), behaviour(both.new));
    let changed = old.iter().filter(|(what, how)| new.get(*what) != Some(*how)).map(|(what, _)| what);
    let added = new.keys().filter(|what| !old.contains_key(*what));
    let mut all: Vec<String> = changed.chain(added).cloned().collect();
    all.sort();
    all
}

fn listed(changed: &[String]) -> String {
    let named = changed.iter().take(MAX_NAMED).map(String::as_str).collect::<Vec<_>>();
    match (changed.len().saturating_sub(MAX_NAMED), &named[..]) {
        (0, [first @ .., last]) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        (0, _) => named.join(", "),
        (more, _) => format!("{} and {more} more", named.join(", ")),
    }
}
