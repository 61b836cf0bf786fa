//! C81: a prompt has a command for a transition with a gate, and does not name what the gate wants.

use std::collections::BTreeSet;

use orange_core::{Hook, PromptId, has_word};

use super::C81;
use super::shared::{Prompted, named_section, prompt, started, verdict_lines};
use crate::lint::Facts;
use crate::lint::prompt_facts::{Command, PromptStart, StatusTarget};
use crate::search::task::ABSENT;
use crate::search::{ExitResult, SearchStep};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{Gate, RequiredFields, SectionGate, Transition};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let bare = Bare::of(facts);
    let mut reported = BTreeSet::new();
    let mut found = Vec::new();
    for granted in &facts.commands().granted {
        let it = prompt(facts, granted.prompt);
        let command = &it.reading.commands[granted.command];
        let (Some(start), StatusTarget::State(to)) = (it.starts.first(), command.target) else { continue };
        for place in &granted.from {
            let between = facts.machine.between(place.state, to);
            let open = between.filter(|id| facts.machine.transition(*id).by.allows(place.actor));
            let open: Vec<&Transition> = open.map(|id| facts.transition(id)).collect();
            let is_its_own = |gate: &&SectionGate| is_its_own(facts, granted.prompt, &it, gate);
            let Some((transition, unnamed)) = closed(&it, &open, is_its_own) else { continue };
            let missing: Vec<MissingPart<'_>> = unnamed
                .into_iter()
                .filter(|(gate, _)| bare.may_lack(facts, &it, gate))
                .filter(|(gate, _)| reported.insert((granted.prompt, gate.section.value.as_str())))
                .collect();
            if !missing.is_empty() {
                found.push(finding(facts, (&it, start), command, transition, &missing));
            }
        }
    }
    found
}

/// A section that a gate reads, and what the prompt does not name of it.
type MissingPart<'f> = (&'f SectionGate, Want);

/// The first of these transitions, when the prompt lacks something that a gate of each of them wants, with all that it lacks of
/// the first. Where one of several sections is enough, the first of them counts.
fn closed<'f>(
    it: &Prompted<'_>,
    transitions: &[&'f Transition],
    is_its_own: impl Fn(&&SectionGate) -> bool,
) -> Option<(&'f Transition, Vec<MissingPart<'f>>)> {
    let closing = |of: &&'f Transition| {
        let wanted = |gate: &'f SectionGate| Some((gate, wanted(it, gate)?));
        let unnamed = |gate: &'f Gate| gate.sections().iter().filter(|it| is_its_own(it)).find_map(wanted);
        let unnamed: Vec<_> = of.gates.iter().filter_map(unnamed).collect();
        (!unnamed.is_empty()).then_some((*of, unnamed))
    };
    let closed: Option<Vec<_>> = transitions.iter().map(closing).collect();
    closed?.into_iter().next()
}

/// True if a section is for an agent with this prompt to write: each of several reviewers writes its own.
fn is_its_own(facts: &Facts<'_>, id: PromptId, it: &Prompted<'_>, gate: &SectionGate) -> bool {
    let Some(name) = gate.reviewer.as_deref() else { return true };
    let starts = |hook: &Hook<'_>| {
        hook.spawn().is_some_and(|it| it.prompt == id)
            && hook.reviewer().is_none_or(|reviewer| reviewer == name)
    };
    // All of them are started again with one prompt.
    it.starts
        .iter()
        .any(|it| it.transition.is_none_or(|id| facts.machine.transition(id).hooks.iter().any(starts)))
}

/// Part that a gate wants and a prompt does not name.
#[derive(Clone, Copy, Debug)]
enum Want {
    Section,
    Verdict,
    /// The line that a strict verdict has to be.
    Line,
    Fields,
}

fn wanted(it: &Prompted<'_>, gate: &SectionGate) -> Option<Want> {
    let text = &it.prompt.text.value;
    if named_section(it, &gate.section.value).is_none() {
        return Some(Want::Section);
    }
    let names = |word: &str| has_word(text, word);
    let is_named = match &gate.verdict {
        Some(verdict) => names(&verdict.value),
        None => !gate.asks_for_verdict() || gate.words().any(names),
    };
    if !is_named {
        return Some(Want::Verdict);
    }
    if gate.asks_for_verdict() && gate.strict && !it.reading.verdict_line {
        return Some(Want::Line);
    }
    gate.fields.is_lacking(|field| text.contains(field)).then_some(Want::Fields)
}

fn finding(
    facts: &Facts<'_>,
    (it, start): (&Prompted<'_>, &PromptStart),
    command: &Command,
    transition: &Transition,
    missing: &[MissingPart<'_>],
) -> Diagnostic {
    let (name, arrow) = (it.name, facts.arrow(transition));
    let all = |tell: &dyn Fn(&MissingPart<'_>) -> String| {
        missing.iter().map(tell).collect::<Vec<_>>().join(" and ")
    };
    let (lacks, lines) = (all(&lacks), all(&|(gate, _)| format!("`{}`", line(gate))));
    let message =
        format!("`{name}` has a command for {arrow} and does not name {lacks}, which the gate wants");
    let (place, words) = started(facts, it, start);
    let mut story = vec![(place, words)];
    story.push((command.span, "the prompt names the command".to_owned()));
    let refused = missing.iter().map(|(gate, _)| gate.section.span);
    story.extend(refused.map(|span| (span, "the gate refuses it while this is missing".to_owned())));
    let mut found = Diagnostic::new(&C81, command.span, message);
    for (number, (span, text)) in (1..).zip(story) {
        found = found.label(span, format!("{number}. {text}"));
    }
    found.help(format!("write before the command: {lines}"))
}

/// Part that a prompt does not name, in words.
fn lacks((gate, want): &MissingPart<'_>) -> String {
    let section = &gate.section.value;
    match want {
        Want::Section => format!("`{section}`"),
        Want::Verdict => format!("the verdict of `{section}`"),
        Want::Line => format!("the line `Verdict: …` at the head of `{section}`"),
        Want::Fields => format!("a field of `{section}`"),
    }
}

/// A line for the prompt that asks for what a gate wants.
fn line(gate: &SectionGate) -> String {
    let section = &gate.section.value;
    let fields: Vec<&str> = gate.fields.names().iter().map(|it| it.value.as_str()).collect();
    let lines = match gate.fields {
        _ if fields.is_empty() => String::new(),
        RequiredFields::Any(_) => format!(", with a line that begins with {}:", fields.join(": or ")),
        RequiredFields::All(_) => format!(", with lines that begin with {}:", fields.join(": and ")),
    };
    if !gate.asks_for_verdict() {
        return format!("Write {section} to TASK.md{lines}");
    }
    format!("Write {section} to TASK.md; its first line is {}", verdict_lines(gate).replace('`', ""))
}

/// By prompt: the sections that are missing, or of which a gate has seen all, in some run when an agent is started with it.
struct Bare {
    absent: Vec<u32>,
    seen: Vec<u32>,
}

impl Bare {
    fn of(facts: &Facts<'_>) -> Self {
        let search = facts.search;
        let count = facts.machine.prompts.len();
        let mut bare = Self { absent: vec![0; count], seen: vec![0; count] };
        for (_, edge) in search.edges() {
            let task = search.task(edge.to);
            let again = || facts.machine.state(task.status).respawn;
            let hooks = match edge.step {
                SearchStep::Start | SearchStep::Respawn => again(),
                SearchStep::Exit {
                    outcome: ExitResult::Crash { respawned: true } | ExitResult::Waits { resumed: true },
                    ..
                } => again(),
                SearchStep::Exit { .. }
                | SearchStep::Request { .. }
                | SearchStep::Failure { .. }
                | SearchStep::Retry { .. }
                | SearchStep::Write(_)
                | SearchStep::Commit(_)
                | SearchStep::EndWhileWaiting(_) => None,
            };
            let taken = facts.starting(edge).into_iter().map(|(_, spawn)| spawn);
            for spawn in hooks.iter().filter_map(|it| it.spawn()).chain(taken) {
                let prompt = usize::from(spawn.prompt.0);
                for section in 0..search.sections.len() {
                    let written = task.section(section);
                    bare.absent[prompt] |= u32::from(written.content == ABSENT) << section;
                    bare.seen[prompt] |= u32::from(written.is_stale()) << section;
                }
            }
        }
        bare
    }

    /// True if an agent may be started with a prompt while the gate would refuse what there is.
    fn may_lack(&self, facts: &Facts<'_>, it: &Prompted<'_>, gate: &SectionGate) -> bool {
        let Some(section) = facts.search.sections.find(&gate.section.value) else { return false };
        let prompt = usize::from(it.id.0);
        let has = |of: &[u32]| of[prompt] >> section & 1 == 1;
        has(&self.absent) || (gate.fresh && has(&self.seen))
    }
}
