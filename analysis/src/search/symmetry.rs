//! Reviewers that can be exchanged: one configuration stands for all that differ only in which of them is which.
//!
//! Two reviewers can be exchanged if the workflow stays the same when their names are, prompts and counters of hooks aside. Then each
//! step from a configuration has its counterpart from the exchanged one, and leads to the exchanged end. This holds because
//! - their sections have the same gates, and what stands there is forgotten when a task comes to a state, so that nobody follows it
//!   from state to state;
//! - a transition starts both or none, by hooks that do the same, and between these no hook stops the others, so that no configuration
//!   has one started and the other not;
//! - neither is alive when a transition starts it. The search notices where one is, and begins again without exchanging any.
//!
//! `analysis/tests/reduced.rs` compares the steps with those of a search that exchanges and forgets nothing.

use orange_core::{Gate, Hook, Machine, OnFailure, Permissions, PromptId, SectionGate, Spawn};

use super::reviewers::{ReviewerIndex, Reviewers};
use super::sections::{Section, Sections};
use super::task::Task;
use super::{FailedHook, SearchStep, Wrote};

/// The reviewers of a machine that can be exchanged.
#[derive(Clone, Debug, Default)]
pub(super) struct Symmetry {
    /// Reviewers that can be exchanged with each other, two at least.
    classes: Vec<Vec<Reviewer>>,
}

/// A reviewer with the numbers of its sections.
#[derive(Clone, Debug)]
struct Reviewer {
    index: ReviewerIndex,
    sections: Vec<u8>,
}

/// Exchange of reviewers: for each place, the reviewer that stands there. It has three bits for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exchange(u32);

/// Reviewers, and their sections, of which an earlier one is in the same condition: a step of theirs is one of the other's.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Repeated {
    pub reviewers: u8,
    pub sections: u16,
}

impl Exchange {
    /// The reviewer that stands in a place.
    fn at(self, place: ReviewerIndex) -> ReviewerIndex {
        (self.0 >> (3 * place)) as u8 & 7 ^ place
    }

    fn put(&mut self, place: ReviewerIndex, reviewer: ReviewerIndex) {
        self.0 ^= u32::from(self.at(place) ^ reviewer) << (3 * place);
    }

    /// This exchange after another one.
    pub(super) fn after(self, other: Exchange) -> Exchange {
        // Most steps exchange nobody.
        if self == Exchange::default() {
            return other;
        }
        let mut both = Exchange::default();
        (0..8).for_each(|place| both.put(place, other.at(self.at(place))));
        both
    }
}

impl Symmetry {
    pub(super) fn of(machine: &Machine<'_>, sections: &Sections<'_>, reviewers: &Reviewers<'_>) -> Self {
        let own = |name: &str| -> Vec<u8> {
            let all = (0..).zip(sections.iter());
            all.filter(|(_, it)| it.reviewer == Some(name)).map(|(at, _)| at).collect()
        };
        let mut classes: Vec<Vec<Reviewer>> = Vec::new();
        for (index, name) in reviewers.named(u8::MAX) {
            let known = classes.iter_mut().find(|class| {
                class.first().is_some_and(|first| {
                    Pair { machine, sections, names: [reviewers.name(first.index), name] }
                        .can_be_exchanged(&first.sections, &own(name))
                })
            });
            let reviewer = Reviewer { index, sections: own(name) };
            match known {
                Some(class) => class.push(reviewer),
                None => classes.push(vec![reviewer]),
            }
        }
        classes.retain(|class| class.len() > 1);
        Self { classes }
    }

    /// The reviewers that can be exchanged with each other, two at least each time.
    pub(super) fn classes(&self) -> impl Iterator<Item = impl Iterator<Item = ReviewerIndex>> {
        self.classes.iter().map(|class| class.iter().map(|it| it.index))
    }

    /// True if this reviewer can be exchanged with another one.
    pub(super) fn has(&self, reviewer: ReviewerIndex) -> bool {
        self.classes.iter().flatten().any(|it| it.index == reviewer)
    }

    /// The configuration that stands for this one, and the exchange that leads from it to this one.
    pub(super) fn canonical(&self, task: &Task) -> (Task, Exchange) {
        let (mut next, mut exchange) = (*task, Exchange::default());
        let is_in_order = |class: &&Vec<Reviewer>| class.is_sorted_by_key(|it| it.state(task));
        for class in self.classes.iter().filter(|it| !is_in_order(it)) {
            let mut order: Vec<&Reviewer> = class.iter().collect();
            order.sort_by_key(|it| it.state(task));
            for (place, reviewer) in class.iter().zip(order) {
                place.set_state(&mut next, reviewer.state(task));
                exchange.put(place.index, reviewer.index);
            }
        }
        (next, exchange)
    }

    /// The reviewers and sections of a configuration that stands for others of which an earlier one does the same.
    pub(super) fn repeated(&self, task: &Task) -> Repeated {
        let mut repeated = Repeated::default();
        for (one, other) in self.classes.iter().flat_map(|class| class.iter().zip(class.iter().skip(1))) {
            if one.state(task) == other.state(task) {
                repeated.reviewers |= 1 << other.index;
                other.sections.iter().for_each(|section| repeated.sections |= 1 << section);
            }
        }
        repeated
    }

    /// A step with the reviewers that stand in the places of those that it names.
    pub(super) fn exchanged(&self, step: SearchStep, exchange: Exchange) -> SearchStep {
        let one = |it: Option<ReviewerIndex>| it.map(|it| exchange.at(it));
        let wrote = |it: Option<Wrote>| it.map(|it| self.written(it, exchange));
        match step {
            SearchStep::Write(it) => SearchStep::Write(self.written(it, exchange)),
            SearchStep::EndWhileWaiting(agent) => SearchStep::EndWhileWaiting(agent),
            SearchStep::Request { transition, by, wrote: it, watch } => {
                SearchStep::Request { transition, by, wrote: wrote(it), watch }
            }
            SearchStep::Exit { agent, one: it, wrote: of, end, outcome } => {
                SearchStep::Exit { agent, one: one(it), wrote: wrote(of), end, outcome }
            }
            SearchStep::Failure { transition, hook, failed } => {
                let failed = FailedHook { one: one(failed.one), wrote: wrote(failed.wrote), ..failed };
                SearchStep::Failure { transition, hook, failed }
            }
            SearchStep::Start | SearchStep::Commit(_) | SearchStep::Respawn | SearchStep::Retry { .. } => {
                step
            }
        }
    }

    fn written(&self, wrote: Wrote, exchange: Exchange) -> Wrote {
        let section = self.own(wrote.section, |it, of| it.index == exchange.at(of.index));
        Wrote { section: section.unwrap_or(wrote.section), ..wrote }
    }

    /// The place where a section stands after an exchange.
    pub(super) fn place_of(&self, section: usize, exchange: Exchange) -> usize {
        let place = self.own(section as u8, |it, of| exchange.at(it.index) == of.index);
        place.map_or(section, usize::from)
    }

    /// The counterpart of a section that a reviewer writes, of the one that is chosen from its class.
    fn own(&self, section: u8, is_chosen: impl Fn(&Reviewer, &Reviewer) -> bool) -> Option<u8> {
        let position = |it: &Reviewer| it.sections.iter().position(|it| *it == section);
        let found = |class: &Vec<Reviewer>| {
            let (of, at) = class.iter().find_map(|it| Some((it, position(it)?)))?;
            class.iter().find(|it| is_chosen(it, of))?.sections.get(at).copied()
        };
        self.classes.iter().find_map(found)
    }
}

impl Reviewer {
    /// Its part of a configuration.
    fn state(&self, task: &Task) -> (bool, u128) {
        let sections = self.sections.iter().fold(0, |all, it| all << 8 | task.sections >> (8 * it) & 0xff);
        (task.reviewers >> self.index & 1 == 1, sections)
    }

    fn set_state(&self, task: &mut Task, (lives, sections): (bool, u128)) {
        task.reviewers = task.reviewers & !(1 << self.index) | u8::from(lives) << self.index;
        for (at, section) in self.sections.iter().rev().enumerate() {
            task.sections &= !(0xff << (8 * section));
            task.sections |= (sections >> (8 * at) & 0xff) << (8 * section);
        }
    }
}

/// Two reviewers of a machine.
struct Pair<'p, 'm> {
    machine: &'p Machine<'m>,
    sections: &'p Sections<'m>,
    names: [&'p str; 2],
}

impl<'m> Pair<'_, 'm> {
    fn can_be_exchanged(&self, one: &[u8], other: &[u8]) -> bool {
        let get = |at: &u8| self.sections.get(usize::from(*at));
        let pairs: Vec<[&Section<'m>; 2]> =
            one.iter().zip(other).map(|(one, other)| [get(one), get(other)]).collect();
        one.len() == other.len()
            && pairs.iter().all(|[one, other]| have_the_same_contents(one, other))
            && self.lists_of_gates().all(|gates| is_the_same_exchanged(gates, self.names, &pairs))
            && self.machine.transitions.iter().all(|it| self.are_started_alike(it.hooks))
    }

    fn lists_of_gates(&self) -> impl Iterator<Item = &'m [Gate<'m>]> {
        let rules = self.machine.exit_rules.iter().map(|it| it.condition.gates());
        self.machine.transitions.iter().map(|it| it.gates).chain(rules)
    }

    /// True if hooks start both or none, alike, and none of them and of those between them stops the others.
    fn are_started_alike(&self, hooks: &[Hook<'_>]) -> bool {
        let starts = |name: &str| -> Vec<usize> {
            let all = hooks.iter().enumerate().filter(|(_, hook)| hook.reviewer() == Some(name));
            all.map(|(at, _)| at).collect()
        };
        let [one, other] = self.names.map(starts);
        match (&one[..], &other[..]) {
            ([], []) => true,
            ([one], [other]) => {
                nameless(&hooks[*one]) == nameless(&hooks[*other])
                    && hooks[*one.min(other)..=*one.max(other)]
                        .iter()
                        .all(|it| it.on_failure == OnFailure::GoOn)
            }
            _ => false,
        }
    }
}

/// A hook without what two reviewers may have of their own, and no step depends on.
fn nameless<'a>(hook: &Hook<'a>) -> Hook<'a> {
    let spawn = hook
        .spawn
        .map(|it| Spawn { workspace: it.workspace, ..Spawn::new(PromptId(0), it.role, Permissions::Full) });
    Hook { spawn, counter: None, ..*hook }
}

fn have_the_same_contents(one: &Section<'_>, other: &Section<'_>) -> bool {
    let contents = |it: &Section<'_>| (it.contents.clone(), it.blank.clone());
    one.is_forgotten && other.is_forgotten && contents(one) == contents(other)
}

/// True if gates that must all hold are the same when two reviewers and their sections are exchanged.
fn is_the_same_exchanged(gates: &[Gate<'_>], names: [&str; 2], pairs: &[[&Section<'_>; 2]]) -> bool {
    let exchanged = |gate: &SectionGate<'_>| {
        let heading = pairs.iter().find_map(|[one, other]| match gate.section {
            it if it == one.heading => Some(other.heading),
            it if it == other.heading => Some(one.heading),
            _ => None,
        });
        let reviewer = match gate.reviewer {
            Some(it) if it == names[0] => Some(names[1]),
            Some(it) if it == names[1] => Some(names[0]),
            it => it,
        };
        (heading.unwrap_or(gate.section).to_owned(), reviewer.map(str::to_owned))
    };
    let is = |one: &SectionGate<'_>, other: &SectionGate<'_>| {
        let (section, reviewer) = exchanged(one);
        section == other.section
            && reviewer.as_deref() == other.reviewer
            && SectionGate { section: "", reviewer: None, ..*one }
                == SectionGate { section: "", reviewer: None, ..*other }
    };
    let all_are = |ones: &[SectionGate<'_>], others: &[SectionGate<'_>]| {
        ones.len() == others.len() && ones.iter().all(|one| others.iter().any(|other| is(one, other)))
    };
    gates.iter().all(|gate| {
        gates.iter().any(|other| match (gate, other) {
            (Gate::Section(_), Gate::Section(_)) | (Gate::AnySection(_), Gate::AnySection(_)) => {
                all_are(gate.sections(), other.sections())
            }
            _ => gate == other,
        })
    })
}
