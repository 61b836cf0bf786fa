//! Times the steps of missions: many of them, one after the other, with real tmux, real git and an agent that only reports.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::FigureRow;
use crate::Result;
use crate::scratch::ScratchHome;

/// The agent of every step.
const AGENT: &str = include_str!("../../bench/claude");

/// A step workflow of five steps, one after the other.
const CHAIN: &str = include_str!("../../bench/chain.toml");

/// The steps of `CHAIN`, in their order.
const STEPS: [&str; 5] = ["one", "two", "three", "four", "five"];

/// The time limit for one mission.
const PATIENCE: Duration = Duration::from_secs(60);

/// A mission that has ended. All times are in milliseconds.
#[derive(Debug, PartialEq)]
struct MissionTimes {
    /// The whole of `mission start`.
    start: f64,
    /// From each step's report to the begin of the next step's agent.
    changes: Vec<f64>,
}

/// The first tenth of the missions beside the last tenth: what a mission costs must not grow with the missions before it.
pub(super) fn rows(orange: &Path, quick: bool) -> Result<Vec<FigureRow>> {
    let missions = if quick { 50 } else { 500 };
    let scratch = ScratchHome::new(orange, AGENT)?;
    let workflows = scratch.path("orange/workflows");
    fs::create_dir_all(&workflows)
        .and_then(|()| fs::write(workflows.join("chain.toml"), CHAIN))
        .map_err(|error| format!("{}: {error}", workflows.display()))?;
    let ran = run_all(&scratch, missions).map_err(|reason| format!("{reason}{}", scratch.log()))?;
    scratch.remove()?;
    let tenth = missions / 10;
    Ok(table(missions, &ran[..tenth], &ran[missions - tenth..]))
}

fn table(missions: usize, first: &[MissionTimes], last: &[MissionTimes]) -> Vec<FigureRow> {
    let both = |of: &dyn Fn(&MissionTimes) -> Vec<f64>| {
        [first, last].map(|ran| median(ran.iter().flat_map(of).collect()))
    };
    let row = |what: String, figures: [f64; 2], budget: &str, kept: Option<bool>| FigureRow {
        what,
        figures: figures.map(|figure| format!("{figure:.1}")).to_vec(),
        budget: budget.to_owned(),
        kept,
    };
    let changes = both(&|ran| ran.changes.clone());
    let starts = both(&|ran| vec![ran.start]);
    let [first, last] = changes;
    let is_kept = last <= 30.0 && last <= 1.1 * first;
    let what = "step complete to the next agent's begin".to_owned();
    vec![
        row(what, changes, "at most 30 ms, and the last within a tenth of the first", Some(is_kept)),
        row(format!("mission start, of {missions} missions"), starts, "", None),
    ]
}

/// Plays the missions one after the other.
fn run_all(scratch: &ScratchHome, missions: usize) -> Result<Vec<MissionTimes>> {
    let starts: Vec<(String, f64)> =
        (0..missions).map(|number| run_one(scratch, number)).collect::<Result<_>>()?;
    let file = scratch.path("home/times");
    let times =
        fs::read_to_string(&file).map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
    let changes = changes(&times);
    let ran = starts.into_iter().map(|(id, start)| {
        let changes = changes.get(id.as_str()).filter(|it| it.len() == STEPS.len() - 1);
        let changes = changes.ok_or_else(|| format!("mission {id} did not run each step once"))?.clone();
        Ok(MissionTimes { start, changes })
    });
    ran.collect()
}

/// Plays one mission to its end; gives its id and the time that its start took.
fn run_one(scratch: &ScratchHome, number: usize) -> Result<(String, f64)> {
    let branch = format!("chain/{number}");
    let start = Instant::now();
    let started = scratch.orange(&["mission", "start", "chain", "Make it", "--branch", &branch])?;
    let took = start.elapsed().as_secs_f64() * 1_000.0;
    let id = started["id"].as_str().ok_or("`orange mission start` gives no id")?;
    loop {
        let journal = scratch.mission_journal(id)?;
        if let Some(end) = journal.iter().find(|event| event["type"] == "mission.ended") {
            let is_complete = end["status"] == "completed";
            return is_complete.then(|| (id.to_owned(), took)).ok_or(format!("mission {id} ended so: {end}"));
        }
        if start.elapsed() >= PATIENCE {
            return Err(format!("mission {id} did not end within {} s", PATIENCE.as_secs()));
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// By mission: the milliseconds between each step's report and the begin of the next step's agent, from what the agents have
/// noted (`<mission> <step> began|reports <seconds>`).
fn changes(times: &str) -> BTreeMap<&str, Vec<f64>> {
    let mut noted: BTreeMap<(&str, &str, &str), f64> = BTreeMap::new();
    for line in times.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [mission, step, what, seconds] = words[..] else { continue };
        let Ok(seconds) = seconds.parse() else { continue };
        noted.insert((mission, step, what), seconds);
    }
    let mut changes: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for &(mission, step, what) in noted.keys().filter(|(_, _, what)| *what == "reports") {
        let next = STEPS.iter().skip_while(|it| **it != step).nth(1);
        let began = next.and_then(|next| noted.get(&(mission, next, "began")));
        let Some(began) = began else { continue };
        changes.entry(mission).or_default().push((began - noted[&(mission, step, what)]) * 1_000.0);
    }
    changes
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_from_a_report_to_the_next_begin() {
        let times = "m one began 1.0\nm one reports 1.5\nm two began 1.75\nm two reports 2.0\nhalf a li";
        assert_eq!(changes(times), BTreeMap::from([("m", vec![250.0])]));
    }

    #[test]
    fn growth_misses_the_budget() {
        let ran = |change| [MissionTimes { start: 100.0, changes: vec![change, 1.0, change] }];
        let kept = |first, last| table(10, &ran(first), &ran(last))[0].kept;
        assert_eq!(kept(20.0, 21.0), Some(true));
        assert_eq!(kept(20.0, 23.0), Some(false));
        assert_eq!(kept(31.0, 31.0), Some(false));
    }
}
