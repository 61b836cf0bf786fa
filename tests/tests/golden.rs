//! Golden files: the Rust of each workflow, committed, compiled here under deny, and compared to the byte.
//!
//! `ORANGE_REWRITE=1 cargo test -p orange-tests --test golden` writes them again, which `cargo xtask codegen` does.
#![deny(warnings, clippy::all)]
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use orange_codegen::emit::{self, Header, Options};
use orange_codegen::source::is_scenario_file;
use orange_codegen::{Checked, PromptFiles, Source, compile};

/// Declares the golden files, and for each the proof that its typed functions say what its tables say.
macro_rules! golden {
    ($($file:ident $path:literal $workflow:ident;)*) => {
        const GOLDEN: &[&str] = &[$($path),*];

        $(mod $file {
            include!(concat!("../golden/", $path));

            #[test]
            fn the_typed_functions_say_what_the_tables_say() {
                orange_tests::check_typed!($workflow);
            }

            #[test]
            fn names_and_numbers_lead_back() {
                use $workflow::*;
                for state in State::ALL {
                    assert_eq!(state.as_str().parse(), Ok(state));
                    assert_eq!(State::from_id(state.id()), Some(state));
                    assert_eq!(MACHINE.state(state.id()).name, state.to_string());
                }
                for transition in Transition::ALL {
                    assert_eq!(Transition::try_from(transition.as_str()), Ok(transition));
                    let table = MACHINE.transition(transition.id());
                    assert_eq!((transition.from().id(), transition.to().id()), (table.from, table.to));
                }
                for prompt in Prompt::ALL {
                    assert_eq!(prompt.as_str().parse(), Ok(prompt));
                    assert_eq!(MACHINE.prompt(prompt.id()).name, prompt.as_str());
                }
                assert!(MACHINE.counters.iter().map(|it| it.name).eq(Counters::NAMES));
                assert!(MACHINE.counters.iter().map(|it| it.default).eq(Counters::default().values()));
            }
        })*
    };
}

/// Declares the golden files of step workflows, and for each the proof that it has the plan of its source.
macro_rules! golden_plans {
    ($($file:ident $path:literal $source:literal $workflow:ident $check:ident;)*) => {
        const GOLDEN_PLANS: &[&str] = &[$($path),*];

        $(mod $file {
            include!(concat!("../golden/", $path));

            #[test]
            fn the_typed_functions_say_what_the_plan_says() {
                orange_tests::$check!($workflow);
            }

            #[test]
            fn the_plan_is_that_of_the_source() {
                let checked = super::checked(std::path::Path::new($source));
                let arena = orange_codegen::lower::PlanArena::default();
                let plan = orange_codegen::lower::lower_plan(&checked, &arena).unwrap();
                assert_eq!(format!("{:#?}", $workflow::PLAN), format!("{plan:#?}"));
            }
        })*
    };
}

golden_plans! {
    dev_task "dev-task.rs" "workflows/dev-task.toml" dev_task check_plan;
    reports "reports.rs" "tests/fixtures/reports.toml" reports check_steps;
    steps "steps.rs" "tests/fixtures/steps.toml" steps check_plan;
    two_reviews "two-reviews.rs" "workflows/two-reviews.toml" two_reviews check_plan;
}

golden! {
    asks "asks.rs" asks;
    default "default.rs" default;
    ends "ends.rs" ends;
    minimal "minimal.rs" minimal;
    one_state "one-state.rs" one_state;
    panel "panel.rs" panel;
    persistent "persistent.rs" persistent;
    pull_request "pull-request.rs" pull_request;
    random_156 "random-156.rs" random_156;
    random_174 "random-174.rs" random_174;
    random_38 "random-38.rs" random_38;
    seed_default "seed-default.rs" default;
    seed_minimal "seed-minimal.rs" minimal;
    split "split.rs" split;
    timed "timed.rs" timed;
    type_ "type.rs" type_;
}

/// Folders whose workflows have golden files, as seen from the root of the repository.
const FOLDERS: [&str; 2] = ["tests/fixtures", "workflows"];

#[test]
fn the_compiler_writes_the_golden_files() {
    let rewrite = std::env::var_os("ORANGE_REWRITE").is_some();
    let mut stale = Vec::new();
    for path in workflows() {
        let golden = PathBuf::from("golden").join(path.with_extension("rs").file_name().unwrap());
        let code = emitted(&path);
        if fs::read_to_string(&golden).ok().as_deref() != Some(&code) {
            stale.push(golden.display().to_string());
            if rewrite {
                fs::write(&golden, code).unwrap();
            }
        }
    }
    assert!(rewrite || stale.is_empty(), "{stale:?} are stale: run `cargo xtask codegen` and read the diff");
}

#[test]
fn emission_is_the_same_twice() {
    for path in workflows() {
        assert_eq!(emitted(&path), emitted(&path));
    }
}

#[test]
fn each_workflow_has_a_golden_file_and_each_is_compiled() {
    let expected = file_names(workflows().into_iter().map(|path| path.with_extension("rs")));
    assert_eq!(file_names(list(Path::new("golden"))), expected);
    let mut compiled = [GOLDEN, GOLDEN_PLANS].concat();
    compiled.sort_unstable();
    assert_eq!(compiled, expected);
}

/// The workflows, as seen from the root of the repository. Of two with one name, only the one that ships has a golden file.
fn workflows() -> Vec<PathBuf> {
    let files = FOLDERS.iter().flat_map(|folder| list(&Path::new("..").join(folder)));
    let is_workflow = |path: &PathBuf| {
        path.extension().is_some_and(|it| it == "yml" || it == "toml")
            && !is_scenario_file(path)
            && !path.ends_with("Cargo.toml")
    };
    let named = files.filter(is_workflow).map(|path| (path.file_stem().unwrap().to_owned(), path));
    let workflows: BTreeMap<_, _> = named.collect();
    workflows.into_values().map(|path| path.strip_prefix("..").unwrap().to_owned()).collect()
}

fn list(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_file()).collect()
}

fn file_names(paths: impl IntoIterator<Item = PathBuf>) -> Vec<String> {
    let name = |path: PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    let mut names: Vec<_> = paths.into_iter().map(name).collect();
    names.sort();
    names
}

fn checked(path: &Path) -> Checked {
    let (shown, file) = (path.to_str().unwrap(), Path::new("..").join(path));
    let source = Source::new(shown, fs::read_to_string(&file).unwrap());
    let compilation = compile(&source.with_files(PromptFiles::beside(&file)));
    compilation.checked.unwrap_or_else(|| panic!("{shown}: {:?}", compilation.diagnostics))
}

fn emitted(path: &Path) -> String {
    let header = Header { source: path.to_str().unwrap(), command: "cargo xtask codegen" };
    emit::pretty(&checked(path), &Options::default(), header).unwrap()
}
