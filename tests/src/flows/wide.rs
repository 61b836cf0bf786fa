//! Keys of a wide flow that others lack.

use super::Author;
use super::StateRole::{Ends, Idle, Judges, Works};
use crate::generate::PROGRAMS;
use crate::plan::{
    Applies, GuardTree, Operator, Outside, PlannedGate, PlannedHook, PlannedOutcome, PlannedTransition,
    PlannedWatch,
};

/// The facts that watch rules wait for, each after its kind.
const FACTS: [(&str, &str); 14] = [
    ("pr.checks", "pr: {checks: red}"),
    ("pr.checks", "pr: {checks: red, early: true}"),
    ("pr.checks", "pr: {checks: red, required: true}"),
    ("pr.checks", "pr: {checks: green}"),
    ("pr.mergeable", "pr: {mergeable: clean}"),
    ("pr.mergeable", "pr: {mergeable: conflict}"),
    ("pr.mergeable", "pr: {mergeable: blocked}"),
    ("pr.review", "pr: {review: approved}"),
    ("pr.review", "pr: {review: changes-requested}"),
    ("pr.threads", "pr: {threads: open}"),
    ("base", "base: moved"),
    ("base", "base: conflict"),
    ("children", "children: merged"),
    ("children", "children: ended"),
];

impl Author {
    pub(super) fn widen(&mut self) {
        (self.plan.is_wordy, self.plan.names_gates) = (self.random.chance(50), self.random.chance(50));
        self.commands();
        self.programs_act();
        self.more_gates();
        self.roles();
        self.more_hooks();
        self.longer_guards();
        self.endings();
        self.facts();
        self.delegation();
        self.budgets();
        self.sandboxes();
        self.more_verdicts();
    }

    /// A third verdict for reviews: in some workflows it stands where FAIL did, and some exit rules take each.
    fn more_verdicts(&mut self) {
        let mut random = self.random.clone();
        if !random.chance(25) {
            return;
        }
        let is_instead = random.chance(50);
        let is_review = |gate: &&mut PlannedGate| gate.section == "## Review" && gate.verdict.is_some();
        let of_transitions = self.plan.transitions.iter_mut().flat_map(|it| &mut it.gates);
        let of_rules = self.plan.rules.iter_mut().flat_map(|it| match &mut it.applies {
            Applies::HasArtifact(gates) => gates.as_mut_slice(),
            Applies::Always | Applies::NoArtifact | Applies::Ended(_) => &mut [],
        });
        for gate in of_transitions.chain(of_rules).filter(is_review) {
            gate.words = vec!["PASS", "FAIL", "DISCUSS"];
            if is_instead && gate.verdict == Some("FAIL") {
                gate.verdict = Some("DISCUSS");
            }
        }
    }

    /// Demands on the confinement of agents, of the file, of states and of hooks.
    fn sandboxes(&mut self) {
        const DEMANDS: [&str; 4] =
            ["wall", "off", "{git: read, network: model}", "{level: wall, worktree: read, network: none}"];
        // From a stream of its own, so that everything else stays as it is without this key.
        let mut random = self.random.clone();
        let mut demand = |chance| random.chance(chance).then(|| *random.pick(&DEMANDS));
        self.plan.sandbox = demand(50);
        self.plan.states.iter_mut().filter(|it| it.respawn.is_some()).for_each(|it| it.sandbox = demand(20));
        let hooks = self.plan.transitions.iter_mut().flat_map(|it| &mut it.hooks);
        for hook in hooks.filter(|it| it.action.starts_with("spawn_")) {
            hook.parameters.extend(demand(20).map(|it| format!("sandbox: {it}")));
        }
    }

    /// Budgets that lead nowhere: a task waits when one is used up. A number of starts of the task would bound loops.
    fn budgets(&mut self) {
        let whole = "{cost: 5.00, tokens: 20M, fresh_tokens: 900k, time: 9h}";
        self.plan.budget = self.random.chance(30).then_some(whole);
        for state in self.plan.states.iter_mut().filter(|it| it.respawn.is_some() && !it.terminal) {
            state.budget = self.random.chance(30).then_some("{cost: 0.50, time: 20m, starts: 4}");
        }
    }

    /// Commands whose states have other names than usual.
    fn commands(&mut self) {
        let first: Vec<usize> = self.targets(0);
        let of = |roles: &[_]| -> Vec<usize> {
            first.iter().copied().filter(|it| roles.contains(&self.states[*it])).collect()
        };
        let (working, ends) = (of(&[Works]), of(&[Ends]));
        let judging = self.of_role(Judges);
        let choices =
            [("spawn", working.clone()), ("clarify", working), ("review", judging), ("cancel", ends)];
        for (command, states) in choices {
            if !states.is_empty() && self.random.chance(30) {
                let state = *self.random.pick(&states);
                self.plan.commands.insert(command, state);
            }
        }
        self.plan.merge = self.named("done").filter(|_| self.random.chance(30));
    }

    /// Declared actors take a task on where it waits, also after a crash.
    fn programs_act(&mut self) {
        let idle = self.of_role(Idle);
        for it in self.plan.transitions.iter_mut().filter(|it| idle.contains(&it.from)) {
            if !it.by.is_empty() && self.random.chance(12) {
                it.by.push(*self.random.pick(&["ci", "bot-2"]));
                it.by.sort_unstable();
                it.by.dedup();
            }
        }
        let is_acted_in = |at: usize| {
            let mut leaving = self.plan.transitions.iter().filter(|it| it.from == at);
            leaving.any(|it| it.by != ["human"])
        };
        let acted_in: Vec<bool> = (0..self.states.len()).map(is_acted_in).collect();
        for (state, is_acted_in) in self.plan.states.iter_mut().zip(acted_in) {
            state.waits &= !is_acted_in;
        }
    }

    /// Some gates ask for something outside of the body, too, or for all fields.
    fn more_gates(&mut self) {
        for at in 0..self.plan.transitions.len() {
            if !self.random.chance(12) {
                continue;
            }
            let outside = if self.random.chance(60) {
                Outside::Command(PROGRAMS[self.random.below(PROGRAMS.len())])
            } else {
                Outside::Checks
            };
            let gate = PlannedGate { outside: Some(outside), ..PlannedGate::default() };
            self.plan.transitions[at].gates.push(gate);
        }
        let every = self.random.chance(30);
        let artifacts = self.plan.rules.iter_mut().flat_map(|it| match &mut it.applies {
            Applies::HasArtifact(gates) => gates.as_mut_slice(),
            Applies::Always | Applies::NoArtifact | Applies::Ended(_) => &mut [],
        });
        let gates = self.plan.transitions.iter_mut().flat_map(|it| &mut it.gates).chain(artifacts);
        gates.filter(|it| !it.fields.is_empty()).for_each(|it| it.every_field = every);
    }

    /// Hooks and states say what their agents are in other words.
    fn roles(&mut self) {
        let states = self.states.clone();
        for it in &mut self.plan.transitions {
            let to = states[it.to];
            for hook in it.hooks.iter_mut().filter(|it| it.action.starts_with("spawn_")) {
                if self.random.chance(30) {
                    hook.role = Some(if to == Judges { "reviewer" } else { "worker" });
                    hook.harness = if self.random.chance(50) { Some("codex") } else { None };
                }
                for text in ["model: opus", "effort: high", "permissions: reduced"] {
                    if self.random.chance(10) {
                        hook.parameters.push(text.to_owned());
                    }
                }
            }
        }
        for (state, role) in self.plan.states.iter_mut().zip(states) {
            if matches!(role, Works | Judges) && self.random.chance(15) {
                state.agent = vec!["harness: codex", "model: opus", "effort: high"];
            }
        }
    }

    /// Facts take a task on from where it waits or works, by a transition of others or by one of their own.
    fn facts(&mut self) {
        let count = self.random.below(4);
        for _ in 0..count {
            let inner: Vec<usize> = (0..self.plan.transitions.len())
                .filter(|at| self.plan.transitions[*at].cause.is_none())
                .collect();
            let it = self.plan.transitions[*self.random.pick(&inner)].clone();
            let (kind, fact) = *self.random.pick(&FACTS);
            let others: Vec<usize> = self.targets(it.from).into_iter().filter(|to| *to != it.to).collect();
            let when = match self.random.below(4) {
                0 => it.when.clone(),
                1 => Some(GuardTree::Compare(2, Operator::Less, 2)),
                _ => None,
            };
            let outcome = match others.first() {
                Some(other) if self.random.chance(25) => {
                    let few = GuardTree::Compare(2, Operator::Less, 1);
                    let many = GuardTree::Not(Box::new(few.clone()));
                    PlannedOutcome::ThenWhen(vec![(few, it.to), (many, *other)])
                }
                Some(_) | None => PlannedOutcome::Then(it.to),
            };
            let is_there = |other: &PlannedTransition| {
                (other.from, other.to, other.cause) == (it.from, it.to, Some(kind))
            };
            if self.random.chance(40) && !self.plan.transitions.iter().any(is_there) {
                let mut own = PlannedTransition { by: vec!["engine"], cause: Some(kind), ..it.clone() };
                if self.random.chance(60) {
                    own.increments.push(2);
                }
                if self.random.chance(50) {
                    own.hooks.insert(0, PlannedHook { action: "write_feedback", ..PlannedHook::default() });
                }
                self.plan.transitions.push(own);
            }
            self.plan.states[it.from].waits = false;
            let can_rerun = fact.contains("red") && !fact.contains("early");
            let rerun = (can_rerun && self.random.chance(50)).then_some(2);
            self.plan.watch.push(PlannedWatch { status: it.from, fact, when, rerun, outcome });
        }
    }

    /// A state that creates tasks where a rule waits for them, and gates about them.
    fn delegation(&mut self) {
        if !self.plan.watch.iter().any(|it| it.fact.starts_with("children")) {
            return;
        }
        let working = self.of_role(Works);
        let creating: Vec<usize> =
            (0..self.states.len()).filter(|it| !self.plan.states[*it].terminal).collect();
        let state = *self.random.pick(if working.is_empty() { &creating } else { &working });
        let forms =
            ["{most: 3}", "{most: 5, depth: 2, into: base}", "{most: 2, workflow: default, into: parent}"];
        self.plan.states[state].delegates = Some(*self.random.pick(&forms));
        for at in 0..self.plan.transitions.len() {
            if self.random.chance(20) {
                let outside = Some(Outside::Children { some: self.random.chance(50) });
                self.plan.transitions[at].gates.push(PlannedGate { outside, ..PlannedGate::default() });
            }
        }
    }

    /// Hooks that act on the remote, on a counter or on another task.
    fn more_hooks(&mut self) {
        for it in &mut self.plan.transitions {
            for hook in &mut it.hooks {
                match hook.action {
                    "run_command" => hook.parameters.push("timeout: 60".to_owned()),
                    "notify_worker" if hook.prompt.is_some() => {
                        let agent = ["harness: codex", "model: opus", "effort: high"].map(str::to_owned);
                        hook.parameters.extend(agent);
                    }
                    _ => {}
                }
            }
            if self.random.chance(10) {
                let actions = [
                    "create_pr",
                    "sync_branch",
                    "delete_remote_branch",
                    "increment_review_round",
                    "spawn_next",
                    "write_feedback",
                ];
                let on_failure = self.random.chance(50).then_some("go-on");
                let action = *self.random.pick(&actions);
                let parameters =
                    if action == "sync_branch" { vec!["with: rebase".to_owned()] } else { Vec::new() };
                it.hooks.push(PlannedHook { action, parameters, on_failure, ..PlannedHook::default() });
            }
        }
    }

    /// Guards of several comparisons, none of which asks for other counters than before.
    fn longer_guards(&mut self) {
        for it in &mut self.plan.transitions {
            let Some(GuardTree::Compare(counter, operator, value)) = it.when else { continue };
            let one = || GuardTree::Compare(counter, operator, value);
            let other = GuardTree::Compare(counter, Operator::GreaterOrEqual, value + 2);
            it.when = match self.random.below(8) {
                0 => Some(GuardTree::Not(Box::new(GuardTree::Not(Box::new(one()))))),
                1 => Some(GuardTree::Any(vec![one(), other])),
                2 => Some(GuardTree::All(vec![one(), GuardTree::Not(Box::new(other))])),
                _ => continue,
            };
        }
    }

    /// Rules for several exit statuses, for signals and for words.
    fn endings(&mut self) {
        for rule in &mut self.plan.rules {
            match (&mut rule.applies, &mut rule.outcome) {
                (Applies::Ended(ending), _) => match self.random.below(4) {
                    0 => (ending.codes, ending.signals) = (Vec::new(), vec![9, 15]),
                    1 => (ending.codes, ending.output) = (Vec::new(), Some("rate limit")),
                    2 => ending.codes.push(77),
                    _ => {}
                },
                (_, PlannedOutcome::Wait(seconds)) => *seconds = 120,
                _ => {}
            }
        }
    }
}
