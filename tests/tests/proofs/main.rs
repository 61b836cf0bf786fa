//! Attacks on `prove`: whatever it calls proved is looked for a breach in real walks, and whatever it refutes must be a breach that
//! can be walked. The reference for each property is `orange_tests::monitor`.
#![allow(clippy::unwrap_used)]

mod arguments;
mod explore;
mod keys;
mod plans;
mod refuted;
mod run;

use std::collections::BTreeMap;

use orange_analysis::prove::{self, Proof, ProofVerdict};
use orange_codegen::diag::Diagnostic;
use orange_codegen::lower::{Arena, lower};
use orange_codegen::{Source, compile};
use orange_core::budget::BudgetKind;
use orange_core::{Actor, Machine, StateId};
use orange_testkit::Random;
use orange_tests::flows::{flow, wide_flow};
use orange_tests::plan::Plan;

use arguments::Arguments;
use explore::{Explored, deeds, perform};
use run::{WatchedWalk, places};

/// Value of an environment variable, for a longer attack.
fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|it| it.parse().ok()).unwrap_or(default)
}

/// Budgets of states, of different size.
const LIMITS: [&str; 3] = ["{cost: 0.50}", "{cost: 3}", "{cost: 0.01}"];

/// Number of tasks of a workflow that are looked at.
fn size() -> usize {
    number("ORANGE_PROOFS_SIZE", 120) as usize
}

/// Calls this with each workflow that compiles, its machine and its proof.
fn for_each_flow(count: u64, judge: impl FnMut(&Plan, &Machine<'_>, &Proof)) {
    for_each_plan(count, |plan| plan, judge);
}

/// Calls this as [`for_each_flow`] does, with workflows that were changed before.
fn for_each_plan(
    count: u64,
    change: impl Fn(Plan) -> Plan,
    mut judge: impl FnMut(&Plan, &Machine<'_>, &Proof),
) {
    let (first, count) = (number("ORANGE_PROOFS_SEED", 0), number("ORANGE_PROOFS", count));
    let mut refused = 0;
    for seed in first..first + count {
        let plan = change(if seed % 2 == 0 { flow(seed) } else { wide_flow(seed) });
        let source = Source::new("flow.yml", plan.to_string());
        let Some(checked) = compile(&source).checked else {
            refused += 1;
            continue;
        };
        let arena = Arena::default();
        let machine = lower(&checked, &arena).unwrap();
        let proof = prove::prove(&checked, &source).unwrap();
        judge(&plan, &machine, &proof);
    }
    assert!(refused * 3 <= count, "{refused} of {count} workflows do not compile");
}

fn is_proved(proof: &Proof, name: &str) -> bool {
    let judged = proof.properties.iter().find(|it| it.name == name).unwrap();
    matches!(judged.verdict, ProofVerdict::Proved { .. })
}

/// True if some gate is said to refuse everything that an exit rule applies to.
fn is_contradiction(proof: &Proof) -> bool {
    let findings = proof.properties.iter().filter_map(|it| match &it.verdict {
        ProofVerdict::Refuted { findings, .. } => Some(findings),
        ProofVerdict::Proved { .. } | ProofVerdict::Undecided { .. } => None,
    });
    let of_rule = |it: &&Diagnostic| it.code() == "C41" && it.message.starts_with("this exit rule");
    findings.flatten().any(|it| of_rule(&it))
}

/// The states in which tasks can be created, the first one first.
fn starts<'r>(plan: &'r Plan, places: &'r [usize], machine: &'r Machine<'r>) -> Vec<WatchedWalk<'r>> {
    let is_start = |id: &StateId| {
        let is_led_to = machine.between(machine.initial, *id).next().is_some();
        *id == machine.initial || (machine.state(*id).entry && !is_led_to)
    };
    machine.state_ids().filter(is_start).map(|id| WatchedWalk::new(plan, places, machine, id)).collect()
}

/// The faults that were found, by what is wrong.
#[derive(Default)]
struct FoundFaults(BTreeMap<String, Vec<String>>);

impl FoundFaults {
    fn add(&mut self, what: &str, plan: &Plan, how: &str, script: &[String]) {
        let tell = format!("{}: {how}\n{}\n{plan}", plan.name, script.join("\n"));
        self.0.entry(what.to_owned()).or_default().push(tell);
    }

    /// The arguments of a proof, of which the plan refutes none.
    fn arguments(&mut self, plan: &Plan, proof: &Proof) -> Arguments {
        let arguments = Arguments::of(proof).unwrap_or_else(|unknown| {
            self.add("an argument is not understood", plan, &unknown, &[]);
            Arguments::default()
        });
        if let Some(claim) = arguments.wrong_of(plan) {
            self.add("an argument about the workflow", plan, &claim, &[]);
        }
        arguments
    }

    fn is_nothing(&self) {
        let tell = |(what, all): (&String, &Vec<String>)| {
            let shortest = all.iter().min_by_key(|it| it.len()).unwrap();
            format!("=== {what}, {} times\n{shortest}", all.len())
        };
        let all: Vec<String> = self.0.iter().map(tell).collect();
        assert!(all.is_empty(), "{}", all.join("\n"));
    }
}

#[test]
fn what_is_proved_is_not_broken_by_any_walk() {
    let mut wrong = FoundFaults::default();
    let mut broken: BTreeMap<&'static str, u32> = BTreeMap::new();
    for_each_flow(120, |plan, machine, proof| {
        let places = places(plan);
        let random = &mut Random::new(proof.figures.steps as u64);
        let explored = Explored::from(plan, starts(plan, &places, machine), size(), random);
        let arguments = wrong.arguments(plan, proof);
        let mut found: BTreeMap<&'static str, (String, &[String])> = BTreeMap::new();
        for run in &explored.runs {
            for (property, what) in &run.breaches {
                found.entry(property).or_insert((what.clone(), &run.script));
            }
        }
        let alone = explored.unattended(plan, size(), random);
        for run in &alone.runs {
            for (property, what) in &run.breaches {
                found.entry(property).or_insert((what.clone(), &run.script));
            }
        }
        for run in explored.runs.iter().chain(&alone.runs) {
            if let Some(claim) = arguments.wrong(plan, run) {
                wrong.add("an argument", plan, &claim, &run.script);
            }
        }
        let endless = alone.endless();
        if let Some(run) = &endless {
            found.insert("loops-bounded", ("it goes round without a person".to_owned(), &run.script));
        }
        let trapped = explored.trapped_further(plan, random);
        if let Some(run) = &trapped {
            found.insert("ends-reachable", ("nothing leads to an end".to_owned(), &run.script));
        }
        for (property, (what, script)) in found {
            *broken.entry(property).or_default() += 1;
            if is_proved(proof, property) {
                wrong.add(property, plan, &what, script);
            }
        }
    });
    wrong.is_nothing();
    if std::env::var_os("ORANGE_PROOFS_TELL").is_some() {
        println!("broken: {broken:?}");
    }
    // An attack that breaks nothing anywhere is blind.
    let properties = [
        "nothing-left-behind",
        "one-agent",
        "no-lost-agent",
        "loops-bounded",
        "judged-apart",
        "person-asked",
        "no-forged-end",
    ];
    for property in properties {
        assert!(broken.get(property).is_some_and(|it| *it >= 2), "{property}: {broken:?}");
    }
}

#[test]
fn gates_let_through_what_rules_lead_to_as_is_proved() {
    let mut wrong = FoundFaults::default();
    let mut never = 0;
    for_each_flow(120, |plan, machine, proof| {
        let places = places(plan);
        let random = &mut Random::new(1);
        let explored = Explored::from(plan, starts(plan, &places, machine), size(), random);
        let is_refused = |rule: &usize| explored.led[rule] == [1, 0] || explored.led[rule][0] > 1;
        let refused: Vec<usize> = explored.led.keys().copied().filter(is_refused).collect();
        let closed = refused.into_iter().find(|rule| !explored.is_let_through(plan, *rule));
        never += u32::from(closed.is_some());
        let is_proved = is_proved(proof, "gates-met");
        if let Some(rule) = closed.filter(|_| is_proved) {
            wrong.add("gates-met: proved", plan, &format!("what rule {rule} leads to is refused"), &[]);
        }
        let open = explored.led.values().filter(|[_, met]| *met > 0).count();
        if is_contradiction(proof) && open == plan.rules.len() {
            wrong.add("gates-met: refuted", plan, "every rule was let through", &[]);
        }
    });
    wrong.is_nothing();
    assert!(never >= 2, "{never}");
}

#[test]
fn each_property_is_proved_of_some_and_refuted_of_others() {
    let mut verdicts: BTreeMap<&str, [u32; 2]> = BTreeMap::new();
    for_each_flow(240, |_, _, proof| {
        for it in &proof.properties {
            let counts = verdicts.entry(it.name).or_default();
            counts[0] += u32::from(matches!(it.verdict, ProofVerdict::Proved { .. }));
            counts[1] += u32::from(matches!(it.verdict, ProofVerdict::Refuted { .. }));
        }
    });
    for (property, [proved, refuted]) in &verdicts {
        let is_rare = matches!(*property, "ends-reachable" | "gates-met");
        assert!(*proved >= 30 && *refuted >= if is_rare { 2 } else { 12 }, "{property}: {verdicts:?}");
    }
}

#[test]
fn what_is_refuted_is_broken_by_its_run() {
    let mut wrong = FoundFaults::default();
    let mut replayed: BTreeMap<&str, u32> = BTreeMap::new();
    for_each_flow(120, |plan, machine, proof| {
        let places = places(plan);
        for judged in &proof.properties {
            for (trace, is_whole) in refuted::traces(judged) {
                let start = machine.state_named(&trace.start).unwrap();
                let mut run = WatchedWalk::new(plan, &places, machine, start);
                let outcome = refuted::replay(&mut run, &trace.steps, None);
                if judged.name == "no-lost-agent" {
                    let mut other = run.clone();
                    refuted::end_all(&mut other, [Actor::Reviewer, Actor::Worker]);
                    refuted::end_all(&mut run, [Actor::Worker, Actor::Reviewer]);
                    run.breaches.extend(other.breaches);
                }
                let is_broken = run.breaches.iter().any(|(property, _)| *property == judged.name);
                let is_real = match judged.name {
                    "loops-bounded" => refuted::goes_round(&run, &trace.steps),
                    "ends-reachable" => {
                        // While hooks wait, the agents that could still ask may have ended.
                        let mut ended = run.clone();
                        if run.hooks_wait() {
                            refuted::end_all(&mut ended, [Actor::Worker, Actor::Reviewer]);
                        }
                        let random = &mut Random::new(1);
                        Explored::from(plan, vec![ended], 2000, random).trapped().is_some()
                    }
                    _ => is_broken,
                };
                *replayed.entry(judged.name).or_default() += 1;
                match outcome {
                    Err(why) => wrong.add(
                        &format!("{}: its run cannot be taken", judged.name),
                        plan,
                        &why,
                        &run.script,
                    ),
                    Ok(()) if is_whole && !is_real => {
                        wrong.add(
                            &format!("{}: nothing is broken", judged.name),
                            plan,
                            &trace.to_string(),
                            &run.script,
                        );
                    }
                    Ok(()) => {}
                }
            }
        }
    });
    wrong.is_nothing();
    for property in [
        "nothing-left-behind",
        "one-agent",
        "no-lost-agent",
        "loops-bounded",
        "judged-apart",
        "person-asked",
        "no-forged-end",
    ] {
        assert!(replayed.get(property).is_some_and(|it| *it >= 3), "{property}: {replayed:?}");
    }
}

#[test]
fn no_walk_goes_further_than_the_figures_say() {
    let mut wrong = FoundFaults::default();
    let mut farthest = 0;
    for_each_flow(120, |plan, machine, proof| {
        let figures = &proof.figures;
        let (Some(longest), Some(agents)) = (&figures.longest_run, &figures.agents_with_restarts) else {
            return;
        };
        let places = places(plan);
        let arguments = wrong.arguments(plan, proof);
        for seed in 0..number("ORANGE_PROOFS_WALKS", 6) {
            let random = &mut Random::new(seed);
            let mut starts = starts(plan, &places, machine);
            let at = random.below(starts.len());
            let mut run = starts.swap_remove(at);
            for _ in 0..60 {
                wander(plan, &mut run, random);
                let (moves, started) = (run.monitor.unattended, run.monitor.started + run.monitor.restarted);
                farthest = farthest.max(moves);
                if let Some(claim) = arguments.wrong(plan, &run) {
                    wrong.add("an argument", plan, &claim, &run.script);
                }
                if moves > longest.count {
                    wrong.add("the longest run", plan, &format!("{moves} > {}", longest.count), &run.script);
                }
                if started > agents.count {
                    wrong.add("the most agents", plan, &format!("{started} > {}", agents.count), &run.script);
                }
            }
        }
    });
    wrong.is_nothing();
    assert!(farthest >= 3, "{farthest}");
}

#[test]
fn no_walk_spends_more_in_its_stays_than_the_proof_says() {
    let mut wrong = FoundFaults::default();
    let (mut most_stays, mut bounded) = (0, 0);
    for_each_plan(120, limited, |plan, machine, proof| {
        let cost = proof.figures.spending.iter().find(|it| it.kind == BudgetKind::Cost);
        let Some(most) = cost.and_then(|it| it.most) else { return };
        bounded += 1;
        let places = places(plan);
        for seed in 0..number("ORANGE_PROOFS_WALKS", 30) {
            let random = &mut Random::new(seed);
            let mut starts = starts(plan, &places, machine);
            let at = random.below(starts.len());
            let mut run = starts.swap_remove(at);
            for _ in 0..60 {
                wander(plan, &mut run, random);
                let used = spent_in_stays(plan, machine, &run, BudgetKind::Cost);
                most_stays = most_stays.max(run.monitor.stays.values().sum());
                if used > most {
                    wrong.add("the most cost", plan, &format!("{used} > {most}"), &run.script);
                }
            }
        }
    });
    wrong.is_nothing();
    assert!(most_stays >= 3 && bounded >= 20, "{most_stays} stays, {bounded} workflows");
}

/// Gives each state a budget, and the task none: what agents use is bounded by their stays alone.
fn limited(mut plan: Plan) -> Plan {
    plan.budget = None;
    for (state, budget) in
        plan.states.iter_mut().filter(|it| it.respawn.is_some() && !it.terminal).zip(LIMITS.iter().cycle())
    {
        state.budget = Some(budget);
    }
    plan
}

/// Sum of the limits of the stays since a person last acted.
fn spent_in_stays(plan: &Plan, machine: &Machine<'_>, run: &WatchedWalk<'_>, kind: BudgetKind) -> u64 {
    let limit = |state: usize| {
        let id = machine.state_named(&plan.states[state].name)?;
        machine.state(id).budget.get(kind)
    };
    let each = run.monitor.stays.iter();
    let used = each.map(|(state, count)| limit(*state).unwrap_or(u64::MAX).saturating_mul(*count));
    used.fold(0, u64::saturating_add)
}

/// Does something; a person acts only now and then.
fn wander(plan: &Plan, run: &mut WatchedWalk<'_>, random: &mut Random) {
    let deeds = deeds(plan, run);
    if deeds.is_empty() || run.is_over() {
        return;
    }
    let (deed, again) = (random.pick(&deeds).clone(), random.chance(10));
    let mut next = run.clone();
    let failing = explore::failing(plan, run, &deed).into_iter().next().filter(|_| random.chance(30));
    let is_done = match failing {
        Some(hook) => next.failing(&hook, |run| perform(run, &deed, again)),
        None => perform(&mut next, &deed, again),
    };
    let is_persons = next.monitor.unattended < run.monitor.unattended;
    if is_done && !(is_persons && random.chance(70)) {
        *run = next;
    }
}
