//! Answers of `simulate` about a task, held against real ones: random workflows are followed by real agents, random acts are done
//! to both, and both end alike.

use std::collections::BTreeMap;
use std::fs;

use orange_analysis::search::task::Agent;
use orange_analysis::walk::{Act, Happened, Walk, WalkEnd};
use orange_codegen::lower::{Arena, lower};
use orange_codegen::{Source, compile};
use orange_core::{Actor, CounterId, Machine};
use orange_testkit::Random;
use orange_tests::flows::flow;
use orange_tests::plan::{DECLARED, Plan, PlannedHook, PlannedTransition};
use serde_json::Value;

use crate::clocks::{JOURNAL, set_clock};
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
        let mut both = ComparedWalk::create(&world, &machine, &plan, &text);
        let random = &mut Random::new(seed);
        for _ in 0..ACTS {
            both.act(random);
        }
        for (what, count) in both.walked {
            *walked.entry(what).or_insert(0) += count;
        }
    }
    let wanted =
        [("transitioned", 5), ("refused", 5), ("ended", 4), ("elapsed", 1), ("waits", 1), ("started", 1)];
    for (wanted, count) in wanted {
        assert!(walked.get(wanted).is_some_and(|it| *it >= count), "{wanted}: {walked:?}");
    }
}

/// A workflow whose times are so long that none is over by itself while the test runs.
fn plan(seed: u64) -> Plan {
    let mut plan = flow(seed);
    plan.deadlines.iter_mut().for_each(|it| it.after = HOUR);
    plan.states.iter_mut().for_each(|it| it.timeout = it.timeout.map(|(_, to)| (2 * HOUR, to)));
    plan
}

const HOUR: u32 = 3600;

/// Visible state of a task, walked or real.
#[derive(Debug, PartialEq, Eq)]
struct ObservedTask {
    status: String,
    counters: Vec<(String, u32)>,
    has_worktree: bool,
    hooks_wait: bool,
    alive: Vec<&'static str>,
}

/// A real task and its walk.
struct ComparedWalk<'b> {
    world: &'b World,
    machine: &'b Machine<'b>,
    plan: &'b Plan,
    text: &'b str,
    task: Task<'b>,
    walk: Walk<'b>,
    story: Vec<String>,
    walked: BTreeMap<&'static str, u32>,
    /// True if the real agent starts again after a while.
    is_delayed: bool,
}

impl<'b> ComparedWalk<'b> {
    fn create(world: &'b World, machine: &'b Machine<'b>, plan: &'b Plan, text: &'b str) -> Self {
        let summary = format!("Mend it [agents: {}]", "scripted ".repeat(30).trim_end());
        let task = world.create(machine.name, &summary, &["--workflow", machine.name, "--no-spawn"]);
        let (walk, walked) = (Walk::new(machine), BTreeMap::new());
        Self { world, machine, plan, text, task, walk, story: Vec::new(), walked, is_delayed: false }
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
        let fails = self.may_fail(&act) && random.chance(50);
        if fails {
            let armed = self.walk.act(&Act::Fail { hook: "run_command".to_owned() });
            assert!(armed.is_ok());
            fs::write(self.task.worktree().join("fails"), "").unwrap();
        }
        let before = self.walk.clone();
        if let Act::Write { text, .. } = &mut act {
            *text += &format!("\nStep {}.", self.story.len());
        }
        let Ok(story) = self.walk.act(&act) else {
            assert!(!fails, "a hook is made to fail only where it runs");
            return;
        };
        self.story.push(format!("{act}{}: {story:?}", if fails { " (run_command fails)" } else { "" }));
        let refused = story
            .iter()
            .find_map(|it| if let Happened::Refused { code, .. } = it { Some(*code) } else { None });
        let what = match (&act, refused) {
            (_, Some(_)) => "refused",
            (Act::End { .. }, None) => "ended",
            (Act::Elapse { .. }, None) => "elapsed",
            (Act::RetryHooks, None) => "retried",
            (Act::Spawn | Act::Respawn, None) => "started",
            (Act::Request { by, .. }, None) if DECLARED.contains(&by.as_str()) => "by a program",
            _ if story.iter().any(|it| matches!(it, Happened::Transitioned { .. })) => "transitioned",
            _ => "other",
        };
        *self.walked.entry(what).or_default() += 1;
        *self.walked.entry("waits").or_default() += u32::from(self.walk.hooks_wait());
        let decided = self.decided();
        let transitions = story.iter().filter(|it| matches!(it, Happened::Transitioned { .. })).count();
        let expected = transitions + usize::from(act == Act::RetryHooks);
        self.take(&act, refused, &before);
        self.world.until("its transitions are over", || self.decided() >= decided + expected);
        self.task.has_events(0, "status.changed");
        if fails && let Some(worktree) = self.task.owned("workspace").as_str() {
            let file = self.world.home().join("workspaces").join(worktree).join("fails");
            fs::remove_file(file).unwrap_or_default();
        }
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
        for it in self.plan.transitions.iter().filter(|it| it.from == usize::from(self.walk.status().0)) {
            for by in it.by.iter().filter(|by| DECLARED.contains(by)) {
                let to = self.plan.states[it.to].name.clone();
                acts.push(Act::Request { to, by: (*by).to_owned() });
            }
        }
        if self.walk.hooks_wait() {
            acts.extend([Act::RetryHooks, Act::RetryHooks]);
        }
        acts.extend([Act::Spawn, Act::Respawn]);
        if self.machine.limits(self.walk.status()) {
            acts.push(Act::Elapse { after: None });
        }
        for agent in alive {
            for code in [1, 1, 3, 3, 75] {
                let ended = WalkEnd::of(Some(code), None, String::new());
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

    /// True if some hook that stops the others can be made to fail, and no other one is.
    fn may_fail(&self, act: &Act) -> bool {
        let Act::Request { to, .. } = act else { return false };
        let is_meant = |it: &&PlannedTransition| {
            it.from == usize::from(self.walk.status().0) && self.plan.states[it.to].name == *to
        };
        let mut meant = self.plan.transitions.iter().filter(is_meant);
        let of_plan = || self.plan.transitions.iter().filter(|it| it.on_hook_failure.is_none());
        let is_alone = of_plan().count() == self.plan.transitions.len();
        let commands = |it: &PlannedTransition| {
            let hooks = it.hooks.iter();
            hooks.filter(|it| it.action == "run_command" && it.stops()).count()
        };
        let keeps = |it: &PlannedTransition| {
            let before = it.hooks.iter().take_while(|it| it.action != "run_command");
            !before.clone().any(|it| ["release_workspace", "acquire_workspace"].contains(&it.action))
                && !before.clone().any(PlannedHook::stops)
        };
        self.walk.has_workspace()
            && !self.walk.hooks_wait()
            && is_alone
            && meant.clone().count() == 1
            && meant.all(|it| commands(it) == 1 && keeps(it))
            && self.is_granted(act)
    }

    fn is_granted(&self, act: &Act) -> bool {
        let story = self.walk.clone().act(act);
        story.is_ok_and(|story| story.iter().any(|it| matches!(it, Happened::Transitioned { .. })))
    }

    /// Number of transitions that are over, or have hooks that wait.
    fn decided(&self) -> usize {
        self.task.events_of("status.changed").len() + self.task.events_of("hooks.waiting").len()
    }

    fn take(&self, act: &Act, refused: Option<&'static str>, before: &Walk<'_>) {
        match act {
            Act::Write { heading, text } => self.task.write(&format!("{heading}\n{text}")),
            Act::Request { to, by } if DECLARED.contains(&by.as_str()) => {
                self.request_by_token(to, by, refused)
            }
            Act::Request { to, by } => self.request(to, Actor::built_in(by).unwrap(), refused),
            Act::End { agent, ended, .. } => self.kill(*agent, ended),
            Act::Elapse { .. } => {
                let passed = self.walk.now() - before.now();
                set_clock(&self.task, JOURNAL, passed.into());
                self.world.ok(&["monitor", "--once"]);
            }
            Act::Spawn => self.asks(&["spawn", &self.task.id], refused),
            Act::Respawn => self.asks(&["respawn", &self.task.id], refused),
            Act::RetryHooks => self.asks(&["update", &self.task.id, "--retry-hooks"], refused),
            Act::Fail { .. }
            | Act::Answer { .. }
            | Act::Checks { .. }
            | Act::Children { .. }
            | Act::Commit { .. }
            | Act::Fact { .. } => {
                panic!("{act} is not among the acts")
            }
        }
    }

    fn asks(&self, words: &[&str], refused: Option<&'static str>) {
        let said = self.world.orange(&[&["--json", "task"], words].concat());
        match refused {
            Some(code) => drop(said.fails(1, code)),
            None => assert_eq!(said.status, 0, "{said:?}\n{}", self.tell()),
        }
    }

    fn request_by_token(&self, to: &str, by: &str, refused: Option<&'static str>) {
        let token = self.world.orange(&["project", "token", by]);
        assert_eq!(token.status, 0, "{token:?}\n{}", self.tell());
        let file = self.world.path("token");
        fs::write(&file, token.out).unwrap();
        let file = file.to_string_lossy();
        self.asks(&["update", &self.task.id, "--status", to, "--as", by, "--token-file", &file], refused);
    }

    fn request(&self, to: &str, by: Actor, refused: Option<&'static str>) {
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
            None => assert!([0, -1].contains(&said.status), "{said:?}\n{}", self.tell()),
        }
    }

    fn kill(&self, agent: Actor, ended: &WalkEnd) {
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

    /// Compares both. The effects of an end may be written a moment after the end itself.
    fn compare(&self) {
        let (real, walked) = (self.real(), self.walked());
        if real != walked {
            let what = format!("the real task, {real:?}, is like its walk, {walked:?}: {}", self.tell());
            self.world.until(&what, || self.real() == walked);
        }
    }

    fn walked(&self) -> ObservedTask {
        let counters = (0u16..).map(CounterId).zip(self.machine.counters);
        let alive = AGENTS.into_iter().filter(|it| self.walk.agent(*it) == Agent::Live);
        ObservedTask {
            status: self.machine.state(self.walk.status()).name.to_owned(),
            counters: counters.map(|(id, it)| (it.name.to_owned(), self.walk.counter(id))).collect(),
            has_worktree: self.walk.has_workspace(),
            hooks_wait: self.walk.hooks_wait(),
            alive: alive.map(Actor::kind).collect(),
        }
    }

    fn real(&self) -> ObservedTask {
        let counters = self.machine.counters.iter().map(|it| {
            let value = self.task.owned(it.name).as_u64().unwrap_or_default() as u32;
            (it.name.to_owned(), value)
        });
        let mut alive: Vec<Actor> = self.alive().into_iter().map(|(_, actor)| actor).collect();
        alive.sort();
        ObservedTask {
            status: self.task.status(),
            counters: counters.collect(),
            has_worktree: self.task.owned("workspace").as_str().is_some_and(|name| name != self.task.id),
            hooks_wait: self.hooks_wait(),
            alive: alive.into_iter().map(Actor::kind).collect(),
        }
    }

    fn hooks_wait(&self) -> bool {
        let events = self.task.events();
        let last =
            |kinds: &[&str]| events.iter().rposition(|it| kinds.iter().any(|kind| it["type"] == *kind));
        last(&["hooks.waiting"]) > last(&["transition.started", "hooks.retried", "status.changed"])
    }

    fn tell(&self) -> String {
        format!("{}\n{}", self.story.join("\n"), self.text)
    }
}
