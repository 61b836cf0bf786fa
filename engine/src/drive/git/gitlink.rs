//! Repositories that a branch names without their files: an agent's scaffold with a `.git` of its own, added by `git add`.

use std::path::Path;

use super::{Git, head, parse, refused};
use crate::Result;

impl Git {
    /// Refuses a commit of a branch that has the task's own file, or a repository without its files: no merge takes it.
    pub fn check_is_work(&self, commit: &str, branch: &str, default_branch: &str) -> Result<()> {
        self.check_no_task_file(commit, branch)?;
        self.check_no_gitlink(commit, branch, default_branch)
    }

    /// Refuses a commit that names a repository inside which neither the default branch names nor `.gitmodules` declares: its files are
    /// in no commit of this repository, and a merge would lose them.
    pub fn check_no_gitlink(&self, commit: &str, branch: &str, default_branch: &str) -> Result<()> {
        let base = self.base(default_branch)?;
        let words = ["diff-tree", "-r", "-z", "--no-renames", "--no-ext-diff", &base, commit];
        let printed = self.call().args(words).run()?.checked()?.stdout;
        let links = added_links(&printed);
        if links.is_empty() {
            return Ok(());
        }
        let declared = self.declared_submodules(commit)?;
        match links.into_iter().find(|link| !declared.contains(link)) {
            None => Ok(()),
            Some(link) => Err(undeclared(&link, branch)),
        }
    }

    /// The paths that `.gitmodules` of a commit declares.
    fn declared_submodules(&self, commit: &str) -> Result<Vec<String>> {
        let blob = format!("{commit}:.gitmodules");
        let words = ["config", "--blob", &blob, "-z", "--get-regexp", r"^submodule\..*\.path$"];
        // It fails where the commit has no such file.
        let listed = self.call().args(words).run()?;
        let printed = String::from_utf8_lossy(&listed.stdout).into_owned();
        let paths = printed.split('\0').filter_map(|entry| entry.split_once('\n'));
        Ok(paths.map(|(_, path)| path.to_owned()).collect())
    }

    /// Refuses a worktree that is not on this branch: what is committed there is no part of it.
    pub fn check_on_branch(&self, worktree: &Path, branch: &str) -> Result<()> {
        if head::branch(worktree).as_deref() == Some(branch) {
            return Ok(());
        }
        let current = self.current_branch(worktree)?;
        if current.as_deref() == Some(branch) {
            return Ok(());
        }
        let shown = worktree.display();
        let on = current.map_or_else(|| "no branch".to_owned(), |current| format!("branch `{current}`"));
        Err(refused(format!("{shown} is on {on}, not on `{branch}`: work there would be left out")).help(format!(
            "run `git -C '{shown}' switch {branch}`, or finish the rebase there; if the branch was renamed, \
             run `orange task update --branch` there"
        )))
    }
}

/// The paths at which a difference of two trees adds a repository, in the output of `git diff-tree -z`.
fn added_links(printed: &[u8]) -> Vec<String> {
    let mut fields = printed.split(|&byte| byte == 0);
    let mut links = Vec::new();
    while let (Some(modes), Some(path)) = (fields.next(), fields.next()) {
        let (before, after) = modes.split_at(modes.len().min(8));
        if after.starts_with(b"160000 ") && before != b":160000 " {
            links.push(parse::path(path).to_string_lossy().into_owned());
        }
    }
    links
}

fn undeclared(link: &str, branch: &str) -> crate::Error {
    let path = format!("'{}'", link.replace('\'', r"'\''"));
    refused(format!("`{link}` on `{branch}` is a repository of its own: its files are not in the commit, and a merge would not have them"))
        .help(format!(
            "in the task's worktree, run `git rm --quiet --cached {path} && mv {path}/.git \"$(mktemp -d)\" && git add {path}`, \
             and commit that; if it is to be a submodule, declare it: `git submodule add URL {path}`"
        ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_added_repositories_are_links() {
        let entry =
            |modes: &str, path: &str| format!(":{modes} {} {} A\0{path}\0", "0".repeat(40), "1".repeat(40));
        let printed = [
            entry("000000 160000", "front end"),
            entry("000000 100644", "file"),
            entry("160000 160000", "moved on"),
            entry("160000 000000", "gone"),
            entry("100644 160000", "instead"),
        ];
        assert_eq!(added_links(printed.concat().as_bytes()), ["front end", "instead"]);
        assert_eq!(added_links(b""), [""; 0]);
    }
}
