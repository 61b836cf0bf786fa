//! Answers of programs, of a pull request's checks, and about created tasks in a walk.

use orange_core::{Checks, Children};

use super::{Happened, Impossible, Walk};
use crate::search::sections::{FAILS, NONE, SOME, SUCCEEDS};

/// The words for the checks of a pull request.
pub const CHECKS: [(&str, Checks); 4] =
    [("green", Checks::Green), ("red", Checks::Red), ("pending", Checks::Pending), ("none", Checks::None)];

/// The words for the tasks that the task has created.
pub const CHILDREN: [(&str, Children); 2] = [(SOME, Children::Open), (NONE, Children::None)];

impl Walk<'_> {
    pub(super) fn answer(&mut self, program: &str, succeeds: bool) -> Result<Vec<Happened>, Impossible> {
        let mut gates = self.machine.state_ids().flat_map(|state| self.machine.gates_of(state));
        let mut asked: Vec<String> =
            gates.by_ref().filter_map(|it| it.program()).map(ToString::to_string).collect();
        if !asked.iter().any(|it| it == program) {
            asked.dedup();
            let known = if asked.is_empty() { "none".to_owned() } else { asked.join("`, `") };
            return Err(Impossible(format!("no gate asks `{program}`; these are asked: `{known}`")));
        }
        self.succeeding.remove(program);
        if succeeds {
            self.succeeding.insert(program.to_owned());
        }
        let answer = if succeeds { SUCCEEDS } else { FAILS }.to_owned();
        Ok(vec![Happened::Answers { asked: program.to_owned(), answer }])
    }

    pub(super) fn see_checks(&mut self, word: &str) -> Result<Vec<Happened>, Impossible> {
        let Some((_, checks)) = CHECKS.iter().find(|(known, _)| *known == word) else {
            return Err(Impossible(format!("checks are green, red, pending or none, and not `{word}`")));
        };
        self.checks = *checks;
        Ok(vec![Happened::Answers { asked: "checks".to_owned(), answer: word.to_owned() }])
    }

    pub(super) fn see_children(&mut self, word: &str) -> Result<Vec<Happened>, Impossible> {
        let Some((_, children)) = CHILDREN.iter().find(|(known, _)| *known == word) else {
            return Err(Impossible(format!(
                "of created tasks there are some open, or none, and not `{word}`"
            )));
        };
        self.children = *children;
        Ok(vec![Happened::Answers { asked: "children".to_owned(), answer: word.to_owned() }])
    }
}
