//! The names that the steps of a workflow define.

use super::scope::NameTable;
use crate::prompt_files::PromptFiles;
use crate::span::Spanned;

/// The names that steps refer to.
pub(super) struct StepScope<'n> {
    pub(super) steps: NameTable<'n>,
    /// In the order of `Steps::roles`.
    pub(super) roles: Vec<Spanned<String>>,
    pub(super) has_declared_roles: bool,
    pub(super) files: &'n PromptFiles,
}
