//! Attacks on what is proved of panels of reviewers: random walks look for a breach. What holds in a walk is read from `docs/workflow.md`.

#![expect(clippy::expect_used, reason = "a test whose workflow does not compile has failed")]

mod panel;

use std::cell::RefCell;
use std::collections::BTreeMap;

use orange_analysis::prove::{Proof, ProofVerdict, prove};
use orange_analysis::search::task::Agent;
use orange_analysis::walk::{Act, Happened, HookRun, Walk, WalkEnd};
use orange_codegen::compile;
use orange_codegen::lower::{Arena, lower};
use orange_core::{Actor, StateId};
use proptest::collection;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{RngAlgorithm, TestError, TestRng, TestRunner};

use self::panel::{Panel, any_panel};

/// Number of acts of a walk.
const ACTS: usize = 40;

/// Number of hooks of a walk that are made to fail.
const FAILURES: usize = 3;

/// Number of walks through a panel.
const WALKS: usize = 24;

/// A walk, and what has happened since a person last did something.
#[derive(Clone)]
struct PanelWalk<'m> {
    walk: Walk<'m>,
    script: Vec<String>,
    /// Number of transitions, the person's own included.
    transitions: u64,
    /// Number of agents that were started, without those that were started again.
    started: u64,
    breaches: Vec<(&'static str, String)>,
}

impl<'m> PanelWalk<'m> {
    fn act(&mut self, act: &Act) {
        let (before, were_waiting) = (self.walk.status(), self.walk.hooks_wait());
        let Ok(story) = self.walk.act(act) else { return };
        self.script.push(act.to_string());
        let is_refused = matches!(story[..], [Happened::Refused { .. }]);
        if is_persons(act) && !is_refused {
            (self.transitions, self.started) = (0, 0);
        }
        for happened in &story {
            match happened {
                Happened::Transitioned { hooks, .. } => {
                    self.transitions += 1;
                    self.started += starts(hooks);
                }
                Happened::Started { hooks } => self.started += starts(hooks),
                Happened::Marked { reason } if !were_waiting && self.walk.status() == before => {
                    self.breaches.push(("no-lost-agent", reason.clone()));
                }
                Happened::Marked { .. }
                | Happened::Wrote { .. }
                | Happened::Refused { .. }
                | Happened::Crashed { .. }
                | Happened::HooksWait { .. }
                | Happened::Answers { .. }
                | Happened::WillFail { .. }
                | Happened::Committed { .. }
                | Happened::Over { .. }
                | Happened::Waits { .. } => {}
            }
        }
        self.looks();
    }

    fn looks(&mut self) {
        let is_alive = |agent| self.walk.agent(agent) == Agent::Live;
        let is_manned = is_alive(Actor::Worker) || is_alive(Actor::Reviewer);
        if is_alive(Actor::Worker) && is_alive(Actor::Reviewer) {
            self.breaches.push(("one-agent", "a reviewer is alive beside the worker".to_owned()));
        }
        let is_over = self.walk.machine().state(self.walk.status()).terminal && !self.walk.hooks_wait();
        if is_over && (is_manned || self.walk.has_workspace()) {
            self.breaches.push(("nothing-left-behind", "something is left at the end".to_owned()));
        }
    }

    /// True if a person who does what helps comes to an end.
    fn can_end(mut self) -> bool {
        for word in ["PASS", "FAIL", "PASS", "FAIL"] {
            self.act(&Act::Answer { program: "make".to_owned(), succeeds: true });
            for agent in [None, Some(Actor::Reviewer), Some(Actor::Worker)] {
                if let Some(agent) = agent {
                    self.act(&Act::End { agent, name: None, ended: WalkEnd::default() });
                }
                (0..=FAILURES).for_each(|_| self.act(&Act::RetryHooks));
                for heading in HEADINGS {
                    let text = format!("Verdict: {word}\nStep {}.", self.script.len());
                    self.act(&Act::Write { heading: heading.to_owned(), text });
                }
                for to in self.walk.machine().targets(self.walk.status()).collect::<Vec<_>>() {
                    self.act(&self.request(to, Actor::Human));
                }
                if self.walk.machine().state(self.walk.status()).terminal {
                    return true;
                }
            }
        }
        false
    }

    fn request(&self, to: StateId, by: Actor) -> Act {
        Act::Request { to: self.walk.machine().state(to).name.to_owned(), by: by.kind().to_owned() }
    }

    /// Everything that can be done.
    fn acts(&self) -> Vec<Act> {
        let machine = self.walk.machine();
        let mut acts = vec![Act::Spawn, Act::Respawn];
        if self.walk.hooks_wait() {
            acts.push(Act::RetryHooks);
        }
        let alive = [Actor::Worker, Actor::Reviewer].into_iter();
        let alive: Vec<Actor> = alive.filter(|it| self.walk.agent(*it) == Agent::Live).collect();
        for to in machine.targets(self.walk.status()) {
            acts.extend(alive.iter().chain([&Actor::Human]).map(|by| self.request(to, *by)));
        }
        let end = |agent, name| Act::End { agent, name, ended: WalkEnd::default() };
        acts.extend(alive.iter().map(|agent| end(*agent, None)));
        let named = self.walk.reviewers().into_iter();
        acts.extend(named.map(|name| end(Actor::Reviewer, Some(name.to_owned()))));
        for (heading, word) in HEADINGS.into_iter().flat_map(|it| ["PASS", "FAIL"].map(|word| (it, word))) {
            let text = format!("Verdict: {word}\nStep {}.", self.script.len());
            acts.push(Act::Write { heading: heading.to_owned(), text });
        }
        for succeeds in [true, false] {
            acts.push(Act::Answer { program: "make".to_owned(), succeeds });
        }
        if self.script.iter().filter(|it| it.starts_with("fail ")).count() < FAILURES {
            acts.extend(["spawn_agent", "run_command"].map(|it| Act::Fail { hook: it.to_owned() }));
        }
        acts
    }
}

const HEADINGS: [&str; 4] = ["## R: r0", "## R: r1", "## R: r2", "## Notes"];

fn is_persons(act: &Act) -> bool {
    match act {
        Act::Request { by, .. } => *by == Actor::Human.kind(),
        Act::Spawn | Act::Respawn | Act::RetryHooks => true,
        Act::Write { .. }
        | Act::Fail { .. }
        | Act::Answer { .. }
        | Act::Checks { .. }
        | Act::Children { .. }
        | Act::Commit { .. }
        | Act::Fact { .. }
        | Act::Elapse { .. }
        | Act::End { .. } => false,
    }
}

fn starts(hooks: &[HookRun]) -> u64 {
    let started = hooks.iter().filter(|it| it.hook == "spawn_agent" && it.event.is_none() && !it.has_failed);
    started.count() as u64
}

/// Number of a proof's figure that a walk is above.
fn above(proof: &Proof, walk: &PanelWalk<'_>) -> Option<String> {
    let figures = &proof.figures;
    let is_more = |most: Option<u64>, seen: u64| most.is_some_and(|most| seen > most);
    if is_more(figures.longest_run.as_ref().map(|it| it.count), walk.transitions) {
        return Some(format!("{} transitions without a person", walk.transitions));
    }
    let is_above = is_more(figures.agents.as_ref().map(|it| it.count), walk.started);
    is_above.then(|| format!("{} agents for one thing that a person does", walk.started))
}

/// Walks through a panel; says which properties it saw broken.
fn attack(panel: &Panel, choices: &[Vec<Index>]) -> Vec<&'static str> {
    let source = panel.source();
    let Some(checked) = compile(&source).checked else { return Vec::new() };
    let arena = Arena::default();
    let machine = lower(&checked, &arena).expect("a state machine");
    let proof = prove(&checked, &source).expect("a proof");
    let is_proved = |name: &str| {
        let judged = proof.properties.iter().find(|it| it.name == name).expect("a property");
        matches!(judged.verdict, ProofVerdict::Proved { .. })
    };
    let mut broken = Vec::new();
    for choices in choices {
        let (transitions, started) = (0, 0);
        let (script, breaches) = (Vec::new(), Vec::new());
        let mut walk = PanelWalk { walk: Walk::new(&machine), script, transitions, started, breaches };
        for choice in choices {
            let acts = walk.acts();
            walk.act(choice.get(&acts));
            let story = || format!("{}\n{}", walk.script.join("\n"), source.text);
            assert_eq!(above(&proof, &walk), None, "{}", story());
            for (property, what) in &walk.breaches {
                assert!(!is_proved(property), "{property}: {what}\n{}", story());
                broken.push(*property);
            }
            if walk.walk.machine().state(walk.walk.status()).terminal {
                break;
            }
        }
        if is_proved("ends-reachable") {
            let story = format!("{}\n{}", walk.script.join("\n"), source.text);
            assert!(walk.can_end(), "no end is found from here\n{story}");
        }
    }
    broken
}

/// More of them for a longer attack.
fn cases() -> u32 {
    std::env::var("ORANGE_PANELS").ok().and_then(|it| it.parse().ok()).unwrap_or(24)
}

#[test]
fn what_is_proved_of_a_panel_is_not_broken() {
    let broken: RefCell<BTreeMap<&str, u32>> = RefCell::default();
    let choices = collection::vec(collection::vec(any::<Index>(), ACTS), WALKS);
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases()) };
    let attacked = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha)).run(
        &(any_panel(), choices),
        |(panel, choices)| {
            let of_panel = attack(&panel, &choices);
            of_panel.into_iter().for_each(|it| *broken.borrow_mut().entry(it).or_default() += 1);
            Ok(())
        },
    );
    match attacked {
        Ok(()) => {}
        Err(TestError::Fail(why, _) | TestError::Abort(why)) => panic!("{why}"),
    }
    // An attack that breaks nothing anywhere is blind.
    for property in ["nothing-left-behind", "no-lost-agent"] {
        assert!(broken.borrow().contains_key(property), "{property}: {broken:?}");
    }
}
