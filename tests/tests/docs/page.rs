//! The pages of the project as markdown: blocks, code in a line, links, headings, each with its line.

use std::fs;
use std::path::{Path, PathBuf};

/// One markdown file.
pub(crate) struct MarkdownPage {
    /// From the root of the project.
    pub path: String,
    pub text: String,
}

/// A fenced block.
pub(crate) struct FencedBlock<'p> {
    pub language: &'p str,
    /// The line of its first line of text, from 1.
    pub line: usize,
    pub text: String,
}

/// The project's folder.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Every page that people read.
pub(crate) fn all() -> Vec<MarkdownPage> {
    let mut paths = ["README.md", "AGENTS.md", "CHANGELOG.md"].map(str::to_owned).to_vec();
    for folder in ["docs", "docs/json", "docs/lints"] {
        let files = fs::read_dir(root().join(folder)).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        paths.extend(names.filter(|name| name.ends_with(".md")).map(|name| format!("{folder}/{name}")));
    }
    paths.sort();
    paths.into_iter().map(MarkdownPage::read).collect()
}

impl MarkdownPage {
    pub(crate) fn read(path: impl Into<String>) -> MarkdownPage {
        let path = path.into();
        let text = fs::read_to_string(root().join(&path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        MarkdownPage { path, text }
    }

    /// Its fenced blocks.
    pub(crate) fn blocks(&self) -> Vec<FencedBlock<'_>> {
        let mut blocks: Vec<FencedBlock<'_>> = Vec::new();
        let mut is_open = false;
        for (line, text) in self.lines() {
            match text.strip_prefix("```") {
                Some(_) if is_open => is_open = false,
                Some(language) => {
                    is_open = true;
                    blocks.push(FencedBlock {
                        language: language.trim(),
                        line: line + 1,
                        text: String::new(),
                    });
                }
                None if is_open => blocks.last_mut().unwrap().text += &format!("{text}\n"),
                None => {}
            }
        }
        assert!(!is_open, "{}: the last block is not closed", self.path);
        blocks
    }

    /// Its lines outside of blocks.
    pub(crate) fn prose(&self) -> Vec<(usize, &str)> {
        let mut is_open = false;
        let is_prose = |(_, text): &(usize, &str)| {
            let is_fence = text.starts_with("```");
            is_open ^= is_fence;
            !is_open && !is_fence
        };
        self.lines().filter(is_prose).collect()
    }

    /// The texts between backticks within one line.
    pub(crate) fn code(&self) -> Vec<(usize, &str)> {
        let in_line = |(line, text)| code_in(text).into_iter().map(move |code| (line, code));
        self.prose().into_iter().flat_map(in_line).collect()
    }

    /// The targets of its links.
    pub(crate) fn links(&self) -> Vec<(usize, &str)> {
        let in_line = |(line, text)| targets_in(text).into_iter().map(move |target| (line, target));
        self.prose().into_iter().flat_map(in_line).collect()
    }

    /// True if a heading has this anchor.
    pub(crate) fn has_anchor(&self, anchor: &str) -> bool {
        let anchor_of = |heading: &str| {
            let kept = |letter: &char| letter.is_alphanumeric() || [' ', '-', '_'].contains(letter);
            heading.trim().to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")
        };
        let headings = self.prose().into_iter().filter(|(_, text)| text.starts_with('#'));
        headings.map(|(_, text)| anchor_of(text.trim_start_matches('#'))).any(|found| found == anchor)
    }

    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines())
    }
}

/// The code spans of a line: as many backticks close one as have opened it.
fn code_in(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('`') {
        let inside = rest[start..].trim_start_matches('`');
        let ticks = &rest[start..rest.len() - inside.len()];
        let Some(end) = inside.find(ticks) else { break };
        found.push(&inside[..end]);
        rest = &inside[end + ticks.len()..];
    }
    found
}

fn targets_in(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    targets.map(|(target, _)| target).collect()
}

#[test]
fn a_page_is_taken_apart() {
    let text = "# A b!\n[x](y.md) `one` and ``two ` ticks``\n```sh\n`no` [n](o)\n```\nend\n";
    let page = MarkdownPage { path: "p.md".to_owned(), text: text.to_owned() };
    let block = &page.blocks()[0];
    assert_eq!((block.language, block.line, block.text.as_str()), ("sh", 4, "`no` [n](o)\n"));
    assert_eq!(page.code(), [(2, "one"), (2, "two ` ticks")]);
    assert_eq!(page.links(), [(2, "y.md")]);
    assert!(page.has_anchor("a-b") && !page.has_anchor("a"));
}

#[test]
fn every_link_leads_somewhere() {
    let mut dead = Vec::new();
    for page in all() {
        let folder = Path::new(&page.path).parent().unwrap();
        for (line, link) in page.links() {
            if link.contains("://") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let path = if path.is_empty() { PathBuf::from(&page.path) } else { folder.join(path) };
            let is_there = root().join(&path).exists();
            let has_anchor = || MarkdownPage::read(path.to_str().unwrap()).has_anchor(anchor);
            if !is_there || !anchor.is_empty() && !has_anchor() {
                dead.push(format!("{}:{line}: {link} leads nowhere", page.path));
            }
        }
    }
    assert!(dead.is_empty(), "{dead:#?}");
}
