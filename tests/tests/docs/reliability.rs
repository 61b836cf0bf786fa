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
    }
}

fn cells(row: &str) -> Vec<&str> {
    row.trim_matches('|').split('|').map(str::trim).collect()
}
