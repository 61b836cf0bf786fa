//! The pages of `orange`: one for each command that help shows, in the form that groff takes.

use std::process::{Command, Stdio};

use clap::CommandFactory;

use super::*;

fn all() -> Vec<(String, String)> {
    let pages = pages(Cli::command(), &ORANGE);
    pages.into_iter().map(|page| (page.file, page.text)).collect()
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
    let text = page("orange-task-update.1").replace('\\', "");
    assert!(text.contains("orange 0.1.0"), "{text}");
    assert!(text.contains("orange task update --status agent-review\n"), "{text}");
    let hidden = ["agent", "finish", "complete.1", "manual"];
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
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("share/man/man1");
    run(&folder).unwrap();
    for entry in fs::read_dir(&folder).unwrap() {
        let file = entry.unwrap().path();
        let mut groff = Command::new("groff");
        groff.args(["-ww", "-man", "-Tutf8", "-z"]).arg(&file).stdin(Stdio::null());
        let Ok(said) = groff.output() else {
            println!("SKIPPED: groff is not installed");
            return;
        };
        assert!(said.status.success() && said.stderr.is_empty(), "{}: {said:?}", file.display());
    }
}

#[test]
fn a_file_in_the_place_of_the_folder_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    fs::write(scratch.path().join("file"), "mine").unwrap();
    let error = run(&scratch.path().join("file/man1")).unwrap_err();
    assert!(error.message.contains("cannot make") && !error.help.is_empty(), "{error:?}");
    assert_eq!(fs::read_to_string(scratch.path().join("file")).unwrap(), "mine");
}
