//! Tells a workflow from the other YAML and TOML files of a folder, also where it cannot be parsed.

use orange_codegen::{Format, Source, suggest};

/// Which keys at the top of a file are those of a workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Likeness {
    /// It has them.
    Workflow,
    /// It has something spelled almost like them.
    Almost,
    /// It has nothing of the kind.
    Other,
}

/// Looks at the keys at the top of a text. It reads lines and no syntax, so that a file with a syntax error
/// is still recognised.
pub(crate) fn likeness(source: &Source) -> Likeness {
    if is_workflow(keys(source), |key, wanted| key == wanted) {
        Likeness::Workflow
    } else if is_workflow(keys(source), |key, wanted| suggest::closest(key, [wanted]).is_some()) {
        Likeness::Almost
    } else {
        Likeness::Other
    }
}

/// Stops at the first key that tells, which in a workflow comes early.
fn is_workflow<'t>(mut keys: impl Iterator<Item = &'t str>, is: impl Fn(&str, &'static str) -> bool) -> bool {
    let (mut header, mut steps) = (false, false);
    keys.any(|key| {
        header |= is(key, "workflow");
        steps |= is(key, "steps");
        (header && steps) || is(key, "states") || is(key, "transitions")
    })
}

fn keys(source: &Source) -> Box<dyn Iterator<Item = &str> + '_> {
    let text = source.text.strip_prefix('\u{feff}').unwrap_or(&source.text);
    match source.format {
        Format::Yaml => yaml_keys(text),
        Format::Toml => Box::new(toml_keys(text)),
    }
}

/// The keys of the lines that are indented like the first; of a text in braces, every word, for it has no lines
/// to go by.
fn yaml_keys(text: &str) -> Box<dyn Iterator<Item = &str> + '_> {
    let lines = || text.lines().filter(|line| is_content(line));
    let first = lines().next().unwrap_or_default();
    if first.trim_start().starts_with('{') {
        return Box::new(text.split(|it: char| !is_word(it)).filter(|it| !it.is_empty()));
    }
    let indent = first.len() - first.trim_start().len();
    Box::new(lines().filter_map(move |line| key(line.get(indent..)?, ':')))
}

fn is_content(line: &str) -> bool {
    let start = line.trim_start();
    !start.is_empty() && !start.starts_with('#') && !line.starts_with("---") && !line.starts_with('%')
}

/// The first words of the table headers, and the keys before the first of them.
fn toml_keys(text: &str) -> impl Iterator<Item = &str> {
    let mut in_table = false;
    text.lines().map(str::trim_start).filter_map(move |line| match line.strip_prefix('[') {
        Some(header) => {
            in_table = true;
            let header = header.trim_start_matches(['[', ' ', '\t']);
            key(header, ']').or_else(|| key(header, '.'))
        }
        None if in_table => None,
        None => key(line, '=').or_else(|| key(line, '.')),
    })
}

/// The word that a line begins with, in quotes or not, if this character follows it.
fn key(line: &str, follows: char) -> Option<&str> {
    let line = line.trim_start_matches(['"', '\'']);
    let end = line.find(|it| !is_word(it))?;
    let rest = line[end..].trim_start_matches(['"', '\'']).trim_start();
    (end > 0 && rest.starts_with(follows)).then(|| &line[..end])
}

fn is_word(it: char) -> bool {
    it.is_alphanumeric() || it == '_' || it == '-'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, text: &str, expect: Likeness) {
        assert_eq!(likeness(&Source::new(name, text)), expect, "{text:?}");
    }

    #[test]
    fn workflows() {
        check("a.yml", "name: a\nstates:\n  x:\n", Likeness::Workflow);
        check("a.yml", "\u{feff}# hello\n---\n  name: a\n  'states' : {}\n", Likeness::Workflow);
        check("a.yml", "{name: a, states: {x: {}}}", Likeness::Workflow);
        check("a.yml", "name: [unclosed\nstates:\n\tx: 1", Likeness::Workflow);
        check("a.yml", "workflow: {}\nsteps: []", Likeness::Workflow);
        check("a.toml", "[workflow]\nname = 'x'\n[[steps]]\nid = 'a'", Likeness::Workflow);
        check("a.toml", "name = 'x'\n[states.pending]\n", Likeness::Workflow);
        check("a.toml", "states.pending = {}\n", Likeness::Workflow);
    }

    #[test]
    fn misspelled_ones() {
        check("a.yml", "name: a\nsates:\n  x:\n", Likeness::Almost);
        check("a.toml", "[[transistions]]\n", Likeness::Almost);
    }

    #[test]
    fn other_files() {
        check("a.yml", "", Likeness::Other);
        check("a.yml", "- states\n", Likeness::Other);
        check("a.yml", "steps:\n  - run: make\n", Likeness::Other);
        check("a.yml", "on: push\njobs:\n  states: 1\n", Likeness::Other);
        check("a.toml", "[package]\nname = 'x'\nsteps = 1\n[workflow]\n", Likeness::Other);
        check("a.yml", "日本: x\n  states: 1", Likeness::Other);
    }
}
