//! The missions of the demo: one with a person at its pauses, and one whose loop is exhausted.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::page::DemoPage;
use super::story::show_command;
use crate::Result;
use crate::scratch::ScratchHome;

/// The time limit for one step.
const PATIENCE: Duration = Duration::from_secs(180);

/// A mission, and how much of its journal has been printed.
struct Mission<'s> {
    scratch: &'s ScratchHome,
    page: &'s DemoPage,
    id: String,
    shown_events: usize,
}

/// Plan, implement, a review that fails, a fix, a review that passes, a pull request; a person says twice that it goes on.
pub(super) fn answered_twice(scratch: &ScratchHome, page: &DemoPage) -> Result<()> {
    page.heading("dev-task: a mission of five steps, and a person at two pauses");
    page.text("The first review fails. In step mode the mission pauses after every step, until it is told to go on by itself.");
    acts(scratch, "review.1", "complete FAIL 'The form has no tests'")?;
    let words = ["mission", "start", "dev-task", "Add a login form", "--branch", "add/form"];
    let mut mission = Mission::start(scratch, page, &[&words[..], &["--execution", "step"]].concat())?;
    mission.becomes("paused", 1)?;
    mission.orange(&["mission", "continue", "add/form", "--pause", "1"])?;
    mission.becomes("paused", 2)?;
    mission.orange(&["mission", "continue", "add/form", "--execution", "auto"])?;
    mission.becomes("completed", 2)?;
    mission.ran("plan 1, implement 1, review 2, fix 1, pr 1, hand-over 0")
}

/// Every review fails, and nobody is asked: the mission fails, and keeps its worktree for a person.
pub(super) fn exhausted(scratch: &ScratchHome, page: &DemoPage) -> Result<()> {
    page.heading("dev-task: a loop that is exhausted");
    page.text("Every review fails. With `--intervene never` nobody is asked, and the mission fails loudly.");
    acts(scratch, "review", "complete FAIL 'It is still slow'")?;
    acts(scratch, "review.1", "complete FAIL 'It is slow'")?;
    let words = ["mission", "start", "dev-task", "Speed up the search", "--branch", "speed/search"];
    let mut mission = Mission::start(scratch, page, &[&words[..], &["--intervene", "never"]].concat())?;
    mission.becomes("failed", 0)?;
    mission.ran("plan 1, implement 1, review 4, fix 3, pr 0, hand-over 1")?;
    page.text("A person gives up on it, and its worktree goes back to the pool.");
    mission.orange(&["mission", "cancel", "speed/search", "--yes"])
}

/// Writes the script of a step's agent.
fn acts(scratch: &ScratchHome, step: &str, script: &str) -> Result<()> {
    let file = scratch.path("orange/agents").join(format!("{step}.sh"));
    fs::write(&file, script).map_err(|error| format!("{} cannot be written: {error}", file.display()))
}

impl<'s> Mission<'s> {
    fn start(scratch: &'s ScratchHome, page: &'s DemoPage, words: &[&str]) -> Result<Mission<'s>> {
        show_command(page, words);
        let started = scratch.orange(words)?;
        let id = started["id"].as_str().unwrap_or_default().to_owned();
        Ok(Mission { scratch, page, id, shown_events: 0 })
    }

    fn orange(&self, words: &[&str]) -> Result<()> {
        show_command(self.page, words);
        self.scratch.orange(words).map(drop)
    }

    /// Prints what happens until the mission has this status and this many pauses behind it.
    fn becomes(&mut self, status: &str, pauses: u64) -> Result<()> {
        let start = Instant::now();
        let (mut now, mut paused) = (String::new(), 0);
        loop {
            let events = self.scratch.mission_journal(&self.id)?;
            for event in &events {
                now = event["set"]["status"].as_str().map_or(now, str::to_owned);
                paused = event["number"].as_u64().unwrap_or(paused);
            }
            for event in events.iter().skip(self.shown_events) {
                self.print(event);
            }
            self.shown_events = events.len();
            if now == status && paused == pauses {
                return Ok(());
            }
            if start.elapsed() >= PATIENCE {
                return Err(format!("waited {} s in vain until a mission is {status}", PATIENCE.as_secs()));
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn print(&self, event: &Value) {
        let text = |key: &str| event[key].as_str().unwrap_or_default();
        let step = || format!("{} {}", text("step"), event["attempt"]);
        match text("type") {
            "step.started" => self.page.step(&format!("starts {}", step()), "an agent"),
            "step.ended" => {
                self.page.step(&format!("{} {}", text("end"), step()), "its agent said so");
                self.page.detail("result", text("result"));
                self.page.detail("says", text("summary"));
            }
            "mission.paused" => self.page.step(&format!("pauses ({})", event["number"]), text("reason")),
            "mission.ended" => self.page.step(&format!("is {}", text("status")), "the engine"),
            _ => {}
        }
    }

    /// Compares how often each step was tried with the expected numbers.
    fn ran(&self, expected: &str) -> Result<()> {
        let shown = self.scratch.orange(&["mission", "show", &self.id])?;
        let steps = shown["steps"].as_array().into_iter().flatten();
        let count = |step: &Value| step["attempts"].as_array().map_or(0, Vec::len);
        let ran: Vec<_> =
            steps.map(|step| format!("{} {}", step["id"].as_str().unwrap_or("?"), count(step))).collect();
        let ran = ran.join(", ");
        self.page.text(&format!("Attempts: {ran}."));
        if ran == expected { Ok(()) } else { Err(format!("it took {ran}, and not {expected}")) }
    }
}
