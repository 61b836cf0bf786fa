//! `manual`: every command that help shows has a page that groff takes.

use std::fs;
use std::process::{Command, Stdio};

use crate::scratch::Scratch;

#[test]
fn every_command_that_is_shown_has_a_page() {
    let scratch = Scratch::with(&[("file", "mine")]);
    let run = scratch.run(&["manual", "share/man/man1"]);
    assert_eq!((run.exit, run.err.as_str()), (0, ""), "{}", run.out);
    let heads = |name: &str| {
        let page = scratch.read(&format!("share/man/man1/{name}"));
        let heads = page.lines().filter_map(|line| line.strip_prefix(".SH "));
        heads.collect::<Vec<_>>().join(", ").replace('"', "")
    };
    assert_eq!(
        heads("orange-workflow.1"),
        "NAME, SYNOPSIS, DESCRIPTION, OPTIONS, SUBCOMMANDS, EXIT STATUS, ENVIRONMENT, FILES, EXAMPLES, SEE ALSO"
    );
    assert_eq!(
        heads("orange-workflow-check.1"),
        "NAME, SYNOPSIS, DESCRIPTION, OPTIONS, NOTES, EXAMPLES, SEE ALSO"
    );
    for entry in fs::read_dir(scratch.path().join("share/man/man1")).unwrap() {
        let file = entry.unwrap().path();
        let mut groff = Command::new("groff");
        groff.args(["-ww", "-man", "-Tutf8", "-z"]).arg(&file).stdin(Stdio::null());
        let Ok(said) = groff.output() else {
            println!("SKIPPED: groff is not installed");
            break;
        };
        assert!(said.status.success() && said.stderr.is_empty(), "{}: {said:?}", file.display());
    }
    let refused = scratch.run(&["manual", "file/man1"]);
    assert_eq!((refused.exit, refused.out.as_str()), (2, ""));
    assert!(refused.err.contains("cannot write") && refused.err.contains("help: "), "{}", refused.err);
}
