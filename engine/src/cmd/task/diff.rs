//! `orange task diff`

use std::io::IsTerminal;

use crate::app::App;
use crate::cmd::answer::Answer;
use crate::cmd::args::DiffArgs;
use crate::flow::diff::{Comparison, FileDiff, Shape, compare};
use crate::store::TaskDir;
use crate::{Error, ErrorKind, Result};
use orange_api::{Diff, DiffFile};

/// Shows what a task or a mission has changed.
pub fn run(app: &App, dir: &TaskDir, args: &DiffArgs, as_json: bool) -> Result<Answer> {
    let shape = match (args.tool, args.stat) {
        (true, _) => Shape::Tool,
        (false, true) => Shape::Stat,
        (false, false) => Shape::Patch,
    };
    if shape == Shape::Tool && (as_json || !is_terminal()) {
        return Err(Error::new(ErrorKind::Usage, "a diff tool needs a terminal")
            .help("leave out --tool, or run the command in a terminal"));
    }
    let comparison = compare(app, dir)?;
    if as_json {
        let diff = diff(dir, &comparison, shape)?;
        return Answer::of(&diff, String::new());
    }
    if !is_terminal() {
        return Ok(Answer::raw(comparison.printed(shape)?));
    }
    if comparison.files()?.is_empty() {
        return Ok(Answer::text(format!("nothing differs from {}", &comparison.base[..12])));
    }
    match comparison.show(shape)? {
        // The user has left the pager before the end.
        ended if ended.success() || ended.code().is_none() => Ok(Answer::default()),
        ended => Err(Error::new(ErrorKind::Environment, format!("git has failed: {ended}"))
            .help("git says why above; `git difftool --tool-help` lists the tools that it knows")),
    }
}

fn is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

fn diff(dir: &TaskDir, comparison: &Comparison, shape: Shape) -> Result<Diff> {
    let files: Vec<DiffFile> = comparison.files()?.iter().map(file).collect();
    let patch = match shape {
        Shape::Stat => None,
        Shape::Patch | Shape::Tool => Some(String::from_utf8_lossy(&comparison.patch()?).into_owned()),
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
