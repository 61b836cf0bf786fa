//! B01: steps that wait for one another.

use super::StepsContext;
use crate::catalogue::B01;
use crate::diag::Diagnostic;
use crate::model::StepId;

/// The most steps of one knot among which the shortest cycle is looked for; in a larger one, any cycle is shown.
const MAX_SEARCHED: usize = 100;

/// The most dependencies of one cycle that a finding shows.
const MAX_SHOWN: usize = 10;

/// Reports one shortest cycle of each group of steps that wait for one another. `true` if there is one.
pub(super) fn check(context: &mut StepsContext<'_>) -> bool {
    let mut is_known = vec![false; context.steps.steps.len()];
    let mut found = Vec::new();
    for id in candidates(context) {
        if is_known[id.index()] {
            continue;
        }
        let Some(cycle) = context.graph.cycle(id) else { continue };
        let (up, down) = (context.graph.upstream(id), context.graph.downstream(id));
        let knot: Vec<StepId> = (0..)
            .zip(up.iter().zip(&down))
            .filter(|(_, (a, b))| **a && **b)
            .map(|(at, _)| StepId(at))
            .collect();
        knot.iter().for_each(|it| is_known[it.index()] = true);
        let shorter = knot.iter().take(MAX_SEARCHED).filter_map(|it| context.graph.cycle(*it));
        found.extend(shorter.chain([cycle]).min_by_key(Vec::len));
    }
    found.iter().for_each(|cycle| report(context, cycle));
    !found.is_empty()
}

/// The steps that are left when steps without dependencies, and then those that waited only for them, are taken away.
fn candidates(context: &StepsContext<'_>) -> Vec<StepId> {
    let steps = &context.steps.steps;
    let mut waits: Vec<usize> = steps.iter().map(|it| it.depends_on.len()).collect();
    let all = || (0..).zip(steps).map(|(at, _)| StepId(at));
    let mut free: Vec<StepId> = all().filter(|it| waits[it.index()] == 0).collect();
    while let Some(id) = free.pop() {
        for next in context.graph.dependents(id) {
            waits[next.index()] -= 1;
            if waits[next.index()] == 0 {
                free.push(*next);
            }
        }
    }
    all().filter(|it| waits[it.index()] > 0).collect()
}

/// A cycle is written from its first step to that step again.
fn report(context: &mut StepsContext<'_>, cycle: &[StepId]) {
    let mut labels = Vec::new();
    for pair in cycle.windows(2).take(MAX_SHOWN) {
        let [before, after] = pair else { continue };
        let named = context.step(*after).depends_on.iter().find(|it| it.value == *before);
        let text = format!("`{}` waits for `{}`", context.name(*after), context.name(*before));
        labels.extend(named.map(|it| (it.span, text)));
    }
    let Some((first, _)) = labels.first() else { return };
    let message = match cycle {
        [step, _] => format!("the step `{}` waits for itself", context.name(*step)),
        _ if cycle.len() <= MAX_SHOWN + 1 => format!("steps wait for one another: {}", context.path(cycle)),
        _ => format!(
            "{} steps wait for one another: {} → …",
            cycle.len() - 1,
            context.path(&cycle[..MAX_SHOWN])
        ),
    };
    let mut finding = Diagnostic::new(&B01, *first, message);
    for (span, text) in labels {
        finding = finding.label(span, text);
    }
    context.report(finding.help("none of them would ever start: delete one of these dependencies"));
}

#[cfg(test)]
mod tests {
    use crate::{Source, compile};

    /// A ring of this many steps.
    #[track_caller]
    fn check(count: usize, expect: &str, labels: usize) {
        let step = |at: usize| {
            format!(
                "[[steps]]\nid = \"s{at}\"\nprompt = \"x\"\ndepends_on = [\"s{}\"]\n",
                (at + count - 1) % count
            )
        };
        let text = "[workflow]\nname = \"ring\"\n".to_owned() + &(0..count).map(step).collect::<String>();
        let found = compile(&Source::new("ring.toml", text)).diagnostics;
        assert_eq!(found.iter().map(|it| it.code()).collect::<Vec<_>>(), ["B01"]);
        assert_eq!((found[0].message.as_str(), found[0].labels.len()), (expect, labels));
    }

    #[test]
    fn a_cycle_is_shown_as_far_as_anybody_reads() {
        check(1, "the step `s0` waits for itself", 1);
        check(2, "steps wait for one another: s0 → s1 → s0", 2);
        let first = "s0 → s1 → s2 → s3 → s4 → s5 → s6 → s7 → s8 → s9 → …";
        check(10_000, &format!("10000 steps wait for one another: {first}"), 10);
    }
}
