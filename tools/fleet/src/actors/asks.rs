//! Questions of steps to people: they are put as soon as they can be, without a crab.

use orange_core::mission::{Effect, Event};
use orange_core::plan::StepId;
use serde_json::json;

use super::{AttemptChange, HostChange, MissionActor};

/// Puts every question of a mission that can be put now.
pub(super) fn put(actor: &mut MissionActor) -> Vec<HostChange> {
    let mut changes = Vec::new();
    while let Some((step, attempt)) = actor.mission.next_ask(actor.plan) {
        let shows_diff = actor.plan.step(step).ask.is_some_and(|it| it.shows_diff);
        let commit = actor.tip.clone().filter(|_| shows_diff);
        let event = Event::Ask { step, attempt, commit: commit.clone() };
        match actor.mission.apply(actor.plan, event) {
            Ok(effects) if effects != [Effect::Repeated] => {}
            Ok(_) | Err(_) => break,
        }
        actor.version += 1;
        changes.extend(asked(actor, step, attempt, commit));
    }
    changes
}

fn asked(actor: &MissionActor, step: StepId, attempt: u32, commit: Option<String>) -> [HostChange; 2] {
    let MissionActor { id, colony, plan, .. } = actor;
    let of_plan = plan.step(step);
    let who = of_plan.ask.map_or(&[][..], |it| it.who);
    let data = json!({"step": of_plan.id, "attempt": attempt, "who": who, "commit": commit});
    let due = of_plan.due_after(0);
    [
        HostChange::Attempt { mission: id.clone(), step, attempt, what: AttemptChange::Asked { due } },
        HostChange::Record { colony: colony.clone(), mission: Some(id.clone()), kind: "step.asked", data },
    ]
}
