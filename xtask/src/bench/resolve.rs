//! Times the resolution of transitions: nanoseconds, and instructions if callgrind is installed.

use std::path::Path;
use std::process::Command;

use super::{FigureRow, fields};
use crate::Result;
use crate::workspace::answer;

/// The match that answers as much as ours do.
const BY_HAND: &str = "by hand";
const PEERS: [&str; 3] = ["smlang", "statig", "rust-fsm"];

const BUDGET: &str = "no slower than by hand, faster than the crates";

/// The questions in a round of `orange-bench`.
const QUESTIONS: u64 = 4096;

pub(super) fn rows(bench: &Path) -> Result<Vec<FigureRow>> {
    let mut timing = Command::new(bench);
    timing.arg("resolve");
    let answered = answer(timing)?;
    let lines = fields(&answered);
    let times: Vec<(&str, f64)> =
        lines.iter().filter_map(|line| Some((*line.first()?, line.get(1)?.parse().ok()?))).collect();
    let time = |form: &str| times.iter().find(|it| it.0 == form).map_or(f64::NAN, |it| it.1);
    // Two runs of the same code differ by a few per cent.
    let by_hand = time(BY_HAND) * 1.05;
    let fastest_peer = PEERS.iter().map(|peer| time(peer)).fold(f64::INFINITY, f64::min);
    let row = |(form, nanoseconds): &(&str, f64)| {
        let is_ours = form.starts_with("orange");
        let instructions = instructions(bench, form).map(|it| format!("{it:.1}"));
        FigureRow {
            what: (*form).to_string(),
            figures: vec![
                format!("{nanoseconds:.2}"),
                instructions.unwrap_or_else(|| "no valgrind".to_string()),
            ],
            budget: if is_ours { BUDGET.to_string() } else { String::new() },
            kept: is_ours.then_some(*nanoseconds <= by_hand && *nanoseconds < fastest_peer),
        }
    };
    Ok(times.iter().map(row).collect())
}

/// Instructions for one question: the difference between many and few rounds, divided by the number of questions.
fn instructions(bench: &Path, form: &str) -> Option<f64> {
    let (few, many) = (counted(bench, form, 2)?, counted(bench, form, 12)?);
    Some(many.checked_sub(few)? as f64 / (10 * QUESTIONS) as f64)
}

fn counted(bench: &Path, form: &str, rounds: u32) -> Option<u64> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(bench);
    valgrind.args(["resolve", form, &rounds.to_string()]);
    let output = valgrind.output().ok()?;
    collected(&String::from_utf8_lossy(&output.stderr))
}

/// The number of instructions in callgrind's last lines.
fn collected(said: &str) -> Option<u64> {
    let line = said.lines().find_map(|line| line.split_once("Collected : "))?.1;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callgrind_says_how_many_it_collected() {
        let said = "==1== Events    : Ir\n==1== Collected : 1234567\n==1==\n";
        assert_eq!(collected(said), Some(1_234_567));
        assert_eq!(collected("==1== nothing"), None);
    }
}
