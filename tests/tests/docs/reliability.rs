//! The page about reliability has every failure mode, and something to say of each.

use crate::page::Page;

/// How many failure modes are collected.
const LAST: u32 = 55;

#[test]
fn every_failure_mode_is_on_the_page() {
    let page = Page::read("docs/reliability.md");
    let rows: Vec<Vec<&str>> =
        page.text.lines().filter(|line| line.starts_with("| F")).map(|row| cells(row)).collect();
    let expect: Vec<_> = (1..=LAST).map(|number| format!("F{number}")).collect();
    assert_eq!(rows.iter().map(|cells| cells[0]).collect::<Vec<_>>(), expect);
    for row in rows {
        assert!(row.len() == 3 && row.iter().all(|cell| !cell.is_empty()), "{row:?}");
        assert!(!is_unfinished(row[2]), "{row:?}");
    }
}

#[test]
fn a_row_that_is_still_to_be_written_is_noticed() {
    for cell in ["…", "`tests/tests/e2e/kills.rs::a`; …", "…; by design"] {
        assert!(is_unfinished(cell), "{cell}");
    }
    assert!(!is_unfinished("at once, after 10 s, 20 s … 300 s"));
}

/// Dots in the place of a statement; between two numbers they stand for those between.
fn is_unfinished(cell: &str) -> bool {
    cell.split(';').any(|part| part.trim().starts_with('…') || part.trim().ends_with('…'))
}

fn cells(row: &str) -> Vec<&str> {
    row.trim_matches('|').split('|').map(str::trim).collect()
}
