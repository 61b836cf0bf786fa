//! The names that the steps of a workflow define.

use super::StepId;
use super::decoder::Decoder;
use super::scope::NameTable;
use super::step_values::DeclaredValue;
use crate::catalogue::B32;
use crate::prompt_files::PromptFiles;
use crate::span::Spanned;

/// The names that steps refer to.
pub(super) struct StepScope<'n> {
    pub(super) steps: NameTable<'n>,
    /// In the order of `Steps::roles`.
    pub(super) roles: Vec<Spanned<String>>,
    pub(super) has_declared_roles: bool,
    pub(super) files: &'n PromptFiles,
    pub(super) inputs: Vec<DeclaredValue>,
    /// By step.
    pub(super) outputs: Vec<Vec<DeclaredValue>>,
    /// By step, the one whose failure it handles.
    pub(super) handles: Vec<Option<StepId>>,
}

impl StepScope<'_> {
    /// The outputs of a step, or of the step that it handles.
    pub(super) fn outputs_of(&self, step: StepId) -> &[DeclaredValue] {
        let handled = self.handles.get(step.index()).copied().flatten().unwrap_or(step);
        self.outputs.get(handled.index()).map_or(&[], Vec::as_slice)
    }

    /// The number of the input with this name; an unknown one is reported.
    pub(super) fn input(&self, decoder: &mut Decoder<'_>, name: &Spanned<String>) -> Option<usize> {
        let found = self.inputs.iter().position(|it| it.name.value == name.value);
        if found.is_none() {
            let known = self.inputs.iter().map(|it| it.name.value.as_str());
            decoder.unknown(&B32, ("input", "inputs"), &name.as_str(), known);
        }
        found
    }
}
