//! Tells a workflow from other YAML and TOML files, and its kind, by the keys at its top, also where it cannot be parsed.

use crate::model::keys::{STRONG, TELLING};
use crate::source::{Format, Source};
use crate::suggest;
use crate::syntax::{self, Node, NodeKind};

/// Likeness of a file to a workflow, by the keys at its top.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Likeness {
    /// It has the keys of a workflow.
    Workflow(WorkflowKind),
    /// It has two things spelled almost like them: a workflow with a mistake, or a file of another program.
    Almost(WorkflowKind),
    /// It is not a workflow.
    #[default]
    Other,
}

/// Kind of workflow that a file defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkflowKind {
    /// States and transitions.
    Machine,
    /// A graph of steps.
    Steps,
}

impl Likeness {
    /// Reads a source and says what it is.
    pub fn of(source: &Source) -> Self {
        Self::of_tree(source, syntax::parse(source).0.as_ref())
    }

    /// Decides what a parsed source is. A tree has its keys; without one the lines of the text are read.
    pub fn of_tree(source: &Source, tree: Option<&Node>) -> Self {
        match tree {
            Some(tree) => Self::of_keys(&top_keys(tree)),
            None => Self::of_keys(&written_keys(source)),
        }
    }

    /// The kind to read the file as; none where it is not a workflow.
    pub fn kind(self) -> Option<WorkflowKind> {
        match self {
            Self::Workflow(kind) | Self::Almost(kind) => Some(kind),
            Self::Other => None,
        }
    }

    /// Files of other programs have a key `stages` or `workflow` too, so one weak sign is not enough.
    fn of_keys(keys: &[&str]) -> Self {
        let has = |wanted: &str| keys.contains(&wanted);
        let has_header_or_steps = has("steps") || has("workflow");
        let kind = match has_header_or_steps && !has("states") && !has("transitions") {
            true => WorkflowKind::Steps,
            false => WorkflowKind::Machine,
        };
        let tells = |key: &str| key == "name" || suggest::closest(key, TELLING.iter().copied()).is_some();
        if STRONG.iter().any(|key| has(key)) || (has("steps") && has("workflow")) {
            Self::Workflow(kind)
        } else if keys.iter().filter(|key| tells(key)).count() >= 2 {
            Self::Almost(kind)
        } else {
            Self::Other
        }
    }
}

fn top_keys(tree: &Node) -> Vec<&str> {
    let entries: &[(Node, Node)] = match &tree.kind {
        NodeKind::Mapping(entries) => entries,
        NodeKind::Scalar(_) | NodeKind::Sequence(_) => &[],
    };
    let keys = entries.iter().filter_map(|(key, _)| match &key.kind {
        NodeKind::Scalar(scalar) => Some(scalar.text.value.as_str()),
        NodeKind::Sequence(_) | NodeKind::Mapping(_) => None,
    });
    keys.collect()
}

fn written_keys(source: &Source) -> Vec<&str> {
    let text = source.text.strip_prefix('\u{feff}').unwrap_or(&source.text);
    match source.format {
        Format::Yaml => {
            Some(yaml_keys(text)).filter(|keys| !keys.is_empty()).unwrap_or_else(|| toml_keys(text).collect())
        }
        Format::Toml => toml_keys(text).collect(),
    }
}

/// The keys of the lines that are indented like the first, or by one blank more, which is a slip; of a text in braces, every word, for it
/// has no lines to go by.
fn yaml_keys(text: &str) -> Vec<&str> {
    let lines = || text.lines().filter(|line| is_content(line));
    let first = lines().next().unwrap_or_default();
    if first.trim_start().starts_with('{') {
        return text.split(|it: char| !is_word(it)).filter(|it| !it.is_empty()).collect();
    }
    let indent = first.len() - first.trim_start().len();
    lines()
        .filter_map(|line| {
            let line = line.get(indent..)?;
            key(line.strip_prefix(' ').unwrap_or(line), ':')
        })
        .collect()
}

fn is_content(line: &str) -> bool {
    let start = line.trim_start();
    !start.is_empty() && !start.starts_with('#') && !line.starts_with("---") && !line.starts_with('%')
}

/// The first words of the table headers, whose last bracket may be missing, and the keys before the first of them.
fn toml_keys(text: &str) -> impl Iterator<Item = &str> {
    let mut in_table = false;
    text.lines().map(str::trim_start).filter_map(move |line| match line.strip_prefix('[') {
        Some(header) => {
            in_table = true;
            let header = header.trim_start_matches(['[', ' ', '\t']);
            let open = || Some(header.trim_end()).filter(|it| !it.is_empty() && it.chars().all(is_word));
            key(header, ']').or_else(|| key(header, '.')).or_else(open)
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

    const MACHINE: Likeness = Likeness::Workflow(WorkflowKind::Machine);
    const STEPS: Likeness = Likeness::Workflow(WorkflowKind::Steps);

    #[track_caller]
    fn check(name: &str, text: &str, expect: Likeness) {
        assert_eq!(Likeness::of(&Source::new(name, text)), expect, "{text:?}");
    }

    #[test]
    fn workflows() {
        check("a.yml", "name: a\nstates:\n  x:\n", MACHINE);
        check("a.yml", "\u{feff}# hello\n---\n  name: a\n  'states' : {}\n", MACHINE);
        check("a.yml", "{name: a, states: {x: {}}}", MACHINE);
        check("a.yml", "workflow: {}\nsteps: []", STEPS);
        check("a.toml", "[workflow]\nname = 'x'\n[[steps]]\nid = 'a'", STEPS);
        check("a.toml", "name = 'x'\n[states.pending]\n", MACHINE);
        check("a.toml", "states.pending = {}\n", MACHINE);
    }

    #[test]
    fn broken_ones() {
        check("a.yml", "name: [unclosed\nstates:\n\tx: 1", MACHINE);
        check("a.yml", "{name: a, states: {x: {}", MACHINE);
        check("a.toml", "[workflow]\nname = 'x\n[[steps]]\nid = 'a'", STEPS);
        check("a.toml", "[[transitions]]\nfrom = \n", MACHINE);
        check("a.yml", "jobs: [unclosed\n", Likeness::Other);
        check("a.toml", "[workflow\nname = 'x'\n[[steps]]\nid = 'a'", STEPS);
        check("a.yml", "workflow:\n  name: x\n steps:\n  - {id: a}\n", STEPS);
        check("a.yml", "[workflow]\nname = 'x'\n[[steps]]\nid = 'a'", STEPS);
        check("a.yml", "[package]\nname = 'x'\n", Likeness::Other);
    }

    #[test]
    fn misspelled_ones() {
        check("a.yml", "name: a\nsates:\n  x:\n", Likeness::Almost(WorkflowKind::Machine));
        check("a.yml", "workflow: {name: a}\nstep: []\n", Likeness::Almost(WorkflowKind::Steps));
        check("a.toml", "name = 'a'\n[[transistions]]\n", Likeness::Almost(WorkflowKind::Machine));
    }

    #[test]
    fn other_files() {
        check("a.yml", "", Likeness::Other);
        check("a.yml", "- states\n", Likeness::Other);
        check("a.yml", "stages: [a]\n", Likeness::Other);
        check("a.yml", "steps:\n  - run: make\n", Likeness::Other);
        check("a.yml", "on: push\njobs:\n  states: 1\n", Likeness::Other);
        check("a.toml", "[package]\nname = 'x'\nsteps = 1\n[workflow]\n", Likeness::Other);
        check("a.yml", "日本: x\n  states: 1", Likeness::Other);
    }
}
