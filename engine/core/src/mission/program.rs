//! Programs that do the work of a step: the report that follows from the end of one.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};

use super::Report;
use crate::Verdict;
use crate::plan::{Inputs, Plan, StepId, check_outputs};

/// The exit statuses with which a program says no. Shells and systems give those above to a program that did not run or was killed.
const SAYS_NO: core::ops::RangeInclusive<i32> = 1..=125;

/// End of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramOutcome<'a> {
    /// Its exit status; `None` of one that did not start, was killed, or did not end in time.
    pub code: Option<i32>,
    /// Reason for which it has not succeeded; empty if it has.
    pub failure: &'a str,
    /// The end of what it printed.
    pub printed: &'a str,
    /// Content of the file of `ORANGE_OUTPUT`, or the fault of that.
    pub output: Result<ProgramOutput, String>,
}

/// Content of the file of `ORANGE_OUTPUT`, which a program may write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ProgramOutput {
    /// Its result, in the place of `PASS`.
    #[cfg_attr(feature = "serde", serde(default))]
    pub result: Option<String>,
    /// Summary of its work, in the place of the end of what it printed.
    #[cfg_attr(feature = "serde", serde(default))]
    pub summary: Option<String>,
    /// The outputs that the step declares.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub outputs: Inputs,
}

/// Report about an attempt whose work a program has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramReport {
    /// It is complete.
    Completed(Report),
    /// It has failed, for this reason.
    Failed(String),
}

impl ProgramReport {
    /// The report that follows from the end of the program of a step.
    pub fn of(plan: &Plan<'_>, step: StepId, outcome: ProgramOutcome<'_>) -> ProgramReport {
        let ProgramOutcome { code, failure, printed, output } = outcome;
        let declared = plan.results_of(step);
        let says_no =
            code.is_some_and(|it| SAYS_NO.contains(&it)) && declared.contains(&Verdict::FAIL.as_str());
        if code != Some(0) && !says_no {
            return ProgramReport::Failed(failure.to_owned());
        }
        let ProgramOutput { result, summary, outputs } = match output {
            Ok(output) => output,
            Err(what) => return ProgramReport::Failed(what),
        };
        if let Err(fault) = check_outputs(plan.outputs_of(step), &outputs) {
            return ProgramReport::Failed(fault.words("output"));
        }
        let verdict = if says_no { Verdict::FAIL } else { Verdict::PASS };
        let result = result.filter(|_| !says_no).unwrap_or_else(|| verdict.as_str().to_owned());
        if !declared.is_empty() && !declared.contains(&result.as_str()) {
            let words = declared.join(", ");
            return ProgramReport::Failed(format!("its result is `{result}`, and the step declares {words}"));
        }
        let summary = summary.filter(|it| !it.trim().is_empty()).unwrap_or_else(|| printed.trim().to_owned());
        let summary = match summary.is_empty() {
            true => format!("it ended with status {} and printed nothing", code.unwrap_or_default()),
            false => summary.trim_end().to_string(),
        };
        ProgramReport::Completed(Report { result: Some(result), summary, outputs, ..Report::default() })
    }
}
