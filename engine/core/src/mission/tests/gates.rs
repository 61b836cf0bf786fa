//! Pauses of a mission: every cell of `execution` × `intervene` × the end of a step, as a table.

use alloc::string::{String, ToString};
use alloc::vec;

use super::random::{StepRow, Tables};
use crate::mission::*;
use crate::plan::*;

/// End of the step `a`.
#[derive(Clone, Copy, Debug)]
enum StepOutcome {
    Success,
    Warning,
    Error,
}

/// Consequence of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepConsequence {
    /// The next step is queued.
    GoesOn,
    Boundary,
    Warning,
    Error,
    Completed,
    Failed,
}

use StepConsequence::{Boundary, Completed, Error, Failed, GoesOn, Warning};

/// For each policy, what follows success, warning and error of a step that others follow, and of the last one.
const TABLE: [(Execution, Intervene, [StepConsequence; 3], [StepConsequence; 3]); 8] = [
    (Execution::Auto, Intervene::Never, [GoesOn, GoesOn, GoesOn], [Completed, Completed, Failed]),
    (Execution::Auto, Intervene::OnError, [GoesOn, GoesOn, Error], [Completed, Completed, Error]),
    (Execution::Auto, Intervene::OnWarning, [GoesOn, Warning, Error], [Completed, Completed, Error]),
    (Execution::Auto, Intervene::Always, [Boundary, Warning, Error], [Completed, Completed, Error]),
    (Execution::Step, Intervene::Never, [Boundary, Warning, Boundary], [Completed, Completed, Failed]),
    (Execution::Step, Intervene::OnError, [Boundary, Warning, Error], [Completed, Completed, Error]),
    (Execution::Step, Intervene::OnWarning, [Boundary, Warning, Error], [Completed, Completed, Error]),
    (Execution::Step, Intervene::Always, [Boundary, Warning, Error], [Completed, Completed, Error]),
];

const ENDS: [StepOutcome; 3] = [StepOutcome::Success, StepOutcome::Warning, StepOutcome::Error];

#[test]
fn every_cell_of_the_policies_is_as_the_table_says() {
    for (execution, intervene, before_others, last) in TABLE {
        let policy = Policy { execution, intervene };
        for (end, (expect, expect_last)) in ENDS.into_iter().zip(before_others.into_iter().zip(last)) {
            assert_eq!(then(&two(), policy, end), expect, "{policy:?}, {end:?}");
            assert_eq!(then(&one(), policy, end), expect_last, "{policy:?}, the last step, {end:?}");
        }
    }
}

/// Two steps that do not depend on each other, so that one goes on when the other has failed.
fn two() -> Tables {
    Tables(vec![row("a"), row("b")], None, DEFAULT_PARALLEL)
}

fn one() -> Tables {
    Tables(vec![row("a")], None, DEFAULT_PARALLEL)
}

fn row(id: &str) -> StepRow {
    StepRow { id: id.to_string(), stuck_after: 2, ..StepRow::default() }
}

/// Consequence of this end of the first step.
#[track_caller]
fn then(tables: &Tables, policy: Policy, end: StepOutcome) -> StepConsequence {
    let step = StepId(0);
    tables.with(|plan| {
        let mut mission = Mission::new(plan, policy);
        mission.apply(plan, Event::Begin).unwrap();
        mission.apply(plan, Event::Start { step, attempt: 1 }).unwrap();
        let report =
            |warning: Option<&str>| Report { warning: warning.map(ToString::to_string), ..Report::default() };
        let event = match end {
            StepOutcome::Success => Event::Complete { step, attempt: 1, report: report(None) },
            StepOutcome::Warning => Event::Complete { step, attempt: 1, report: report(Some("slow")) },
            StepOutcome::Error => Event::Fail { step, attempt: 1, reason: String::new() },
        };
        mission.apply(plan, event).unwrap();
        match (mission.status, mission.pause().map(|pause| pause.reason.clone())) {
            (MissionStatus::Running, None) => GoesOn,
            (MissionStatus::Completed, None) => Completed,
            (MissionStatus::Failed, None) => Failed,
            (MissionStatus::Paused, Some(PauseReason::Boundary(at))) if at == step => Boundary,
            (MissionStatus::Paused, Some(PauseReason::Warning(at))) if at == step => Warning,
            (MissionStatus::Paused, Some(PauseReason::Error(at))) if at == step => Error,
            other => panic!("{other:?}"),
        }
    })
}
