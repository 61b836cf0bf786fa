//! C8C: a prompt or a message calls a command that `orange` does not have.

use super::C8C;
use super::shared::all_instructions;
use crate::lint::Facts;
use orange_codegen::diag::Diagnostic;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for by in all_instructions(facts) {
        for (span, command) in &by.reading.unknown {
            let message = format!("{} calls `{}`, which {}", by.name(facts), command.written, command.why);
            found.push(Diagnostic::new(&C8C, *span, message).help(command.help.clone()));
        }
    }
    found
}
