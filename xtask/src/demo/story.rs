//! Prints the story of one task from its journal while it happens.

use std::collections::BTreeMap;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::page::DemoPage;
use crate::Result;
use crate::scratch::ScratchHome;
use crate::workspace::typed;

/// The time limit for one step.
const PATIENCE: Duration = Duration::from_secs(180);

/// A task, and how much of its journal has been printed.
pub(crate) struct Story<'s> {
    scratch: &'s ScratchHome,
    page: &'s DemoPage,
    id: String,
    branch: String,
    transitions: Vec<Value>,
    shown_events: usize,
    statuses: Vec<String>,
    counters: BTreeMap<String, u64>,
    /// The newest agent of each actor.
    agents: BTreeMap<String, Agent>,
    scene: TransitionScene,
}

/// An agent, and how much of its notes has been printed.
#[derive(Clone, Default)]
struct Agent {
    spawn: u64,
    refusals: usize,
    heard: usize,
}

/// The transition that is in progress.
#[derive(Default)]
struct TransitionScene {
    declared: Value,
    guard: String,
    hooks: Vec<String>,
    started: Vec<String>,
}

impl<'s> Story<'s> {
    /// Creates the task.
    pub(crate) fn begin(scratch: &'s ScratchHome, page: &'s DemoPage, create: &[&str]) -> Result<Story<'s>> {
        show_command(page, create);
        let created = scratch.orange(create)?;
        let workflow = scratch.orange(&["workflow", "show", text(&created, "workflow")])?;
        Ok(Story {
            scratch,
            page,
            id: text(&created, "id").to_owned(),
            branch: text(&created, "branch").to_owned(),
            transitions: workflow["transition_list"].as_array().cloned().unwrap_or_default(),
            shown_events: 0,
            statuses: Vec::new(),
            counters: BTreeMap::new(),
            agents: BTreeMap::new(),
            scene: TransitionScene::default(),
        })
    }

    /// The task's branch.
    pub(crate) fn branch(&self) -> &str {
        &self.branch
    }

    /// Runs a command of a person.
    pub(crate) fn orange(&self, arguments: &[&str]) -> Result<()> {
        show_command(self.page, arguments);
        self.scratch.orange(arguments).map(drop)
    }

    /// Prints what happens until the task has reached a status.
    pub(crate) fn reaches(&mut self, status: &str) -> Result<()> {
        let arrived = |story: &Story<'_>| story.statuses.last().is_some_and(|last| last == status);
        self.tell_until(&format!("reaches {status}"), arrived)
    }

    /// Prints what happens until the task's agents have crashed `count` times.
    pub(crate) fn crashes(&mut self, count: u64) -> Result<()> {
        let crashed = |story: &Story<'_>| story.counters.get("crash_count") == Some(&count);
        self.tell_until(&format!("has crashed {count} times"), crashed)
    }

    /// Compares the statuses of the task with the expected ones.
    pub(crate) fn went(&self, expected: &[&str]) -> Result<()> {
        if self.statuses == expected {
            return Ok(());
        }
        Err(format!("{} went {} and not {}", self.branch, self.statuses.join(" → "), expected.join(" → ")))
    }

    /// Lists every event.
    pub(crate) fn history(&self) -> Result<()> {
        for event in self.scratch.journal(&self.id)? {
            let number = event["seq"].as_u64().unwrap_or_default();
            let time = text(&event, "timestamp").get(11..23).unwrap_or_default();
            let row = format!("{number:>4}  {time}  {:<19} {}", text(&event, "type"), details(&event));
            self.page.row(row.trim_end());
        }
        Ok(())
    }

    fn tell_until(&mut self, what: &str, holds: impl Fn(&Story<'_>) -> bool) -> Result<()> {
        let start = Instant::now();
        while !holds(self) {
            if let Some(event) = self.scratch.journal(&self.id)?.into_iter().nth(self.shown_events) {
                self.shown_events += 1;
                self.tell(&event)?;
            } else if start.elapsed() < PATIENCE {
                thread::sleep(Duration::from_millis(10));
            } else {
                return Err(format!("waited {} s in vain until {} {what}", PATIENCE.as_secs(), self.branch));
            }
        }
        Ok(())
    }

    fn tell(&mut self, event: &Value) -> Result<()> {
        match text(event, "type") {
            "task.created" => self.statuses.push(text(&event["set"], "status").to_owned()),
            "transition.started" => self.open(event),
            "hook.ended" => self.scene.hooks.push(hook(event)),
            "agent.spawned" => {
                let agent = self.meet(event);
                self.scene.started.push(agent);
            }
            "agent.respawned" => {
                let agent = self.meet(event);
                self.page.step("started again", &agent);
            }
            "agent.exited" if event["reason"] != "killed" => {
                self.page.step(&format!("agent {} ended", event["spawn"]), text(event, "reason"));
            }
            "agent.crashed" => {
                let crash = format!("crash {} in {}", event["crash_count"], text(event, "status"));
                self.page.step(&crash, text(event, "reason"));
            }
            "task.merged" => {
                let how = format!("by {} into {}", text(event, "strategy"), text(event, "into"));
                self.page.step("merged", &how);
            }
            "work.backed_up" => self.page.step("work is kept", text(event, "reference")),
            "status.changed" => self.close(event)?,
            _ => {}
        }
        let set = event["set"].as_object().into_iter().flatten();
        self.counters.extend(set.filter_map(|(key, value)| Some((key.clone(), value.as_u64()?))));
        Ok(())
    }

    /// Prints the guards with the present counters, before hooks change them.
    fn open(&mut self, event: &Value) {
        self.tell_refusals(text(event, "actor"));
        let index = event["transition"].as_u64().and_then(|index| usize::try_from(index).ok());
        let declared = index.and_then(|index| self.transitions.get(index)).cloned().unwrap_or_default();
        let guard = declared["guard"].as_str().map(|guard| {
            let read = self.counters.iter().filter(|(name, _)| guard.contains(name.as_str()));
            let values: Vec<_> = read.map(|(name, value)| format!("{name} is {value}")).collect();
            format!("`{guard}` holds: {}", values.join(", "))
        });
        self.scene =
            TransitionScene { declared, guard: guard.unwrap_or_else(none), ..TransitionScene::default() };
    }

    fn close(&mut self, event: &Value) -> Result<()> {
        let TransitionScene { declared, guard, hooks, started } = std::mem::take(&mut self.scene);
        let (from, to) = (text(event, "from"), text(event, "to"));
        self.page.step(&format!("{from} → {to}"), &who(event));
        if event["cause"] == "escalation" {
            self.page.detail("gate", "not asked, nor a guard: this is the engine's own move");
        } else {
            let gate = declared["gate"].as_str().map(|gate| format!("{gate}: passed"));
            self.page.detail("gate", &gate.unwrap_or_else(none));
            self.page.detail("guard", &guard);
        }
        self.page.detail("hooks", &if hooks.is_empty() { none() } else { hooks.join(", ") });
        started.iter().for_each(|agent| self.page.detail("", agent));
        self.statuses.push(to.to_owned());
        if hooks.iter().any(|hook| hook == "notify_worker") { self.tell_message() } else { Ok(()) }
    }

    /// Registers a new agent, and describes it.
    fn meet(&mut self, event: &Value) -> String {
        let spawn = event["spawn"].as_u64().unwrap_or_default();
        let of = |key| text(event, key);
        self.agents.insert(of("actor").to_owned(), Agent { spawn, ..Agent::default() });
        let (session, window) = (of("session"), of("window"));
        format!("agent {spawn}, a {}, in {session}:{window}, with the prompt `{}`", of("actor"), of("prompt"))
    }

    /// Prints what an agent was refused before it did what it should.
    fn tell_refusals(&mut self, actor: &str) {
        let Some(agent) = self.agents.get_mut(actor) else { return };
        let answers = self.scratch.note(&self.id, agent.spawn, "answers");
        let refusals: Vec<_> = answers.split("$ orange task update --status ").filter_map(refusal).collect();
        for (status, message, help) in refusals.iter().skip(agent.refusals) {
            self.page.step(&format!("asks for {status}"), &format!("the {actor}, and is refused"));
            self.page.detail("why", message);
            self.page.detail("help", help);
        }
        agent.refusals = refusals.len();
    }

    /// Prints what has just arrived on the worker's terminal.
    fn tell_message(&mut self) -> Result<()> {
        let Some(worker) = self.agents.get_mut("worker") else { return Ok(()) };
        let start = Instant::now();
        loop {
            let heard = self.scratch.note(&self.id, worker.spawn, "heard");
            let lines: Vec<_> = heard.split_inclusive('\n').filter(|line| line.ends_with('\n')).collect();
            if let Some(line) = lines.get(worker.heard) {
                self.page.detail("", &format!("agent {} reads: {} …", worker.spawn, line.trim_end()));
                worker.heard = lines.len();
                return Ok(());
            }
            if start.elapsed() > PATIENCE {
                return Err(format!("nothing arrived on the terminal of agent {}", worker.spawn));
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Prints a person's command, without the environment of the scratch home.
/// Prints a command of `orange`.
pub(super) fn show_command(page: &DemoPage, arguments: &[&str]) {
    let mut command = Command::new("orange");
    command.args(arguments);
    page.command(&typed(&command));
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

fn none() -> String {
    "none".to_owned()
}

fn hook(event: &Value) -> String {
    match event["error"].as_str() {
        Some(error) => format!("{} (failed: {error})", text(event, "hook")),
        None => text(event, "hook").to_owned(),
    }
}

fn who(event: &Value) -> String {
    match (text(event, "cause"), text(event, "actor")) {
        ("escalation", _) => "the engine, after too many crashes".to_owned(),
        ("auto", _) => "the engine, by an exit rule".to_owned(),
        (_, "human") => "a person asked".to_owned(),
        (_, actor) => format!("the {actor} asked"),
    }
}

/// The requested status, why it was refused, and what would help.
fn refusal(answer: &str) -> Option<(&str, &str, &str)> {
    let (status, said) = answer.split_once('\n')?;
    let (message, help) = said.strip_prefix("error: ")?.split_once("\nhelp: ")?;
    Some((status, message, help.trim_end()))
}

fn details(event: &Value) -> String {
    const KEYS: &[&str] = &[
        "spawn",
        "actor",
        "hook",
        "error",
        "prompt",
        "window",
        "code",
        "reason",
        "strategy",
        "into",
        "reference",
    ];
    let statuses = event["from"].as_str().map(|from| format!("{from} → {}", text(event, "to")));
    let shown = |key: &&str| {
        let value = Some(&event[*key]).filter(|value| !value.is_null())?;
        Some(format!("{key}={}", value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
    };
    statuses.into_iter().chain(KEYS.iter().filter_map(shown)).collect::<Vec<_>>().join("  ")
}
