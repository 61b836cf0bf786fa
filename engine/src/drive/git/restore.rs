//! Puts uncommitted work of a backup into a worktree again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::backup::BACKUP_EMAIL;
use super::look::{self, Exactness, Tree};
use super::parse::GitObject;
use super::reclaim::changed;
use super::{Git, refused};
use crate::Result;
use orange_system::fault;

impl Git {
    /// The commit on which a backup was made, and whether the backup has more than that: uncommitted work. The commits of a
    /// backup itself are those of its author.
    pub fn work_in(&self, backup: &str) -> Result<(String, bool)> {
        let listed = self.call().args(["log", "--first-parent", "--max-count=3", "--format=%H %ce", backup]);
        let listed = listed.text()?;
        let own = |line: &&str| line.ends_with(&format!(" {BACKUP_EMAIL}"));
        let head = listed.lines().find(|line| !own(line)).and_then(|line| line.split(' ').next());
        let has_more = listed.lines().next().is_some_and(|line| own(&line));
        Ok((head.unwrap_or(backup).to_owned(), has_more))
    }

    /// Gives the files of a worktree the content that they have in a backup of uncommitted work. Repeating it does no harm.
    ///
    /// # Errors
    /// `refused` if one of these files has neither that content nor the one of the worktree's commit: somebody has changed it.
    pub fn restore_work(&self, worktree: &Path, backup: &str) -> Result<()> {
        let there = self.inside(worktree)?;
        let head = there.tree("HEAD")?;
        let wanted = there.tree(backup)?;
        let unconverted = there.unconverted(backup)?;
        let differing = changed(&head, &wanted, &unconverted);
        there.check_untouched(&differing, &head, &wanted)?;
        fault::step("restore", "uncommitted work");
        // The index stays that of the commit, so new files are untracked.
        there.write_back(&differing, &wanted)
    }

    fn check_untouched(&self, differing: &BTreeSet<&PathBuf>, head: &Tree, wanted: &Tree) -> Result<()> {
        let is_passed_over =
            |path: &Path, is_folder: bool| !is_folder && !differing.contains(&path.to_path_buf());
        let walk = look::walk(&self.repo, &is_passed_over)?;
        let look = self.look(&Tree::new(), Exactness::WithFilters)?;
        let as_checked_out: BTreeSet<&PathBuf> =
            look.entries.iter().filter(|entry| look.is_as_in_index(entry)).map(|entry| &entry.path).collect();
        let present: BTreeMap<PathBuf, String> = self.hashed(&walk.files)?;
        let is_as = |path: &PathBuf, tree: &Tree| {
            let words = tree.get(path).map(|GitObject { mode, id }| format!("{mode} {id}"));
            words.as_ref() == present.get(path) || self.is_link_as(path, tree, present.get(path))
        };
        let is_untouched =
            |path: &PathBuf| as_checked_out.contains(path) || is_as(path, head) || is_as(path, wanted);
        match differing.iter().find(|path| !is_untouched(path)) {
            None => Ok(()),
            Some(path) => Err(refused(format!("{} was changed since its backup", path.display()))
                .help("the backup stays: `orange task restore` makes a branch of it")),
        }
    }

    /// Links are known by their target, repositories by their folder.
    fn is_link_as(&self, path: &Path, tree: &Tree, present: Option<&String>) -> bool {
        let Some(object) = tree.get(path) else { return false };
        match (object.mode.as_str(), present) {
            ("160000", None) => self.repo.join(path).is_dir(),
            ("120000", Some(found)) => {
                let target = self.call().args(["cat-file", "blob", &object.id]).text().unwrap_or_default();
                *found == format!("120000 {target}")
            }
            _ => false,
        }
    }
}
