//! The argument for a property that is proved, read back: each number in it, and each "only", "never" and "at most", is held against
//! what runs do.

use orange_analysis::prove::{Proof, ProofVerdict};
use orange_tests::monitor::TaskActor;
use orange_tests::plan::{Plan, PlannedOutcome};

use crate::run::WatchedWalk;

/// The claims in the arguments of one proof.
#[derive(Default)]
pub(crate) struct Arguments {
    claims: Vec<ArguedClaim>,
}

/// One claim of an argument.
#[derive(Debug)]
enum ArguedClaim {
    /// No more ends than these can be reached.
    Ends(Vec<String>),
    /// So many agents, at most, are alive at once.
    Alive(usize),
    /// A second agent is alive only beside a worker, where a hook meant it.
    BesideWorker,
    /// The transition between two states is taken so often, at most, while no person acts.
    Taken { from: String, to: String, most: u64 },
    /// So many crashed agents, at most, are started again while no person acts.
    Restarted(u64),
    /// While no person acts, no state is come back to.
    NoReturn,
    /// No loop goes on for ever, for another reason than a counter; the search for endless runs looks for one.
    NoLoop,
    /// No end of the state's own agent does this.
    NoEnd(ArguedEnd),
    /// Nothing goes by a verdict.
    NoVerdict,
    /// No gate stands there.
    NoGate,
    /// So many of all transitions have gates, and exit rules lead to so many of them.
    Gated { ruled: usize, gated: usize },
    /// The workflow says that it merges without a person.
    Unattended,
    /// No state is that of `orange task merge`.
    NoMerge,
}

/// Effect of the end of an agent, as an argument counts them.
#[derive(Debug)]
enum ArguedEnd {
    Moves,
    Crashes,
    Waits,
}

impl Arguments {
    /// Reads the arguments; one that has other words than those that are known is an error.
    pub(crate) fn of(proof: &Proof) -> Result<Self, String> {
        let mut all = Self::default();
        for it in &proof.properties {
            if let ProofVerdict::Proved { argument } = &it.verdict {
                for part in argument.split("; ") {
                    let read = read(it.name, part);
                    all.claims.extend(read.ok_or_else(|| format!("{}: {part}", it.name))?);
                }
            }
        }
        Ok(all)
    }

    /// The claims that the plan itself refutes.
    pub(crate) fn wrong_of(&self, plan: &Plan) -> Option<String> {
        let is_wrong = |claim: &&ArguedClaim| match claim {
            ArguedClaim::NoVerdict => plan.gates().any(|it| it.asks_for_verdict()),
            ArguedClaim::NoGate => plan.transitions.iter().any(|it| !it.gates.is_empty()),
            ArguedClaim::Gated { ruled, gated } => [*ruled, *gated] != gates(plan),
            ArguedClaim::Unattended => !plan.unattended,
            ArguedClaim::NoMerge => plan.merge.is_some() || plan.states.iter().any(|it| it.name == "done"),
            ArguedClaim::Ends(_)
            | ArguedClaim::Alive(_)
            | ArguedClaim::BesideWorker
            | ArguedClaim::Taken { .. }
            | ArguedClaim::Restarted(_)
            | ArguedClaim::NoReturn
            | ArguedClaim::NoLoop
            | ArguedClaim::NoEnd(_) => false,
        };
        self.claims.iter().find(is_wrong).map(|it| format!("{it:?}"))
    }

    /// The claim that a run refutes.
    pub(crate) fn wrong(&self, plan: &Plan, run: &WatchedWalk<'_>) -> Option<String> {
        self.claims.iter().find(|it| it.is_refuted(plan, run)).map(|it| format!("{it:?}"))
    }
}

impl ArguedClaim {
    fn is_refuted(&self, plan: &Plan, run: &WatchedWalk<'_>) -> bool {
        let monitor = &run.monitor;
        let alive =
            || [TaskActor::Worker, TaskActor::Reviewer].into_iter().filter_map(|it| monitor.agent(it));
        let state = |at: usize| plan.states[at].name.as_str();
        match self {
            Self::Ends(ends) => run.is_over() && !ends.iter().any(|it| it == state(monitor.status)),
            Self::Alive(most) => alive().count() > *most,
            Self::BesideWorker => alive().count() > 1 && !alive().any(|it| it.is_beside),
            Self::Taken { from, to, most } => {
                let is_meant = |at: usize| {
                    let it = &plan.transitions[at];
                    (state(it.from), state(it.to)) == (from, to)
                };
                monitor.taken.iter().any(|(at, times)| is_meant(*at) && times > most)
            }
            Self::Restarted(most) => monitor.restarted > *most,
            Self::NoReturn => monitor.has_returned,
            Self::NoEnd(end) => match (end, run.last_end()) {
                (ArguedEnd::Moves, Some(seen)) => seen.moved,
                (ArguedEnd::Crashes, Some(seen)) => seen.crashed,
                (ArguedEnd::Waits, Some(seen)) => seen.waits,
                (_, None) => false,
            },
            Self::NoLoop
            | Self::NoVerdict
            | Self::NoGate
            | Self::Gated { .. }
            | Self::Unattended
            | Self::NoMerge => false,
        }
    }
}

/// The numbers of transitions with gates to which exit rules lead, and of all.
fn gates(plan: &Plan) -> [usize; 2] {
    let leads = |from: usize, to: usize| {
        plan.rules.iter().filter(|it| it.status == from).any(|it| match &it.outcome {
            PlannedOutcome::Then(target) => *target == to,
            PlannedOutcome::ThenWhen(clauses) => clauses.iter().any(|(_, target)| *target == to),
            PlannedOutcome::Crash { .. } | PlannedOutcome::MarkDead | PlannedOutcome::Wait(_) => false,
        })
    };
    let times = |from: usize, to: usize| {
        let deadlines = plan.deadlines.iter().filter(|it| it.states.contains(&from));
        plan.states[from].timeout.is_some_and(|(_, target)| target == Some(to))
            || deadlines.into_iter().any(|it| it.then == Some(to))
    };
    let gated = || plan.transitions.iter().filter(|it| !it.gates.is_empty());
    // Exit rules do not take a transition that is for facts alone.
    let ruled = gated().filter(|it| it.cause.is_none() && (leads(it.from, it.to) || times(it.from, it.to)));
    [ruled.count(), gated().count()]
}

/// The claims of a part of the argument of a property; `None` of other words than are known.
fn read(property: &str, part: &str) -> Option<Vec<ArguedClaim>> {
    let between = |text: &str, before: &str, after: &str| {
        let rest = text.split_once(before)?.1;
        Some(rest.split_once(after).map_or(rest, |it| it.0).to_owned())
    };
    let number = |before: &str, after: &str| between(part, before, after)?.trim().parse::<u64>().ok();
    Some(match property {
        "ends-reachable" => {
            number("from each of the ", " configurations")?;
            let names = part.split_once("some run leads to ")?.1;
            vec![ArguedClaim::Ends(names.split(" or ").map(|it| it.trim_matches('`').to_owned()).collect())]
        }
        "nothing-left-behind" => {
            number("none of the ", " steps into an end")?;
            Vec::new()
        }
        "one-agent" if part == "at most one agent is alive in any configuration" => {
            vec![ArguedClaim::Alive(1)]
        }
        "one-agent" if part.starts_with("a second one is alive only where `spawn_reviewer`") => {
            vec![ArguedClaim::BesideWorker]
        }
        "no-lost-agent" => {
            number("of the ", " ends")?;
            let moved = number("can have, ", " move the task on")?;
            let crashed = number("move the task on, ", " count as crashes")?;
            let waits = number("count as crashes, ", " wait until");
            let none = [
                (ArguedEnd::Moves, Some(moved)),
                (ArguedEnd::Crashes, Some(crashed)),
                (ArguedEnd::Waits, waits.or(Some(0))),
            ];
            none.into_iter()
                .filter(|(_, count)| *count == Some(0))
                .map(|(end, _)| ArguedClaim::NoEnd(end))
                .collect()
        }
        "gates-met" if part == "there is no gate" => vec![ArguedClaim::NoGate],
        "gates-met" => {
            let (ruled, gated) = (number("exit rules lead to ", " of ")?, number(" of ", " gates")?);
            vec![ArguedClaim::Gated { ruled: ruled as usize, gated: gated as usize }]
        }
        "loops-bounded" => vec![of_loops(part)?],
        "judged-apart" if part == "nothing goes by a verdict" => vec![ArguedClaim::NoVerdict],
        // The monitor says whether one who has worked judges.
        "judged-apart" => Vec::new(),
        "person-asked" if part.starts_with("the workflow says `unattended: true`") => {
            vec![ArguedClaim::Unattended]
        }
        "person-asked" if part.starts_with("no state is that of") => vec![ArguedClaim::NoMerge],
        "person-asked" if part.starts_with("wherever an agent is alive, each run on to") => Vec::new(),
        // The monitor says whether an agent without a wall can have forged a verdict.
        "no-forged-end" => Vec::new(),
        _ => return None,
    })
}

fn of_loops(part: &str) -> Option<ArguedClaim> {
    let times = |text: &str| {
        let text = text.split(' ').next()?;
        if text == "once" { Some(1) } else { text.parse().ok() }
    };
    if part.starts_with("no run comes back to a state that it has left") {
        return Some(ArguedClaim::NoReturn);
    }
    if let Some(rest) = part.strip_prefix("crashed agents are started again at most ") {
        return Some(ArguedClaim::Restarted(times(rest)?));
    }
    if part.starts_with("no run comes back to where it was") {
        return Some(ArguedClaim::NoLoop);
    }
    let (_, bound) = part.rsplit_once("so `")?;
    let (arrow, most) = bound.split_once("` is taken at most ")?;
    let (from, to) = arrow.split_once(" → ")?;
    Some(ArguedClaim::Taken { from: from.to_owned(), to: to.to_owned(), most: times(most)? })
}
