//! The programs whose commands the pages show, as this build has them, and what they say about their arguments.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use orange_tests::programs::built;

use crate::world::{binary, text};

/// One of our programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OurProgram {
    Orange,
    OrangeWorkflow,
    OrangeFleet,
    Xtask,
}

impl OurProgram {
    pub(crate) const ALL: [OurProgram; 4] =
        [OurProgram::Orange, OurProgram::OrangeWorkflow, OurProgram::OrangeFleet, OurProgram::Xtask];

    /// The program of a command line and its arguments; `None` when it is not ours.
    pub(crate) fn of(command: &str) -> Option<(OurProgram, Vec<String>)> {
        let command = command.trim();
        let of_one = |program: OurProgram| {
            let rest = program.typed().iter().find_map(|typed| command.strip_prefix(typed))?;
            (rest.is_empty() || rest.starts_with(' ')).then(|| (program, words(rest)))
        };
        OurProgram::ALL.into_iter().find_map(of_one)
    }

    pub(crate) fn name(self) -> &'static str {
        self.typed()[0]
    }

    /// Commands by which people call it.
    fn typed(self) -> &'static [&'static str] {
        match self {
            OurProgram::Orange => &["orange", "dist/orange"],
            OurProgram::OrangeWorkflow => &["orange-workflow", "cargo run -p orange-workflow --"],
            OurProgram::OrangeFleet => &["orange-fleet", "dist/orange-fleet"],
            OurProgram::Xtask => &["cargo xtask"],
        }
    }

    /// Output of `--help` behind these arguments, but before a `--`; `Err` with the complaint when they make no sense.
    pub(crate) fn help(self, args: &[String]) -> Result<String, String> {
        let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
        let (before, behind) = args.split_at(end);
        let output = Command::new(self.path()).args(before).arg("--help").args(behind).output().unwrap();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    }

    fn path(self) -> PathBuf {
        match self {
            OurProgram::Orange => binary().to_owned(),
            OurProgram::OrangeWorkflow => others().join("orange-workflow"),
            OurProgram::OrangeFleet => others().join("orange-fleet"),
            OurProgram::Xtask => others().join("xtask"),
        }
    }
}

/// The folder of the programs beside `orange`, in which they have been built.
pub(crate) fn others() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        built(&["--package", "orange-workflow", "--package", "orange-fleet", "--package", "xtask"])
    })
}

/// The words of a command line as a shell takes it apart, as far as our examples need it.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            letter => words.last_mut().unwrap().push(letter),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
