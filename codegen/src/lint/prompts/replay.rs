//! Walks through the commands of a prompt in their order, with all places where its agent can then be.

use orange_core::{Actor, StateId};

use super::shared::{Prompted, prompts};
use crate::lint::told::{Command, Mood, Place, Target, Walker, survives};
use crate::lint::{Facts, Mover};

/// A command that nobody will do.
#[derive(Debug)]
pub(super) struct Refused<'f> {
    pub prompt: Prompted<'f>,
    pub command: &'f Command,
    /// Where the agent can be when it gives it.
    pub from: Vec<Place>,
    /// The last command before it that led there.
    pub after: Option<&'f Command>,
    /// Whether it is refused only where that command was run, which it need not be.
    pub maybe: bool,
}

/// More pairs of a place and a command than this are not looked at.
const MAX_PLACES: usize = 2_000_000;

/// Every command that is refused wherever its agent can be.
pub(super) fn refused<'f>(facts: &Facts<'f>) -> Vec<Refused<'f>> {
    let mut walker = Walker::new(facts.machine);
    let mut places = 0;
    let mut found = Vec::new();
    for prompt in prompts(facts).filter(|it| it.reading.names_a_command()) {
        if let Some(here) = beginnings(facts, &prompt) {
            places += here.len() * prompt.reading.commands.len();
            if places > MAX_PLACES {
                break;
            }
            let replay = Replay { facts, prompt, walker: &mut walker, here, after: None, aside: None };
            found.extend(replay.run());
        }
    }
    found
}

/// Where the agent can be at first. One of a prompt that is not used can be anywhere.
fn beginnings(facts: &Facts<'_>, it: &Prompted<'_>) -> Option<Vec<Place>> {
    if !it.starts.is_empty() {
        return facts.told.runs[usize::from(it.id.0)].clone();
    }
    let alive = facts.states().filter(|(_, it)| !it.terminal);
    let both = |state| [Actor::Worker, Actor::Reviewer].map(|actor| Place { state, actor });
    Some(alive.flat_map(|(state, _)| both(state)).collect())
}

struct Replay<'r, 'f> {
    facts: &'r Facts<'f>,
    prompt: Prompted<'f>,
    walker: &'r mut Walker<'f>,
    /// Where the agent can be now; nowhere when a command has ended it.
    here: Vec<Place>,
    after: Option<&'f Command>,
    /// Where it is after a command that was to be run in some case only, and after which it goes on.
    aside: Option<(Vec<Place>, &'f Command)>,
}

impl<'f> Replay<'_, 'f> {
    fn run(mut self) -> Vec<Refused<'f>> {
        let commands = self.prompt.reading.commands.iter().filter(|it| it.mood == Mood::Told);
        commands.filter_map(|command| self.step(command)).collect()
    }

    fn step(&mut self, command: &'f Command) -> Option<Refused<'f>> {
        let here: Vec<Place> = self.here.iter().filter(|it| command.concerns(it.state)).copied().collect();
        if here.is_empty() {
            return None;
        }
        let to = match command.target {
            Target::State(to) => to,
            Target::Unknown => {
                let refused = self.refused(command, here, self.after, false);
                self.here.clear();
                return Some(refused);
            }
            Target::Open => return None,
        };
        let able: Vec<Place> = here.iter().filter(|it| self.can(**it, to)).copied().collect();
        if able.is_empty() {
            let refused = self.refused(command, here.clone(), self.after, false);
            if !command.conditional {
                // What comes next was written for an agent that this had been granted to.
                self.here = here.into_iter().map(|it| Place { state: to, ..it }).collect();
                self.after = Some(command);
            }
            return Some(refused);
        }
        let aside = if command.conditional { None } else { self.aside.take() };
        let after = self.after(&able, to, command.conditional && command.waits)?;
        let ends = command.will_come && after.is_empty();
        if !command.conditional || ends {
            (self.here, self.after) = (after, Some(command));
        } else {
            self.here.extend(&after);
            self.here.sort_unstable();
            self.here.dedup();
            self.aside = (command.waits || command.goes_on).then_some((after, command));
        }
        let (places, earlier) = aside?;
        let stuck = !places.is_empty() && !places.iter().any(|it| self.can(*it, to));
        stuck.then(|| self.refused(command, places, Some(earlier), true))
    }

    fn refused(
        &self,
        command: &'f Command,
        from: Vec<Place>,
        after: Option<&'f Command>,
        maybe: bool,
    ) -> Refused<'f> {
        Refused { prompt: self.prompt, command, from, after, maybe }
    }

    /// To be told to go where one is does no harm.
    fn can(&self, place: Place, to: StateId) -> bool {
        place.state == to || place.may(self.facts.machine, to)
    }

    /// Where the agents that live through it are afterwards, and where others then move the task: the engine by its
    /// rules, agents that are told to, and persons if the agent waits for them.
    fn after(&mut self, able: &[Place], to: StateId, for_persons: bool) -> Option<Vec<Place>> {
        let machine = self.facts.machine;
        let lives = |place: &Place| {
            let between = || machine.between(place.state, to);
            place.state == to || between().any(|id| survives(machine, id, place.actor))
        };
        let arrived = able.iter().filter(|it| lives(it)).map(|it| Place { state: to, ..*it });
        let (facts, prompt) = (self.facts, self.prompt.id);
        self.walker.closure(arrived, |id| {
            let transition = machine.transition(id);
            for_persons
                || facts.movers[id.0 as usize] == Mover::Engine
                || facts.told.others_ask(prompt, transition.from, transition.to)
        })
    }
}
