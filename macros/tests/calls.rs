//! The macro as its users meet it: what compiles, what does not, and what the Rust compiler then shows.
//!
//! `TRYBUILD=overwrite cargo test -p orange-macros --test calls` writes the expected messages again.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

/// Folders with the workflows that the cases name.
const WORKFLOWS: [&str; 3] = ["../tests/diagnostics", "../tests/fixtures", "tests/ui/workflows"];

#[test]
fn cases() {
    let project = project();
    for folder in WORKFLOWS {
        copy(Path::new(folder), &project.join(Path::new(folder).file_name().unwrap()));
    }
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*.rs");
    cases.compile_fail("tests/ui/fail/*.rs");
}

/// The package that trybuild compiles the cases in. Paths in a `workflow!` start from its folder.
fn project() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    target.join("tests/trybuild").join(env!("CARGO_PKG_NAME"))
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let copied = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &copied),
            false => drop(fs::copy(&path, copied).unwrap()),
        }
    }
}
