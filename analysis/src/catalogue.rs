//! Every check there is: those of the compiler, the lints, and those that compare two workflows.

use std::sync::LazyLock;

pub use orange_codegen::catalogue::{Check, CheckPage};

use crate::{evolution, lint};

/// All checks, in the order of their groups and codes.
pub fn all() -> &'static [&'static Check] {
    static ALL: LazyLock<Vec<&'static Check>> = LazyLock::new(|| {
        let mut all: Vec<_> = pages().map(|(check, _)| *check).collect();
        all.sort_by_key(|it| (group(it), it.code));
        all
    });
    &ALL
}

/// Syntax comes before sense: group S before group A.
fn group(check: &Check) -> usize {
    "SABCD".find(|it| check.code.starts_with(it)).unwrap_or(usize::MAX)
}

fn pages() -> impl Iterator<Item = &'static CheckPage> {
    let lints = lint::lints().map(|it| &it.page);
    let kinds = evolution::KINDS.iter().map(|it| &it.page);
    orange_codegen::catalogue::PAGES.iter().chain(lints).chain(kinds)
}

/// The check with this code (in any case) or this name.
pub fn find(code_or_name: &str) -> Option<&'static Check> {
    all().iter().copied().find(|check| check.is(code_or_name))
}

/// A check's page in Markdown: what, why, an example that fires, the mended example.
pub fn page(check: &Check) -> &'static str {
    pages().find(|(it, _)| *it == check).map_or("", |(_, page)| *page)
}

/// Summary of a check in one line: the first paragraph of its page.
pub fn summary(check: &Check) -> &'static str {
    let page = page(check);
    let body = page.split_once("\n\n").map_or(page, |(_, body)| body);
    body.split_once("\n\n").map_or(body, |(first, _)| first).trim_end()
}

/// Title of a check's group, as the heading of its part of a list.
pub fn title(check: &Check) -> &'static str {
    let group = lint::GROUPS.iter().find(|group| group.has(check.code));
    match (check.code.split_at(1).0, group) {
        ("S", _) => "Files, syntax and keys",
        ("A", _) => "Names, guards and exits",
        ("D", _) => "Changes",
        (_, group) => group.map_or("Others", |group| group.title),
    }
}
