//! The pictures on the pages are the ones that `orange-workflow graph` draws.
//!
//! `ORANGE_REWRITE=1 cargo test -p orange-tests --test docs` draws them again.

use std::fs;
use std::process::Command;

use crate::page::{self, MarkdownPage, root};
use crate::programs::others;
use crate::world::text;

/// Mark before a picture, with the file that it shows.
const MARK: &str = "<!-- graph: ";

/// A picture and its place.
struct Picture {
    /// The workflow that it shows.
    file: String,
    format: &'static str,
    /// Its present content.
    now: String,
    place: DrawingTarget,
}

enum DrawingTarget {
    /// These bytes of the page.
    Block(std::ops::Range<usize>),
    /// A file, from the root of the project.
    File(String),
}

#[test]
fn the_pages_show_what_graph_draws() {
    let mut count = 0;
    for page in page::all() {
        for picture in pictures(&page) {
            check(&page, &picture);
            count += 1;
        }
    }
    assert!(count >= 2, "only {count} pictures were found");
}

fn check(page: &MarkdownPage, picture: &Picture) {
    let Picture { file, format, now, place } = picture;
    let drawn = graph(file, format);
    if *now == drawn {
        return;
    }
    let is_to_be_written = std::env::var_os("ORANGE_REWRITE").is_some();
    assert!(
        is_to_be_written,
        "the picture of {file} on {} is stale: ORANGE_REWRITE=1 draws it again",
        page.path
    );
    match place {
        DrawingTarget::File(path) => fs::write(root().join(path), drawn).unwrap(),
        DrawingTarget::Block(bytes) => {
            let text = [&page.text[..bytes.start], &drawn, &page.text[bytes.end..]].concat();
            fs::write(root().join(&page.path), text).unwrap();
        }
    }
}

/// Pictures behind the marks: blocks of Mermaid, or links to SVG files.
fn pictures(page: &MarkdownPage) -> Vec<Picture> {
    let marks = page.text.match_indices(MARK).map(|(at, _)| at + MARK.len());
    marks.map(|at| picture(page, at)).collect()
}

fn picture(page: &MarkdownPage, at: usize) -> Picture {
    let (file, after) = page.text[at..].split_once(" -->\n").unwrap();
    let begin = page.text.len() - after.len();
    let file = file.to_owned();
    if after.starts_with("```mermaid\n") {
        let begin = begin + "```mermaid\n".len();
        let end = begin + page.text[begin - 1..].find("\n```\n").unwrap();
        let now = page.text[begin..end].to_owned();
        return Picture { file, format: "mermaid", now, place: DrawingTarget::Block(begin..end) };
    }
    let link = after.split_once("](").and_then(|(_, rest)| rest.split_once(')')).map(|(link, _)| link);
    let link = link.unwrap_or_else(|| panic!("{}: no picture of {file}", page.path));
    let folder = page.path.rsplit_once('/').map(|(folder, _)| format!("{folder}/")).unwrap_or_default();
    let path = folder + link;
    let now = fs::read_to_string(root().join(&path)).unwrap_or_default();
    Picture { file, format: "svg", now, place: DrawingTarget::File(path) }
}

fn graph(file: &str, format: &str) -> String {
    let mut command = Command::new(others().join("orange-workflow"));
    let output = command.args(["graph", file, "--format", format]).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}
