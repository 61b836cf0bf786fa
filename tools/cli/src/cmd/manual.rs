//! `orange-workflow manual DIR`: writes the manual pages of the program, for those who install it.

use std::fs;
use std::io;
use std::path::PathBuf;

use clap::{Args, CommandFactory};
use orange_manual::{ManualPage, ManualSections, pages};
use orange_system::atomic;

use crate::answer::{Answer, Failure};
use crate::args::Cli;

/// Write the manual pages into a folder
#[derive(Debug, Args)]
pub(crate) struct Manual {
    /// The folder, which is made if need be
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

const ORANGE_WORKFLOW: ManualSections = ManualSections {
    sections: &[
        (
            "EXIT STATUS",
            &[
                ("0", "Nothing is wrong."),
                ("1", "Something was found."),
                ("2", "The work could not be done: a wrong argument, or a file that is not there."),
            ],
        ),
        (
            "ENVIRONMENT",
            &[
                ("COLUMNS", "The width of the output, instead of that of the terminal."),
                ("NO_COLOR", "No colour, also on a terminal."),
                ("FORCE_COLOR", "Drawings in colour, also into a pipe; NO_COLOR has precedence."),
                ("NO_GRAPHICS", "Plain sentences instead of drawings, also on a terminal."),
            ],
        ),
        (
            "FILES",
            &[
                ("orange-workflow.toml", "Levels of checks for the workflows below its folder."),
                ("*.test.yml", "Scenarios of the workflow of the same stem."),
            ],
        ),
    ],
    see_also: &["orange", "orange-workflow-contract", "orange-workflow-list", "orange-workflow-show"],
};

/// Writes the pages.
pub(super) fn run(args: &Manual) -> Result<Answer, Answer> {
    let folder = args.folder.display();
    let count = write(args).map_err(|cause| {
        let message = format!("cannot write the manual pages into {folder}: {cause}");
        Failure::new(message, "name a folder that you may write in")
    })?;
    Ok(Answer::text(format!("{count} manual pages are in {folder}\n")))
}

/// The manual pages of `orange-workflow`.
pub fn of_orange_workflow() -> Vec<ManualPage> {
    pages(Cli::command(), &ORANGE_WORKFLOW)
}

fn write(args: &Manual) -> io::Result<usize> {
    let pages = of_orange_workflow();
    fs::create_dir_all(&args.folder)?;
    for page in &pages {
        atomic::replace(&args.folder.join(&page.file), page.text.as_bytes())?;
    }
    Ok(pages.len())
}
