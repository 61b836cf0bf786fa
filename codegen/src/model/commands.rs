//! The state that each command drives to, and its usual state where nothing is said.

use orange_core::action::Starts;

use super::decoder::{Decoder, Field};
use super::keys::COMMANDS;
use super::scope::Scope;
use super::{Commands, StateId, Transition};

/// The content of `commands`; an absent command was not written, `Err` was not understood.
#[derive(Default)]
pub(super) struct WrittenCommands {
    spawn: CommandTarget,
    clarify: CommandTarget,
    review: CommandTarget,
    merge: CommandTarget,
    cancel: CommandTarget,
    crash: CommandTarget,
}

#[derive(Clone, Copy, Default)]
enum CommandTarget {
    #[default]
    Unsaid,
    State(StateId),
    Unknown,
}

/// `commands`
pub(super) fn written(decoder: &mut Decoder<'_>, scope: &Scope<'_>, field: &Field<'_>) -> WrittenCommands {
    let Some(fields) = decoder.object(field.value, &COMMANDS) else { return WrittenCommands::default() };
    let mut target = |key| match fields.get(key) {
        None => CommandTarget::Unsaid,
        Some(field) => scope
            .some_state(decoder, &field)
            .map_or(CommandTarget::Unknown, |state| CommandTarget::State(state.value)),
    };
    WrittenCommands {
        spawn: target("spawn"),
        clarify: target("clarify"),
        review: target("review"),
        merge: target("merge"),
        cancel: target("cancel"),
        crash: target("crash"),
    }
}

impl WrittenCommands {
    /// Fills in the states that commands use by default, each where it exists.
    pub(super) fn resolve(
        &self,
        scope: &Scope<'_>,
        initial: StateId,
        transitions: &[Transition],
    ) -> Commands {
        let usual = |name: &str| scope.states.id(name).map(StateId);
        let clarify = self.clarify.or_usual(|| usual("clarification"));
        Commands {
            spawn: self.spawn.or_usual(|| spawn(usual("working"), clarify, initial, transitions)),
            clarify,
            review: self.review.or_usual(|| usual("agent-review")),
            merge: self.merge.or_usual(|| usual("done")),
            cancel: self.cancel.or_usual(|| usual("cancelled")),
            crash: self.crash.or_usual(|| usual("stuck")),
        }
    }

    /// True if `crash` was written and names no state.
    pub(super) fn crash_is_unknown(&self) -> bool {
        matches!(self.crash, CommandTarget::Unknown)
    }
}

impl CommandTarget {
    fn or_usual(self, usual: impl FnOnce() -> Option<StateId>) -> Option<StateId> {
        match self {
            CommandTarget::Unsaid => usual(),
            CommandTarget::State(state) => Some(state),
            CommandTarget::Unknown => None,
        }
    }
}

/// `working` where the initial state leads there; else the only state that it spawns an agent for and that is
/// not for clarification; else that for clarification, if it is the only one; else `working` all the same, so that a check can say what is
/// missing.
fn spawn(
    working: Option<StateId>,
    clarify: Option<StateId>,
    initial: StateId,
    transitions: &[Transition],
) -> Option<StateId> {
    let from_initial = || transitions.iter().filter(|it| it.from.value == initial);
    if let Some(working) = working
        && from_initial().any(|it| it.to.value == working)
    {
        return Some(working);
    }
    let spawning = || from_initial().filter(|it| it.spawns()).map(|it| it.to.value);
    let mut targets = spawning().filter(|it| Some(*it) != clarify);
    match (targets.next(), targets.next()) {
        (Some(only), None) => Some(only),
        (Some(_), Some(_)) => working,
        (None, _) => working.or_else(|| spawning().next()),
    }
}

impl Transition {
    /// True if a hook of it starts an agent.
    pub fn spawns(&self) -> bool {
        self.hooks
            .iter()
            .any(|it| matches!(it.action.traits().starts, Some(Starts::New | Starts::BesideWorker)))
    }
}
