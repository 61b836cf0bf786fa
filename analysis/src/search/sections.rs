//! Possible contents of the sections that gates read, as far as any gate can tell them apart, and possible answers of programs and
//! checks: an answer is as free as a text that an agent or a person writes.

use orange_core::{
    Checks, Children, Fields, Gate, Heading, Machine, Program, ProgramAnswer, SectionGate, SeenSection, When,
    WorkSince, check_section, fingerprint, section,
};

use super::reads::ReadSet;
use super::task::{ABSENT, ContentId, Task};

/// Contents of one section that the search still distinguishes.
pub(super) const MAX_CONTENTS: usize = 64;

/// The sections that some gate or exit rule reads.
#[derive(Clone, Debug, Default)]
pub struct Sections<'m> {
    all: Vec<Section<'m>>,
    /// As a body has them: a section ends at a heading of a higher level, so that the deeper ones come first.
    order: Vec<usize>,
}

/// One section and the contents that its gates can tell apart.
#[derive(Clone, Debug)]
pub struct Section<'m> {
    /// The heading, `#`s included; empty for what is asked.
    pub heading: &'m str,
    /// Program or checks that are asked, if this is not a section of the body: its contents are the answers.
    pub asked: Option<OutsideCheck<'m>>,
    /// The reviewer with a name that writes it.
    pub reviewer: Option<&'m str>,
    /// By [`ContentId`]; the first one is the absent section.
    pub contents: Vec<Content>,
    /// Content that can be written in the place of another one and is then judged like the absent section.
    pub blank: Option<Content>,
    /// True if its gates tell more contents apart than are kept.
    pub is_cut: bool,
    /// True if what stands there when a task comes to a state is as good as nothing: every gate on it wants something new, or it is an
    /// answer that is asked for again.
    pub is_forgotten: bool,
    /// True if some gate lets a verdict there count only for the work about which it was accepted.
    pub is_of_work: bool,
    /// True if what stands there can count in a later state: some gate on it takes what is old, or an earlier answer decides where a hook
    /// has failed.
    counts_later: bool,
}

/// Sections and answers that can count in a later state.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KeptSections {
    pub written: ReadSet,
    /// Programs and checks, which answer only in states that ask them.
    pub answers: ReadSet,
}

/// Program or checks that gates ask outside of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutsideCheck<'m> {
    /// A program, by its command line.
    Program(&'m [&'m str]),
    /// The checks of the pull request.
    Checks,
    /// True if a task that it has created is open.
    Children,
}

/// One content of a section, standing for all that every gate judges alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Description in a few words: `without a verdict`.
    pub label: String,
    /// An example; nothing for the absent section.
    pub text: Option<String>,
}

impl<'m> Sections<'m> {
    /// The sections of a machine, in the order in which its transitions and rules name them.
    pub fn of(machine: &Machine<'m>) -> Self {
        let mut all: Vec<Section<'m>> = Vec::new();
        let gates: Vec<&SectionGate<'m>> = gates(machine).collect();
        for gate in &gates {
            if all.iter().all(|it| it.heading != gate.section) {
                let same: Vec<_> = gates.iter().copied().filter(|it| it.section == gate.section).collect();
                all.push(Section::distinguished(gate.section, &same));
            }
        }
        let mut order: Vec<usize> = (0..all.len()).collect();
        let rules = machine.exit_rules.iter().flat_map(|rule| rule.condition.gates());
        for asked in
            machine.transitions.iter().flat_map(|it| it.gates).chain(rules).filter_map(OutsideCheck::by)
        {
            if all.iter().all(|it| it.asked != Some(asked)) {
                all.push(Section::answered(asked, decides_after_failure(machine, asked)));
            }
        }
        order.sort_by_key(|at| std::cmp::Reverse(level(all[*at].heading)));
        Self { all, order }
    }

    /// Distinguishes what stands in a section from nothing even if no gate lets it through any more.
    pub(super) fn forget_nothing(&mut self) {
        self.all.iter_mut().for_each(|it| it.is_forgotten = false);
    }

    /// The sections whose old content can count, and the programs and checks whose earlier answers can.
    pub(super) fn kept(&self) -> KeptSections {
        let mut kept = KeptSections::default();
        for (at, it) in self.all.iter().enumerate().filter(|(_, it)| it.counts_later) {
            let set = if it.asked.is_some() { &mut kept.answers } else { &mut kept.written };
            set.extend(Some(at));
        }
        kept
    }

    /// Number of sections.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// True if no gate reads a section.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Every section, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Section<'m>> {
        self.all.iter()
    }

    /// The section with this number.
    pub fn get(&self, section: usize) -> &Section<'m> {
        &self.all[section]
    }

    /// The sections of a task whose verdict was accepted about the present work, and counts for no other.
    pub(super) fn of_present_work(&self, task: &Task) -> u16 {
        let bound = self.all.iter().enumerate().filter(|(_, it)| it.is_of_work);
        let accepted = bound.filter(|(at, _)| task.section(*at).seen && !task.is_outdated(*at));
        accepted.fold(0, |bits, (at, _)| bits | 1 << at)
    }

    /// The number of the section with this heading.
    pub fn find(&self, heading: &str) -> Option<usize> {
        self.all.iter().position(|it| it.heading == heading)
    }

    /// The number of what this gate asks outside of the body.
    pub(crate) fn asked_by(&self, gate: &Gate<'_>) -> Option<usize> {
        let asked = OutsideCheck::by(gate)?;
        self.all.iter().position(|it| it.asked == Some(asked))
    }

    /// Answers of programs, of the checks, and about created tasks.
    pub(super) fn answers(&self, task: &Task) -> (Vec<ProgramAnswer<'m>>, Checks, Children) {
        let (mut programs, mut checks, mut children) = (Vec::new(), Checks::Red, Children::None);
        for (at, section) in self.all.iter().enumerate() {
            let has_failed = task.section(at).content == ABSENT;
            match section.asked {
                Some(OutsideCheck::Program(argv)) => {
                    programs.push(ProgramAnswer { argv, failure: has_failed.then_some("it fails") });
                }
                Some(OutsideCheck::Checks) if !has_failed => checks = Checks::Green,
                Some(OutsideCheck::Children) if !has_failed => children = Children::Open,
                Some(OutsideCheck::Checks | OutsideCheck::Children) | None => {}
            }
        }
        (programs, checks, children)
    }

    /// A body with the sections of a task, and what gates have let through of it.
    pub(super) fn body(&self, task: &Task) -> (String, Vec<SeenSection<'m>>) {
        let mut body = String::new();
        for at in &self.order {
            let Section { heading, contents, .. } = &self.all[*at];
            if let Some(text) = &contents[usize::from(task.section(*at).content)].text {
                body.extend([*heading, "\n", text, "\n"]);
            }
        }
        let sections = self.all.iter().enumerate().filter(|(_, it)| it.asked.is_none());
        let seen = sections.filter(|(at, _)| task.section(*at).is_stale());
        let seen = seen.filter_map(|(at, it)| {
            let content = section(&body, it.heading)?;
            let work = match task.is_outdated(at) {
                true => CHANGED,
                false => WorkSince::Same,
            };
            Some(SeenSection {
                section: it.heading,
                fingerprint: fingerprint(content),
                when: When::Passed,
                work,
            })
        });
        let seen = seen.collect();
        (body, seen)
    }
}

/// Change of the work by a commit of an agent.
pub(crate) const CHANGED: WorkSince = WorkSince::Changed { has_same_patch: false, commits: Some(1) };

/// The words for a program's answer.
pub(crate) const SUCCEEDS: &str = "succeeds";
pub(crate) const FAILS: &str = "fails";

/// Those for checks.
const GREEN: &str = "green";
const RED: &str = "red";

/// Those for created tasks.
pub(crate) const NONE: &str = "none";
pub(crate) const SOME: &str = "some";

impl<'m> OutsideCheck<'m> {
    fn by(gate: &Gate<'m>) -> Option<Self> {
        match gate {
            Gate::Command(Program { argv, .. }) => Some(Self::Program(argv)),
            Gate::Checks => Some(Self::Checks),
            Gate::Children(_) => Some(Self::Children),
            // A merge asks these about its result, and changes nothing where one fails.
            Gate::OnMerge(_) | Gate::Section(_) | Gate::AnySection(_) => None,
        }
    }

    /// `make test`, or `the checks of the pull request`.
    pub fn name(self) -> String {
        match self {
            Self::Program(argv) => argv.join(" "),
            Self::Checks => "the checks of the pull request".to_owned(),
            Self::Children => "the question about open tasks".to_owned(),
        }
    }
}

fn gates<'m>(machine: &Machine<'m>) -> impl Iterator<Item = &'m SectionGate<'m>> + use<'m> {
    let of_rules = machine.exit_rules.iter().flat_map(|rule| rule.condition.section_gates());
    machine.transitions.iter().flat_map(|it| it.section_gates()).chain(of_rules)
}

fn level(heading: &str) -> usize {
    Heading::parse(heading).map_or(0, |it| it.level)
}

impl<'m> Section<'m> {
    /// The contents that some gate judges differently from all others before them.
    fn distinguished(heading: &'m str, gates: &[&SectionGate<'m>]) -> Self {
        let judged = |it: &Content| -> Vec<bool> {
            let body = it.text.as_ref().map(|text| format!("{heading}\n{text}\n")).unwrap_or_default();
            gates.iter().map(|gate| check_section(gate, &body, &[]).is_ok()).collect()
        };
        let mut kept: Vec<(Content, Vec<bool>)> = Vec::new();
        let mut blank: Option<Content> = None;
        let mut is_cut = field_sets(gates).len() + 1 >= MAX_CONTENTS;
        for content in candidates(gates) {
            let judgement = judged(&content);
            if kept.first().is_some_and(|(_, absent)| *absent == judgement) {
                // Words without what was asked for are a likelier story than nothing at all.
                let is_better = blank.as_ref().is_none_or(|it| it.text.as_deref() == Some(""));
                blank = if content.text.is_some() && is_better { Some(content) } else { blank };
            } else if kept.iter().all(|(_, it)| *it != judgement) {
                is_cut |= kept.len() == MAX_CONTENTS;
                kept.push((content, judgement));
            }
        }
        kept.truncate(MAX_CONTENTS);
        let contents = kept.into_iter().map(|(content, _)| content).collect();
        let reviewer = gates.iter().find_map(|gate| gate.reviewer);
        let counts_later = !gates.iter().all(|gate| gate.fresh);
        let is_forgotten = !counts_later;
        let is_of_work = gates.iter().any(|gate| gate.of.is_some());
        Self {
            heading,
            asked: None,
            reviewer,
            contents,
            blank,
            is_cut,
            is_forgotten,
            is_of_work,
            counts_later,
        }
    }

    /// Failure, which is where everything begins, and success.
    fn answered(asked: OutsideCheck<'m>, counts_later: bool) -> Self {
        let content = |label: &str| Content { label: label.to_owned(), text: Some(label.to_owned()) };
        let (bad, good) = match asked {
            OutsideCheck::Program(_) => (FAILS, SUCCEEDS),
            OutsideCheck::Checks => (RED, GREEN),
            OutsideCheck::Children => (NONE, SOME),
        };
        let contents = vec![Content { text: None, ..content(bad) }, content(good)];
        Self {
            heading: "",
            asked: Some(asked),
            reviewer: None,
            contents,
            blank: Some(content(bad)),
            is_cut: false,
            is_forgotten: !counts_later,
            is_of_work: false,
            counts_later,
        }
    }

    /// Content of the section after it was written.
    pub fn written(&self, content: ContentId) -> &Content {
        let blank = self.blank.as_ref().filter(|_| content == ABSENT);
        blank.unwrap_or(&self.contents[usize::from(content)])
    }
}

/// Contents of a section, the absent one first: enough that every judgement which these gates can come to is among them.
pub(crate) fn candidates(gates: &[&SectionGate<'_>]) -> Vec<Content> {
    let words = gates.iter().find(|gate| gate.asks_for_verdict()).map_or(&[][..], |gate| gate.words());
    let first_lines = words.iter().map(|word| (format!("Verdict: {word}"), format!("Verdict: {word}")));
    let prose = words.iter().map(|word| (format!("{word} in prose"), format!("The result is {word}.")));
    let plain = if words.is_empty() { "text" } else { "without a verdict" };
    let bases = [(plain.to_owned(), "Something.".to_owned())].into_iter().chain(first_lines).chain(prose);
    let mut all = vec![
        Content { label: "absent".to_owned(), text: None },
        Content { label: "empty".to_owned(), text: Some(String::new()) },
    ];
    let sets = field_sets(gates);
    for (label, text) in bases {
        all.push(Content { label: label.clone(), text: Some(text.clone()) });
        for set in &sets {
            let lines: String = set.iter().map(|name| format!("\n{name}: something")).collect();
            let label = format!("{label} with {}", set.join(", "));
            all.push(Content { label, text: Some(format!("{text}{lines}")) });
        }
    }
    all
}

/// Sets of fields, the smallest first, that together satisfy every combination of the gates' wishes there is.
fn field_sets<'g>(gates: &[&SectionGate<'g>]) -> Vec<Vec<&'g str>> {
    let hits = |set: &[&str]| -> Vec<bool> {
        gates.iter().map(|gate| gate.fields.lacking(|it| set.contains(&it)).is_none()).collect()
    };
    // What satisfies a wish: one of its fields where one is enough, and otherwise all of them.
    let mut additions: Vec<Vec<&str>> = Vec::new();
    for gate in gates {
        match gate.fields {
            Fields::Any(names) => additions.extend(names.iter().map(|name| vec![*name])),
            Fields::All(names) => additions.push(names.to_vec()),
        }
    }
    additions.sort_unstable();
    additions.dedup();
    let mut sets: Vec<Vec<&str>> = vec![Vec::new()];
    let mut at = 0;
    while at < sets.len() && sets.len() < MAX_CONTENTS {
        for addition in &additions {
            let mut larger = sets[at].clone();
            larger.extend(addition);
            larger.sort_unstable();
            larger.dedup();
            if sets.iter().all(|it| hits(it) != hits(&larger)) {
                sets.push(larger);
            }
        }
        at += 1;
    }
    sets.remove(0);
    sets
}

/// True if a transition that follows a failed hook has this in its gate: nobody is asked then, and an earlier answer decides.
fn decides_after_failure(machine: &Machine<'_>, asked: OutsideCheck<'_>) -> bool {
    let failing = machine.transitions.iter().filter_map(|it| Some((it.to, it.on_hook_failure?)));
    let mut next = failing.flat_map(|(from, to)| machine.between(from, to));
    next.any(|id| machine.transition(id).gates.iter().filter_map(OutsideCheck::by).any(|it| it == asked))
}
