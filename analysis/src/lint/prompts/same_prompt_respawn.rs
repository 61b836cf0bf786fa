//! C89: an agent that is started again gets the same prompt as the first one.

use orange_core::Actor;

use super::C89;
use super::shared::{prompts, started};
use crate::lint::Facts;
use crate::lint::prompt_facts::PromptStart;
use orange_codegen::diag::Diagnostic;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for it in prompts(facts) {
        for again in it.starts.iter().filter(|it| it.transition.is_none() && it.place.actor == Actor::Worker)
        {
            let is_first = |start: &&PromptStart| start.transition.is_some() && start.place == again.place;
            let Some(first) = it.starts.iter().find(is_first) else { continue };
            let (name, state) = (it.name, facts.name(again.place.state));
            let message = format!(
                "an agent that is started again in `{state}` gets the prompt of the first one: `{name}` mentions no progress"
            );
            let ((spawn, words), (respawn, _)) = (started(facts, &it, first), started(facts, &it, again));
            found.push(
                Diagnostic::new(&C89, respawn, message)
                    .label(spawn, format!("1. {words}"))
                    .label(respawn, "2. the same prompt for an agent that continues")
                    .help("give it a prompt of its own, which begins with what is there: the notes in TASK.md, the commits on the branch"),
            );
        }
    }
    found
}
