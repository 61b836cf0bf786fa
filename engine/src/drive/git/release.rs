//! Releases a worktree to the pool, or removes it, after a backup of everything in it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::backup::{BackupContext, BackupSource};
use super::capture::{Capture, until_nobody_writes};
use super::look::{CheckoutLook, Exactness, FoundFile};
use super::parse::GitObject;
use super::worktree::FolderState;
use super::{Git, ListedWorktree, REQUEST_FOLDER, WHOLE};
use crate::{Error, Result};
use orange_system::fault;

/// Number of times that a worktree is searched again when files were written meanwhile.
const ROUNDS: usize = 6;

impl Git {
    /// Releases a worktree: backs up its uncommitted and untracked (not ignored) files and the commits that are on no remote under
    /// `refs/orange/backup/<task>/<n>`, ends an unfinished rebase or merge, and detaches it, clean, at the default branch. The
    /// task's branch and ignored files stay. Nested repositories and special files are set aside, submodules emptied. A worktree
    /// whose folder was removed by hand counts as released.
    ///
    /// Nothing is removed without a backup, whatever is written meanwhile: a file is moved beside the worktree, backed up from there,
    /// compared with the backup, and only then removed; git itself only adds missing files. It refuses a folder that is not a pooled
    /// worktree of this repository, or whose files keep changing.
    pub fn release(&self, worktree: &Path, context: &mut BackupContext<'_>) -> Result<()> {
        match self.leaving(worktree)? {
            FolderState::Free => Ok(()),
            FolderState::Removed(found) => self.forget_removed(&found, context),
            FolderState::Ours(_) => {
                self.set_requests_aside(worktree, context)?;
                remove_requests(worktree);
                self.empty(worktree, context, Git::fill)
            }
        }
    }

    /// Moves back what an unfinished release has taken out of a worktree: its task continues.
    pub fn give_back_released(worktree: &Path) -> Result<()> {
        Capture::of(worktree).give_all_back()
    }

    /// Removes a worktree from the repository, after the backup of [`Git::release`]. Ignored files are removed, too.
    pub fn remove(&self, worktree: &Path, context: &mut BackupContext<'_>) -> Result<()> {
        let found = match self.leaving(worktree)? {
            FolderState::Free => return Ok(()),
            FolderState::Removed(found) => return self.forget_removed(&found, context),
            FolderState::Ours(found) => found,
        };
        // A filter of the project that fails does not prevent the removal.
        self.empty(worktree, context, |there, base| there.fill(base).or(Ok(())))?;
        let (own, capture) = (self.own_part(worktree)?, Capture::of(worktree));
        let gone = self.bound(&own, &capture.take_whole()?);
        let written = gone.check_nothing_to_keep(&self.base(context.default_branch)?, &capture);
        if let Err(error) = written.and_then(|()| self.forget(&found)) {
            capture.give_back_whole()?;
            return Err(error);
        }
        capture.remove_whole()
    }

    /// Removes ignored files of these patterns, such as `.claude/settings.local.json`, from a worktree. Tracked and other ignored files
    /// stay.
    pub fn remove_ignored(&self, worktree: &Path, patterns: &[String]) -> Result<()> {
        if patterns.is_empty() || !worktree.is_dir() {
            return Ok(());
        }
        fault::step("remove", patterns.join(", "));
        let places = patterns.iter().map(|pattern| format!(":(top,glob){pattern}"));
        let words =
            ["clean", "--quiet", "--force", "-d", "-X", "--"].map(str::to_owned).into_iter().chain(places);
        let words: Vec<String> = words.collect();
        let there = self.inside(worktree)?;
        there.patiently(|| there.call().args(&words))?.checked().map(drop)
    }

    /// Sets aside what is at the path of the request folder, where the next agent could leave no requests.
    fn set_requests_aside(&self, worktree: &Path, context: &mut BackupContext<'_>) -> Result<()> {
        let place = worktree.join(REQUEST_FOLDER);
        let is_in_the_way = place.symlink_metadata().is_ok_and(|found| !found.is_dir());
        if is_in_the_way && !self.is_tracked(worktree, REQUEST_FOLDER).unwrap_or(false) {
            return context.set_aside(&place);
        }
        Ok(())
    }

    /// The state of a worktree that is to be removed, after an unfinished removal has been undone.
    fn leaving(&self, worktree: &Path) -> Result<FolderState> {
        let capture = Capture::of(worktree);
        if self.remembered(worktree)?.is_some() {
            capture.give_back_whole()?;
        }
        self.place(worktree)
    }

    fn forget_removed(&self, found: &ListedWorktree, context: &mut BackupContext<'_>) -> Result<()> {
        if let Some(left) = Capture::of(&found.path).left() {
            context.set_aside(left)?;
        }
        self.back_up_removed(found, context)?;
        self.forget(found)
    }

    /// Backs up everything in a worktree, and leaves it clean and detached at the default branch. The next
    /// round finds what is written meanwhile.
    fn empty(
        &self,
        worktree: &Path,
        context: &mut BackupContext<'_>,
        fill: fn(&Git, &str) -> Result<()>,
    ) -> Result<()> {
        let there = self.inside(worktree)?;
        let base = self.base(context.default_branch)?;
        let tree = self.tree(&base)?;
        let capture = Capture::of(worktree);
        if capture.is_kept() {
            there.check_out(&base, &capture, fill)?;
        }
        capture.give_back()?;
        there.set_broken_index_aside(context)?;
        let mut written = None;
        for round in 0..ROUNDS {
            let look = there.look(&tree, Exactness::WithFilters)?;
            let going = look.going(&tree);
            if round > 0 && going.is_empty() && look.walk.is_plain() {
                return Ok(());
            }
            written = going.last().map(|found| found.path.clone());
            let kept = self.capture(&there, &look, &going, &capture, context);
            if let Err(error) = kept {
                capture.give_back()?;
                return Err(error);
            }
            there.check_out(&base, &capture, fill)?;
        }
        Err(capture.restless(written.as_deref()))
    }

    /// Moves what must go beside the worktree, and backs it up there.
    fn capture(
        &self,
        there: &Git,
        look: &CheckoutLook,
        going: &[FoundFile],
        capture: &Capture,
        context: &mut BackupContext<'_>,
    ) -> Result<()> {
        let modules = self.take_repositories(there, &look.walk.repositories, capture, context)?;
        for special in &look.walk.special {
            context.set_aside(&there.repo.join(special))?;
        }
        capture.take(going.iter().map(|found| &*found.path))?;
        let captured = capture.at_rest()?;
        let is_new = |path: &&PathBuf| !look.walk.repositories.contains(path);
        if let Some(made) = captured.repositories.iter().find(is_new) {
            return Err(capture.restless(Some(made)));
        }
        let place = capture.taken();
        let seen = BackupSource {
            git: there.clone(),
            look,
            captured: &captured.files,
            place: &place,
            modules: &modules,
        };
        self.back_up(&seen, context)?;
        capture.check_unchanged(&captured)?;
        capture.set_kept()
    }

    /// Checks out a commit in this `Git`. Existing files stay.
    fn check_out(&self, base: &str, capture: &Capture, fill: fn(&Git, &str) -> Result<()>) -> Result<()> {
        self.forget_settings(&self.repo)?;
        let quiet = self.without_filters()?;
        self.patiently(|| self.call().preset(&quiet).preset(WHOLE).args(["read-tree", "--reset", base]))?
            .checked()?;
        let words = ["update-ref", "--no-deref", "-m", "orange: given back", "HEAD", base];
        self.patiently(|| self.call().args(words))?.checked()?;
        self.end_operations()?;
        fill(self, base)?;
        capture.remove_kept()
    }

    /// Adds the missing files of the index.
    fn fill(&self, base: &str) -> Result<()> {
        let output =
            self.patiently(|| self.call().preset(WHOLE).args(["checkout-index", "--all", "--quiet", "-u"]))?;
        // It also complains of files in the way, which the next round finds.
        let is_missing = |path: &PathBuf| self.repo.join(path).symlink_metadata().is_err();
        let is_module = |object: &GitObject| object.mode == "160000";
        let is_lacking = || {
            let tree = self.tree(base)?;
            Ok(tree.iter().any(|(path, object)| !is_module(object) && is_missing(path)))
        };
        if output.success() || !is_lacking()? { Ok(()) } else { Err(output.failure()) }
    }

    /// Refuses if the checkout of this `Git` has anything that this commit lacks.
    fn check_nothing_to_keep(&self, base: &str, capture: &Capture) -> Result<()> {
        let tree = self.tree(base)?;
        until_nobody_writes(&self.repo, &self.repo)?;
        let look = self.look(&tree, Exactness::WithFilters)?;
        let going = look.going(&tree);
        if going.is_empty() && look.walk.is_plain() {
            Ok(())
        } else {
            Err(capture.restless(going.last().map(|found| &*found.path)))
        }
    }

    /// Removes settings of this worktree alone: which files to skip, and which not to check out.
    fn forget_settings(&self, worktree: &Path) -> Result<()> {
        let (own, shared) = (self.git_dir(worktree)?, self.common_dir()?);
        let settings = own.join("config.worktree");
        // If the main checkout has such settings, a new worktree inherits them.
        if settings.exists() && !shared.join("config.worktree").exists() {
            fs::remove_file(&settings).map_err(|cause| Error::io("remove", &settings, &cause))?;
        }
        let entries = self.entries(worktree)?;
        let hidden: Vec<_> = entries.iter().filter(|entry| entry.is_hidden()).collect();
        let quiet = self.without_filters()?;
        self.show_again(&|| self.call().preset(&quiet), &hidden)
    }

    /// Ends an unfinished operation of a checkout, without moving anything.
    fn end_operations(&self) -> Result<()> {
        let folder = self.git_dir(&self.repo)?;
        let under_way: &[(&str, &[&str])] = &[
            ("rebase-apply/applying", &["am", "--quit"]),
            ("rebase-apply", &["rebase", "--quit"]),
            ("rebase-merge", &["rebase", "--quit"]),
            ("sequencer", &["cherry-pick", "--quit"]),
            ("CHERRY_PICK_HEAD", &["cherry-pick", "--quit"]),
            ("REVERT_HEAD", &["revert", "--quit"]),
            ("MERGE_HEAD", &["merge", "--quit"]),
            ("BISECT_LOG", &["bisect", "reset", "HEAD"]),
        ];
        for (name, verb) in under_way {
            if folder.join(name).exists() {
                self.patiently(|| self.call().args(*verb))?.checked()?;
            }
        }
        Ok(())
    }
}

/// Removes the request folders. A folder that cannot be removed stays: git ignores it, and the next agent of that number first
/// clears its folder.
fn remove_requests(worktree: &Path) {
    let root = worktree.join(REQUEST_FOLDER);
    if !root.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        return;
    }
    let is_spawn = |name: &OsStr| name.to_str().is_some_and(|name| name.parse::<u32>().is_ok());
    let entries = fs::read_dir(&root).into_iter().flatten().flatten();
    for folder in entries.filter(|entry| is_spawn(&entry.file_name())) {
        fault::step("remove", folder.path().display());
        fs::remove_dir_all(folder.path()).unwrap_or_default();
    }
    // The project may have files of its own in it.
    fs::remove_dir(&root).unwrap_or_default();
}
