//! What `simulate` says of a task, held against real ones: random workflows are followed by real agents, random acts are done to
//! both, and both come to the same.

use std::collections::BTreeMap;

use orange_analysis::search::task::Agent;
use orange_analysis::walk::{Act, Ended, Happened, Walk};
use orange_codegen::lower::{Arena, lower};
use orange_codegen::{Source, compile};
use orange_core::{Actor, CounterId, Machine};
use orange_tests::flows::flow;
use orange_tests::plan::Plan;
use orange_tests::random::Random;
use serde_json::Value;

use crate::task::{Task, kill};
use crate::world::World;

/// The acts of one task.
const ACTS: usize = 14;
const AGENTS: [Actor; 2] = [Actor::Worker, Actor::Reviewer];
const SECTIONS: [&str; 2] = ["## Handoff", "## Review"];
const TEXTS: [&str; 4] = ["", "DONE: all", "Verdict: PASS", "Verdict: FAIL"];

#[test]
fn random_tasks_do_what_their_walks_say() {
    check(0..20);
}

#[test]
fn other_random_tasks_do_what_their_walks_say() {
    check(20..40);
}

#[test]
fn further_random_tasks_do_what_their_walks_say() {
    check(40..60);
}

#[track_caller]
fn check(seeds: std::ops::Range<u64>) {
    let mut walked = BTreeMap::new();
    for seed in seeds {
        let world = World::new();
        let plan = plan(seed);
        let text = plan.to_string().replace("worker: Go on.", "worker: \"{summary}\"");
        let text = text
            .replace("reviewer: Go on.", "reviewer: \"{summary}\"")
            .replace("again: Go on.", "again: \"{summary}\"");
        let Some(checked) = compile(&Source::new("flow.yml", &text)).checked else { continue };
        let arena = Arena::default();
        let machine = lower(&checked, &arena).unwrap();
        world.workflow(&format!("{}.yml", plan.name), &text);
        let mut both = Both::create(&world, &machine, &text);
        let random = &mut Random::new(seed);
        for _ in 0..ACTS {
            both.act(random);
        }
        for (what, count) in both.walked {
            *walked.entry(what).or_insert(0) += count;
        }
    }
    for wanted in ["transitioned", "refused", "ended"] {
        assert!(walked.get(wanted).is_some_and(|it| *it >= 5), "{wanted}: {walked:?}");
    }
}

/// A workflow in which every hook that fails lets the others run: a walk fails none by itself.
fn plan(seed: u64) -> Plan {
    let mut plan = flow(seed);
    for transition in &mut plan.transitions {
        transition.on_hook_failure = None;
        for hook in transition.hooks.iter_mut().filter(|it| it.stops()) {
            hook.on_failure = Some("go-on");
        }
    }
    // In a real task, times pass by themselves.
    plan.deadlines.clear();
    plan.states.iter_mut().for_each(|it| it.timeout = None);
    plan
}

/// What can be seen of a task, walked or real.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    status: String,
    counters: Vec<(String, u32)>,
    has_worktree: bool,
    alive: Vec<&'static str>,
}

/// A real task and its walk.
struct Both<'b> {
    world: &'b World,
    machine: &'b Machine<'b>,
    text: &'b str,
    task: Task<'b>,
    walk: Walk<'b>,
    story: Vec<String>,
    walked: BTreeMap<&'static str, u32>,
    /// Whether the real agent starts again after a while.
    is_delayed: bool,
}

impl<'b> Both<'b> {
    fn create(world: &'b World, machine: &'b Machine<'b>, text: &'b str) -> Self {
        let summary = format!("Mend it [agents: {}]", "scripted ".repeat(30).trim_end());
        let task = world.create(machine.name, &summary, &["--workflow", machine.name, "--no-spawn"]);
        let (walk, walked) = (Walk::new(machine), BTreeMap::new());
        Self { world, machine, text, task, walk, story: Vec::new(), walked, is_delayed: false }
    }

    fn is_over(&self) -> bool {
        self.machine.state(self.walk.status()).terminal
    }

    /// Does something to both.
    fn act(&mut self, random: &mut Random) {
        let acts = self.acts(random);
        if acts.is_empty() || self.is_over() || self.is_delayed {
            return;
        }
        let mut act = random.pick(&acts).clone();
        if let Act::Write { text, .. } = &mut act {
            *text += &format!("\nStep {}.", self.story.len());
        }
        let Ok(story) = self.walk.act(&act) else { return };
        self.story.push(format!("{act}: {story:?}"));
        let refused = story
            .iter()
            .find_map(|it| if let Happened::Refused { code, .. } = it { Some(*code) } else { None });
        let what = match (&act, refused) {
            (_, Some(_)) => "refused",
            (Act::End { .. }, None) => "ended",
            _ if story.iter().any(|it| matches!(it, Happened::Transitioned { .. })) => "transitioned",
            _ => "other",
        };
        *self.walked.entry(what).or_default() += 1;
        self.take(&act, refused);
        // "After a crash the first is immediate, later ones follow after 10 s": a walk does not wait.
        let is_later = |it: &Happened| matches!(it, Happened::Crashed { count: 2.., respawned: Some(_), .. });
        self.is_delayed = story.iter().any(is_later);
        if !self.is_delayed {
            self.compare();
        }
    }

    fn acts(&self, random: &mut Random) -> Vec<Act> {
        let alive: Vec<Actor> = AGENTS.into_iter().filter(|it| self.walk.agent(*it) == Agent::Live).collect();
        let mut acts = Vec::new();
        for (choice, _) in self.walk.options(Actor::Human) {
            let to = self.machine.state(choice.to).name.to_owned();
            for by in alive.iter().copied().chain([Actor::Human]) {
                acts.push(Act::Request { to: to.clone(), by: by.kind().to_owned() });
            }
        }
        for agent in alive {
            for code in [1, 3, 75] {
                let ended = Ended::of(Some(code), None, String::new());
                acts.push(Act::End { agent, name: None, ended });
            }
            for _ in 0..2 {
                let (heading, text) =
                    ((*random.pick(&SECTIONS)).to_owned(), (*random.pick(&TEXTS)).to_owned());
                acts.push(Act::Write { heading, text });
            }
        }
        acts
    }

    fn take(&self, act: &Act, refused: Option<&'static str>) {
        if let Act::Write { heading, text } = act {
            self.task.write(&format!("{heading}\n{text}"));
        } else if let Act::Request { to, by } = act {
            self.request(to, Actor::built_in(by).unwrap(), refused);
        } else if let Act::End { agent, ended, .. } = act {
            self.kill(*agent, ended);
        } else {
            panic!("{act} is not among the acts");
        }
    }

    fn request(&self, to: &str, by: Actor, refused: Option<&'static str>) {
        let arrows = self.task.arrows().len();
        let mut command = self.world.command(self.world.program);
        command.current_dir(self.world.repo());
        if by != Actor::Human {
            let (spawn, _) = self.alive().into_iter().find(|(_, actor)| *actor == by).unwrap();
            self.task.agent(spawn).begun();
            command = self.task.as_agent(by.kind(), &spawn.to_string());
            command.current_dir(self.task.worktree());
        } else {
            command.arg("--json");
        }
        let said = self.world.said(command.args(["task", "update", &self.task.id, "--status", to]));
        match refused {
            Some(code) => drop(said.fails(1, code)),
            // Who asks as an agent ends with that agent, if it comes to that.
            None => {
                assert!([0, -1].contains(&said.status), "{said:?}\n{}", self.tell());
                self.task.has_events(arrows + 1, "status.changed");
            }
        }
    }

    fn kill(&self, agent: Actor, ended: &Ended) {
        let (spawn, _) = self.alive().into_iter().find(|(_, actor)| *actor == agent).unwrap();
        let exits = self.task.events_of("agent.exited").len();
        let process = self.task.agent(spawn).begun();
        match ended.code {
            Some(1) | None => kill(process),
            Some(code) => self.task.agent(spawn).tell(&format!("exit {code}\n")),
        }
        self.task.has_events(exits + 1, "agent.exited");
    }

    /// The agents that are alive by the journal: spawn and actor.
    fn alive(&self) -> Vec<(u32, Actor)> {
        let number = |event: &Value| event["spawn"].as_u64().unwrap() as u32;
        let mut agents = BTreeMap::new();
        for event in self.task.events() {
            match event["type"].as_str().unwrap() {
                "agent.spawned" | "agent.respawned" => {
                    agents.insert(number(&event), Actor::built_in(event["actor"].as_str().unwrap()).unwrap());
                }
                "agent.exited" => drop(agents.remove(&number(&event))),
                _ => {}
            }
        }
        agents.into_iter().collect()
    }

    /// What follows from an end may be written a moment after the end itself.
    fn compare(&self) {
        let (real, walked) = (self.real(), self.walked());
        if real != walked {
            let what = format!("the real task, {real:?}, is like its walk, {walked:?}: {}", self.tell());
            self.world.until(&what, || self.real() == walked);
        }
    }

    fn walked(&self) -> Seen {
        let counters = (0u16..).map(CounterId).zip(self.machine.counters);
        let alive = AGENTS.into_iter().filter(|it| self.walk.agent(*it) == Agent::Live);
        Seen {
            status: self.machine.state(self.walk.status()).name.to_owned(),
            counters: counters.map(|(id, it)| (it.name.to_owned(), self.walk.counter(id))).collect(),
            has_worktree: self.walk.has_workspace(),
            alive: alive.map(Actor::kind).collect(),
        }
    }

    fn real(&self) -> Seen {
        let counters = self.machine.counters.iter().map(|it| {
            let value = self.task.owned(it.name).as_u64().unwrap_or_default() as u32;
            (it.name.to_owned(), value)
        });
        let mut alive: Vec<Actor> = self.alive().into_iter().map(|(_, actor)| actor).collect();
        alive.sort();
        Seen {
            status: self.task.status(),
            counters: counters.collect(),
            has_worktree: self.task.owned("workspace").as_str().is_some_and(|name| name != self.task.id),
            alive: alive.into_iter().map(Actor::kind).collect(),
        }
    }

    fn tell(&self) -> String {
        format!("{}\n{}", self.story.join("\n"), self.text)
    }
}
