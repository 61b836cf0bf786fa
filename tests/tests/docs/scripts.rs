//! The commands in the blocks of a page run, one after the other, as a reader would run them.

use crate::examples::rule;
use crate::given::{GivenWorld, Setting};
use crate::page::{self, FencedBlock, MarkdownPage};
use crate::programs::OurProgram;

/// World in which the commands of each page begin.
const PAGES: &[(&str, GivenWorld)] = &[
    ("README.md", GivenWorld::Repository),
    ("docs/agents.md", GivenWorld::Project),
    ("docs/authoring.md", GivenWorld::Workflows),
    ("docs/custom-workflows.md", GivenWorld::Workflows),
    ("docs/delegation.md", GivenWorld::Project),
    ("docs/feedback.md", GivenWorld::Project),
    ("docs/fleet-security.md", GivenWorld::Gateway),
    ("docs/fleet.md", GivenWorld::Repository),
    ("docs/harnesses.md", GivenWorld::Project),
    ("docs/installing.md", GivenWorld::Repository),
    ("docs/intake.md", GivenWorld::Project),
    ("docs/linting.md", GivenWorld::Workflows),
    ("docs/missions.md", GivenWorld::PausedMission),
    ("docs/needs.md", GivenWorld::Reviewing),
    ("docs/notifications.md", GivenWorld::Repository),
    ("docs/projects.md", GivenWorld::Project),
    ("docs/wall.md", GivenWorld::Project),
    ("docs/storage.md", GivenWorld::Project),
    ("docs/usage.md", GivenWorld::Project),
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
fn script(page: &MarkdownPage) -> String {
    let mut lines = vec![String::new(); page.text.lines().count()];
    for block in page.blocks() {
        for (at, command) in (block.line..).zip(commands(&block)) {
            match rule(command) {
                Some(GivenWorld::OnlyParsed(why)) => parse(&format!("{}:{at}", page.path), command, why),
                Some(_) | None => command.clone_into(&mut lines[at - 1]),
            }
        }
    }
    lines.join("\n")
}

/// The lines of a block of commands; of a `console`, what is typed. Others have none.
fn commands<'b>(block: &'b FencedBlock<'_>) -> Vec<&'b str> {
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
    let ours: Vec<_> = command.split(" | ").filter_map(OurProgram::of).collect();
    assert!(!ours.is_empty(), "{place}: `{command}` is none of ours");
    for (program, args) in ours {
        if let Err(complaint) = program.help(&args) {
            panic!("{place}: `{command}`, which is not run since {why}: {complaint}");
        }
    }
}
