//! The command line.

use std::ffi::OsString;

use clap::Parser;
use clap::error::ErrorKind;

use crate::model::DashboardOptions;

/// See what needs you, and answer it, on one screen
#[derive(Debug, Parser)]
#[command(
    name = "orange-dashboard",
    version,
    after_help = "\
`orange dashboard` runs it, and so does `orange` alone on a terminal. It calls the `orange` that is beside it, or else the one on
PATH. In a repository it shows the tasks of that project, elsewhere those of all projects. `?` shows its keys.

Environment: ORANGE_HOME (default ~/orange), NO_COLOR."
)]
struct Cli {
    /// Only this project
    #[arg(long, value_name = "PROJECT", conflicts_with = "all_projects")]
    project: Option<String>,
    /// The tasks of every project, wherever it is started
    #[arg(long)]
    all_projects: bool,
    /// End when a session is attached
    #[arg(long)]
    exit_on_attach: bool,
}

/// The request of a command line.
#[derive(Debug, PartialEq, Eq)]
pub enum ParsedArguments {
    /// The dashboard.
    Scope(DashboardOptions),
    /// The help or the version.
    Text(String),
    /// Nothing: it is wrong.
    Wrong(String),
}

/// Reads the words of a command line, with the program's name first.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> ParsedArguments {
    match Cli::try_parse_from(words) {
        Ok(Cli { project, all_projects, exit_on_attach }) => {
            ParsedArguments::Scope(DashboardOptions { project, all_projects, exit_on_attach })
        }
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            ParsedArguments::Text(error.to_string())
        }
        Err(error) => ParsedArguments::Wrong(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> ParsedArguments {
        parse(["orange-dashboard"].iter().chain(words).map(OsString::from))
    }

    #[test]
    fn words_become_a_scope() {
        assert_eq!(parsed(&[]), ParsedArguments::Scope(DashboardOptions::default()));
        let scope = DashboardOptions {
            project: Some("toy".to_owned()),
            exit_on_attach: true,
            ..DashboardOptions::default()
        };
        assert_eq!(parsed(&["--project", "toy", "--exit-on-attach"]), ParsedArguments::Scope(scope));
        assert!(matches!(parsed(&["--project", "toy", "--all-projects"]), ParsedArguments::Wrong(_)));
        assert!(matches!(parsed(&["more"]), ParsedArguments::Wrong(_)));
        assert!(matches!(parsed(&["--help"]), ParsedArguments::Text(text) if text.contains("NO_COLOR")));
    }
}
