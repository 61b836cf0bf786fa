//! Merges the findings of one fault into one finding: those that follow from the cause become its labels.

use std::collections::BTreeMap;

use orange_codegen::check::Checked;
use orange_codegen::diag::{Diagnostic, Edit, Fix, Label, Level};
use orange_codegen::model::{Definition, StateId, Workflow};
use orange_codegen::span::Span;

/// Common ground of two findings that are about one fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    /// They point at one transition, exit rule, state, prompt or step.
    Part,
    /// They are about one state, or about parts of it.
    State,
    /// They stand in one workflow.
    Workflow,
}

use Link::{Part, State, Workflow as Anywhere};

/// Each check with the checks from which its findings can follow. Checks nearer to a cause come first.
const CAUSES: &[(&str, &[(&str, Link)])] = &[
    ("A03", &[("A03", Part)]),
    ("A09", &[("A09", Part)]),
    ("B05", &[("B02", Part)]),
    ("B26", &[("B26", Part)]),
    ("B27", &[("B07", Part), ("B27", Part)]),
    ("B09", &[("B08", Part)]),
    ("B11", &[("B08", Anywhere), ("B09", Anywhere)]),
    ("B21", &[("B14", Part), ("B21", Part)]),
    ("B17", &[("B10", Part), ("B21", Part)]),
    ("B22", &[("B14", Part)]),
    ("B25", &[("B15", Anywhere)]),
    ("B20", &[("B14", Anywhere), ("B25", Part)]),
    ("B24", &[("B20", Part)]),
    ("CA2", &[("C40", State)]),
    ("C60", &[("C40", State), ("CA2", Part)]),
    ("CC5", &[("C40", State), ("C60", State), ("C67", Part)]),
    ("C61", &[("C63", State), ("C60", Part), ("CA2", Part), ("CC5", State)]),
    ("C46", &[("C15", Part), ("C46", Part), ("C60", State), ("C61", State), ("CA2", State)]),
    ("C62", &[("C40", State), ("C60", Part), ("C62", Part)]),
    ("CA0", &[("C15", Part), ("C40", State), ("C62", State)]),
    ("C4C", &[("C62", Part), ("C4C", Part)]),
    ("C6B", &[("C60", Part), ("C62", Part)]),
    ("C29", &[("C62", Part), ("C4C", Part)]),
    ("C12", &[("C15", Part), ("C40", State), ("C09", State), ("C62", Part), ("C12", Part)]),
    ("CA1", &[("C15", Part), ("C40", State), ("C12", Part)]),
    ("C42", &[("C15", Part), ("C40", Part), ("C8A", Part), ("CA1", Part), ("C12", Part), ("C42", Part)]),
    ("C43", &[("C15", Part), ("C41", Part)]),
    ("C45", &[("C15", Part), ("C41", Part), ("C42", Part), ("C45", Part)]),
    ("C44", &[("C15", Part), ("C41", Part), ("C42", Part), ("C43", Part)]),
    ("C47", &[("C4F", State), ("C62", Part)]),
    ("C05", &[("C25", Anywhere), ("C47", State), ("C46", State), ("C43", State), ("C05", Part)]),
    ("C49", &[("C15", Part), ("CA1", Part)]),
    (
        "C4E",
        &[
            ("C15", Part),
            ("C12", Part),
            ("C41", Part),
            ("C45", Part),
            ("C42", Part),
            ("C43", Part),
            ("C49", Part),
            ("CA1", Part),
            ("C05", Part),
            ("C46", State),
            ("C4E", Part),
        ],
    ),
    ("C68", &[("C15", Part), ("C62", Part), ("C12", Part), ("C4E", Part)]),
    ("C8B", &[("C41", Part), ("C45", Anywhere)]),
    ("C81", &[("C15", Part), ("C42", Part), ("C12", Part), ("CA0", State), ("C81", Part)]),
    ("C80", &[("C62", Part), ("C12", State), ("C40", State), ("C60", State), ("C61", State), ("CA2", State)]),
    (
        "C82",
        &[
            ("C80", Part),
            ("C8B", Part),
            ("C62", Part),
            ("C40", State),
            ("CA0", State),
            ("CA2", Part),
            ("C82", Part),
        ],
    ),
    (
        "C86",
        &[
            ("C15", Part),
            ("C80", Part),
            ("C82", Part),
            ("C62", Part),
            ("C4C", Part),
            ("C12", State),
            ("C40", State),
        ],
    ),
    (
        "C83",
        &[
            ("C08", Anywhere),
            ("C40", Anywhere),
            ("C68", Anywhere),
            ("C10", Anywhere),
            ("C4A", Anywhere),
            ("CA0", Anywhere),
            ("C82", Anywhere),
            ("C86", Anywhere),
        ],
    ),
    ("CA3", &[("CA0", State), ("CA1", Part), ("CA2", State), ("C60", State)]),
    ("CC0", &[("C40", State)]),
    ("CC1", &[("C40", State), ("CC0", State)]),
    ("CC2", &[("C25", Anywhere), ("C05", State), ("C06", State)]),
    ("C26", &[("C09", State)]),
];

/// The most labels that a finding gets for findings that follow from it.
const MAX_LABELS: usize = 4;

/// Leaves out the findings that follow from other findings of a workflow, and makes them labels of those.
pub fn only_causes(checked: Option<&Checked>, mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    found.sort_by_key(order);
    let parts = checked.map(|it| parts(it.definition())).unwrap_or_default();
    // Each fault is a list of findings, the first of them its cause.
    let mut faults: Vec<Vec<&Diagnostic>> = Vec::new();
    // By subject and code: the index of the first fault that has such a finding.
    let mut known: BTreeMap<Subject<'_>, BTreeMap<&str, usize>> = BTreeMap::new();
    for it in &found {
        let subjects = subjects(it, &parts);
        let same = subjects.iter().find_map(|subject| {
            let others = known.get(subject).into_iter().flatten();
            others.filter(|(code, _)| subject.links(code, it.code())).map(|(_, fault)| *fault).min()
        });
        let fault = same.unwrap_or(faults.len());
        match faults.get_mut(fault) {
            Some(fault) => fault.push(it),
            None => faults.push(vec![it]),
        }
        for subject in subjects {
            known.entry(subject).or_default().entry(it.code()).or_insert(fault);
        }
    }
    let all = |fault: Vec<&Diagnostic>| fault.into_iter().cloned().collect();
    faults.into_iter().filter_map(|fault| one_finding(all(fault))).collect()
}

/// The one finding that stands for all findings of one fault.
pub fn one_finding(mut fault: Vec<Diagnostic>) -> Option<Diagnostic> {
    fault.sort_by_key(order);
    let (cause, rest) = fault.split_first()?;
    let left_out = rest.len().saturating_sub(MAX_LABELS);
    let also = |mut cause: Diagnostic, (number, it): (usize, &Diagnostic)| {
        let is_last = number + 1 == MAX_LABELS && left_out > 0;
        let more = if is_last { format!(", and {left_out} more") } else { String::new() };
        let message = format!("also: {} ({}){more}", it.message, it.code());
        cause.labels.push(Label { span: it.span, file: it.file.clone(), message });
        cause
    };
    let mut whole = rest.iter().take(MAX_LABELS).enumerate().fold(cause.clone(), also);
    whole.fix = whole.fix.map(|fix| fixed_everywhere(fix, rest.iter().filter_map(|it| it.fix.as_ref())));
    let of_file =
        |it: &&Diagnostic| it.file.as_ref().map(|it| &it.file) == cause.file.as_ref().map(|it| &it.file);
    let file_fixes = rest.iter().filter(of_file).filter_map(|it| it.file_fix.as_ref());
    whole.file_fix = whole.file_fix.map(|fix| fixed_everywhere(fix, file_fixes));
    Some(if rest.is_empty() { whole } else { Diagnostic { fault, ..whole } })
}

/// The fix of a cause, with the edits of equal fixes from the rest of its fault.
fn fixed_everywhere<'f>(mut fix: Fix, rest: impl Iterator<Item = &'f Fix>) -> Fix {
    for other in rest.filter(|it| it.title == fix.title && it.safe == fix.safe) {
        let is_apart = |edit: &Edit| {
            let overlaps = |it: &Edit| edit.span.start < it.span.end && it.span.start < edit.span.end;
            !fix.edits.iter().any(|it| it == edit || overlaps(it))
        };
        let new: Vec<Edit> = other.edits.iter().filter(|it| is_apart(it)).cloned().collect();
        // A fix is added as a whole or not at all.
        if new.len() == other.edits.len() {
            fix.edits.extend(new);
        }
    }
    fix
}

/// The sort key of findings: the worst level first, then the check nearest to a cause, then the first place.
fn order(it: &Diagnostic) -> (Level, usize, u32) {
    (it.level, rank(it.code()), it.span.start)
}

/// Distance of a check from a cause: 0 for a check that follows from no other.
fn rank(code: &str) -> usize {
    CAUSES.iter().position(|(it, _)| *it == code).map_or(0, |at| at + 1)
}

/// Subject of a finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Subject<'d> {
    /// A missing or unknown name that the finding is about.
    Named(&'d str),
    /// A part of the workflow, by the offset of its beginning.
    Part(u32),
    /// A span at which the finding points.
    Place(u32, u32),
    /// A state that a part is, or belongs to.
    State(StateId),
    /// The workflow.
    Workflow,
}

impl Subject<'_> {
    /// True if two findings about this subject are about one fault.
    fn links(&self, one: &str, other: &str) -> bool {
        let follows = |it: &str, from: &str| {
            let causes = CAUSES.iter().filter(|(code, _)| *code == it).flat_map(|(_, causes)| *causes);
            causes.filter(|(cause, _)| *cause == from).map(|(_, link)| *link).next()
        };
        let link = follows(one, other).or_else(|| follows(other, one));
        match self {
            Self::Named(_) => true,
            Self::Part(_) | Self::Place(..) => matches!(link, Some(Link::Part | Link::State)),
            Self::State(_) => link == Some(Link::State),
            Self::Workflow => link == Some(Link::Workflow),
        }
    }
}

fn subjects<'d>(found: &'d Diagnostic, declared: &[DeclaredPart]) -> Vec<Subject<'d>> {
    let spans = || [found.span].into_iter().chain(found.labels.iter().map(|label| label.span));
    let part = |span: Span| {
        let before = declared.partition_point(|it| it.span.start <= span.start);
        declared[..before].last().filter(|it| span.start < it.span.end)
    };
    let parts: Vec<&DeclaredPart> = spans().filter_map(part).collect();
    let named = found.about.iter().map(|it| Subject::Named(it));
    let states = parts.iter().flat_map(|it| &it.states).map(|it| Subject::State(*it));
    named
        .chain(spans().map(|it| Subject::Place(it.start, it.end)))
        .chain(parts.iter().map(|it| Subject::Part(it.span.start)))
        .chain(states)
        .chain([Subject::Workflow])
        .collect()
}

/// A part of a workflow.
struct DeclaredPart {
    span: Span,
    states: Vec<StateId>,
}

/// The parts of a workflow, each with all that it declares, in source order.
fn parts(definition: &Definition) -> Vec<DeclaredPart> {
    let mut parts = match definition {
        Definition::Machine(workflow) => of_machine(workflow),
        // The span of a table is only its header. The part reaches to the next table.
        Definition::Steps(steps) => steps.steps.iter().map(|it| begins(it.span, Vec::new())).collect(),
    };
    parts.sort_unstable_by_key(|part| part.span.start);
    for at in 1..parts.len() {
        parts[at - 1].span.end = parts[at - 1].span.end.min(parts[at].span.start);
    }
    parts
}

fn of_machine(workflow: &Workflow) -> Vec<DeclaredPart> {
    let states = (0u16..).map(StateId).zip(&workflow.states);
    let states = states.map(|(id, it)| begins(it.name.span, vec![id]));
    let transitions = workflow.transitions.iter().map(|it| {
        let states = vec![it.from.value, it.to.value];
        DeclaredPart { span: it.span, states }
    });
    let rules = workflow.exit_monitoring.rules.iter();
    let rules = rules.map(|it| DeclaredPart { span: it.span, states: vec![it.status.value] });
    let watch = workflow.watch.iter();
    let watch = watch.map(|it| DeclaredPart { span: it.span, states: vec![it.status.value] });
    let prompts = workflow.prompts.iter().map(|it| begins(it.name.span, Vec::new()));
    states.chain(transitions).chain(rules).chain(watch).chain(prompts).collect()
}

/// A part that reaches to the next one.
fn begins(name: Span, states: Vec<StateId>) -> DeclaredPart {
    DeclaredPart { span: Span::new(name.start, u32::MAX), states }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orange_codegen::source::Source;

    const DEFAULT: &str = include_str!("../../../workflows/default.yml");

    /// Checks the codes of the findings after these changes, each with the number of labels for findings that follow from it.
    #[track_caller]
    fn check(changes: &[(&str, &str)], expect: &[(&str, usize)]) {
        let changed = changes.iter().fold(DEFAULT.to_owned(), |text, (from, to)| {
            assert!(text.contains(from), "{from}");
            text.replacen(from, to, 1)
        });
        let found = crate::lint(&Source::new("default.yml", changed)).diagnostics;
        let also =
            |it: &Diagnostic| it.labels.iter().filter(|label| label.message.starts_with("also: ")).count();
        let shown = found.iter().filter(|it| it.level <= Level::Info);
        let found: Vec<(&str, usize)> = shown.map(|it| (it.code(), also(it))).collect();
        assert_eq!(found, expect);
    }

    const CANCELLED: (&str, &str) = (
        "  - from: clarification\n    to: cancelled\n    hooks:\n      - action: kill_session\n",
        "  - from: clarification\n    to: cancelled\n    hooks:\n",
    );

    #[test]
    fn what_follows_from_a_fault_is_a_label_of_it() {
        check(&[("respawn_prompt: worker_respawn", "respawn_prompt: reviewer")], &[("CA0", MAX_LABELS)]);
        check(&[("      fresh: true\n    reset", "    reset")], &[("C49", 1)]);
        check(&[CANCELLED], &[("C60", 0)]);
    }

    /// A gate that is misspelled or left out is reported at its own place, and there is one finding.
    #[test]
    fn a_wrong_gate_is_reported_at_its_own_place() {
        let gates = DEFAULT.match_indices("    gate:\n      section: \"## ");
        for (at, _) in gates {
            let transition = DEFAULT[..at].rfind("  - from: ").unwrap();
            let rest = ["\n    reset:", "\n    when:", "\n    hooks:", "\n    # orange:"];
            let end = rest.iter().filter_map(|it| DEFAULT[at..].find(it)).min().unwrap() + at + 1;
            let section = at + DEFAULT[at..].find("## ").unwrap() + 3;
            let misspelled = [&DEFAULT[..section], "X", &DEFAULT[section..]].concat();
            for (text, code) in
                [(misspelled, Some("C15")), ([&DEFAULT[..at], &DEFAULT[end..]].concat(), None)]
            {
                let found = crate::lint(&Source::new("default.yml", text)).diagnostics;
                let shown: Vec<_> = found.iter().filter(|it| it.level <= Level::Info).collect();
                let [one] = shown[..] else { panic!("{}: {shown:#?}", &DEFAULT[transition..at]) };
                let is_there = (transition..=end).contains(&(one.span.start as usize));
                let is_its = code.is_none_or(|code| one.code() == code);
                assert!(is_there && is_its, "{}: {one:#?}", &DEFAULT[transition..at]);
            }
        }
    }

    #[test]
    fn the_fix_of_a_misspelled_name_reaches_every_place() {
        check(&[("\n  stuck:\n", "\n  stuk:\n")], &[("A01", MAX_LABELS)]);
        let text = DEFAULT.replacen("\n  stuck:\n", "\n  stuk:\n", 1);
        let found = crate::lint(&Source::new("default.yml", text.clone())).diagnostics;
        let fix = found.iter().find_map(|it| it.fix.as_ref()).unwrap();
        let written: Vec<_> = fix.edits.iter().map(|it| &text[it.span.range()]).collect();
        assert_eq!(written, ["stuck"; 7]);
    }

    #[test]
    fn two_faults_are_two_findings() {
        check(&[CANCELLED, ("      fresh: true\n    reset", "    reset")], &[("C60", 0), ("C49", 1)]);
        check(&[("# Task: {summary}", "# Task: {sumary}"), CANCELLED], &[("C60", 0), ("C84", 0)]);
    }

    #[test]
    fn nothing_follows_from_what_is_farther_from_a_cause() {
        for (code, causes) in CAUSES {
            let (farther, _): (Vec<_>, Vec<_>) =
                causes.iter().map(|(cause, _)| *cause).partition(|cause| rank(cause) > rank(code));
            assert_eq!(farther, [""; 0], "{code}");
        }
    }
}
