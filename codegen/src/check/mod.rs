//! The checks: one small file for each group, each adds what it finds.
//!
//! The model reports names that do not resolve; these checks need a whole workflow.

mod ambiguous;
mod budget;
mod claim;
mod collision;
mod deadline;
mod delegation;
mod ends;
mod exit_target;
mod file_name;
mod from_terminal;
mod gate_without_merge;
mod guard_size;
mod hook_failure;
mod reviewers;
mod steps;
mod then_when;
mod wait;
mod watch;

pub use file_name::same_name;

use std::collections::BTreeMap;

use crate::diag::{Diagnostic, Level};
use crate::guard::cells::WorkBudget;
use crate::hash;
use crate::model::{Definition, Draft, MachineDraft, State, StateId};
use crate::source::Source;
use crate::span::Span;

/// A workflow without a finding at level `error`. Only the checks make one, so that what is unchecked cannot be
/// lowered or emitted.
#[derive(Clone, Debug)]
pub struct Checked {
    definition: Definition,
    hash: String,
}

/// A workflow as far as it was understood, for those who show it: names in it are resolved, and what did not resolve is left out. It
/// may lack everything, its initial state too, and nothing lowers or emits it.
#[derive(Clone, Debug)]
pub struct PartialDefinition(Box<Definition>);

/// The state machine that the checks look at, and their findings.
struct CheckContext<'r> {
    draft: &'r MachineDraft,
    source: &'r str,
    work: WorkBudget,
    found: &'r mut Vec<Diagnostic>,
}

/// Runs every check, adds what they find to `found`, and gives the workflow.
///
/// # Errors
/// Something there is an error: the workflow cannot be lowered.
pub fn run(draft: Draft, source: &Source, found: &mut Vec<Diagnostic>) -> Result<Checked, PartialDefinition> {
    file_name::check(draft.name(), source, found);
    match &draft {
        Draft::Machine(draft) => machine(draft, source, found),
        Draft::Steps(steps) => steps::check(steps, found),
    }
    let partial = PartialDefinition::from(draft);
    if found.iter().any(|it| it.level == Level::Error) {
        return Err(partial);
    }
    let definition = *partial.0;
    Ok(Checked { hash: definition.hash(&source.text), definition })
}

fn machine(draft: &MachineDraft, source: &Source, found: &mut Vec<Diagnostic>) {
    let mut context = CheckContext { draft, source: &source.text, work: WorkBudget::default(), found };
    collision::check(&mut context);
    from_terminal::check(&mut context);
    guard_size::check(&mut context);
    ambiguous::check(&mut context);
    then_when::check(&mut context);
    exit_target::check(&mut context);
    hook_failure::check(&mut context);
    reviewers::check(&mut context);
    wait::check(&mut context);
    claim::check(&mut context);
    deadline::check(&mut context);
    gate_without_merge::check(&mut context);
    watch::check(&mut context);
    delegation::check(&mut context);
    budget::check(&mut context);
    ends::check(&mut context);
}

impl From<Draft> for PartialDefinition {
    fn from(draft: Draft) -> Self {
        Self(Box::new(match draft {
            Draft::Machine(draft) => Definition::Machine(Box::new(draft.workflow)),
            Draft::Steps(steps) => Definition::Steps(steps),
        }))
    }
}

impl PartialDefinition {
    /// The workflow, as far as it was understood.
    pub fn definition(&self) -> &Definition {
        &self.0
    }
}

impl Definition {
    fn hash(&self, source: &str) -> String {
        match self {
            Self::Machine(workflow) => hash::machine(source, workflow),
            Self::Steps(steps) => hash::steps(source, steps),
        }
    }
}

impl CheckContext<'_> {
    fn state(&self, id: StateId) -> &State {
        &self.draft.workflow.states[usize::from(id.0)]
    }

    fn name(&self, id: StateId) -> &str {
        &self.state(id).name.value
    }

    /// The part of a span on its first line: a whole mapping makes no readable caret.
    fn first_line(&self, span: Span) -> Span {
        span.first_line(self.source)
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }
}

impl Checked {
    /// The workflow that the file defines.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// The files that its prompts stand in, each once by its name, with its text.
    pub fn prompt_files(&self) -> BTreeMap<&str, String> {
        match &self.definition {
            Definition::Machine(it) => {
                let prompts = it.prompts.iter();
                prompts.filter_map(|it| Some((it.file.as_deref()?, it.text.value.clone()))).collect()
            }
            Definition::Steps(it) => {
                let files = it.steps.iter().flat_map(|step| &step.prompt.files);
                files.map(|it| (it.name.as_str(), it.text.clone())).collect()
            }
        }
    }

    /// The workflow's name.
    pub fn name(&self) -> &str {
        &self.definition.name().value
    }

    /// The hash of the source, see [`hash::source`], and of the files that it includes.
    pub fn hash(&self) -> &str {
        &self.hash
    }
}
