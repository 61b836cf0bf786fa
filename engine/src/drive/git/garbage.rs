//! Refs whose content is part of the default branch, and which are no longer needed.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::backup::{BACKUP_EMAIL, BACKUPS, Backup};
use super::{Git, REMOTE};
use crate::Result;

impl Git {
    /// Every backup in this repository.
    pub fn all_backups(&self) -> Result<Vec<Backup>> {
        let refs = self.refs(&[BACKUPS])?;
        Ok(refs.into_iter().map(|one| Backup { reference: one.name, commit: one.commit }).collect())
    }

    /// True if the default branch has everything in a backup: each commit of the user, and the content of each file of commits that
    /// were made for the backup.
    pub fn is_backup_merged(&self, backup: &Backup, default_branch: &str) -> Result<bool> {
        let known = self.tips(default_branch)?;
        if known.is_empty() {
            return Ok(false);
        }
        let beyond = || self.call().arg("rev-list").args(not(&known)).arg(&backup.commit);
        let committers = beyond().args(["--no-commit-header", "--format=%ce"]).text()?;
        if committers.lines().any(|who| who != BACKUP_EMAIL) {
            return Ok(false);
        }
        let listed = beyond().arg("--objects").text()?;
        let objects: Vec<(&str, &str)> =
            listed.lines().map(|line| line.split_once(' ').unwrap_or((line, ""))).collect();
        let blobs = self.blobs_of(&objects)?;
        let written = self.written_by(&known, blobs.iter().map(|(_, path)| *path))?;
        Ok(blobs.iter().all(|(id, _)| written.contains(*id)))
    }

    /// Those of these objects that are blobs.
    fn blobs_of<'o>(&self, objects: &[(&'o str, &'o str)]) -> Result<Vec<(&'o str, &'o str)>> {
        let ids: Vec<&str> = objects.iter().map(|(id, _)| *id).collect();
        let call = self.call().args(["cat-file", "--batch-check=%(objecttype)"]);
        let kinds = call.input(ids.join("\n").as_bytes()).text()?;
        let each = objects.iter().copied().zip(kinds.lines());
        Ok(each.filter(|(_, kind)| !matches!(*kind, "commit" | "tree")).map(|(object, _)| object).collect())
    }

    /// The blobs that these paths have had in the history of these commits. Paths with line breaks are not found.
    fn written_by<'p>(
        &self,
        tips: &'p BTreeSet<String>,
        paths: impl Iterator<Item = &'p str>,
    ) -> Result<BTreeSet<String>> {
        let mut input: Vec<&str> = tips.iter().map(String::as_str).collect();
        input.push("--");
        let before = input.len();
        input.extend(paths);
        if input.len() == before {
            return Ok(BTreeSet::new());
        }
        let call = self.call().args(["--literal-pathspecs", "-c", "log.showRoot=true", "log", "--stdin"]);
        let call = call.args(["--raw", "--no-abbrev", "--no-renames", "-m", "--format="]);
        let raw = call.input(input.join("\n").as_bytes()).text()?;
        Ok(raw.lines().filter_map(|line| line.split(' ').nth(3)).map(str::to_owned).collect())
    }

    /// The names of all local branches.
    pub fn branches(&self) -> Result<BTreeSet<String>> {
        let names = self.refs(&["refs/heads/"])?.into_iter();
        Ok(names.filter_map(|one| one.name.strip_prefix("refs/heads/").map(str::to_owned)).collect())
    }

    /// The commit of a local branch that is part of the default branch and checked out nowhere; `None` for any other.
    pub fn merged_branch(&self, branch: &str, default_branch: &str) -> Result<Option<String>> {
        let name = format!("refs/heads/{branch}");
        let found = self.refs(&[&name])?.into_iter().find(|one| one.name == name);
        let Some(found) = found.filter(|one| one.worktree.is_none() && branch != default_branch) else {
            return Ok(None);
        };
        let known = self.tips(default_branch)?;
        if known.is_empty() {
            return Ok(None);
        }
        let call = self.call().args(["rev-list", "--max-count=1"]).args(not(&known));
        let left = call.arg(&found.commit).text()?;
        Ok(left.is_empty().then_some(found.commit))
    }

    /// The age of this commit; 0 if its date is in the future.
    pub fn age_of(&self, commit: &str) -> Result<Duration> {
        let text = self.call().args(["show", "--no-patch", "--format=%ct", commit, "--"]).text()?;
        let made = text.trim().parse().ok().map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds));
        Ok(made.and_then(|made| SystemTime::now().duration_since(made).ok()).unwrap_or_default())
    }

    /// Removes a ref that is still at this commit.
    pub fn remove_ref(&self, reference: &str, commit: &str) -> Result<()> {
        self.patiently(|| self.call().args(["update-ref", "-d", reference, commit]))?.checked()?;
        if let Some(branch) = reference.strip_prefix("refs/heads/") {
            // A later branch of that name must not inherit its settings. Git complains if there are none.
            self.call().args(["config", "--remove-section", &format!("branch.{branch}")]).run()?;
        }
        Ok(())
    }

    /// The commits of the default branch, here and on the remote as of the last fetch.
    pub(super) fn tips(&self, default_branch: &str) -> Result<BTreeSet<String>> {
        let names =
            [format!("refs/heads/{default_branch}"), format!("refs/remotes/{REMOTE}/{default_branch}")];
        let found = self.refs(&[&names[0], &names[1]])?.into_iter().filter(|one| names.contains(&one.name));
        Ok(found.map(|one| one.commit).collect())
    }
}

fn not(tips: &BTreeSet<String>) -> impl Iterator<Item = String> {
    tips.iter().map(|tip| format!("^{tip}"))
}
