//! The changes of prompts: each line left out, and each status replaced by another.

use std::collections::{BTreeMap, BTreeSet};

use orange_analysis::lint::{AgentInState, Facts, Reading, find_heading, with_facts};
use orange_codegen::syntax::{Node, NodeKind, Text};
use orange_codegen::{LineIndex, Source, Span, compile};

use super::mutant::{Mutant, MutantKind};
use super::tree::{entries, entry, replaced};
use crate::Result;

/// Every change of a prompt, in order.
pub(super) fn mutants(
    source: &Source,
    tree: &Node,
    states: &[&str],
    lines: &LineIndex<'_>,
) -> Result<Vec<Mutant>> {
    let before = readings(source).ok_or_else(|| format!("{} does not compile", source.path))?;
    let is_prose = |name: &str, text: &str| {
        let changed = Source::new(&source.path, text).with_files(source.prompt_files.clone());
        let after = readings(&changed);
        after.is_some_and(|after| after.get(name) == before.get(name))
    };
    let mut made = Vec::new();
    for prompt in entry(tree, "prompts").iter().flat_map(|it| entries(it.value)) {
        let NodeKind::Scalar(scalar) = &prompt.value.kind else { continue };
        let place = format!("prompt `{}`", prompt.name);
        let mutant = |change: String, span: Span, text: String, is_prose: bool| {
            let line = lines.position(span.start).line;
            Mutant {
                kind: MutantKind::Prompt,
                place: place.clone(),
                change,
                line,
                is_prose,
                file: None,
                text,
            }
        };
        for (said, span) in text_lines(source, &scalar.text) {
            let text = replaced(source, span, "");
            let is_prose = is_prose(prompt.name, &text);
            made.push(mutant(format!("left out: {said}"), span, text, is_prose));
        }
        for (name, span) in statuses(&scalar.text) {
            let at = states.iter().position(|it| *it == name).map_or(0, |at| at + 1);
            if let Some(other) = states.get(at % states.len().max(1)) {
                let text = replaced(source, span, other);
                let is_prose = is_prose(prompt.name, &text);
                made.push(mutant(format!("--status {other} for {name}"), span, text, is_prose));
            }
        }
    }
    Ok(made)
}

/// The lines of a prompt that are not blank, each with its span in the source.
fn text_lines<'t>(source: &'t Source, text: &'t Text) -> Vec<(&'t str, Span)> {
    let mut found = Vec::new();
    let mut at = 0;
    for line in text.value.split_inclusive('\n') {
        let place = text.locate(at, at + line.trim_end().len());
        at += line.len();
        if !line.trim().is_empty() {
            let start = source.text[..place.start as usize].rfind('\n').map_or(0, |it| it + 1);
            let end = source.text[place.end as usize..]
                .find('\n')
                .map_or(source.text.len(), |it| place.end as usize + it + 1);
            found.push((line.trim(), Span::new(start as u32, end as u32)));
        }
    }
    found
}

/// The names after `--status`, with their offsets in the source.
fn statuses(text: &Text) -> Vec<(&str, Span)> {
    const FLAG: &str = "--status ";
    let names = text.value.match_indices(FLAG).map(|(at, _)| at + FLAG.len());
    let names = names.map(|start| {
        let rest = &text.value[start..];
        let length = rest.find(|it: char| !(it.is_ascii_alphanumeric() || it == '-')).unwrap_or(rest.len());
        (&rest[..length], text.locate(start, start + length))
    });
    names.filter(|(name, _)| !name.is_empty()).collect()
}

/// Words that the checks read in each prompt.
fn readings(source: &Source) -> Option<BTreeMap<String, BTreeSet<String>>> {
    let checked = compile(source).checked?;
    with_facts(&checked, source, |facts| {
        let prompts = facts.workflow.prompts.iter().zip(&facts.prompt_facts.readings);
        let gists = prompts.zip(&facts.prompt_facts.runs).map(|((it, reading), runs)| {
            let sections = sections(facts, reading, runs.iter().flatten());
            (it.name.value.clone(), gist(&it.text.value, reading, &sections))
        });
        gists.collect()
    })
    .ok()
}

/// The sections that the gates of its commands want.
fn sections<'f>(
    facts: &Facts<'f>,
    reading: &Reading,
    runs: impl Iterator<Item = &'f AgentInState>,
) -> BTreeSet<&'f str> {
    let machine = facts.machine;
    let pairs = runs.flat_map(|it| reading.targets().map(move |(_, to)| (it, to)));
    let between =
        pairs.flat_map(|(it, to)| machine.between(it.state, to).map(move |id| (it, machine.transition(id))));
    let taken = between.filter(|(it, transition)| transition.by.allows(it.actor));
    taken.flat_map(|(_, transition)| transition.section_gates()).map(|gate| gate.section).collect()
}

/// Words that the checks read in a prompt: its commands, the sections of gates, and verdicts, each once.
fn gist(text: &str, reading: &Reading, sections: &BTreeSet<&str>) -> BTreeSet<String> {
    let commands = reading.commands.iter().map(|it| it.name.clone());
    let named = sections.iter().filter(|it| find_heading(text, it).is_some()).map(|it| (*it).to_owned());
    let verdicts = reading.verdicts.iter().map(|it| it.word.clone());
    let words = ["PASS", "FAIL"].into_iter().filter(|it| text.contains(it)).map(str::to_owned);
    let line = format!("{}", reading.verdict_line);
    commands.chain(named).chain(verdicts).chain(words).chain([line]).collect()
}
