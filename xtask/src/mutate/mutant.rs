//! The changes: everything in a workflow that can be left out or replaced by its like.

use std::collections::{BTreeMap, BTreeSet};

use orange_codegen::lower::{PlanArena, lower_plan};
use orange_codegen::syntax::{self, Node};
use orange_codegen::{LineIndex, PromptFiles, Source, Span, compile};

use super::tree::{entry, removed, replaced, text};
use crate::Result;

/// One small change of a workflow.
#[derive(Clone, Debug)]
pub(super) struct Mutant {
    /// MutantKind of the changed thing.
    pub kind: MutantKind,
    /// The place: `working → stuck`, hook 2 kill_session.
    pub place: String,
    /// The change: left out.
    pub change: String,
    /// The changed line.
    pub line: u32,
    /// True if it is a line of prose in which checks read nothing.
    pub is_prose: bool,
    /// The prompt file that is changed; without one, the workflow is.
    pub file: Option<String>,
    /// The whole changed file.
    pub text: String,
}

/// The kind of what is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MutantKind {
    State,
    Transition,
    Guard,
    Gate,
    Hook,
    ExitRule,
    Step,
    Dependency,
    Condition,
    Role,
    Result,
    Loop,
    Handler,
    Agent,
    Policy,
    Prompt,
}

impl MutantKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::State => "states",
            Self::Transition => "transitions",
            Self::Guard => "guards",
            Self::Gate => "gates",
            Self::Hook => "hooks",
            Self::ExitRule => "exit rules",
            Self::Step => "steps",
            Self::Dependency => "dependencies",
            Self::Condition => "conditions",
            Self::Role => "roles",
            Self::Result => "results",
            Self::Loop => "loops",
            Self::Handler => "handlers",
            Self::Agent => "agents",
            Self::Policy => "policy",
            Self::Prompt => "prompts",
        }
    }
}

impl Mutant {
    /// The change in one line, independent of the rest of the file.
    pub fn name(&self) -> String {
        format!("{}: {}", self.place, self.change)
    }

    /// The workflow with the change.
    pub fn applied(&self, source: &Source) -> Source {
        let mut source = source.clone();
        match (&self.file, &mut source.prompt_files) {
            (Some(file), PromptFiles::Given(prompts)) => {
                drop(prompts.insert(file.clone(), self.text.clone()))
            }
            (Some(_), PromptFiles::Folder(_) | PromptFiles::Over(..) | PromptFiles::Nowhere) | (None, _) => {
                source.text.clone_from(&self.text)
            }
        }
        source
    }
}

/// Every change to a workflow, in the order of its parts.
pub(super) fn all(source: &Source) -> Result<Vec<Mutant>> {
    let (tree, _) = syntax::parse(source);
    let tree = tree.ok_or_else(|| format!("{} cannot be parsed", source.path))?;
    let checked = compile(source).checked.ok_or_else(|| format!("{} does not compile", source.path))?;
    let arena = PlanArena::default();
    let mut maker =
        Maker { source, lines: LineIndex::new(&source.text), place: String::new(), made: Vec::new() };
    match lower_plan(&checked, &arena) {
        Some(plan) => maker.plan(&tree, &plan),
        None => maker.machine(&tree)?,
    }
    let mut seen = BTreeSet::new();
    maker.made.retain(|it| it.text != source.text && seen.insert((it.file.clone(), it.text.clone())));
    number(&mut maker.made);
    Ok(maker.made)
}

/// Numbers places with equal names.
fn number(mutants: &mut [Mutant]) {
    let mut count: BTreeMap<String, u32> = BTreeMap::new();
    for mutant in mutants {
        let times = count.entry(mutant.name()).or_default();
        *times += 1;
        if *times > 1 {
            mutant.change = format!("{} ({times})", mutant.change);
        }
    }
}

/// Makes the changes of one workflow.
pub(super) struct Maker<'m> {
    pub source: &'m Source,
    pub lines: LineIndex<'m>,
    /// The place of the current change.
    pub place: String,
    pub made: Vec<Mutant>,
}

impl<'m> Maker<'m> {
    /// Changes every number by one.
    pub fn numbers(&mut self, kind: MutantKind, span: Span) {
        let written = &self.source.text[span.range()];
        for (at, digits) in numbers(written) {
            let start = span.start + at as u32;
            let place = Span::new(start, start + digits.len() as u32);
            let value: u32 = digits.parse().unwrap_or_default();
            for other in [value.checked_add(1), value.checked_sub(1)].into_iter().flatten() {
                let change = format!("{other} for {digits} in {written}");
                self.push(kind, change, place, replaced(self.source, place, &other.to_string()));
            }
        }
    }

    pub fn leave_out(&mut self, kind: MutantKind, what: &str, span: Span) {
        if let Some(text) = removed(self.source, span) {
            self.push(kind, format!("{what} left out"), span, text);
        }
    }

    pub fn flip(&mut self, kind: MutantKind, node: &'m Node, key: &str) {
        if let Some(flag) = entry(node, key) {
            self.another(kind, key, flag.value, &["true", "false"]);
        }
    }

    /// Replaces a word by the next one of its kind.
    pub fn another(&mut self, kind: MutantKind, what: &str, node: &'m Node, words: &[&str]) {
        let at = words.iter().position(|it| *it == text(node)).map_or(0, |at| at + 1);
        if let Some(other) = words.get(at % words.len().max(1)) {
            self.replace(kind, what, node, other);
        }
    }

    /// Replaces a word by another one, in quotes if it has some.
    pub fn replace(&mut self, kind: MutantKind, what: &str, node: &'m Node, other: &str) {
        let is_quoted = self.source.text[node.span.range()].starts_with('"');
        let written = if is_quoted { format!("\"{other}\"") } else { other.to_owned() };
        let changed = replaced(self.source, node.span, &written);
        self.push(kind, format!("{what} `{other}` for `{}`", text(node)), node.span, changed);
    }

    pub fn push(&mut self, kind: MutantKind, change: String, span: Span, text: String) {
        let (place, line) = (self.place.clone(), self.lines.position(span.start).line);
        self.made.push(Mutant { kind, place, change, line, is_prose: false, file: None, text });
    }
}

/// The numbers in a text, with their offsets.
fn numbers(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    for part in text.split_inclusive(|it: char| !it.is_ascii_digit()) {
        let digits = part.trim_end_matches(|it: char| !it.is_ascii_digit());
        if !digits.is_empty() {
            found.push((at, digits));
        }
        at += part.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_where_they_stand() {
        assert_eq!(numbers("\"round >= 12 || x<3\""), [(10, "12"), (18, "3")]);
        assert_eq!(numbers("none"), []);
    }

    #[test]
    fn every_change_is_another_text_and_has_another_name() {
        let text = "name: flow\nstates:\n  a: {terminal: false, respawn_prompt: p}\n  b: {terminal: true}\ntransitions:\n  - {from: a, to: b, when: \"review_round < 2\", gate: {section: \"## S\", verdict: PASS}, hooks: [{action: kill_session}, {action: release_workspace}]}\nprompts:\n  p: |\n    Hello.\n    --status b\n";
        let source = Source::new("flow.yml", text);
        let mutants = all(&source).unwrap();
        let names: BTreeSet<String> = mutants.iter().map(Mutant::name).collect();
        assert_eq!(names.len(), mutants.len());
        assert!(mutants.iter().all(|it| it.text != text));
        let kinds: BTreeSet<MutantKind> = mutants.iter().map(|it| it.kind).collect();
        assert_eq!(kinds.len(), 6);
    }
}
