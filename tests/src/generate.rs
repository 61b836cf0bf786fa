//! Generated workflows, guards and task bodies, the same for the same seed.

use crate::plan::{
    Applies, GuardTree, Operator, Outside, Plan, PlannedDeadline, PlannedEnding, PlannedGate, PlannedOutcome,
    PlannedRule, PlannedState, PlannedTransition,
};
use orange_testkit::Random;

/// The size of the largest generated workflow.
const MOST_STATES: usize = 40;

/// Names that collide with words of Rust, of YAML or of generated code.
const AWKWARD_NAMES: [&str; 12] = [
    "type",
    "Self",
    "match",
    "State",
    "self",
    "as_str",
    "agent-review",
    "null-ish",
    "x",
    "ALL",
    "fn",
    "stuck",
];

pub const SECTIONS: [&str; 3] = ["## Handoff", "## Review", "### Notes"];
const FIELDS: [&str; 3] = ["DONE", "REMAINING", "RISK_2"];
/// The programs that gates ask.
pub const PROGRAMS: [&[&str]; 3] = [&["make", "test"], &["make"], &["it's", "{one}"]];
/// Every counter but `crash_count`, which only the engine changes.
const INCREMENTED: [usize; 3] = [0, 2, 3];
const ACTORS: [&str; 5] = ["worker", "reviewer", "human", "ci", "bot-2"];

/// A workflow that compiles: 1 to 40 states, up to four counters, nested guards, exit rules.
pub fn plan(seed: u64) -> Plan {
    let random = &mut Random::new(seed);
    let states = states(random);
    let counters = counters(random);
    let transitions = transitions(random, &states, counters.len());
    let rules = rules(random, &states, &transitions, counters.len());
    let stuck = states.iter().position(|state| state.name == "stuck");
    let crash = if random.chance(50) { Some(random.below(states.len())) } else { stuck };
    let name = format!("random-{seed}");
    Plan { name, states, counters, crash, transitions, rules, prompts: vec!["again"], ..Plan::default() }
}

/// A workflow that compiles, with timeouts, and with deadlines that are shorter than these.
pub fn timed_plan(seed: u64) -> Plan {
    let random = &mut Random::new(seed);
    let mut plan = plan(seed);
    let count = plan.states.len();
    for state in plan.states.iter_mut().filter(|state| state.respawn.is_some()) {
        let to = random.chance(70).then(|| random.below(count));
        state.timeout = random.chance(50).then_some((300, to));
    }
    let open: Vec<usize> = (0..count).filter(|at| !plan.states[*at].terminal).collect();
    for _ in 0..random.below(4).min(open.len()) {
        let mut states = open.clone();
        shuffle(random, &mut states);
        states.truncate(1 + random.below(3));
        let outside: Vec<usize> = (0..count).filter(|at| !states.contains(at)).collect();
        let leads = !outside.is_empty() && random.chance(75);
        let then = leads.then(|| *random.pick(&outside));
        plan.deadlines.push(PlannedDeadline { states, after: *random.pick(&[60, 120, 240]), then });
    }
    let ends = (0..plan.deadlines.len()).filter(|at| !may_be_hidden(&plan, *at));
    plan.deadlines = ends.map(|at| plan.deadlines[at].clone()).collect();
    plan
}

/// True if a shorter deadline leads out of each state of a deadline, which would be an error then.
fn may_be_hidden(plan: &Plan, at: usize) -> bool {
    let after = |at: usize| (plan.deadlines[at].after, at);
    let shorter = || (0..plan.deadlines.len()).filter(|other| after(*other) < after(at));
    let leads = |from: usize, to: usize| plan.transitions.iter().any(|it| (it.from, it.to) == (from, to));
    let leaves = |deadline: &PlannedDeadline, state: usize| {
        deadline.states.contains(&state) && deadline.then.is_some_and(|then| leads(state, then))
    };
    plan.deadlines[at]
        .states
        .iter()
        .all(|state| shorter().any(|other| leaves(&plan.deadlines[other], *state)))
}

/// For how long a task was in some states before it came to this one, and there.
pub fn visits(random: &mut Random, plan: &Plan, status: usize) -> Vec<(usize, u32)> {
    let mut states: Vec<usize> = (0..random.below(4)).map(|_| random.below(plan.states.len())).collect();
    // Often within the states of one deadline.
    if let Some(deadline) = plan.deadlines.iter().find(|it| it.states.contains(&status)) {
        states.extend((0..random.below(3)).map(|_| *random.pick(&deadline.states)));
    }
    states.push(status);
    states.into_iter().map(|state| (state, *random.pick(&[0, 30, 59, 60, 120, 299, 300]))).collect()
}

/// A guard of at most `depth` levels over the first `counters` counters, with constants below `limit`.
pub fn condition(random: &mut Random, depth: usize, counters: usize, limit: u32) -> GuardTree {
    let kind = if depth == 0 { 0 } else { random.below(6) };
    let part = |random: &mut Random| condition(random, depth - 1, counters, limit);
    match kind {
        0..3 => {
            let operator = *random.pick(&Operator::ALL);
            GuardTree::Compare(random.below(counters), operator, random.below(limit as usize) as u32)
        }
        3 => GuardTree::Not(Box::new(part(random))),
        4 => GuardTree::All((0..2 + random.below(2)).map(|_| part(random)).collect()),
        _ => GuardTree::Any((0..2 + random.below(2)).map(|_| part(random)).collect()),
    }
}

/// A task's body of pieces with sections, verdicts and fields.
pub fn body(random: &mut Random) -> String {
    const LINES: [&str; 44] = [
        "## Handoff",
        "## Handoff",
        "## Review",
        "## Review",
        "### Notes",
        "# Top",
        "## Handoff ##",
        "  ## Review",
        "    ## Review",
        "##Handoff",
        "## handoff",
        "#### Deep",
        "```",
        "```",
        "````",
        "~~~",
        "``` `x",
        "   ```",
        "",
        "  ",
        "text",
        "PASS",
        "FAIL",
        "Verdict: PASS",
        "verdict:fail",
        "Verdict: maybe",
        "Verdict: DISCUSS",
        "let us discuss",
        "PASS or Discuss",
        "all pass, none fail",
        "  Verdict: Pass  ",
        "surpassed",
        "DONE: x",
        "DONE:",
        "REMAINING:  y",
        " DONE: x",
        "RISK_2: z",
        "\u{2003}",
        "Überprüfung: PASS\u{a0}",
        "<!-- Verdict: PASS -->",
        "   <!-- ## Review",
        "DONE: x -->",
        "    <!-- FAIL",
        "text <!-- PASS",
    ];
    let end = if random.chance(20) { "\r\n" } else { "\n" };
    let count = random.below(14);
    let first = if random.chance(60) { random.pick::<&str>(&SECTIONS) } else { "Intro." };
    let mut body = format!("{first}{end}");
    let lines: String = (0..count).map(|_| format!("{}{end}", random.pick(&LINES))).collect();
    body += &lines;
    if random.chance(30) {
        body.truncate(body.trim_end_matches(['\r', '\n']).len());
    }
    body
}

/// A gate over the sections of generated bodies.
pub fn gate(random: &mut Random) -> PlannedGate {
    let verdict = random.chance(50).then(|| *random.pick(&["PASS", "FAIL"]));
    PlannedGate {
        section: random.pick::<&str>(&SECTIONS),
        required: random.chance(40),
        verdict,
        strict: verdict.is_some() && random.chance(40),
        fields: if random.chance(30) { some_of(random, &FIELDS) } else { Vec::new() },
        every_field: random.chance(40),
        fresh: random.chance(15),
        ..PlannedGate::default()
    }
    .with_work()
}

/// One gate or several, of which no two ask for the same.
fn gates(random: &mut Random) -> Vec<PlannedGate> {
    let mut gates = vec![any_gate(random)];
    while random.chance(30) {
        let next = any_gate(random);
        if gates.iter().all(|it| (it.section, it.outside) != (next.section, next.outside)) {
            gates.push(next);
        }
    }
    gates
}

fn any_gate(random: &mut Random) -> PlannedGate {
    let outside = match random.below(8) {
        0 => Outside::Command(PROGRAMS[random.below(PROGRAMS.len())]),
        1 => Outside::Checks,
        _ => return gate(random),
    };
    PlannedGate { outside: Some(outside), ..PlannedGate::default() }
}

fn states(random: &mut Random) -> Vec<PlannedState> {
    let most = if random.chance(30) { MOST_STATES } else { 8 };
    let count = 1 + random.below(most);
    let awkward = random.below(AWKWARD_NAMES.len());
    (0..count)
        .map(|index| {
            let name = match index.checked_sub(1) {
                Some(at) if at < 3 => AWKWARD_NAMES[(awkward + at) % AWKWARD_NAMES.len()].to_string(),
                Some(_) | None => format!("state-{index}"),
            };
            let terminal = index > 0 && random.chance(20);
            let respawn = (!terminal).then_some("again");
            PlannedState { name, terminal, respawn, ..PlannedState::default() }
        })
        .collect()
}

fn counters(random: &mut Random) -> Vec<String> {
    ["review_round", "crash_count", "fix_attempts", "tries"]
        .into_iter()
        .take(2 + random.below(3))
        .map(str::to_string)
        .collect()
}

fn transitions(random: &mut Random, states: &[PlannedState], counters: usize) -> Vec<PlannedTransition> {
    let mut transitions = Vec::new();
    for from in (0..states.len()).filter(|from| !states[*from].terminal) {
        for to in 0..states.len() {
            if random.chance(if states.len() > 8 { 12 } else { 45 }) {
                transitions.extend(between(random, from, to, counters));
            }
        }
    }
    shuffle(random, &mut transitions);
    transitions
}

fn between(random: &mut Random, from: usize, to: usize, counters: usize) -> Vec<PlannedTransition> {
    let guards = match random.below(4) {
        0 | 1 => vec![None],
        2 => vec![Some(condition(random, 3, counters, 6))],
        _ => some_clauses(random, counters).into_iter().map(Some).collect(),
    };
    let mut declared: Vec<_> = guards
        .into_iter()
        .map(|when| PlannedTransition {
            from,
            to,
            by: if random.chance(20) { some_of(random, &ACTORS) } else { Vec::new() },
            when,
            gates: if random.chance(40) { gates(random) } else { Vec::new() },
            increments: (0..random.below(3)).map(|_| *random.pick(&INCREMENTED[..counters - 1])).collect(),
            ..PlannedTransition::default()
        })
        .collect();
    if let [first] = &mut declared[..]
        && random.chance(30)
    {
        let other = distinct(random, first, counters);
        declared.push(other);
    }
    declared
}

/// The gate with one verdict more for its section, which it may ask for; without a verdict, it takes each.
pub fn discussed(random: &mut Random, gate: PlannedGate) -> PlannedGate {
    let verdict = *random.pick(&[Some("PASS"), Some("FAIL"), Some("DISCUSS"), None]);
    PlannedGate { verdict, words: vec!["PASS", "FAIL", "DISCUSS"], ..gate }
}

/// Another transition of the pair: for other actors, or for the other verdict.
fn distinct(random: &mut Random, first: &mut PlannedTransition, counters: usize) -> PlannedTransition {
    let mut other = first.clone();
    if random.chance(50) {
        first.by = some_of(random, &ACTORS[..2]);
        other.by = some_of(random, &ACTORS[2..]);
        other.gates = if random.chance(40) { gates(random) } else { Vec::new() };
    } else {
        let gate = PlannedGate { verdict: Some("PASS"), ..gate(random) };
        first.gates.retain(|it| it.section != gate.section);
        other.gates =
            vec![PlannedGate { verdict: Some("FAIL"), fresh: random.chance(30), of: None, ..gate.clone() }];
        first.gates.push(gate);
    }
    if random.chance(40) {
        other.when = Some(condition(random, 2, counters, 6));
    }
    other
}

/// Some clauses of a partition, so that no two of them hold together.
fn some_clauses(random: &mut Random, counters: usize) -> Vec<GuardTree> {
    let mut clauses = partition(random, counters);
    shuffle(random, &mut clauses);
    clauses.truncate(1 + random.below(clauses.len()));
    clauses
}

/// Guards of which exactly one holds: each excludes those before it.
fn partition(random: &mut Random, counters: usize) -> Vec<GuardTree> {
    let splits: Vec<_> = (0..1 + random.below(2)).map(|_| condition(random, 1, counters, 5)).collect();
    let excluded = |upto: usize| splits[..upto].iter().map(|split| GuardTree::Not(Box::new(split.clone())));
    (0..=splits.len())
        .map(|index| {
            let mut parts: Vec<_> = excluded(index).chain(splits.get(index).cloned()).collect();
            if parts.len() == 1 { parts.remove(0) } else { GuardTree::All(parts) }
        })
        .collect()
}

fn rules(
    random: &mut Random,
    states: &[PlannedState],
    transitions: &[PlannedTransition],
    counters: usize,
) -> Vec<PlannedRule> {
    let mut rules = Vec::new();
    for status in (0..states.len()).filter(|status| !states[*status].terminal) {
        for _ in 0..random.below(4) {
            rules.push(rule(random, status, states.len(), transitions, counters));
        }
    }
    shuffle(random, &mut rules);
    rules
}

fn ending(random: &mut Random) -> PlannedEnding {
    let kind = random.below(4);
    let numbers = |random: &mut Random| -> Vec<i32> {
        (0..1 + random.below(2)).map(|_| random.below(4) as i32).collect()
    };
    PlannedEnding {
        codes: if kind < 2 { numbers(random) } else { Vec::new() },
        signals: if kind == 1 { vec![9] } else { Vec::new() },
        output: (kind > 1 || random.chance(40)).then(|| *random.pick(&["rate limit", "Limit", "try again"])),
    }
}

/// End of an agent: its exit status or the signal, and its last lines.
pub fn end(random: &mut Random) -> (Option<i32>, Option<i32>, String) {
    const PARTS: [&str; 9] = ["rate", "Rate", "RATE limit", "limit", " ", "\n", "\t  ", "try\nagain", "ok"];
    let output = (0..random.below(7)).map(|_| *random.pick(&PARTS)).collect();
    match random.below(4) {
        0 => (None, Some(9), output),
        1 => (None, None, output),
        _ => (Some(random.below(5) as i32), None, output),
    }
}

fn rule(
    random: &mut Random,
    status: usize,
    states: usize,
    transitions: &[PlannedTransition],
    counters: usize,
) -> PlannedRule {
    let declared: Vec<_> = transitions.iter().filter(|t| t.from == status).map(|t| t.to).collect();
    let target = |random: &mut Random| {
        if declared.is_empty() || random.chance(10) { random.below(states) } else { *random.pick(&declared) }
    };
    let applies = match random.below(6) {
        0 => Applies::Always,
        1 => Applies::NoArtifact,
        2 | 3 => Applies::Ended(ending(random)),
        _ => Applies::HasArtifact(gates(random)),
    };
    let outcome = match random.below(6) {
        0 | 1 => PlannedOutcome::Then(target(random)),
        2 => PlannedOutcome::ThenWhen(
            partition(random, counters).into_iter().map(|when| (when, target(random))).collect(),
        ),
        3 => PlannedOutcome::Crash {
            stuck_after: random.chance(70).then(|| 1 + random.below(4) as u32),
            respawn: random.chance(40),
        },
        4 => PlannedOutcome::Wait(1 + random.below(900) as u32),
        _ => PlannedOutcome::MarkDead,
    };
    PlannedRule { status, applies, outcome }
}

fn some_of(random: &mut Random, from: &[&'static str]) -> Vec<&'static str> {
    let first = random.below(from.len());
    let mut some = vec![from[first]];
    some.extend(from.iter().skip(first + 1).filter(|_| random.chance(50)));
    some
}

fn shuffle<T>(random: &mut Random, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, random.below(last + 1));
    }
}

/// Values of all counters, one for every part that these conditions can tell from another.
pub fn distinguishing(conditions: &[&GuardTree], counters: usize) -> Vec<Vec<u32>> {
    let mut axes = vec![vec![0]; counters];
    for (counter, constant) in conditions.iter().flat_map(|condition| condition.constants()) {
        axes[counter].extend([constant, constant.saturating_add(1), u32::MAX]);
    }
    axes.into_iter().fold(vec![Vec::new()], |tuples, mut axis| {
        axis.sort_unstable();
        axis.dedup();
        let extend = |tuple: &Vec<u32>| -> Vec<_> {
            axis.iter().map(|value| [tuple.as_slice(), &[*value]].concat()).collect()
        };
        tuples.iter().flat_map(extend).collect()
    })
}
