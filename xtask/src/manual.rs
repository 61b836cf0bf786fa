//! The manual pages of `orange` and `orange-workflow`, from the definitions of their commands.

use std::io;

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use orange_engine::Cli;
use roff::{Roff, bold, italic, roman};

/// Every page with this date: the name of its file, and its text.
pub(crate) fn pages(date: &str) -> io::Result<Vec<(String, String)>> {
    let mut pages = Vec::new();
    for (command, about) in [(Cli::command(), &ORANGE), (orange_workflow::command(), &ORANGE_WORKFLOW)] {
        let mut root = command.disable_help_subcommand(true);
        root.build();
        let of_one = &mut Vec::new();
        gather(&root, None, &Manual { date, about }, of_one)?;
        // `orange workflow` is a group of commands with pages of their own, and `orange-workflow` is a program.
        pages.retain(|(file, _): &(String, String)| of_one.iter().all(|(other, _)| file != other));
        pages.append(of_one);
    }
    Ok(pages)
}

/// Content of the pages of one program, beside the help of its commands.
struct Manual<'m> {
    date: &'m str,
    about: &'m ManualSections,
}

/// Content of the first page of a program, beside its help.
struct ManualSections {
    sections: &'static [(&'static str, &'static [(&'static str, &'static str)])],
    see_also: &'static [&'static str],
}

const ORANGE: ManualSections = ManualSections {
    sections: &[("EXIT STATUS", &EXIT_STATUS), ("ENVIRONMENT", &ENVIRONMENT), ("FILES", &FILES)],
    see_also: &["orange-workflow", "tmux", "git", "gh"],
};

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

const EXIT_STATUS: [(&str, &str); 7] = [
    ("0", "Done."),
    ("1", "The engine refused; the message says why, and the help what would be accepted."),
    ("2", "Wrong arguments."),
    ("3", "There is no such task, project, workflow or status."),
    ("4", "Somebody else holds the task."),
    ("5", "tmux, git, gh, a coding agent or the disk is missing or failed."),
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

fn gather(
    command: &Command,
    above: Option<&str>,
    manual: &Manual<'_>,
    pages: &mut Vec<(String, String)>,
) -> io::Result<()> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    pages.push((format!("{name}.1"), page(command, above, manual)?));
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        gather(below, Some(name), manual, pages)?;
    }
    Ok(())
}

fn page(command: &Command, above: Option<&str>, manual: &Manual<'_>) -> io::Result<String> {
    let man = Man::new(command.clone())
        .date(manual.date)
        .source(concat!("orange ", env!("CARGO_PKG_VERSION")))
        .manual("Orange Manual");
    let mut out = Vec::new();
    man.render_title(&mut out)?;
    man.render_name_section(&mut out)?;
    man.render_synopsis_section(&mut out)?;
    man.render_description_section(&mut out)?;
    man.render_options_section(&mut out)?;
    if command.get_subcommands().next().is_some() {
        man.render_subcommands_section(&mut out)?;
    }
    let mut roff = Roff::new();
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (examples, notes): (Vec<_>, Vec<_>) =
        text.split("\n\n").partition(|part| part.starts_with("Example"));
    let notes: Vec<_> = notes.into_iter().filter(|note| !note.is_empty()).collect();
    match above {
        // The notes of the first page have sections of their own.
        None => tables(&mut roff, manual.about),
        Some(_) if notes.is_empty() => {}
        Some(_) => paragraph(&mut roff, "NOTES", &notes.join("\n")),
    }
    for example in examples {
        shown(&mut roff, example);
    }
    roff.control("SH", ["SEE ALSO"]);
    match above {
        Some(above) => roff.text([bold(format!("{above}(1)"))]),
        None => {
            let names = manual.about.see_also.iter().map(|it| bold(format!("{it}(1)")));
            let mut listed: Vec<_> = names.flat_map(|it| [roman(", "), it]).collect();
            roff.text(listed.split_off(1))
        }
    };
    roff.to_writer(&mut out)?;
    String::from_utf8(out).map(|page| in_ascii(&page)).map_err(io::Error::other)
}

/// A manual page with the escapes of roff for characters outside of ASCII, since `groff` reads bytes.
fn in_ascii(page: &str) -> String {
    let mut ascii = String::with_capacity(page.len());
    for letter in page.chars() {
        if letter.is_ascii() {
            ascii.push(letter);
        } else {
            ascii += &format!("\\[u{:04X}]", u32::from(letter));
        }
    }
    ascii
}

fn tables(roff: &mut Roff, about: &ManualSections) {
    for (head, rows) in about.sections {
        roff.control("SH", [*head]);
        for (term, about) in *rows {
            roff.control("TP", []);
            roff.text([if *head == "FILES" { italic(*term) } else { bold(*term) }]);
            roff.text([roman(*about)]);
        }
    }
}

fn paragraph(roff: &mut Roff, head: &str, text: &str) {
    roff.control("SH", [head]);
    for line in text.lines() {
        roff.text([roman(line)]);
    }
}

/// The examples as they are typed, a line each.
fn shown(roff: &mut Roff, examples: &str) {
    roff.control("SH", ["EXAMPLES"]);
    roff.control("nf", []);
    for line in examples.lines().skip(1) {
        roff.text([roman(line.trim_start())]);
    }
    roff.control("fi", []);
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::{Command, Stdio};

    use super::*;

    fn all() -> Vec<(String, String)> {
        pages("2026-01-31").unwrap()
    }

    #[test]
    fn every_command_that_is_shown_has_a_page() {
        let pages = all();
        let page = |name: &str| &pages.iter().find(|(file, _)| file == name).unwrap().1;
        let heads = |name: &str| {
            let heads = page(name).lines().filter_map(|line| line.strip_prefix(".SH "));
            heads.collect::<Vec<_>>().join(", ").replace('"', "")
        };
        assert_eq!(
            heads("orange.1"),
            "NAME, SYNOPSIS, DESCRIPTION, OPTIONS, SUBCOMMANDS, EXIT STATUS, ENVIRONMENT, FILES, EXAMPLES, SEE ALSO"
        );
        assert_eq!(
            heads("orange-task-merge.1"),
            "NAME, SYNOPSIS, DESCRIPTION, OPTIONS, NOTES, EXAMPLES, SEE ALSO"
        );
        assert_eq!(heads("orange-workflow-check.1"), heads("orange-task-merge.1"));
        assert_eq!(heads("orange-workflow.1"), heads("orange.1"));
        let text = page("orange-task-update.1").replace('\\', "");
        assert!(text.contains("orange 0.1.0") && text.contains("2026-01-31"), "{text}");
        assert!(text.contains("orange task update --status agent-review\n"), "{text}");
        let hidden = ["agent", "finish", "complete.1"];
        let is_hidden = |file: &str| file != "orange-task-complete.1" && file != "orange-step-complete.1";
        assert!(!pages.iter().any(|(file, _)| is_hidden(file) && hidden.iter().any(|it| file.contains(it))));
        assert!(pages.len() > 40, "{} pages", pages.len());
        assert!(pages.iter().all(|(_, page)| page.is_ascii()), "other letters are escaped");
    }

    #[test]
    fn the_first_page_has_what_its_notes_say() {
        let page = all().remove(0).1.replace('\\', "");
        let notes = Cli::command().get_after_help().unwrap().to_string();
        for name in notes.split([' ', '(']).filter(|word| word.starts_with("ORANGE_")) {
            assert!(page.contains(name), "{name}");
        }
        let (_, statuses) = notes.split_once("Exit status: ").unwrap();
        for status in statuses.split(", ").filter_map(|part| part.split(' ').next()) {
            assert!(page.contains(&format!(".TP\nfB{status}fR\n")), "{status}");
        }
    }

    #[test]
    fn groff_takes_every_page_without_a_warning() {
        let groff = || {
            let mut groff = Command::new("groff");
            groff.args(["-ww", "-man", "-Tutf8", "-z"]).stdin(Stdio::piped()).stderr(Stdio::piped());
            groff.spawn()
        };
        for (file, page) in all() {
            let Ok(mut run) = groff() else {
                println!("SKIPPED: groff is not installed");
                return;
            };
            run.stdin.take().unwrap().write_all(page.as_bytes()).unwrap();
            let said = run.wait_with_output().unwrap();
            assert!(said.status.success() && said.stderr.is_empty(), "{file}: {said:?}\n{page}");
        }
    }
}
