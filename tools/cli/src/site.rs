//! The pages of the checks as a small site of Markdown: an index, and pages with links to each other.

use orange_analysis::catalogue::{self, Check, Language};

use crate::output::put;

pub(crate) struct SitePage {
    /// The name of its file.
    pub file: String,
    /// Its text in Markdown.
    pub text: String,
}

const INDEX: &str = "index.md";

/// The index, then the page of every check in the order of the index.
pub(crate) fn pages() -> Vec<SitePage> {
    let checks = catalogue::all();
    let pages = (0..checks.len()).map(|at| page(checks, at));
    let index = SitePage { file: INDEX.to_owned(), text: index(checks) };
    std::iter::once(index).chain(pages).collect()
}

fn index(checks: &[&Check]) -> String {
    let mut out = String::from(
        "# The checks\n\n\
         What `orange-workflow check` finds. `error` means that nothing can be made of the workflow, `deny` fails the \
         run,\n`warn` and `info` are printed, `allow` is off; flags and `orange-workflow.toml` change every level but \
         `error`.\n\
         `orange-workflow explain CODE` prints a page. A check is for workflows of `tasks`, for `steps`, or for both. Where one could expect\n\
         it in the other language, its line has the check that asks the same there, or the reason why none does.\n",
    );
    for group in checks.chunk_by(|a, b| catalogue::title(a) == catalogue::title(b)) {
        let title = group.first().map_or("", |it| catalogue::title(it));
        put(
            &mut out,
            format_args!(
                "\n## {title}\n\n| code | check | level | for | what it finds |\n|---|---|---|---|---|\n"
            ),
        );
        for check in group {
            let Check { code, name, level, .. } = check;
            let summary = catalogue::summary(check).replace('\n', " ").replace('|', "\\|");
            put(
                &mut out,
                format_args!(
                    "| {code} | [{name}]({name}.md) | {} | {} | {summary} |\n",
                    level.as_str(),
                    languages(check)
                ),
            );
        }
    }
    out
}

/// The language that a check is for, and what is said of it in the other one.
fn languages(check: &Check) -> String {
    let (language, other) = match check.language {
        Language::Machines => (Language::Machines, Language::Steps),
        Language::Steps => (Language::Steps, Language::Machines),
        Language::Both => return Language::Both.as_str().to_owned(),
    };
    let [language, other] = [language, other].map(Language::as_str);
    match catalogue::other_language(check).map(|it| (it, catalogue::find(it))) {
        Some((_, Some(twin))) => format!("{language}; {other}: [{}]({}.md)", twin.code, twin.name),
        Some((reason, None)) => format!("{language}; {other}: {reason}"),
        None => language.to_owned(),
    }
}

fn page(checks: &[&Check], at: usize) -> SitePage {
    let check = checks[at];
    let (title, body) = catalogue::page(check).split_once("\n\n").unwrap_or((catalogue::page(check), ""));
    let group = catalogue::title(check);
    let anchor = group.to_lowercase().replace(' ', "-").replace(',', "");
    let level = check.level.as_str();
    let body = linked(body, check);
    let links = links(checks, at);
    let text = format!("{title}\n\n`{level}` · [{group}]({INDEX}#{anchor})\n\n{body}\n---\n\n{links}\n");
    SitePage { file: format!("{}.md", check.name), text }
}

/// Links to the previous page, to the index, and to the next page.
fn links(checks: &[&Check], at: usize) -> String {
    let link = |check: &&Check| format!("{} [{}]({}.md)", check.code, check.name, check.name);
    let before = at.checked_sub(1).and_then(|it| checks.get(it)).map(|it| format!("← {}", link(it)));
    let behind = checks.get(at + 1).map(|it| format!("{} →", link(it)));
    let index = format!("[all checks]({INDEX})");
    before.into_iter().chain([index]).chain(behind).collect::<Vec<_>>().join(" · ")
}

/// The text with links to the other checks that it names. Code blocks stay as they are.
fn linked(text: &str, own: &Check) -> String {
    let mut is_block = false;
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let is_fence = line.starts_with("```");
        is_block ^= is_fence;
        if is_block || is_fence {
            out.push_str(line);
        } else {
            out.push_str(&linked_line(line, own));
        }
    }
    out
}

/// Adds links to one line. Code between backticks becomes a link if it is exactly the name of a check.
fn linked_line(line: &str, own: &Check) -> String {
    let linked = |(at, part): (usize, &str)| {
        let is_code = !at.is_multiple_of(2);
        let other = catalogue::find(part).filter(|it| is_code && *it != own);
        match (is_code, other) {
            (true, Some(other)) => format!("[`{part}`]({}.md)", other.name),
            (true, None) => format!("`{part}`"),
            (false, _) => linked_words(part, own),
        }
    };
    line.split('`').enumerate().map(linked).collect()
}

/// Links words that are codes of checks.
fn linked_words(text: &str, own: &Check) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|it: char| it.is_ascii_alphanumeric()) {
        let end =
            rest[start..].find(|it: char| !it.is_ascii_alphanumeric()).map_or(rest.len(), |it| start + it);
        let word = &rest[start..end];
        out.push_str(&rest[..start]);
        match catalogue::all().iter().find(|it| it.code == word && **it != own) {
            Some(other) => put(&mut out, format_args!("[{word}]({}.md)", other.name)),
            None => out.push_str(word),
        }
        rest = &rest[end..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use orange_codegen::catalogue::{A07, A09};

    use super::*;

    #[test]
    fn other_checks_are_linked_and_code_is_left_alone() {
        let text = "As A07, or A09's `then-when-gap`:\n`explain A07`\n```\nA07\n```\n(A07)\n";
        let expect = "As [A07](ambiguous-transitions.md), or A09's `then-when-gap`:\n`explain A07`\n```\nA07\n```\n\
                      ([A07](ambiguous-transitions.md))\n";
        assert_eq!(linked(text, &A09), expect);
        assert_eq!(linked("see `then-when-gap`", &A07), "see [`then-when-gap`](then-when-gap.md)");
    }

    #[test]
    fn every_check_has_a_group() {
        assert!(catalogue::all().iter().all(|it| catalogue::title(it) != "Others"));
        let parts = catalogue::all().chunk_by(|a, b| catalogue::title(a) == catalogue::title(b));
        let mut titles: Vec<_> = parts.map(|it| catalogue::title(it[0])).collect();
        let count = titles.len();
        titles.sort_unstable();
        titles.dedup();
        assert_eq!(titles.len(), count, "a group is in two parts of the index");
    }
}
