//! Counts the tokens of an agent, by model, in its harness's own record and in those of its subagents.

mod claude;
mod codex;
mod counts;
mod lines;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use serde_json::Value;

use orange_system::clock;

use self::claude::ClaudeMessages;
use self::codex::Rollout;
pub use self::codex::is_of_subagent;
pub use self::counts::TokenCounts;
use self::lines::ReadBudget;

/// The most records of subagents that are read.
const MOST_SUBAGENTS: usize = 4000;

/// Usage of a conversation and its subagents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The tokens of each model.
    pub models: BTreeMap<String, TokenCounts>,
    /// True if a part of the records could not be read: the figures are lower bounds.
    pub is_partial: bool,
}

impl Usage {
    /// All that the models have read, cached or not, and written; `None` if no record says it.
    pub fn tokens(&self) -> Option<u64> {
        (!self.models.is_empty()).then(|| self.models.values().map(TokenCounts::total).sum())
    }

    /// All that was not read from a cache.
    pub fn fresh_tokens(&self) -> Option<u64> {
        let fresh = |counts: &TokenCounts| counts.total().saturating_sub(counts.cache_read);
        (!self.models.is_empty()).then(|| self.models.values().map(fresh).sum())
    }

    fn add(&mut self, model: &str, counts: TokenCounts) {
        let of_model = self.models.entry(model.to_owned()).or_default();
        *of_model = of_model.plus(counts);
    }
}

/// The usage since this time by the record of a conversation, and by those that its harness keeps of its subagents: claude beside
/// that record, codex among those of other conversations.
pub fn usage(path: &Path, since: Option<SystemTime>) -> io::Result<Usage> {
    usage_within(ReadBudget::default(), path, since)
}

fn usage_within(mut budget: ReadBudget, path: &Path, since: Option<SystemTime>) -> io::Result<Usage> {
    let mut messages = ClaudeMessages::default();
    let mut usage = Usage::default();
    let mut rollout = Rollout::default();
    budget.read(path, &mut |line| note(line, since, &mut rollout, &mut messages))?;
    let own = rollout.own().map(str::to_owned);
    let subagents = match &own {
        Some(id) => codex::subagents(path, id, since),
        None => claude::subagents(path),
    };
    rollout.add_to(&mut usage);
    usage.is_partial |= subagents.len() > MOST_SUBAGENTS;
    for path in subagents.iter().take(MOST_SUBAGENTS) {
        let mut rollout = Rollout::default();
        let read = budget.read(path, &mut |line| note(line, since, &mut rollout, &mut messages));
        usage.is_partial |= read.is_err();
        rollout.add_to(&mut usage);
    }
    messages.add_to(&mut usage);
    usage.is_partial |= budget.left_something();
    Ok(usage)
}

fn note(line: &[u8], since: Option<SystemTime>, rollout: &mut Rollout, messages: &mut ClaudeMessages) {
    if !may_tell(line) {
        return;
    }
    let Ok(line) = serde_json::from_slice::<Value>(line) else { return };
    let time = line.get("timestamp").and_then(Value::as_str).and_then(clock::parse);
    let is_earlier = since.is_some_and(|since| time.is_some_and(|time| time < since));
    rollout.note(&line, is_earlier);
    messages.note(&line, is_earlier);
}

/// True if a line may have figures, or say of what they are; lines may be long, and few of them do.
fn may_tell(line: &[u8]) -> bool {
    let signs =
        [r#""usage""#, r#""token_count""#, r#""session_meta""#, r#""turn_context""#, r#""task_started""#];
    std::str::from_utf8(line).is_ok_and(|line| signs.iter().any(|sign| line.contains(sign)))
}

#[cfg(test)]
mod tests;
