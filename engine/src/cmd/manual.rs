//! `orange manual DIR`: writes the manual pages of the program, for those who install it.

use std::fs;
use std::path::Path;

use clap::CommandFactory;
use orange_api::Text;
use orange_manual::{ManualPage, ManualSections, pages};
use orange_system::atomic;

use crate::cmd::answer::CommandAnswer;
use crate::cmd::args::Cli;
use crate::{Error, Result};

const ORANGE: ManualSections = ManualSections {
    sections: &[("EXIT STATUS", &EXIT_STATUS), ("ENVIRONMENT", &ENVIRONMENT), ("FILES", &FILES)],
    see_also: &["orange-workflow", "tmux", "git", "gh", "glab"],
};

const EXIT_STATUS: [(&str, &str); 7] = [
    ("0", "Done."),
    ("1", "The engine refused; the message says why, and the help what would be accepted."),
    ("2", "Wrong arguments."),
    ("3", "There is no such task, project, workflow, status, or branch with a commit."),
    ("4", "Another process holds the task."),
    ("5", "tmux, git, gh, glab, a coding agent or the disk is missing or failed."),
    ("6", "A file cannot be understood; nothing was changed."),
];

const ENVIRONMENT: [(&str, &str); 5] = [
    ("ORANGE_HOME", "The folder of everything that is kept; ~/orange when it is not set."),
    ("ORANGE_TMUX_SOCKET", "The name of the tmux server that agents run in; orange when it is not set."),
    ("ORANGE_LOG_LEVEL", "What is written to the log: error, warn, info (the default) or debug."),
    (
        "ORANGE_TASK, ORANGE_ACTOR, ORANGE_SPAWN, ORANGE_SECRET",
        "Who asks. Agents have them from the engine; without them it is a person.",
    ),
    ("NO_COLOR", "No colour, also on a terminal."),
];

const FILES: [(&str, &str); 6] = [
    ("ORANGE_HOME/projects.json", "The projects and their settings."),
    ("ORANGE_HOME/tasks/PROJECT/ID/TASK.md", "A task, as people and agents see and edit it."),
    ("ORANGE_HOME/tasks/PROJECT/ID/history.jsonl", "Its journal: what the engine knows of it."),
    ("ORANGE_HOME/workspaces", "The worktrees in which tasks are worked on."),
    ("ORANGE_HOME/workflows", "Workflows of your own."),
    ("ORANGE_HOME/harnesses.toml", "Coding agents of your own."),
];

/// The manual pages of `orange`.
pub fn of_orange() -> Vec<ManualPage> {
    pages(Cli::command(), &ORANGE)
}

/// Writes them into a folder, which is made if need be.
pub fn run(folder: &Path) -> Result<CommandAnswer> {
    let pages = of_orange();
    fs::create_dir_all(folder).map_err(|cause| Error::io("make", folder, &cause))?;
    for page in &pages {
        let path = folder.join(&page.file);
        atomic::replace(&path, page.text.as_bytes()).map_err(|cause| Error::io("write", &path, &cause))?;
    }
    let text = format!("{} manual pages are in {}", pages.len(), folder.display());
    CommandAnswer::of(&Text { text: text.as_str().into() }, text.as_str())
}

#[cfg(test)]
mod tests;
