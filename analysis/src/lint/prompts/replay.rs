//! Walks through the commands of a prompt in their order, with all places where its agent can then be.

use std::collections::BTreeSet;

use orange_core::{Actor, PromptId, StateId, TransitionId};

use super::shared::{Teller, Telling, tellings};
use crate::lint::prompt_facts::{AgentInState, Command, Mood, Start, Target, Walker, survives};
use crate::lint::{ActorKind, Facts};

/// A command that the engine refuses.
#[derive(Debug)]
pub(super) struct Refused {
    pub by: Teller,
    /// Which of its commands.
    pub command: usize,
    /// How the agent came to be told.
    pub start: Option<Start>,
    /// Where the agent can be when it gives it.
    pub from: Vec<AgentInState>,
    /// The last command before it that led there.
    pub after: Option<usize>,
    /// When it is.
    pub when: When,
}

/// When a command is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// Wherever its agent can be.
    Always,
    /// Where the agent was started in one certain way.
    Started,
    /// Where the command before it was run, which it need not be.
    Aside,
    /// Wherever its agent can be; but it is only taken for granted.
    Presumed,
}

/// Where the commands of a prompt have led its agent, which is told no more then.
#[derive(Debug)]
pub(super) struct Left {
    pub prompt: PromptId,
    pub start: Start,
    /// The last command that it is to run whatever happens.
    pub last: usize,
    pub place: AgentInState,
}

/// More pairs of a place and a command than this are not looked at.
const MAX_PLACES: usize = 2_000_000;

/// What becomes of those who do what all prompts and messages tell them.
#[derive(Debug, Default)]
pub(super) struct Replays {
    pub refused: Vec<Refused>,
    pub left: Vec<Left>,
}

impl Replays {
    /// Walks through every prompt and message, first from everywhere at once, then from each of its starts alone.
    pub fn of(facts: &Facts<'_>) -> Self {
        let mut replays = Self::default();
        let mut walker = Walker::new(facts.machine);
        let mut places = 0;
        for telling in tellings(facts).filter(|it| it.reading.names_a_command()) {
            let Some(here) = beginnings(facts, &telling) else { continue };
            places += (here.len() + telling.starts.len()) * telling.reading.commands.len();
            if places > MAX_PLACES {
                break;
            }
            replays.add(facts, telling, &mut walker, here);
        }
        replays
    }

    fn add(
        &mut self,
        facts: &Facts<'_>,
        telling: Telling<'_>,
        walker: &mut Walker<'_>,
        here: Vec<AgentInState>,
    ) {
        self.refused.extend(presumed(facts, &telling, &here));
        let everywhere = Replay { facts, telling, walker, start: None, here, after: None, aside: None };
        let (mut refused, _) = everywhere.run();
        let mut told: BTreeSet<usize> = refused.iter().map(|it| it.command).collect();
        for start in telling.starts {
            let Some(here) = walker.closure([start.place].into_iter(), |id| drifts(facts, start.place, id))
            else {
                continue;
            };
            let from_here =
                Replay { facts, telling, walker, start: Some(*start), here, after: None, aside: None };
            let (more, left) = from_here.run();
            refused.extend(more.into_iter().filter(|it| told.insert(it.command)));
            self.left.extend(left);
        }
        self.refused.extend(refused);
    }
}

/// The commands that it takes for granted, and that are refused wherever the agent can be.
fn presumed(facts: &Facts<'_>, it: &Telling<'_>, here: &[AgentInState]) -> Vec<Refused> {
    let commands = it.reading.commands.iter().enumerate().filter(|(_, it)| it.mood == Mood::Presumed);
    let refused = commands.filter(|(_, command)| match command.target {
        Target::State(to) => !here.iter().any(|it| it.state == to || it.may_request(facts.machine, to)),
        Target::Unknown | Target::Open => false,
    });
    let refused = refused.map(|(command, _)| Refused {
        by: it.by,
        command,
        start: None,
        from: here.to_vec(),
        after: None,
        when: When::Presumed,
    });
    refused.collect()
}

/// Where the agent can be at first. One of a prompt that is not used can be anywhere.
fn beginnings(facts: &Facts<'_>, it: &Telling<'_>) -> Option<Vec<AgentInState>> {
    if !it.starts.is_empty() {
        return it.runs.map(<[AgentInState]>::to_vec);
    }
    let alive = facts.states().filter(|(_, it)| !it.terminal);
    let both = |state| [Actor::Worker, Actor::Reviewer].map(|actor| AgentInState { state, actor });
    Some(alive.flat_map(|(state, _)| both(state)).collect())
}

/// Whether a task is moved on under its agent: by the end of the other agent, by its words, and by a person where one is waited for.
fn drifts(facts: &Facts<'_>, place: AgentInState, id: TransitionId) -> bool {
    let transition = facts.machine.transition(id);
    goes_by_others(facts, place.actor, id)
        || (facts.waits(transition.from) && transition.by.allows(Actor::Human))
}

fn goes_by_others(facts: &Facts<'_>, actor: Actor, id: TransitionId) -> bool {
    let transition = facts.machine.transition(id);
    let by_engine = facts.actor_kinds[id.0 as usize] == ActorKind::Engine
        && facts.machine.state(transition.from).agent != actor;
    by_engine || facts.prompt_facts.other_asks(actor, transition.from, transition.to)
}

struct Replay<'r, 'm> {
    facts: &'r Facts<'r>,
    telling: Telling<'r>,
    walker: &'r mut Walker<'m>,
    start: Option<Start>,
    /// Where the agent can be now; nowhere when a command has ended it.
    here: Vec<AgentInState>,
    /// The last command that was to be run whatever happens.
    after: Option<usize>,
    /// Where it is after a command that was to be run in some case only, and after which it goes on.
    aside: Option<(Vec<AgentInState>, usize)>,
}

impl Replay<'_, '_> {
    fn run(mut self) -> (Vec<Refused>, Option<Left>) {
        let commands = self.telling.reading.commands.iter().enumerate();
        let told = commands.filter(|(_, it)| it.mood == Mood::Told);
        let refused = told.filter_map(|(at, command)| self.step(at, command)).collect();
        (refused, self.left())
    }

    fn step(&mut self, at: usize, command: &Command) -> Option<Refused> {
        let here: Vec<AgentInState> =
            self.here.iter().filter(|it| command.concerns(it.state)).copied().collect();
        if here.is_empty() {
            return None;
        }
        let to = match command.target {
            Target::State(to) => to,
            Target::Unknown => {
                self.here.clear();
                return Some(self.refused(at, here));
            }
            Target::Open => return None,
        };
        let able: Vec<AgentInState> = here.iter().filter(|it| self.can(**it, to)).copied().collect();
        if able.is_empty() {
            let refused = self.refused(at, here.clone());
            if !command.conditional {
                // What comes next was written for an agent that this had been granted to.
                self.here = here.into_iter().map(|it| AgentInState { state: to, ..it }).collect();
                self.after = Some(at);
            }
            return Some(refused);
        }
        let aside = if command.conditional { None } else { self.aside.take() };
        let after = self.after(&able, to, command.conditional && command.waits)?;
        let ends = command.will_come && after.is_empty();
        if !command.conditional || ends {
            (self.here, self.after) = (after, Some(at));
        } else {
            self.here.extend(&after);
            self.here.sort_unstable();
            self.here.dedup();
            self.aside = (command.waits || command.goes_on).then_some((after, at));
        }
        let (places, earlier) = aside?;
        let stuck = !places.is_empty() && !places.iter().any(|it| self.can(*it, to));
        stuck.then(|| Refused { after: Some(earlier), when: When::Aside, ..self.refused(at, places) })
    }

    fn refused(&self, command: usize, from: Vec<AgentInState>) -> Refused {
        let when = if self.start.is_some() { When::Started } else { When::Always };
        Refused { by: self.telling.by, command, start: self.start, from, after: self.after, when }
    }

    /// To be told to go where one is does no harm.
    fn can(&self, place: AgentInState, to: StateId) -> bool {
        place.state == to || place.may_request(self.facts.machine, to)
    }

    /// Where the agents that live through it are afterwards, and where others then move the task, with persons if the
    /// agent waits for them.
    fn after(&mut self, able: &[AgentInState], to: StateId, for_persons: bool) -> Option<Vec<AgentInState>> {
        let (facts, machine) = (self.facts, self.facts.machine);
        let lives = |place: &AgentInState| {
            let between = || machine.between(place.state, to);
            place.state == to || between().any(|id| survives(machine, id, place.actor))
        };
        let arrived: Vec<AgentInState> =
            able.iter().filter(|it| lives(it)).map(|it| AgentInState { state: to, ..*it }).collect();
        let actor = arrived.first().map(|it| it.actor);
        let takes = |id| for_persons || actor.is_some_and(|actor| goes_by_others(facts, actor, id));
        self.walker.closure(arrived.into_iter(), takes)
    }

    /// Where the agent is left, if it lives on there.
    fn left(&self) -> Option<Left> {
        let Teller::Prompt(prompt) = self.telling.by else { return None };
        let (start, last) = (self.start?, self.after?);
        let Target::State(to) = self.telling.reading.commands[last].target else { return None };
        let place = self.here.iter().find(|it| it.state == to)?;
        Some(Left { prompt, start, last, place: *place })
    }
}
