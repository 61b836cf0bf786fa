//! The picture in the README is the one that `orange-workflow graph` draws.
//!
//! `ORANGE_REWRITE=1 cargo test -p orange-tests --test docs` draws it anew.

use std::fs;
use std::process::Command;

use crate::page::{Page, root};
use crate::programs::others;
use crate::world::text;

/// What stands before such a picture, with the file that it shows.
const MARK: &str = "<!-- graph: ";

#[test]
fn the_readme_shows_what_graph_draws() {
    let page = Page::read("README.md");
    let marked = page.text.split_once(MARK).and_then(|(_, rest)| rest.split_once(" -->\n"));
    let (file, after) = marked.expect("README.md has a graph");
    let begin = page.text.len() - after.len();
    let end = begin + after.find("\n```\n").unwrap() + "\n```\n".len();
    let drawn = format!("```mermaid\n{}```\n", graph(file));
    if page.text[begin..end] == drawn {
        return;
    }
    if std::env::var_os("ORANGE_REWRITE").is_some() {
        let text = [&page.text[..begin], &drawn, &page.text[end..]].concat();
        fs::write(root().join(&page.path), text).unwrap();
        return;
    }
    panic!("the picture of {file} in README.md is stale: ORANGE_REWRITE=1 draws it anew");
}

fn graph(file: &str) -> String {
    let output =
        Command::new(others().join("orange-workflow")).args(["graph", file]).current_dir(root()).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}
