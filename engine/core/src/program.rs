//! Questions of gates outside of `TASK.md`: to programs that run in the worktree, and about the checks of a pull request. The core
//! knows only the answers.

use core::fmt;

use crate::Children;

/// A program that a gate asks: it passes if the program exits with 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program<'a> {
    /// The program and its arguments.
    pub argv: &'a [&'a str],
    /// Time limit, in seconds.
    pub timeout: u32,
}

/// The answers that a decision can read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answers<'v> {
    /// Those of programs, for the present content of the worktree.
    pub programs: &'v [ProgramAnswer<'v>],
    /// Those about the pull request.
    pub checks: Checks,
    /// The tasks that the task has created.
    pub children: Children,
    /// True for a merge: it asks the programs about its result before a branch moves.
    pub is_merge: bool,
}

/// A program's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramAnswer<'v> {
    /// The program and its arguments.
    pub argv: &'v [&'v str],
    /// Reason for which it has not passed, with the last lines of its output; `None` if it has.
    pub failure: Option<&'v str>,
}

/// State of the checks of a task's pull request, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Checks {
    /// The task has no pull request.
    #[default]
    NoPullRequest,
    /// Nobody has looked yet.
    Unseen,
    /// They are about another commit than the branch's.
    Outdated,
    /// There are none.
    None,
    /// Some have not ended, and none has failed.
    Pending,
    /// One has failed.
    Red,
    /// All have succeeded.
    Green,
}

impl Program<'_> {
    /// The seconds that a program has if the workflow does not say.
    pub const TIMEOUT: u32 = 600;

    /// The answer of this program.
    pub fn answer<'v>(&self, answers: &Answers<'v>) -> Option<&'v ProgramAnswer<'v>> {
        answers.programs.iter().find(|answer| answer.argv == self.argv)
    }
}

/// The command line.
impl fmt::Display for Program<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, word) in self.argv.iter().enumerate() {
            write!(f, "{}{word}", if at == 0 { "" } else { " " })?;
        }
        Ok(())
    }
}

impl Checks {
    /// Reason for which a gate that wants them green does not pass, in one sentence; `None` for green ones.
    pub const fn failure(self) -> Option<&'static str> {
        match self {
            Checks::NoPullRequest => {
                Some("the task has no pull request, whose checks would have to be green")
            }
            Checks::Unseen => Some("the checks of the pull request are not known yet"),
            Checks::Outdated => Some(
                "the checks that are known of the pull request are those of another commit than the branch's",
            ),
            Checks::None => Some("the pull request has no checks"),
            Checks::Pending => Some("the checks of the pull request have not ended"),
            Checks::Red => Some("a check of the pull request has failed"),
            Checks::Green => None,
        }
    }

    /// Remedy for that, as the beginning of a sentence about what to run next.
    pub const fn remedy(self) -> &'static str {
        match self {
            Checks::NoPullRequest => "open one with `orange task create-pr`",
            Checks::Unseen | Checks::Pending => "wait: `orange monitor` asks about them once a minute",
            Checks::Outdated => {
                "push the branch and wait: `orange monitor` asks about its checks once a minute"
            }
            Checks::None => "let a workflow of the repository examine pull requests",
            Checks::Red | Checks::Green => "mend what the check has found, and push the branch",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn an_answer_is_that_of_the_same_command_line() {
        let program = Program { argv: &["make", "test"], timeout: 60 };
        let passed = ProgramAnswer { argv: &["make", "test"], failure: None };
        let other = ProgramAnswer { argv: &["make", "lint"], failure: Some("no") };
        let answers = Answers { programs: &[other, passed], ..Answers::default() };
        assert_eq!(program.answer(&answers), Some(&passed));
        assert_eq!(Program { argv: &["make"], ..program }.answer(&answers), None);
        assert_eq!(program.to_string(), "make test");
    }

    #[test]
    fn only_green_checks_have_no_failure() {
        use Checks::{Green, NoPullRequest, None, Outdated, Pending, Red, Unseen};
        let all = [NoPullRequest, Unseen, Outdated, None, Pending, Red, Green];
        let fine: alloc::vec::Vec<_> = all.into_iter().filter(|it| it.failure().is_none()).collect();
        assert_eq!(fine, [Green]);
    }
}
