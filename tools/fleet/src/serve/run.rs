//! Ids of runs: `<mission>.<step>.<attempt>`.

use std::fmt;

use super::error::ApiError;
use super::gateway::unknown_run;

/// The parts of the id of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunId<'r> {
    /// The mission, whose id has no `.`.
    pub mission: &'r str,
    pub step: &'r str,
    /// The number of the attempt.
    pub attempt: u32,
}

impl<'r> RunId<'r> {
    /// The parts of an id.
    ///
    /// # Errors
    /// It is none.
    pub fn parse(text: &'r str) -> Result<RunId<'r>, ApiError> {
        let parts = || {
            let (mission, rest) = text.split_once('.')?;
            let (step, attempt) = rest.rsplit_once('.')?;
            let is_number = attempt.bytes().all(|it| it.is_ascii_digit()) && !attempt.starts_with('0');
            let attempt = attempt.parse().ok().filter(|_| is_number)?;
            (!mission.is_empty() && !step.is_empty()).then_some(RunId { mission, step, attempt })
        };
        parts().ok_or_else(|| unknown_run(text))
    }
}

impl fmt::Display for RunId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.mission, self.step, self.attempt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_three_parts() {
        let run = RunId::parse("m1.hand.over.12").unwrap();
        assert_eq!(run, RunId { mission: "m1", step: "hand.over", attempt: 12 });
        assert_eq!(run.to_string(), "m1.hand.over.12");
        for wrong in [
            "",
            "m1",
            "m1.plan",
            "m1.plan.",
            "m1.plan.x",
            "m1.plan.01",
            "m1.plan.+1",
            "m1.plan.0",
            ".plan.1",
            "m1..1",
            "m1.plan.99999999999",
        ] {
            assert_eq!(RunId::parse(wrong).unwrap_err().code, "unknown_run", "{wrong}");
        }
    }
}
