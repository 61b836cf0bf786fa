//! B01: steps that wait for one another.

use super::StepsContext;
use crate::catalogue::B01;
use crate::diag::Diagnostic;
use crate::model::StepId;

/// The most steps of one knot among which the shortest cycle is looked for; in a larger one, any cycle is shown.
const MAX_SEARCHED: usize = 100;

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
    for pair in cycle.windows(2) {
        let [before, after] = pair else { continue };
        let named = context.step(*after).depends_on.iter().find(|it| it.value == *before);
        let text = format!("`{}` waits for `{}`", context.name(*after), context.name(*before));
        labels.extend(named.map(|it| (it.span, text)));
    }
    let Some((first, _)) = labels.first() else { return };
    let message = match cycle {
        [step, _] => format!("the step `{}` waits for itself", context.name(*step)),
        _ => format!("steps wait for one another: {}", context.path(cycle)),
    };
    let mut finding = Diagnostic::new(&B01, *first, message);
    for (span, text) in labels {
        finding = finding.label(span, text);
    }
    context.report(finding.help("none of them would ever start: delete one of these dependencies"));
}
