//! Attacks on the verdicts of `prove` about step workflows: random ones are walked, and no walk breaks a property that is proved.

use std::collections::BTreeMap;

use orange_analysis::missions::{MissionAct, PauseReply};
use orange_analysis::plan_proof::{self, PlanProof};
use orange_analysis::plan_walk::PlanWalk;
use orange_analysis::prove::ProofVerdict;
use orange_codegen::lower::{PlanArena, lower_plan};
use orange_codegen::{Source, compile};
use orange_core::mission::{Answer, ItemStatus, MissionStatus, Report, StepFailure, StepState, StepStatus};
use orange_core::plan::{Execution, Intervene, Policy, StepId, Value, ValueType};
use orange_testkit::Random;
use orange_tests::steps::{PlannedStep, PlannedSteps, PlannedWork, small_steps, small_wide_steps};

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
    let (first, count) = (number("ORANGE_PROOFS_SEED", 0), number("ORANGE_PROOFS", 45));
    let mut seen = BTreeMap::new();
    let planned = |seed| match seed % 3 {
        0 => small_wide_steps(seed / 3),
        _ => small_steps(seed - seed / 3),
    };
    for seed in first..first + count {
        let planned = planned(seed);
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
    let of_all =
        ["completed", "failed", "exhausted", "silent", "paused", "most attempts", "capped", "cap used up"];
    for wanted in of_all.into_iter().chain(["asked", "side by side", "an item has failed"]) {
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
    /// Number of questions that have ended.
    asked: u32,
    most_at_once: usize,
    has_paused: bool,
    broken: Vec<(&'static str, String)>,
}

impl<'p> Attack<'p> {
    fn new(planned: &'p PlannedSteps, walk: PlanWalk<'p>) -> Self {
        let ran = vec![0; planned.steps.len()];
        Self {
            planned,
            walk,
            script: Vec::new(),
            ran,
            asked: 0,
            most_at_once: 0,
            has_paused: false,
            broken: Vec::new(),
        }
    }

    /// Takes the mission to its end, without running anything once more by hand.
    fn run(&mut self, random: &mut Random) {
        let failing = *random.pick(&[0, 10, 40]);
        for _ in 0..MOST_ACTS {
            self.watch();
            let Some((act, attempt)) = self.act(random, failing) else { return };
            self.script.push(format!("{} (attempt {attempt})", act.script(self.walk.plan)));
            let attempts = |walk: &PlanWalk<'_>| act.step().map(|it| walk.mission.step(it).attempts.len());
            let before = attempts(&self.walk);
            match self.walk.act(&act, Some(attempt)) {
                Ok(_) => self.note(&act, attempts(&self.walk) > before),
                Err(refusal) => panic!("{refusal:?}: {}", self.tell()),
            }
        }
        self.broken.push(("ends-or-pauses", format!("{MOST_ACTS} acts, and it goes on")));
    }

    fn act(&self, random: &mut Random, failing: usize) -> Option<(MissionAct, u32)> {
        let mission = &self.walk.mission;
        if mission.status == MissionStatus::Paused {
            let meanwhile = self.work(random, failing).filter(|_| random.chance(50));
            let is_asked = mission.pause().is_some_and(|it| mission.offers_acceptance(it));
            let answer =
                if is_asked { MissionAct::ACCEPT } else { MissionAct::Continue(PauseReply::default()) };
            return meanwhile.or(Some((answer, 0)));
        }
        self.work(random, failing)
    }

    /// The end of an attempt, or the answer of a person.
    fn work(&self, random: &mut Random, failing: usize) -> Option<(MissionAct, u32)> {
        let mission = &self.walk.mission;
        let open: Vec<(StepId, u32)> = mission.working().chain(mission.open_asks()).collect();
        let (step, attempt) = *open.get(random.below(open.len().max(1)))?;
        let rule = self.walk.plan.step(step);
        let act = match (rule.is_ask(), random.chance(failing)) {
            (true, true) if rule.timeout.is_some() => MissionAct::Expire(step),
            (true, _) => {
                let word = (*random.pick(&rule.answers())).to_owned();
                let by = rule.ask.and_then(|it| it.who.first()).map_or("Ada", |it| *it).to_owned();
                MissionAct::Answer(step, Answer { word, comment: String::new(), by, commit: None })
            }
            (false, true) if random.chance(50) => MissionAct::Lose(step),
            (false, true) => MissionAct::Fail(step, "it fails".to_owned()),
            (false, false) => MissionAct::Complete(step, self.report(random, step)),
        };
        Some((act, attempt))
    }

    /// A report that an agent could give: a result that the step declares, or any word that something reads, and others.
    fn report(&self, random: &mut Random, id: StepId) -> Report {
        let step = id.index();
        let declared = &self.planned.steps[step].results;
        let handled = self.planned.steps.iter().position(|it| it.on_fail == Some(step)).unwrap_or(step);
        let read = |field: &str| -> Vec<String> {
            let conditions = self.planned.steps.iter().filter_map(|it| it.condition.as_ref());
            let of_it = conditions.filter(|(of, name, _)| [step, handled].contains(of) && *name == field);
            of_it.map(|(.., value)| value.clone()).chain(["OTHER".to_owned()]).collect()
        };
        let results =
            if declared.is_empty() { self.planned.steps[handled].results.clone() } else { declared.clone() };
        let is_approval = matches!(self.planned.steps[handled].more.work, PlannedWork::Person(_));
        let results = match results.is_empty() {
            true if is_approval => vec!["approve".to_owned()],
            true => read("result"),
            false => results,
        };
        let summary = random.pick(&read("summary")).clone();
        let warning = random.chance(20).then(|| "look".to_owned());
        let outputs = self.walk.plan.outputs_of(id).iter();
        let outputs = outputs.map(|it| (it.name.to_owned(), value(random, &it.kind))).collect();
        Report { result: Some(random.pick(&results).clone()), summary, warning, outputs, answer: None }
    }

    /// Counts an act that has ended the attempt of its step: one that loses an agent may have it started again.
    fn note(&mut self, act: &MissionAct, is_started_again: bool) {
        let Some(step) = act.step() else { return };
        let goes_on = matches!(act, MissionAct::Lose(_)) && is_started_again;
        match self.walk.plan.step(step).is_ask() {
            true => self.asked += 1,
            false => self.ran[step.index()] += u32::from(!goes_on),
        }
    }

    /// The work in the worktree of the mission: the steps that write, and those that read or show it to a person.
    fn users(&self) -> [Vec<&'p str>; 2] {
        let (mission, steps) = (&self.walk.mission, &self.planned.steps);
        let planned = |(step, _): (StepId, u32)| &steps[step.index()];
        let (readers, writers): (Vec<_>, Vec<_>) =
            mission.working().map(planned).partition(|it| it.more.worktree.is_some());
        let shows =
            |it: &&PlannedStep| matches!(it.more.work, PlannedWork::Person(keys) if !keys.contains("show"));
        let shown = mission.open_asks().map(planned).filter(shows);
        let ids = |all: Vec<&'p PlannedStep>| all.into_iter().map(|it| it.id.as_str()).collect();
        [ids(writers), ids(readers.into_iter().chain(shown).collect())]
    }

    fn watch(&mut self) {
        let mission = &self.walk.mission;
        let working = mission.working().count();
        let is_open = working > 0 || mission.open_asks().next().is_some();
        let [writers, readers] = self.users();
        self.has_paused |= mission.status == MissionStatus::Paused;
        self.most_at_once = self.most_at_once.max(working);
        if writers.len() > usize::from(readers.is_empty()) {
            self.broken.push(("one-writer", format!("{writers:?} write beside {readers:?}")));
        }
        let goes_on = mission.status.is_terminal() || mission.status == MissionStatus::Paused || is_open;
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
        for (at, planned) in self.planned.steps.iter().enumerate() {
            let items: Vec<_> = self.walk.mission.items(StepId(at as u16)).map(|it| it.status).collect();
            let completed = items.iter().filter(|it| **it == ItemStatus::Completed).count();
            let needed = planned.more.enough.map_or(items.len(), |it| items.len().min(usize::from(it)));
            let is_completed = self.walk.mission.steps[at].status == StepStatus::Completed;
            if is_completed && completed < needed {
                return Some(format!("{} lacks items", planned.id));
            }
        }
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
        if let Some(most) = figures.asks {
            assert!(
                self.asked <= most,
                "{} answers, and at most {most} are proved: {}",
                self.asked,
                self.tell()
            );
        }
        let at_once =
            argument(proof, "one-writer").and_then(|it| it.split_once("at most ")?.1.split_once(' '));
        let at_once = at_once.map_or(1, |it| it.0.parse().unwrap());
        let is_decided = is_proved(proof, "one-writer");
        assert!(
            !is_decided || self.most_at_once <= at_once,
            "{} at once: {}",
            self.most_at_once,
            self.tell()
        );
        let works = |at: &usize| !matches!(self.planned.steps[*at].more.work, PlannedWork::Person(_));
        let worked = (0..mission.steps.len()).filter(works);
        let all: usize = worked.map(|it| mission.steps[it].attempts.len()).sum();
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
            ("asked", self.asked > 0),
            ("side by side", self.most_at_once > 1),
            (
                "an item has failed",
                mission.steps.iter().any(|it| it.items.iter().any(|it| it.failure.is_some())),
            ),
        ];
        for (what, _) in facts.into_iter().filter(|(_, holds)| *holds) {
            *seen.entry(what).or_default() += 1;
        }
    }

    fn tell(&self) -> String {
        format!("{}\n{}", self.script.join("\n"), self.planned)
    }
}

/// A value of a type.
fn value(random: &mut Random, kind: &ValueType<'_>) -> Value {
    match kind {
        ValueType::Words(words) => Value::Text((*random.pick(words)).to_owned()),
        ValueType::Text => Value::Text((*random.pick(&["it is", "it was"])).to_owned()),
        ValueType::Bool => Value::Bool(random.chance(50)),
        ValueType::Number { min, max } => Value::Number((min + random.below(9) as i64).min(*max)),
        ValueType::List { max_items } => {
            let count = random.below(usize::from(*max_items) + 1);
            Value::List((0..count).map(|_| (*random.pick(&["a", "b", "c"])).to_owned()).collect())
        }
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
