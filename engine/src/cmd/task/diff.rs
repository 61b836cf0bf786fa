//! `orange task diff`

use std::io::IsTerminal;

use crate::app::App;
use crate::cmd::answer::CommandAnswer;
use crate::cmd::args::DiffArgs;
use crate::flow::diff::{CommitComparison, DiffForm, FileDiff, compare};
use crate::store::WorkItemDir;
use crate::{Error, ErrorKind, Result};
use orange_api::{Diff, DiffFile};

/// Shows what a task or a mission has changed.
pub fn run(app: &App, dir: &WorkItemDir, args: &DiffArgs, as_json: bool) -> Result<CommandAnswer> {
    let shape = match (args.tool, args.stat) {
        (true, _) => DiffForm::Tool,
        (false, true) => DiffForm::Stat,
        (false, false) => DiffForm::Patch,
    };
    if shape == DiffForm::Tool && (as_json || !is_terminal()) {
        return Err(Error::new(ErrorKind::Usage, "a diff tool needs a terminal")
            .help("leave out --tool, or run the command in a terminal"));
    }
    let comparison = compare(app, dir)?;
    if as_json {
        let diff = diff(dir, &comparison, shape)?;
        return CommandAnswer::of(&diff, String::new());
    }
    if !is_terminal() {
        return Ok(CommandAnswer::raw(comparison.printed(shape)?));
    }
    if comparison.files()?.is_empty() {
        return Ok(CommandAnswer::text(format!("nothing differs from {}", &comparison.base[..12])));
    }
    match comparison.show(shape)? {
        // The user has left the pager before the end.
        ended if ended.success() || ended.code().is_none() => Ok(CommandAnswer::default()),
        ended => Err(Error::new(ErrorKind::Environment, format!("git has failed: {ended}"))
            .help("git says why above; `git difftool --tool-help` lists the tools that it knows")),
    }
}

fn is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

fn diff(dir: &WorkItemDir, comparison: &CommitComparison, shape: DiffForm) -> Result<Diff> {
    let files: Vec<DiffFile> = comparison.files()?.iter().map(file).collect();
    let patch = match shape {
        DiffForm::Stat => None,
        DiffForm::Patch | DiffForm::Tool => Some(String::from_utf8_lossy(&comparison.patch()?).into_owned()),
    };
    Ok(Diff {
        id: dir.id.clone(),
        base: comparison.base.clone(),
        commit: comparison.commit.clone(),
        commits: comparison.commits()?,
        added: files.iter().map(|file| file.added).sum(),
        removed: files.iter().map(|file| file.removed).sum(),
        files,
        patch,
    })
}

fn file(FileDiff { path, was, letter, lines }: &FileDiff) -> DiffFile {
    let change = match letter {
        b'A' => "added",
        b'C' => "copied",
        b'D' => "deleted",
        b'R' => "renamed",
        b'T' => "type",
        b'U' => "conflict",
        _ => "modified",
    };
    let (added, removed) = lines.unwrap_or_default();
    DiffFile {
        path: path.display().to_string(),
        was: was.as_ref().map(|was| was.display().to_string()),
        change: change.into(),
        added,
        removed,
        binary: lines.is_none(),
    }
}
