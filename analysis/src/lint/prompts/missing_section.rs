//! C81: a prompt lets its agent leave by a gate, and never asks for what the gate wants.

use std::collections::BTreeSet;

use orange_core::has_word;

use super::C81;
use super::shared::{Prompted, asked_section, named_sections, prompts, started};
use crate::lint::Facts;
use crate::lint::prompt_facts::{Command, Start, survives};
use crate::search::sections::ABSENT;
use crate::search::{ExitResult, SearchStep};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{Gate, Transition};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let bare = Bare::of(facts);
    prompts(facts).flat_map(|it| in_prompt(facts, &it, &bare)).collect()
}

fn in_prompt(facts: &Facts<'_>, it: &Prompted<'_>, bare: &Bare) -> Vec<Diagnostic> {
    let mut told = BTreeSet::new();
    let mut found = Vec::new();
    for start in it.starts {
        for (command, ways) in leaves(facts, it, start) {
            let Some((transition, gate)) = closed(it, &ways) else { continue };
            let Some(want) = wanted(it, gate) else { continue };
            if bare.may_lack(facts, it, gate) && told.insert(gate.section.value.as_str()) {
                found.push(finding(facts, (it, start), command, (transition, gate, want)));
            }
        }
    }
    found
}

/// The commands that an agent gives after such a start, each with the transitions that it may take.
fn leaves<'f>(
    facts: &Facts<'f>,
    it: &Prompted<'f>,
    start: &Start,
) -> Vec<(&'f Command, Vec<&'f Transition>)> {
    let mut place = start.place;
    let mut found = Vec::new();
    for (command, to) in it.reading.told_commands() {
        if !command.concerns(place.state) || !place.may_request(facts.machine, to) {
            continue;
        }
        let open = |id: &_| facts.machine.transition(*id).by.allows(place.actor);
        let ids: Vec<_> = facts.machine.between(place.state, to).filter(open).collect();
        found.push((command, ids.iter().map(|id| facts.transition(*id)).collect()));
        if !command.conditional {
            if !ids.iter().any(|id| survives(facts.machine, *id, place.actor)) {
                break;
            }
            place.state = to;
        }
    }
    found
}

/// The first of these transitions, when every one has a gate of which the prompt does not ask for everything.
fn closed<'f>(it: &Prompted<'_>, ways: &[&'f Transition]) -> Option<(&'f Transition, &'f Gate)> {
    let gates: Option<Vec<_>> = ways.iter().map(|way| Some((*way, way.gate.as_ref()?))).collect();
    let gates = gates?;
    gates.iter().all(|(_, gate)| wanted(it, gate).is_some()).then(|| gates.first().copied())?
}

/// What a gate wants and a prompt does not ask for.
#[derive(Clone, Copy, Debug)]
enum Want {
    Section,
    Verdict,
    /// The line that a strict verdict has to be.
    Line,
    Fields,
}

fn wanted(it: &Prompted<'_>, gate: &Gate) -> Option<Want> {
    let text = &it.prompt.text.value;
    if asked_section(it, &gate.section.value).is_none() {
        return Some(Want::Section);
    }
    if gate.verdict.is_some_and(|verdict| !has_word(text, verdict.value.as_str())) {
        return Some(Want::Verdict);
    }
    if gate.verdict.is_some() && gate.strict && !it.reading.verdict_line {
        return Some(Want::Line);
    }
    let has_field = gate.fields.iter().any(|field| text.contains(field.value.as_str()));
    (!gate.fields.is_empty() && !has_field).then_some(Want::Fields)
}

fn finding(
    facts: &Facts<'_>,
    (it, start): (&Prompted<'_>, &Start),
    command: &Command,
    (transition, gate, want): (&Transition, &Gate, Want),
) -> Diagnostic {
    let (name, arrow, section) = (it.name, facts.arrow(transition), &gate.section.value);
    let missing = match want {
        Want::Section => format!("`{section}`"),
        Want::Verdict => format!("the verdict of `{section}`"),
        Want::Line => format!("the line `Verdict: …` at the head of `{section}`"),
        Want::Fields => format!("a field of `{section}`"),
    };
    let message = format!(
        "`{name}` lets its agent leave by {arrow} and never asks for {missing}, which the gate wants"
    );
    let (place, words) = started(facts, it, start);
    let mut story = vec![(place, words)];
    if let Some((span, true)) = named_sections(it, &gate.section.value).first().copied() {
        story.push((span, "named here, only to be read".to_owned()));
    }
    story.push((command.span, "the agent is told to leave".to_owned()));
    story.push((gate.section.span, "and is refused, as this is not there".to_owned()));
    let mut found = Diagnostic::new(&C81, command.span, message);
    for (number, (span, text)) in (1..).zip(story) {
        found = found.label(span, format!("{number}. {text}"));
    }
    found.help(format!("say before the command: `{}`", line(gate)))
}

/// A line for the prompt that asks for what a gate wants.
fn line(gate: &Gate) -> String {
    let section = &gate.section.value;
    let fields: Vec<&str> = gate.fields.iter().map(|it| it.value.as_str()).collect();
    match (&gate.verdict, fields.is_empty()) {
        (Some(_), _) => {
            format!("Write {section} to TASK.md; its first line is Verdict: PASS or Verdict: FAIL")
        }
        (None, true) => format!("Write {section} to TASK.md"),
        (None, false) => {
            format!("Write {section} to TASK.md, with a line that begins with {}:", fields.join(": or "))
        }
    }
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
                SearchStep::Exit { outcome: ExitResult::Crash { respawned: true }, .. } => again(),
                SearchStep::Exit { .. } | SearchStep::Request { .. } | SearchStep::Write(_) => None,
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

    /// Whether an agent may be started with a prompt while the gate would refuse what there is.
    fn may_lack(&self, facts: &Facts<'_>, it: &Prompted<'_>, gate: &Gate) -> bool {
        let Some(section) = facts.search.sections.find(&gate.section.value) else { return false };
        let prompt = usize::from(it.id.0);
        let has = |of: &[u32]| of[prompt] >> section & 1 == 1;
        has(&self.absent) || (gate.fresh && has(&self.seen))
    }
}
