//! Prints the results: a line for each fault, and a table at the end.

use std::io::Write;
use std::sync::atomic::Ordering;

use crate::audit::{BrokenRule, StoreContents};
use crate::ledger::Notes;
use crate::proxy::ConnectionCounts;

/// So many counterexamples are shown whole.
const SHOWN: usize = 3;

/// Results of one part.
#[derive(Debug, Default)]
pub(crate) struct PartRow {
    name: String,
    faults: u64,
    missions: usize,
    completions: usize,
    refused: u64,
    lost: usize,
    unheard: u64,
    cut: u64,
    /// Broken rules.
    pub(crate) broken: Vec<String>,
}

impl PartRow {
    pub(crate) fn new(name: &str, faults: u64, notes: &Notes, counts: &ConnectionCounts) -> PartRow {
        let cut = [&counts.answers_lost, &counts.requests_cut, &counts.silent];
        PartRow {
            name: name.to_owned(),
            faults,
            missions: notes.missions.len(),
            completions: notes.completions.len(),
            refused: notes.refused,
            unheard: notes.unheard,
            cut: cut.iter().map(|it| it.load(Ordering::Relaxed)).sum(),
            ..PartRow::default()
        }
    }

    /// Adds the records of the store, and the errors in them.
    pub(crate) fn found(&mut self, found: &StoreContents, wrong: Vec<BrokenRule>) {
        self.lost = found.records.iter().filter(|it| it.kind == "lease.lost").count();
        for (number, (mission, what)) in wrong.into_iter().enumerate() {
            let mut text = match &mission {
                Some(mission) => format!("mission {mission}: {what}"),
                None => what,
            };
            for record in
                found.records.iter().filter(|it| mission.is_some() && it.mission == mission && number < SHOWN)
            {
                text += &format!("\n    {:>6} {:18} {}", record.seq, record.kind, record.data);
            }
            self.broken.push(text);
        }
    }
}

/// The table, and the counterexamples.
pub(crate) fn render(rows: &[PartRow], seed: u64) -> String {
    let width = rows.iter().map(|it| it.name.len()).max().unwrap_or_default();
    let mut text = format!(
        "\n{:width$}  faults  missions  completions  leases lost  late and refused  calls without answer  connections cut\n",
        ""
    );
    for it in rows {
        text += &format!(
            "{:width$}  {:>6}  {:>8}  {:>11}  {:>11}  {:>16}  {:>20}  {:>15}\n",
            it.name, it.faults, it.missions, it.completions, it.lost, it.refused, it.unheard, it.cut
        );
    }
    let broken: usize = rows.iter().map(|it| it.broken.len()).sum();
    if broken == 0 {
        return text
            + "\nEvery mission ended as it must; nothing acknowledged is lost, and nothing was accepted twice.\n";
    }
    for it in rows.iter().filter(|it| !it.broken.is_empty()) {
        text += &format!("\nseed {seed}, {}:\n", it.name);
        it.broken.iter().for_each(|what| text += &format!("  {what}\n"));
    }
    text
}

/// Prints a line. Nobody may be there to read it.
pub(crate) fn say(line: &str) {
    writeln!(std::io::stdout(), "{line}").unwrap_or_default();
}
