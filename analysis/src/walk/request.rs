//! Somebody asks for a state.

use orange_core::{Actor, Input};

use super::{Agent, Happened, Impossible, Walk};

impl Walk<'_> {
    pub(super) fn ask(&mut self, to: &str, by: &str) -> Result<Vec<Happened>, Impossible> {
        let actor = self.asker(by)?;
        let state =
            self.machine.state_named(to).ok_or_else(|| Impossible(format!("there is no state `{to}`")))?;
        if matches!(actor, Actor::Worker | Actor::Reviewer) && self.agent(actor) != Agent::Live {
            return Err(Impossible(format!("no {by} is alive to ask for `{to}`")));
        }
        self.happens(Input::Request { to: state, by: actor })
    }

    /// The actor with this name; the engine asks by itself.
    fn asker(&self, name: &str) -> Result<Actor, Impossible> {
        let all = || self.machine.all_actors().filter(|it| *it != Actor::Engine);
        all().find(|it| self.machine.actor_name(*it) == name).ok_or_else(|| {
            let known: Vec<&str> = all().map(|it| self.machine.actor_name(it)).collect();
            Impossible(format!("`{name}` asks for nothing here; these do: {}", known.join(", ")))
        })
    }
}
