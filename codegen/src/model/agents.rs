//! Settings of agents: the harness, the model and the effort that a hook or a state names, and the workspace.

use super::decoder::{Decoder, Field};
use super::keys::{AGENT, NO_WORKSPACE};
use super::{Role, Workspace};
use crate::catalogue::S04;
use crate::diag::Diagnostic;
use crate::span::Spanned;
use crate::suggest;

/// Settings of an agent, as far as a hook or a state says.
#[derive(Clone, Debug, Default)]
pub struct AgentSettings {
    /// The harness.
    pub harness: Option<Spanned<HarnessName>>,
    /// The model, in the harness's own words.
    pub model: Option<String>,
    /// The effort, likewise.
    pub effort: Option<String>,
    /// Its workspace, which only a state says.
    pub workspace: Option<Spanned<Workspace>>,
}

/// A harness that a workflow names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HarnessName {
    /// `task`: that of the task's worker.
    Task,
    /// `review`: that of its reviewer.
    Review,
    /// The one with this name.
    Named(String),
}

/// The words for the task's own harnesses. What is almost one of them is not a name.
const TASK: &str = "task";
const REVIEW: &str = "review";

impl HarnessName {
    /// The agent that it makes of a hook's agent, where the hook does not say.
    pub fn role(&self) -> Option<Role> {
        match self {
            HarnessName::Task => Some(Role::Worker),
            HarnessName::Review => Some(Role::Reviewer),
            HarnessName::Named(_) => None,
        }
    }
}

/// `agent` of a state.
pub(super) fn agent(decoder: &mut Decoder<'_>, field: &Field<'_>) -> AgentSettings {
    let Some(fields) = decoder.object(field.value, &AGENT) else { return AgentSettings::default() };
    AgentSettings {
        harness: fields.get("harness").and_then(|it| harness(decoder, &it)),
        model: fields.get("model").and_then(|it| argument(decoder, &it)),
        effort: fields.get("effort").and_then(|it| argument(decoder, &it)),
        workspace: fields
            .get("workspace")
            .and_then(|it| decoder.word(&it, &[(NO_WORKSPACE, Workspace::Folder)])),
    }
}

/// One of the task's harnesses, or a name. Which names there are is known where the workflow runs.
pub(super) fn harness(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Option<Spanned<HarnessName>> {
    let text = &decoder.text(field)?.value;
    let name = match text.as_str() {
        TASK => HarnessName::Task,
        REVIEW => HarnessName::Review,
        name if suggest::distance(name, TASK) <= 1 || suggest::distance(name, REVIEW) <= 2 => {
            decoder.word(field, &[(TASK, ()), (REVIEW, ())]);
            return None;
        }
        name if is_name(name) => HarnessName::Named(name.to_owned()),
        _ => {
            let message = format!("`{}` is not a name of a harness", super::decoder::shortened(text));
            let help = "write `task`, `review`, or a name such as `codex`: letters, digits, `-` and `_`";
            decoder.report(Diagnostic::new(&S04, field.value.span, message).help(help));
            return None;
        }
    };
    Some(Spanned::new(name, field.value.span))
}

/// The rule of `harnesses.toml`.
fn is_name(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    !name.is_empty() && name.chars().all(is_plain) && !name.starts_with('-')
}

/// A word for the program's command line that is not blank and no option.
pub(super) fn argument(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Option<String> {
    let text = decoder.scalar(field)?.value;
    if text.trim().is_empty() || text.starts_with('-') || text.contains(char::is_control) {
        let message = format!("`{}` is not a value of `{}`", super::decoder::shortened(&text), field.name);
        let help = format!("write the {} as the harness's own option takes it", field.name);
        decoder.report(Diagnostic::new(&S04, field.value.span, message).help(help));
        return None;
    }
    Some(text)
}
