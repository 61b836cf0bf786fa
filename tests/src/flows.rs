//! Generated workflows with agents, for attacks on what is proved of workflows; the same for the same seed.
//!
//! Each is a workflow that somebody could write, and then careless here and there: a hook is forgotten, an actor too many
//! may ask, a rule is missing. How careless depends on the seed, so that each property holds of some and fails in others.

mod wide;

use crate::plan::{
    Applies, GuardTree, Operator, Plan, PlannedDeadline, PlannedEnding, PlannedGate, PlannedHook,
    PlannedOutcome, PlannedRule, PlannedState, PlannedTransition,
};
use orange_testkit::Random;

/// Kind of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StateRole {
    /// Nobody is at work; a person decides.
    Idle,
    /// An agent works.
    Works,
    /// An agent judges.
    Judges,
    /// It is over.
    Ends,
}

use StateRole::{Ends, Idle, Judges, Works};

const REVIEW_ROUND: usize = 0;
const CRASH_COUNT: usize = 1;
const TRIES: usize = 2;

/// The states between the first and the last ones.
const SHAPES: [&[(&str, StateRole)]; 7] = [
    &[("working", Works), ("agent-review", Judges), ("reviewing", Idle), ("stuck", Idle)],
    &[("working", Works), ("agent-review", Judges), ("reviewing", Idle), ("stuck", Idle)],
    &[("working", Works), ("stuck", Idle)],
    &[("working", Works), ("checking", Works), ("stuck", Idle)],
    &[("triage", Works), ("working", Works), ("agent-review", Judges), ("stuck", Idle)],
    &[("clarification", Works), ("working", Works), ("agent-review", Judges), ("stuck", Idle)],
    &[("working", Works), ("agent-review", Judges), ("second-review", Judges), ("reviewing", Idle)],
];

/// A workflow that compiles, most of the time.
pub fn flow(seed: u64) -> Plan {
    author(seed).plan
}

/// A workflow as [`flow`] writes it, and then every key of the language that there is a use for: programs and checks in gates, commands
/// with other states, declared actors that act where a task waits.
pub fn wide_flow(seed: u64) -> Plan {
    let mut author = author(seed);
    author.widen();
    author.plan
}

fn author(seed: u64) -> Author {
    let mut random = Random::new(seed.wrapping_add(0xa77a));
    let care = *random.pick(&[99, 97, 92, 80]);
    let mut author = Author { random, care, states: Vec::new(), plan: Plan::default() };
    author.plan.name = format!("flow-{seed}");
    author.write();
    author
}

/// Author of a workflow.
struct Author {
    random: Random,
    /// Number of times in a hundred in which nothing is forgotten.
    care: usize,
    states: Vec<StateRole>,
    plan: Plan,
}

impl Author {
    fn is_careful(&mut self) -> bool {
        let care = self.care;
        self.random.chance(care)
    }

    fn write(&mut self) {
        let shape = *self.random.pick(&SHAPES);
        let middle = shape.iter().map(|(name, role)| (*name, *role));
        let all = [("pending", Idle)].into_iter().chain(middle).chain([("done", Ends), ("cancelled", Ends)]);
        for (name, role) in all {
            self.states.push(role);
            let (terminal, in_folder) = (role == Ends, name == "triage");
            self.plan.states.push(PlannedState {
                name: name.to_owned(),
                terminal,
                in_folder,
                ..PlannedState::default()
            });
        }
        self.plan.counters = ["review_round", "crash_count", "tries"].map(str::to_owned).to_vec();
        self.plan.prompts = vec!["worker", "reviewer", "again"];
        self.plan.unattended = self.random.chance(12);
        self.plan.crash = self.named("stuck").or_else(|| self.named("reviewing"));
        self.progress();
        self.rejections();
        self.cancellations();
        self.surprises();
        self.twins();
        self.state_keys();
        self.rules();
        self.failures();
        self.deadlines();
        self.traps();
    }

    fn named(&self, name: &str) -> Option<usize> {
        self.plan.states.iter().position(|it| it.name == name)
    }

    fn of_role(&self, role: StateRole) -> Vec<usize> {
        (1..self.states.len()).filter(|at| self.states[*at] == role).collect()
    }

    /// Every state leads to the next one.
    fn progress(&mut self) {
        let last = self.states.len() - 2;
        for from in 0..last {
            if Some(from) == self.named("stuck") {
                continue;
            }
            let next = if Some(from + 1) == self.named("stuck") { from + 2 } else { from + 1 };
            let gate = match self.states[from] {
                Works => self.random.chance(70).then(|| self.handoff()),
                Judges => Some(self.verdict("PASS")),
                Idle | Ends => None,
            };
            let by = self.by(from, next);
            self.transition(PlannedTransition {
                from,
                to: next,
                by,
                gates: gate.into_iter().collect(),
                ..PlannedTransition::default()
            });
        }
    }

    /// A judge sends the work back, as often as its guard allows.
    fn rejections(&mut self) {
        let (workers, judges) = (self.of_role(Works), self.of_role(Judges));
        for from in judges {
            let to = *self.random.pick(&workers);
            let bound = 1 + self.random.below(2) as u32;
            let counter = if self.random.chance(80) { REVIEW_ROUND } else { TRIES };
            let is_bounded = self.is_careful();
            let below = GuardTree::Compare(counter, Operator::Less, bound);
            let (gate, by) = (Some(self.verdict("FAIL")), self.by(from, to));
            let when = is_bounded.then(|| below.clone());
            let back = PlannedTransition {
                from,
                to,
                by,
                when,
                gates: gate.clone().into_iter().collect(),
                ..PlannedTransition::default()
            };
            self.transition(back);
            if let Some(crash) = self.plan.crash.filter(|it| *it != from) {
                let when = is_bounded.then_some(GuardTree::Compare(counter, Operator::GreaterOrEqual, bound));
                let (by, when) = (self.by(from, crash), when.filter(|_| self.is_careful()));
                self.transition(PlannedTransition {
                    from,
                    to: crash,
                    by,
                    when,
                    gates: gate.into_iter().collect(),
                    ..PlannedTransition::default()
                });
            }
        }
        let Some(stuck) = self.plan.crash else { return };
        for from in workers.iter().copied() {
            if !self.random.chance(90) {
                continue;
            }
            let by = self.by(from, stuck);
            self.transition(PlannedTransition { from, to: stuck, by, ..PlannedTransition::default() });
        }
        let to = *self.random.pick(&workers);
        let by = self.by(stuck, to);
        let reset =
            if self.random.chance(30) { vec![*self.random.pick(&[REVIEW_ROUND, TRIES])] } else { Vec::new() };
        self.transition(PlannedTransition { from: stuck, to, by, reset, ..PlannedTransition::default() });
    }

    /// A person can cancel everywhere, and merge from where nobody works.
    fn cancellations(&mut self) {
        let cancelled = self.states.len() - 1;
        for from in 0..cancelled - 1 {
            if self.random.chance(88) {
                let by = self.by(from, cancelled);
                self.transition(PlannedTransition {
                    from,
                    to: cancelled,
                    by,
                    ..PlannedTransition::default()
                });
            }
        }
    }

    /// Adds unexpected transitions.
    fn surprises(&mut self) {
        for _ in 0..self.random.below(3) {
            let from = self.random.below(self.states.len() - 2);
            let to = 1 + self.random.below(self.states.len() - 1);
            let when = self.random.chance(40).then(|| {
                let counter = *self.random.pick(&[REVIEW_ROUND, CRASH_COUNT, TRIES]);
                GuardTree::Compare(counter, *self.random.pick(&Operator::ALL), self.random.below(3) as u32)
            });
            let gate = match self.random.below(6) {
                0 => Some(self.handoff()),
                1 => Some(self.verdict("PASS")),
                2 => Some(self.verdict("FAIL")),
                _ => None,
            };
            let by = if self.random.chance(40) { vec!["engine"] } else { self.by(from, to) };
            let reset = if self.random.chance(15) {
                vec![*self.random.pick(&[REVIEW_ROUND, TRIES])]
            } else {
                Vec::new()
            };
            self.transition(PlannedTransition {
                from,
                to,
                by,
                when,
                gates: gate.into_iter().collect(),
                reset,
                ..PlannedTransition::default()
            });
        }
    }

    /// Adds a transition with its hooks, unless the pair has one.
    fn transition(&mut self, mut it: PlannedTransition) {
        if self.plan.transitions.iter().any(|other| (other.from, other.to) == (it.from, it.to)) {
            return;
        }
        it.hooks = self.hooks(it.from, it.to);
        self.plan.transitions.push(it);
    }

    fn by(&mut self, from: usize, to: usize) -> Vec<&'static str> {
        let careful = self.is_careful();
        let right: &[&[&'static str]] = match (self.states[from], self.states[to]) {
            (Idle, Ends | Works | Judges | Idle) => &[&["human"], &["human"], &[]],
            (_, Ends) => &[&["human"]],
            (Judges, _) => &[&["reviewer", "human"], &["reviewer"], &[]],
            (Works, _) => &[&[], &["worker", "human"], &["worker"]],
            (Ends, _) => &[&[]],
        };
        let any: &[&[&'static str]] =
            &[&[], &["worker"], &["reviewer", "worker"], &["engine"], &["human"], &["ci"]];
        let mut by = self.random.pick(if careful { right } else { any }).to_vec();
        if !by.is_empty() && self.random.chance(6) {
            by.push("ci");
        }
        by.dedup();
        by
    }

    /// Some pairs get a second transition, for other actors or for the other verdict.
    fn twins(&mut self) {
        for at in 0..self.plan.transitions.len() {
            if !self.random.chance(6) {
                continue;
            }
            let mut twin = self.plan.transitions[at].clone();
            twin.hooks = self.hooks(twin.from, twin.to);
            match twin.gates.first_mut().and_then(|gate| gate.verdict.as_mut()) {
                Some(verdict) if self.random.chance(60) => {
                    *verdict = if *verdict == "PASS" { "FAIL" } else { "PASS" };
                }
                _ => {
                    let ours: &[&[&'static str]] =
                        &[&["worker"], &["worker", "reviewer"], &["ci"], &["reviewer"]];
                    self.plan.transitions[at].by = vec!["human"];
                    twin.by = self.random.pick(ours).to_vec();
                    twin.gates.retain(|_| self.random.chance(60));
                }
            }
            self.plan.transitions.push(twin);
        }
    }

    fn handoff(&mut self) -> PlannedGate {
        PlannedGate {
            section: "## Handoff",
            required: self.random.chance(60),
            fields: if self.random.chance(40) { vec!["DONE", "REMAINING"] } else { Vec::new() },
            fresh: self.random.chance(70),
            ..PlannedGate::default()
        }
    }

    fn verdict(&mut self, verdict: &'static str) -> PlannedGate {
        let (fresh, strict) = (self.is_careful(), self.random.chance(80));
        let writers: &[&[&'static str]] = &[&[], &["reviewer"], &["reviewer", "human"]];
        let written_by = if self.is_careful() { self.random.pick(writers).to_vec() } else { vec!["worker"] };
        let section = if self.random.chance(90) { "## Review" } else { "## Handoff" };
        PlannedGate { section, verdict: Some(verdict), strict, fresh, written_by, ..PlannedGate::default() }
            .with_work()
    }

    fn hooks(&mut self, from: usize, to: usize) -> Vec<PlannedHook> {
        let mut hooks = Vec::new();
        let keeps_worker = self.random.chance(30);
        let (was, is) = (self.states[from], self.states[to]);
        let kill =
            if keeps_worker && was == Judges && is == Works { "kill_reviewer" } else { "kill_session" };
        let worker = PlannedHook { prompt: Some("worker"), ..hook("spawn_agent") };
        let counted = self.is_careful().then_some(if self.random.chance(85) { REVIEW_ROUND } else { TRIES });
        let reviewer = PlannedHook { prompt: Some("reviewer"), increment: counted, ..hook("spawn_agent") };
        let to_folder = self.plan.states[to].in_folder;
        match (was, is) {
            (Idle, Works) if to_folder && from == 0 => {}
            (Idle, Works) if to_folder => hooks.push(hook("release_workspace")),
            (Idle, Works | Judges) => hooks.push(hook("acquire_workspace")),
            (Works, Judges) if keeps_worker => {}
            (_, Works | Judges | Idle | Ends) => hooks.push(hook(kill)),
        }
        match (self.plan.states[from].in_folder, to_folder) {
            (true, false) if matches!(is, Works | Judges) => hooks.push(hook("acquire_workspace")),
            (false, true) if was != Idle => hooks.push(hook("release_workspace")),
            _ => {}
        }
        match is {
            Works if kill == "kill_reviewer" => {
                let prompt = self.random.chance(80).then_some("worker");
                let parameters = vec!["message: Go on.".to_owned()];
                hooks.push(PlannedHook { prompt, parameters, ..hook("notify_worker") });
            }
            Works => hooks.push(worker),
            Judges if keeps_worker => hooks.push(PlannedHook { action: "spawn_reviewer", ..reviewer }),
            Judges => hooks.push(PlannedHook { harness: Some("review"), ..reviewer }),
            Ends => hooks.push(hook("release_workspace")),
            Idle => {}
        }
        if !hooks.is_empty() && !self.is_careful() {
            let gone = self.random.below(hooks.len());
            hooks.remove(gone);
        }
        if hooks.len() > 1 && !self.is_careful() {
            hooks.swap(0, 1);
        }
        if self.random.chance(25) {
            let at = self.random.below(hooks.len() + 1);
            let extra = self.extra();
            hooks.insert(at, extra);
        }
        if !hooks.is_empty() && self.random.chance(8) {
            let at = self.random.below(hooks.len());
            // A script lets the next hook of an action fail, and so cannot mean the second one.
            let is_first = hooks[..at].iter().all(|it| it.action != hooks[at].action);
            let choices: &[_] = if is_first { &["stop", "go-on"] } else { &["go-on"] };
            hooks[at].on_failure = Some(*self.random.pick(choices));
        }
        hooks
    }

    /// A hook beside the ones that a transition needs.
    fn extra(&mut self) -> PlannedHook {
        let with =
            |action, parameter: &str| PlannedHook { parameters: vec![parameter.to_owned()], ..hook(action) };
        let command = with("run_command", "argv: [test, '!', -e, fails]");
        let choice = [
            command.clone(),
            command.clone(),
            command,
            hook("kill_session"),
            hook("release_workspace"),
            hook("push_branch"),
            with("increment", "field: tries"),
            with("reset", "field: tries"),
            with("notify", "message: Look."),
            with("set_field", "field: seen, value: true"),
        ];
        self.random.pick(&choice).clone()
    }

    fn state_keys(&mut self) {
        let (states, targets): (Vec<StateRole>, Vec<Vec<usize>>) =
            (self.states.clone(), (0..self.states.len()).map(|at| self.targets(at)).collect());
        for (at, role) in states.into_iter().enumerate() {
            let respawn = match role {
                Works => self.random.chance(85).then(|| *self.random.pick(&["worker", "worker", "again"])),
                Judges => self.random.chance(75).then_some("reviewer"),
                Idle | Ends => None,
            };
            let often = if role == Idle { 8 } else { 20 };
            let timed = role != Ends && self.random.chance(often) && !targets[at].is_empty();
            let timeout = timed.then(|| {
                let to = self.random.chance(75).then(|| *self.random.pick(&targets[at]));
                (60, to)
            });
            let state = &mut self.plan.states[at];
            state.respawn =
                if self.random.chance(97) { respawn } else { Some("worker").filter(|_| role != Ends) };
            state.timeout = timeout;
            state.entry = role != Ends && self.random.chance(4);
            let mut leaving = self.plan.transitions.iter().filter(|it| it.from == at);
            state.waits = role == Idle && leaving.all(|it| it.by == ["human"]) && self.random.chance(50);
        }
    }

    /// A deadline that is shorter than the timeouts.
    fn deadlines(&mut self) {
        let open: Vec<usize> = (0..self.states.len())
            .filter(|at| self.states[*at] != Ends && !self.plan.states[*at].waits)
            .collect();
        let states: Vec<usize> = open.into_iter().filter(|_| self.random.chance(40)).collect();
        if states.is_empty() || self.random.chance(70) {
            return;
        }
        let leads = |to: &usize| states.iter().all(|from| *from != *to && self.targets(*from).contains(to));
        let targets: Vec<usize> = (0..self.states.len()).filter(leads).collect();
        let moves = !targets.is_empty() && self.random.chance(80);
        let then = moves.then(|| *self.random.pick(&targets));
        self.plan.deadlines.push(PlannedDeadline { states, after: 30, then });
    }

    /// Some workflows have a state that only an agent may leave, and none is alive there.
    fn traps(&mut self) {
        let Some(stuck) = self.named("stuck").filter(|_| self.random.chance(6)) else { return };
        for it in self.plan.transitions.iter_mut().filter(|it| it.from == stuck) {
            it.by = vec!["reviewer"];
        }
        let state = &mut self.plan.states[stuck];
        (state.timeout, state.waits) = (None, false);
        self.plan.deadlines.retain(|it| !it.states.contains(&stuck));
    }

    fn targets(&self, from: usize) -> Vec<usize> {
        self.plan.transitions.iter().filter(|it| it.from == from).map(|it| it.to).collect()
    }

    fn rules(&mut self) {
        for status in 0..self.states.len() {
            match self.states[status] {
                Works | Judges => self.rules_of(status),
                Idle => {
                    if self.random.chance(5) {
                        self.rule(status, Applies::Always, PlannedOutcome::MarkDead);
                    }
                }
                Ends => {}
            }
        }
    }

    fn rules_of(&mut self, status: usize) {
        if self.random.chance(20) {
            self.rule(status, Applies::Always, PlannedOutcome::MarkDead);
            return;
        }
        for (code, percent) in [(3, 12), (75, 15)] {
            if self.random.chance(percent) {
                let ending = PlannedEnding { codes: vec![code], ..PlannedEnding::default() };
                let outcome = self.outcome(status);
                self.rule(status, Applies::Ended(ending), outcome);
            }
        }
        let leaving: Vec<PlannedTransition> =
            self.plan.transitions.iter().filter(|it| it.from == status).cloned().collect();
        let mut seen: Vec<PlannedGate> = Vec::new();
        for it in leaving.iter().filter(|it| !it.gates.is_empty() || it.by == ["engine"]) {
            let Some(gate) = it.gates.first().cloned() else {
                if self.random.chance(25) {
                    let ending = PlannedEnding { codes: vec![4], ..PlannedEnding::default() };
                    self.rule(status, Applies::Ended(ending), PlannedOutcome::Then(it.to));
                }
                continue;
            };
            let same = |other: &&PlannedGate| (other.section, other.verdict) == (gate.section, gate.verdict);
            if seen.iter().any(|other| same(&other)) || !self.is_careful() {
                continue;
            }
            let with = |to: usize| {
                let mut of = leaving.iter().filter(move |it| it.to == to && !it.gates.is_empty());
                of.next().and_then(|it| it.when.clone())
            };
            let others = leaving.iter().filter(|other| {
                other.to != it.to
                    && other.gates.first().is_some_and(|other| same(&other))
                    && other.when.is_some()
            });
            let other = others.map(|it| it.to).next();
            let clauses = match (with(it.to), other.and_then(with)) {
                (Some(one), Some(two)) if self.is_careful() => {
                    Some(vec![(one, it.to), (two, other.unwrap_or(it.to))])
                }
                _ => None,
            };
            let asked = if self.is_careful() {
                gate.clone()
            } else {
                PlannedGate { fresh: !gate.fresh, of: None, ..gate.clone() }
            };
            let outcome = clauses.map_or(PlannedOutcome::Then(it.to), PlannedOutcome::ThenWhen);
            seen.push(gate);
            self.rule(status, Applies::HasArtifact(vec![asked]), outcome);
        }
        match self.random.below(12) {
            0 => {}
            1 => self.rule(status, Applies::Always, PlannedOutcome::MarkDead),
            2 => {
                let to = self.targets(status);
                if !to.is_empty() {
                    let to = *self.random.pick(&to);
                    self.rule(status, Applies::Always, PlannedOutcome::Then(to));
                }
            }
            _ => {
                let stuck_after = self.random.chance(80).then(|| 1 + self.random.below(3) as u32);
                let respawn = self.random.chance(50);
                let applies = if self.random.chance(85) { Applies::NoArtifact } else { Applies::Always };
                self.rule(status, applies, PlannedOutcome::Crash { stuck_after, respawn });
            }
        }
    }

    fn outcome(&mut self, status: usize) -> PlannedOutcome {
        let targets = self.targets(status);
        match self.random.below(4) {
            0 if self.plan.states[status].respawn.is_some() => PlannedOutcome::Wait(60),
            1 => PlannedOutcome::Crash { stuck_after: Some(1 + self.random.below(2) as u32), respawn: true },
            2 if !targets.is_empty() => PlannedOutcome::Then(*self.random.pick(&targets)),
            _ => PlannedOutcome::MarkDead,
        }
    }

    fn rule(&mut self, status: usize, applies: Applies, outcome: PlannedOutcome) {
        self.plan.rules.push(PlannedRule { status, applies, outcome });
    }

    /// Some transitions say where the task goes when a hook fails.
    fn failures(&mut self) {
        for at in 0..self.plan.transitions.len() {
            let it = self.plan.transitions[at].clone();
            let targets = self.targets(it.to);
            if it.hooks.iter().any(PlannedHook::stops) && !targets.is_empty() && self.random.chance(50) {
                self.plan.transitions[at].on_hook_failure = Some(*self.random.pick(&targets));
            }
        }
    }
}

fn hook(action: &'static str) -> PlannedHook {
    PlannedHook { action, ..PlannedHook::default() }
}
