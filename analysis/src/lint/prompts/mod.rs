//! Prompts: whether they ask for what the workflow then wants.

mod loose_verdict;
mod missing_section;
mod no_exit;
mod places;
mod prompt_illegal_status;
mod prompt_needs_network;
mod prompt_not_relayed;
mod respawn_branch_missing;
mod same_prompt_respawn;
mod shared;
mod stale_guard;
mod unknown_command;
mod unnamed;
mod unused_prompt;
mod verdict_by_prose;
mod verdict_swapped;
mod verdict_vocabulary;

#[cfg(test)]
mod tests;

use std::cell::OnceCell;

use self::places::PromptedCommands;
use super::Facts;

super::group! {
    C80 "prompt-illegal-status" Warn prompt_illegal_status;
    C81 "prompt-missing-section" Warn missing_section;
    C82 "prompt-no-exit" Warn no_exit;
    C83 "unused-prompt" Warn unused_prompt;
    C85 "prompt-stale-guard" Warn stale_guard;
    C86 "respawn-branch-missing" Warn respawn_branch_missing;
    C87 "verdict-vocabulary" Warn verdict_vocabulary, steps;
    C88 "verdict-by-prose" Warn verdict_by_prose;
    C89 "same-prompt-respawn" Allow same_prompt_respawn;
    C8A "loose-verdict" Warn loose_verdict;
    C8B "verdict-swapped" Warn verdict_swapped;
    C8C "unknown-command" Warn unknown_command;
    C8D "prompt-needs-network" Warn prompt_needs_network, steps;
    C8E "prompt-not-relayed" Warn prompt_not_relayed, steps;
}

/// Facts that several of these lints ask for, computed when the first one does.
#[derive(Debug, Default)]
pub struct PromptLintFacts {
    commands: OnceCell<PromptedCommands>,
}

impl Facts<'_> {
    /// Refused and granted commands of all prompts and messages.
    fn commands(&self) -> &PromptedCommands {
        self.prompts.commands.get_or_init(|| PromptedCommands::of(self))
    }
}
