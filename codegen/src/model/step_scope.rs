//! The names that the steps of a workflow define.

use super::decoder::Decoder;
use super::scope::NameTable;
use super::step_values::{DeclaredValue, ValueKind};
use super::{Field, OutputId, StepId};
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
    /// By step, true if it has one item for each element of a list.
    pub(super) fan_outs: Vec<bool>,
    /// True if the texts that are read now belong to a fan-out, or may do so.
    pub(super) has_item: bool,
}

impl StepScope<'_> {
    /// The outputs of a step, or of the step that it handles.
    pub(super) fn outputs_of(&self, step: StepId) -> &[DeclaredValue] {
        let handled = self.handles.get(step.index()).copied().flatten().unwrap_or(step);
        self.outputs.get(handled.index()).map_or(&[], Vec::as_slice)
    }

    /// True if a step has one item for each element of a list.
    pub(super) fn is_fan_out(&self, step: StepId) -> bool {
        self.fan_outs.get(step.index()).is_some_and(|it| *it)
    }

    /// The field of a step with this name, and the type of its values.
    pub(super) fn field(&self, step: StepId, name: &str) -> Option<(Field, ValueKind)> {
        match Field::OF_ALL.into_iter().find(|(word, _)| *word == name).map(|it| it.1) {
            Some(part @ (Field::Result | Field::Summary | Field::Output(_))) => Some((part, ValueKind::Text)),
            Some(part @ Field::Ran) => Some((part, ValueKind::Bool)),
            Some(part @ Field::Rounds) => Some((part, ValueKind::ANY_NUMBER)),
            None => {
                let declared = self.outputs_of(step);
                let at = declared.iter().position(|it| it.name.value == name)?;
                Some((Field::Output(OutputId(at as u16)), declared[at].kind.clone()))
            }
        }
    }

    /// The names of the fields of a step.
    pub(super) fn fields(&self, step: StepId) -> Vec<&str> {
        let declared = self.outputs_of(step).iter().map(|it| it.name.value.as_str());
        Field::OF_ALL.map(|it| it.0).into_iter().chain(declared).collect()
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
