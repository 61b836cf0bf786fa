//! `workspace/willRenameFiles`: who names a file names it by its new name.

use orange_ide::files;

use super::requests::Refusal;
use super::view::View;
use super::{edits, uri, wire};

/// The files that a workflow or scenarios can name.
pub(super) fn operations() -> wire::FileOperationOptions {
    let pattern = wire::FileOperationPattern::new("**/*.{md,txt,yml,yaml,toml}".to_owned(), None, None);
    let filters = vec![wire::FileOperationFilter::new(Some("file".to_owned()), pattern)];
    wire::FileOperationOptions {
        will_rename: Some(wire::FileOperationRegistrationOptions::new(filters)),
        ..wire::FileOperationOptions::default()
    }
}

pub(super) fn answer(
    view: &View<'_>,
    params: wire::RenameFilesParams,
) -> Result<Option<wire::WorkspaceEdit>, Refusal> {
    let files = params.files.iter().map(|it| (uri::path(&it.old_uri.0), uri::path(&it.new_uri.0)));
    let found: Vec<_> = files.flat_map(|(old, new)| files::renamed(view.workspace, &old, &new)).collect();
    Ok((!found.is_empty()).then(|| edits::of_files(view, &found)))
}
