//! `explain --site`: the pages of the checks lead to each other, and the index in `docs/lints` is theirs.
//!
//! `ORANGE_REWRITE=1 cargo test -p orange-workflow --test it site` writes that index again.

use std::fs;
use std::path::Path;

use orange_analysis::catalogue;

use crate::scratch::Scratch;

#[test]
fn the_site_has_an_index_and_every_page() {
    let scratch = Scratch::new();
    let run = scratch.run(&["explain", "--site", "a/pages"]);
    assert_eq!((run.exit, run.err.as_str()), (0, ""));
    let index = scratch.read("a/pages/index.md");
    for check in catalogue::all() {
        assert!(index.contains(&format!("| {} | [{}]({}.md) | ", check.code, check.name, check.name)));
        let page = scratch.read(&format!("a/pages/{}.md", check.name));
        assert!(page.starts_with(&format!(
            "# {} {}\n\n`{}` · [",
            check.code,
            check.name,
            check.level.as_str()
        )));
    }
    assert_eq!(fs::read_dir(scratch.path().join("a/pages")).unwrap().count(), catalogue::all().len() + 1);
}

#[test]
fn every_link_of_the_site_leads_somewhere() {
    let scratch = Scratch::new();
    assert_eq!(scratch.run(&["explain", "--site", "."]).exit, 0);
    let mut count = 0;
    for page in fs::read_dir(scratch.path()).unwrap() {
        let text = fs::read_to_string(page.unwrap().path()).unwrap();
        for (_, rest) in text.match_indices("](").map(|(at, it)| (at, &text[at + it.len()..])) {
            let (link, _) = rest.split_once(')').unwrap();
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = scratch.read(file);
            let is_heading =
                |line: &str| line.to_lowercase().replace(',', "").replace(' ', "-") == format!("##-{anchor}");
            assert!(anchor.is_empty() || target.lines().any(is_heading), "{link}");
            count += 1;
        }
    }
    assert!(count > 3 * catalogue::all().len(), "only {count} links");
}

#[test]
fn the_site_is_written_into_a_folder_or_not_at_all() {
    let scratch = Scratch::with(&[("file", "")]);
    let run = scratch.run(&["explain", "--site", "file"]);
    assert_eq!(run.exit, 2);
    assert!(run.err.starts_with("error: cannot write the pages into file: "), "{}", run.err);
    assert_eq!(scratch.run(&["explain", "--site", "a", "A07"]).exit, 2);
}

#[test]
fn the_index_of_the_pages_is_up_to_date() {
    let scratch = Scratch::new();
    assert_eq!(scratch.run(&["explain", "--site", "."]).exit, 0);
    let index = scratch.read("index.md");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/lints/README.md");
    if std::env::var_os("ORANGE_REWRITE").is_some() {
        fs::write(&path, &index).unwrap();
    }
    let now = fs::read_to_string(&path).unwrap_or_default();
    assert!(now == index, "docs/lints/README.md is stale: ORANGE_REWRITE=1 writes it again");
}
