//! Tracked files, index and commit of a worktree at a moment, to tell later whether they have changed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::scratch::ScratchIndex;
use super::{Git, parse};
use crate::Result;
use orange_core::fnv1a;
use orange_system::exec::ProgramCall;

/// State of a worktree, without files that git does not track.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrackedState {
    /// The commit that is checked out.
    pub head: String,
    /// The tree of the index, or the hash of one with conflicts.
    pub index: String,
    /// The tree of the tracked files as they are.
    pub files: String,
}

impl Git {
    /// State of this worktree.
    ///
    /// # Errors
    /// `environment` when git fails.
    pub fn tracked_state(&self, worktree: &Path) -> Result<TrackedState> {
        let there = self.inside(worktree)?;
        let head = there.head(&there.repo)?.unwrap_or_default();
        let scratch = ScratchIndex::of(&there.git_dir(&there.repo)?.join("index"))?;
        let lenient = there.with_lenient_filters()?;
        let at = || there.call().env("GIT_INDEX_FILE", &scratch.path).preset(&lenient);
        let index = written(&at)?;
        at().args(["add", "--update"]).run()?.checked()?;
        Ok(TrackedState { head, index, files: written(&at)? })
    }

    /// The files that differ between two states, as far as git can name them.
    ///
    /// # Errors
    /// `environment` when git fails.
    pub fn tracked_changes(&self, before: &TrackedState, after: &TrackedState) -> Result<Vec<PathBuf>> {
        let mut changed = BTreeSet::new();
        let sides =
            [(&before.head, &after.head), (&before.index, &after.index), (&before.files, &after.files)];
        for (one, other) in sides.into_iter().filter(|(one, other)| one != other) {
            let tree = |name: &str| self.has_tree(name);
            if tree(one)? && tree(other)? {
                let words = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", one, other];
                changed.extend(parse::parse_paths(&self.call().args(words).run()?.checked()?.stdout));
            }
        }
        Ok(changed.into_iter().collect())
    }

    /// True if this names a tree, or a commit with one.
    fn has_tree(&self, name: &str) -> Result<bool> {
        let wanted = format!("{name}^{{tree}}");
        let found = self.call().args(["rev-parse", "--verify", "--quiet", &wanted]).run()?;
        Ok(found.success())
    }
}

/// The tree of an index. One with conflicts has none.
fn written(at: &dyn Fn() -> ProgramCall) -> Result<String> {
    let tree = at().arg("write-tree").run()?;
    if tree.success() {
        return Ok(tree.text());
    }
    let listed = at().args(["ls-files", "--stage", "-z"]).run()?.checked()?;
    Ok(format!("conflicts-{:016x}", fnv1a(listed.stdout.iter().copied())))
}
