//! The commands in the blocks of a page run, one after the other, as a reader would run them.

use crate::examples::rule;
use crate::given::{Given, Setting};
use crate::page::{self, Block, Page};
use crate::programs::Program;

/// World in which the commands of each page begin.
const PAGES: &[(&str, Given)] = &[
    ("README.md", Given::Repository),
    ("docs/agents.md", Given::Project),
    ("docs/authoring.md", Given::Workflows),
    ("docs/custom-workflows.md", Given::Workflows),
    ("docs/fleet-security.md", Given::Gateway),
    ("docs/fleet.md", Given::Repository),
    ("docs/harnesses.md", Given::Project),
    ("docs/installing.md", Given::Repository),
    ("docs/linting.md", Given::Workflows),
    ("docs/missions.md", Given::PausedMission),
    ("docs/needs.md", Given::Reviewing),
    ("docs/notifications.md", Given::Repository),
    ("docs/projects.md", Given::Project),
    ("docs/storage.md", Given::Project),
];

#[test]
fn every_command_on_a_page_runs() {
    for page in page::all() {
        let script = script(&page);
        if script.trim().is_empty() {
            continue;
        }
        let line = 1 + script.lines().take_while(|line| line.is_empty()).count();
        let Some((_, given)) = PAGES.iter().find(|(path, _)| *path == page.path) else {
            panic!("{}:{line}: nothing here says in what world this is to run; see PAGES", page.path);
        };
        Setting::new(*given)
            .run(&format!("{} failed; the last line that began is the one:", page.path), &script);
    }
}

/// The commands of a page, each on the line where it stands there; those that are only parsed are parsed.
fn script(page: &Page) -> String {
    let mut lines = vec![String::new(); page.text.lines().count()];
    for block in page.blocks() {
        for (at, command) in (block.line..).zip(commands(&block)) {
            match rule(command) {
                Some(Given::OnlyParsed(why)) => parse(&format!("{}:{at}", page.path), command, why),
                Some(_) | None => command.clone_into(&mut lines[at - 1]),
            }
        }
    }
    lines.join("\n")
}

/// The lines of a block of commands; of a `console`, what is typed. Others have none.
fn commands<'b>(block: &'b Block<'_>) -> Vec<&'b str> {
    match block.language {
        "sh" | "bash" | "shell" => block.text.lines().collect(),
        "console" => block.text.lines().map(|line| line.strip_prefix("$ ").unwrap_or_default()).collect(),
        _ => Vec::new(),
    }
}

/// Holds a command line that is not run against what the program takes; of a pipe, each of our programs.
#[track_caller]
pub(crate) fn parse(place: &str, command: &str, why: &str) {
    let command = [" #", " > ", " < "]
        .iter()
        .fold(command, |command, end| command.split(end).next().unwrap_or_default());
    let ours: Vec<_> = command.split(" | ").filter_map(Program::of).collect();
    assert!(!ours.is_empty(), "{place}: `{command}` is none of ours");
    for (program, args) in ours {
        if let Err(complaint) = program.help(&args) {
            panic!("{place}: `{command}`, which is not run since {why}: {complaint}");
        }
    }
}
