//! Counts the faults and their results.

use std::fmt::Write as _;
use std::time::Duration;

use super::attempt::{AttemptResult, GoodEnding};
use super::fault::TortureFault;
use super::plan::{MeasuredScene, TortureJob, has_small_disks};
use super::scene::SCENES;
use crate::Result;

/// The figures so far.
pub(super) struct FigureTable {
    rows: Vec<FaultRow>,
    losses: Vec<String>,
    /// The number of requests that left locks of killed gits.
    unlocked: usize,
    /// Remarks below the figures.
    remarks: Vec<String>,
}

/// One kind of fault.
#[derive(Default)]
struct FaultRow {
    kind: &'static str,
    injected: usize,
    missed: usize,
    answered: usize,
    finished: usize,
    asked_again: usize,
    called_attention: usize,
    lost: usize,
}

impl FigureTable {
    /// An empty one.
    pub(super) fn new(measured: &[MeasuredScene]) -> FigureTable {
        let steps: usize = measured.iter().map(|it| it.steps.len()).sum();
        let mut remarks = vec![format!("{} requests take {steps} steps, undisturbed.", measured.len())];
        if !has_small_disks() {
            remarks.push(
                "No disk can be mounted here: files were kept short instead, and no home was read-only."
                    .into(),
            );
        }
        FigureTable { rows: Vec::new(), losses: Vec::new(), unlocked: 0, remarks }
    }

    /// Counts the result of a job, and prints a loss at once.
    pub(super) fn add(&mut self, job: &TortureJob, outcome: Result<AttemptResult>) {
        let outcome = outcome.map(|attempt| {
            self.unlocked += usize::from(attempt.unlocked > 0);
            attempt.ending
        });
        self.count(job, outcome);
    }

    fn count(&mut self, job: &TortureJob, outcome: Result<GoodEnding>) {
        let kind = job.fault.kind();
        if self.rows.iter().all(|row| row.kind != kind) {
            self.rows.push(FaultRow { kind, ..FaultRow::default() });
        }
        let Some(row) = self.rows.iter_mut().find(|row| row.kind == kind) else { return };
        row.injected += 1;
        match outcome {
            Ok(GoodEnding::Missed) => row.missed += 1,
            Ok(GoodEnding::Answered) => row.answered += 1,
            Ok(GoodEnding::Finished) => row.finished += 1,
            Ok(GoodEnding::AskedAgain) => row.asked_again += 1,
            Ok(GoodEnding::CalledAttention) => row.called_attention += 1,
            Err(error) => {
                row.lost += 1;
                let loss =
                    format!("{}: {}\n  {}", SCENES[job.scene].name, described(&job.fault), error.trim_end());
                println!("LOST {loss}");
                self.losses.push(loss);
            }
        }
    }

    /// True if anything was lost.
    pub(super) fn has_losses(&self) -> bool {
        !self.losses.is_empty()
    }

    /// The table in Markdown.
    pub(super) fn render(&self, took: Duration) -> String {
        let mut text = String::from(
            "\n| fault | injected | after the end | answered all the same | finished by the next command | repeated | reported as `attention` | lost |\n\
             |---|---|---|---|---|---|---|---|\n",
        );
        let mut total = FaultRow { kind: "all", ..FaultRow::default() };
        for row in &self.rows {
            total.add(row);
            row.write(&mut text);
        }
        total.write(&mut text);
        let mut remarks = self.remarks.clone();
        if self.unlocked > 0 {
            let unlocked = self.unlocked;
            remarks.push(format!(
                "{unlocked} needed a lock file of a killed git removed by hand, as `orange doctor` says."
            ));
        }
        let remarks = remarks.join(" ");
        // Writing to a string cannot fail.
        writeln!(text, "\n{remarks} It took {} s.", took.as_secs()).unwrap_or_default();
        text
    }
}

impl FaultRow {
    fn add(&mut self, other: &FaultRow) {
        self.injected += other.injected;
        self.missed += other.missed;
        self.answered += other.answered;
        self.finished += other.finished;
        self.asked_again += other.asked_again;
        self.called_attention += other.called_attention;
        self.lost += other.lost;
    }

    fn write(&self, text: &mut String) {
        let FaultRow { kind, injected, missed, answered, finished, asked_again, called_attention, lost } =
            self;
        let figures =
            [injected, missed, answered, finished, asked_again, called_attention, lost].map(usize::to_string);
        // Writing to a string cannot fail.
        writeln!(text, "| {kind} | {} |", figures.join(" | ")).unwrap_or_default();
    }
}

fn described(fault: &TortureFault) -> String {
    match fault {
        TortureFault::Step { role, number, what } => {
            format!("killed at step {number} of `{role}`, before: {what}")
        }
        TortureFault::Moment { after, with_called } => {
            format!(
                "killed after {} ms{}",
                after.as_millis(),
                if *with_called { ", git and tmux too" } else { "" }
            )
        }
        TortureFault::None
        | TortureFault::Stops
        | TortureFault::Clock { .. }
        | TortureFault::FullDisk { .. }
        | TortureFault::ShortFiles { .. }
        | TortureFault::ReadOnly => format!("{fault:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_counts_what_came_of_each_fault() {
        let mut table = FigureTable {
            rows: Vec::new(),
            losses: Vec::new(),
            unlocked: 0,
            remarks: vec!["All is well.".to_owned()],
        };
        let job = |fault| TortureJob { scene: 0, fault };
        table.count(&job(TortureFault::Stops), Ok(GoodEnding::Answered));
        table.count(&job(TortureFault::ReadOnly), Ok(GoodEnding::AskedAgain));
        table.count(&job(TortureFault::ReadOnly), Ok(GoodEnding::CalledAttention));
        assert!(!table.has_losses());
        let text = table.render(Duration::from_secs(3));
        let rows: Vec<&str> = text.lines().skip(3).collect();
        assert_eq!(
            rows,
            [
                "| SIGSTOP and SIGCONT all the time (EINTR) | 1 | 0 | 1 | 0 | 0 | 0 | 0 |",
                "| read-only home | 2 | 0 | 0 | 0 | 1 | 1 | 0 |",
                "| all | 3 | 0 | 1 | 0 | 1 | 1 | 0 |",
                "",
                "All is well. It took 3 s.",
            ]
        );
        table.unlocked = 2;
        assert!(
            table.render(Duration::ZERO).contains("2 needed a lock file of a killed git removed by hand")
        );
        table.count(&job(TortureFault::ReadOnly), Err("it is gone".to_owned()));
        assert!(table.has_losses());
    }
}
