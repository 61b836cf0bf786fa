//! Workflows as people write them, here and for other systems: none has a finding, every property of each is proved, and its scenarios
//! pass. The tables on the page list them: `ORANGE_REWRITE=1 cargo test -p orange-tests --test docs` writes them again.

use std::fs;

use orange_analysis::prove::{Judged, ProofVerdict};
use orange_analysis::{lint, plan_proof, plan_scenario, prove, scenario};
use orange_codegen::lower::{Arena, PlanArena, lower, lower_plan};
use orange_codegen::source::SCENARIOS;
use orange_codegen::{Level, Source, compile};

use crate::page::{MarkdownPage, root};

const PAGE: &str = "docs/authoring.md";

/// A folder of workflows, and the head of their table on the page. The row of each has the comments at its beginning.
struct Table {
    folder: &'static str,
    head: &'static str,
    comments: usize,
}

const TABLES: [Table; 2] = [
    Table { folder: "tests/realistic", head: "| workflow | what it is for |\n|---|---|\n", comments: 1 },
    Table {
        folder: "tests/fixtures/others",
        head: "| workflow | what it does | what does not carry over |\n|---|---|---|\n",
        comments: 2,
    },
];

#[test]
fn realistic_workflows_have_no_finding() {
    for source in TABLES.iter().flat_map(sources) {
        let found = lint(&source).diagnostics.into_iter().filter(|it| it.level <= Level::Info);
        let found: Vec<String> = found.map(|it| format!("{} {}", it.code(), it.message)).collect();
        assert_eq!(found, [""; 0], "{}", source.path);
    }
}

#[test]
fn realistic_workflows_are_proved() {
    for source in TABLES.iter().flat_map(sources) {
        let checked = compile(&source).checked.unwrap();
        let properties = match plan_proof::prove(&checked, &source) {
            Some(proof) => proof.properties,
            None => prove::prove(&checked, &source).unwrap().properties,
        };
        let is_open = |it: &&Judged| !matches!(it.verdict, ProofVerdict::Proved { .. });
        let open: Vec<&str> = properties.iter().filter(is_open).map(|it| it.claim).collect();
        assert!(!properties.is_empty());
        assert_eq!(open, [""; 0], "{}", source.path);
    }
}

#[test]
fn scenarios_of_realistic_workflows_pass() {
    for source in TABLES.iter().flat_map(sources) {
        let stem = source.path.rsplit_once('.').unwrap().0;
        let scenarios = Source::read(format!("{stem}{SCENARIOS}").as_ref()).unwrap();
        let checked = compile(&source).checked.unwrap();
        let (plan_arena, arena) = (PlanArena::default(), Arena::default());
        let results: Vec<_> = match lower_plan(&checked, &plan_arena) {
            Some(plan) => {
                let all = plan_scenario::read(&scenarios).0.unwrap();
                all.iter().map(|it| (it.name.value.clone(), plan_scenario::run(&plan, it).failed)).collect()
            }
            None => {
                let machine = lower(&checked, &arena).unwrap();
                let all = scenario::read(&scenarios).0.unwrap().all;
                all.iter().map(|it| (it.name.value.clone(), scenario::run(&machine, it).failed)).collect()
            }
        };
        assert!(!results.is_empty(), "{}", source.path);
        for (name, failed) in results {
            assert_eq!(failed, [], "{}: {name}", source.path);
        }
    }
}

#[test]
fn realistic_workflows_are_on_the_page() {
    for table in &TABLES {
        let page = MarkdownPage::read(PAGE);
        let (before, rest) = page.text.split_once(table.head).unwrap();
        let end = rest.find("\n\n").unwrap();
        let rows: Vec<String> = sources(table).iter().map(|it| row(table, it)).collect();
        let rows = rows.join("\n");
        if std::env::var_os("ORANGE_REWRITE").is_some() {
            fs::write(root().join(PAGE), [before, table.head, &rows, &rest[end..]].concat()).unwrap();
        } else {
            assert_eq!(&rest[..end], rows, "ORANGE_REWRITE=1 writes the rows again");
        }
    }
}

/// A row of a table: the file, and the comments at its beginning.
fn row(table: &Table, source: &Source) -> String {
    let name = source.path.rsplit('/').next().unwrap();
    let lines = source.text.lines().take(table.comments);
    let comments: Vec<&str> = lines.map(|it| it.strip_prefix("# ").unwrap()).collect();
    let comments: Vec<&str> =
        comments.iter().map(|it| it.strip_prefix("Not carried over: ").unwrap_or(it)).collect();
    format!("| [{name}](../{}/{name}) | {} |", table.folder, comments.join(" | "))
}

/// The workflows of the folder of a table, by name.
fn sources(table: &Table) -> Vec<Source> {
    let files = fs::read_dir(root().join(table.folder)).unwrap().map(|it| it.unwrap().path());
    let mut paths: Vec<_> = files.filter(|it| !it.to_str().unwrap().ends_with(SCENARIOS)).collect();
    paths.sort();
    assert!(paths.len() >= 10);
    paths.iter().map(|it| Source::read(it).unwrap()).collect()
}
