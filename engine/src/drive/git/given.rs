//! Paths of a worktree that hold no work: files that it is given, which git ignores.

use std::path::Path;

use super::Git;
use crate::Result;

impl Git {
    /// Makes git ignore this very path, whatever letters it has, in all worktrees of this repository.
    pub fn exclude_path(&self, path: &str) -> Result<()> {
        self.exclude(&literal(path))
    }

    /// Whether the index of a worktree has this file, or a file below it.
    pub fn has_tracked(&self, worktree: &Path, path: &str) -> Result<bool> {
        let pathspec = format!(":(top,literal){path}");
        let listed =
            self.inside(worktree)?.call().args(["ls-files", "-z", "--", &pathspec]).run()?.checked()?;
        Ok(!listed.stdout.is_empty())
    }

    /// Whether git ignores a path of a worktree: a `.gitignore` of the project can say that it does not.
    pub fn is_ignored(&self, worktree: &Path, path: &str) -> Result<bool> {
        let call = self.inside(worktree)?.call().args(["check-ignore", "--quiet", "--", path]);
        let output = call.run()?;
        match output.code() {
            Some(1) => Ok(false),
            _ => output.checked().map(|_| true),
        }
    }
}

/// A pattern of `.gitignore` that is this path only.
fn literal(path: &str) -> String {
    let is_special = |letter: char| matches!(letter, '\\' | '*' | '?' | '[');
    let escaped =
        path.chars().flat_map(|letter| is_special(letter).then_some('\\').into_iter().chain([letter]));
    escaped.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_names_one_path() {
        assert_eq!(literal(".env"), ".env");
        assert_eq!(literal("a/[b]*?\\c"), r"a/\[b]\*\?\\c");
    }
}
