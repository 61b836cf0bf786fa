//! Attacks on the verdicts of `prove` about step workflows: random ones are walked, and no walk breaks a property that is proved.

use std::collections::BTreeMap;

use orange_analysis::missions::{MissionAct, PauseReply};
use orange_analysis::plan_proof::{self, PlanProof};
use orange_analysis::plan_walk::PlanWalk;
use orange_analysis::prove::ProofVerdict;
use orange_codegen::lower::{PlanArena, lower_plan};
use orange_codegen::{Source, compile};
use orange_core::mission::{MissionStatus, Report, StepFailure, StepState, StepStatus};
use orange_core::plan::{Execution, Intervene, Policy, StepId};
use orange_testkit::Random;
use orange_tests::steps::{PlannedSteps, small_steps};

use crate::number;

const POLICIES: [Policy; 3] = [
    Policy { execution: Execution::Auto, intervene: Intervene::Never },
    Policy { execution: Execution::Step, intervene: Intervene::Always },
    Policy { execution: Execution::Auto, intervene: Intervene::OnError },
];

/// No mission of these workflows has more acts without a person.
const MOST_ACTS: usize = 2_000;

#[test]
fn what_is_proved_of_steps_is_not_broken_by_any_walk() {
    let (first, count) = (number("ORANGE_PROOFS_SEED", 0), number("ORANGE_PROOFS", 30));
    let mut seen = BTreeMap::new();
    for seed in first..first + count {
        let planned = small_steps(seed);
        let source = Source::new("flow.toml", planned.to_string());
        let checked = compile(&source).checked.unwrap_or_else(|| panic!("{planned}"));
        let proof = plan_proof::prove(&checked, &source).unwrap();
        let arena = PlanArena::default();
        let plan = lower_plan(&checked, &arena).unwrap();
        for walk in 0..number("ORANGE_PROOFS_WALKS", 12) {
            let policy = POLICIES[walk as usize % POLICIES.len()];
            let mut attack = Attack::new(&planned, PlanWalk::new(&plan, policy));
            attack.run(&mut Random::new(seed << 8 | walk));
            attack.judge(&proof, &mut seen);
        }
    }
    // An attack that never comes close breaks nothing anywhere.
    for wanted in
        ["completed", "failed", "exhausted", "silent", "paused", "most attempts", "capped", "cap used up"]
    {
        assert!(seen.get(wanted).is_some_and(|it| *it >= 5), "{wanted}: {seen:?}");
    }
}

/// One mission that is walked, and what has been seen of it.
struct Attack<'p> {
    planned: &'p PlannedSteps,
    walk: PlanWalk<'p>,
    script: Vec<String>,
    /// By step: how many attempts have ended.
    ran: Vec<u32>,
    has_paused: bool,
    broken: Vec<(&'static str, String)>,
}

impl<'p> Attack<'p> {
    fn new(planned: &'p PlannedSteps, walk: PlanWalk<'p>) -> Self {
        let ran = vec![0; planned.steps.len()];
        Self { planned, walk, script: Vec::new(), ran, has_paused: false, broken: Vec::new() }
    }

    /// Takes the mission to its end, without running anything once more by hand.
    fn run(&mut self, random: &mut Random) {
        let failing = *random.pick(&[0, 10, 40]);
        for _ in 0..MOST_ACTS {
            self.watch();
            let Some(act) = self.act(random, failing) else { return };
            self.script.push(act.script(self.walk.plan));
            match self.walk.act(&act, None) {
                Ok(_) => self.note(&act),
                Err(refusal) => panic!("{refusal:?}: {}", self.tell()),
            }
        }
        self.broken.push(("ends-or-pauses", format!("{MOST_ACTS} acts, and it goes on")));
    }

    fn act(&self, random: &mut Random, failing: usize) -> Option<MissionAct> {
        let mission = &self.walk.mission;
        if mission.status == MissionStatus::Paused {
            let is_asked = mission.pause().is_some_and(|it| mission.offers_acceptance(it));
            return Some(if is_asked {
                MissionAct::ACCEPT
            } else {
                MissionAct::Continue(PauseReply::default())
            });
        }
        let step = StepId(self.active().first().copied()? as u16);
        Some(match random.chance(failing) {
            true if random.chance(50) => MissionAct::Lose(step),
            true => MissionAct::Fail(step, "it fails".to_owned()),
            false => MissionAct::Complete(step, self.report(random, step.index())),
        })
    }

    /// A report that an agent could give: a result that the step declares, or any word that something reads, and others.
    fn report(&self, random: &mut Random, step: usize) -> Report {
        let declared = &self.planned.steps[step].results;
        let handled = self.planned.steps.iter().position(|it| it.on_fail == Some(step)).unwrap_or(step);
        let read = |field: &str| -> Vec<String> {
            let conditions = self.planned.steps.iter().filter_map(|it| it.condition.as_ref());
            let of_it = conditions.filter(|(of, name, _)| [step, handled].contains(of) && *name == field);
            of_it.map(|(.., value)| value.clone()).chain(["OTHER".to_owned()]).collect()
        };
        let results =
            if declared.is_empty() { self.planned.steps[handled].results.clone() } else { declared.clone() };
        let results = if results.is_empty() { read("result") } else { results };
        let summary = random.pick(&read("summary")).clone();
        let warning = random.chance(20).then(|| "look".to_owned());
        Report { result: Some(random.pick(&results).clone()), summary, warning, ..Report::default() }
    }

    fn active(&self) -> Vec<usize> {
        let steps = self.walk.mission.steps.iter();
        let is_active = |it: &StepState| matches!(it.status, StepStatus::Assigned | StepStatus::Running);
        steps.enumerate().filter(|(_, it)| is_active(it)).map(|(at, _)| at).collect()
    }

    /// Counts an act that has ended the attempt of its step: one that loses an agent may have it started again.
    fn note(&mut self, act: &MissionAct) {
        let Some(step) = act.step() else { return };
        let goes_on = matches!(act, MissionAct::Lose(_)) && self.walk.mission.step(step).status.is_active();
        self.ran[step.index()] += u32::from(!goes_on);
    }

    fn watch(&mut self) {
        let (mission, active) = (&self.walk.mission, self.active());
        self.has_paused |= mission.status == MissionStatus::Paused;
        if active.len() > 1 {
            self.broken.push(("one-agent", format!("{active:?} run at once")));
        }
        let goes_on =
            mission.status.is_terminal() || mission.status == MissionStatus::Paused || !active.is_empty();
        if !goes_on {
            self.broken
                .push(("ends-or-pauses", format!("nothing runs while it is {}", mission.status.as_str())));
        }
        for (step, planned) in mission.steps.iter().zip(&self.planned.steps) {
            if planned.max_retries > 0 && step.completions > planned.max_retries {
                self.broken.push(("attempts-bounded", format!("{} has completed too often", planned.id)));
            }
        }
        if mission.status == MissionStatus::Completed
            && let Some(why) = self.silence()
        {
            self.broken.push(("no-silent-success", why));
        }
    }

    /// Reason for which a completed mission has not reached its aim (`docs/steps.md`).
    fn silence(&self) -> Option<String> {
        let steps = || self.planned.steps.iter().zip(&self.walk.mission.steps);
        let is_open = |(_, it): &(_, &StepState)| {
            it.is_exhausted || (it.status == StepStatus::Failed && !it.is_handled)
        };
        if let Some((planned, _)) = steps().find(is_open) {
            return Some(format!("{} has failed", planned.id));
        }
        let is_last = |at: usize| self.planned.is_last(at);
        let is_done = |it: &StepState| it.status == StepStatus::Completed || it.is_handled;
        let has_ended = steps().enumerate().any(|(at, (_, it))| is_last(at) && is_done(it));
        (!has_ended).then(|| "no last step has run".to_owned())
    }

    fn judge(&self, proof: &PlanProof, seen: &mut BTreeMap<&'static str, u32>) {
        let mission = &self.walk.mission;
        let figures = &proof.figures;
        for (property, what) in &self.broken {
            assert!(!is_proved(proof, property), "{property} is proved, and {what}: {}", self.tell());
        }
        let total: u32 = self.ran.iter().sum();
        if let Some(most) = figures.attempts {
            assert!(total <= most, "{total} attempts, and at most {most} are proved: {}", self.tell());
        }
        for (ran, most) in self.ran.iter().zip(&figures.by_step) {
            assert!(most.most.is_none_or(|it| *ran <= it), "{ran} of {most:?}: {}", self.tell());
        }
        let all: usize = mission.steps.iter().map(|it| it.attempts.len()).sum();
        let cap = self.planned.max_attempts.map_or(usize::MAX, |it| it as usize);
        assert!(all <= cap, "{all} attempts, and the cap is {cap}: {}", self.tell());
        assert!(all as u64 <= figures.bound, "{all} attempts, bound {}: {}", figures.bound, self.tell());
        let is_capped = mission.steps.iter().any(|it| it.failure == Some(StepFailure::Cap));
        if is_capped && let Some(argument) = argument(proof, "attempts-bounded") {
            assert!(!argument.contains("no run reaches"), "{argument}: {}", self.tell());
        }
        let is_silent = self.broken.iter().any(|(property, _)| *property == "no-silent-success");
        let facts = [
            ("completed", mission.status == MissionStatus::Completed),
            ("failed", mission.status == MissionStatus::Failed),
            ("exhausted", mission.steps.iter().any(|it| it.is_exhausted)),
            ("silent", is_silent),
            ("paused", self.has_paused),
            ("capped", is_capped),
            ("cap used up", all == cap),
            ("most attempts", figures.attempts == Some(total)),
        ];
        for (what, _) in facts.into_iter().filter(|(_, holds)| *holds) {
            *seen.entry(what).or_default() += 1;
        }
    }

    fn tell(&self) -> String {
        format!("{}\n{}", self.script.join("\n"), self.planned)
    }
}

/// The argument of a property that is proved.
fn argument<'p>(proof: &'p PlanProof, name: &str) -> Option<&'p str> {
    let judged = proof.properties.iter().find(|it| it.name == name)?;
    match &judged.verdict {
        ProofVerdict::Proved { argument } => Some(argument),
        ProofVerdict::Refuted { .. } | ProofVerdict::Undecided { .. } => None,
    }
}

fn is_proved(proof: &PlanProof, name: &str) -> bool {
    let judged = proof.properties.iter().find(|it| it.name == name).unwrap();
    matches!(judged.verdict, ProofVerdict::Proved { .. })
}
