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
    let text = source.text.strip_prefix('\u{feff}').unwrap_or(&source.text);
    let keys = match source.format {
        Format::Yaml => yaml_keys(text),
        Format::Toml => toml_keys(text),
    };
    if is_workflow(|wanted| keys.contains(&wanted)) {
        Likeness::Workflow
    } else if is_workflow(|wanted| keys.iter().any(|key| suggest::closest(key, [wanted]).is_some())) {
        Likeness::Almost
    } else {
        Likeness::Other
    }
}

fn is_workflow(has: impl Fn(&'static str) -> bool) -> bool {
    has("states") || has("transitions") || (has("workflow") && has("steps"))
}

/// The keys of the least indented lines; of a text in braces, every word, for it has no lines to go by.
fn yaml_keys(text: &str) -> Vec<&str> {
    let mut lines = text.lines().filter(|line| is_content(line));
    let Some(first) = lines.next() else { return Vec::new() };
    if first.trim_start().starts_with('{') {
        return text.split(|it: char| !is_word(it)).filter(|it| !it.is_empty()).collect();
    }
    let indent = first.len() - first.trim_start().len();
    let top = std::iter::once(first).chain(lines).filter_map(|line| line.get(indent..));
    top.filter_map(|line| key(line, ':')).collect()
}

fn is_content(line: &str) -> bool {
    let start = line.trim_start();
    !start.is_empty() && !start.starts_with('#') && !line.starts_with("---") && !line.starts_with('%')
}

/// The first words of the table headers, and the keys before the first of them.
fn toml_keys(text: &str) -> Vec<&str> {
    let mut keys = Vec::new();
    let mut in_table = false;
    for line in text.lines().map(str::trim_start) {
        if let Some(header) = line.strip_prefix('[') {
            in_table = true;
            let header = header.trim_start_matches(['[', ' ', '\t']);
            keys.extend(key(header, ']').or_else(|| key(header, '.')));
        } else if !in_table {
            keys.extend(key(line, '=').or_else(|| key(line, '.')));
        }
    }
    keys
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
