//! Paths of a worktree that hold no work: files that it is given, which git ignores in that worktree alone.
//!
//! A file of ignored names is a setting of one worktree through a conditional include in the repository's own settings. Git's `info/exclude` would
//! hide the names in all worktrees, and `extensions.worktreeConfig` would keep programs that do not know it from the repository.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::Git;
use crate::{Error, ErrorKind, Result};
use orange_system::files::{if_found, remove_folder};
use orange_system::{atomic, nofollow};

/// The longest file of ignored names.
const LONGEST: u64 = 16 * 1024 * 1024;

/// The folder of Orange with what git ignores in one worktree alone.
struct IgnoreFiles {
    /// Git's settings for the worktree, which name `ignored`.
    settings: PathBuf,
    ignored: PathBuf,
    /// The paths, as JSON.
    paths: PathBuf,
}

impl IgnoreFiles {
    fn of(folder: &Path) -> IgnoreFiles {
        let file = |name| folder.join(name);
        IgnoreFiles { settings: file("gitconfig"), ignored: file("ignored"), paths: file("paths.json") }
    }
}

/// The paths that a worktree was given, by the folder of Orange for it; `None` if nothing was recorded there.
pub fn given(folder: &Path) -> Result<Option<Vec<String>>> {
    let file = IgnoreFiles::of(folder).paths;
    let bytes = if_found(&file, nofollow::read(&file, LONGEST))?;
    let corrupt = |cause| {
        Error::new(ErrorKind::Environment, format!("{} cannot be read: {cause}", file.display()))
            .help("it is a list of paths as JSON, such as [\".env\"]: correct it")
    };
    bytes.map(|bytes| serde_json::from_slice(&bytes).map_err(corrupt)).transpose()
}

impl Git {
    /// Makes git ignore these very paths, whatever letters they have, in this worktree alone, and records them in a folder of Orange.
    pub fn ignore_given(&self, worktree: &Path, folder: &Path, paths: &[String]) -> Result<()> {
        let place = IgnoreFiles::of(folder);
        nofollow::make_folder(folder).map_err(|cause| Error::io("create", folder, &cause))?;
        let listed = serde_json::to_vec(paths)
            .map_err(|cause| Error::new(ErrorKind::Environment, format!("a list of paths: {cause}")))?;
        atomic::write(&place.paths, &listed)?;
        if paths.is_empty() {
            return self.forget_include(&place.settings);
        }
        // This setting takes the place of the user's, so the names that the user ignores everywhere are in it, too.
        let mut ignored = self.ignored_by_user()?;
        ignored.push(b'\n');
        ignored.extend(paths.iter().flat_map(|path| format!("/{}\n", literal(path)).into_bytes()));
        atomic::write(&place.ignored, &ignored)?;
        let setting = || {
            let call = self.call().args(["config", "--file"]).arg(&place.settings);
            call.arg("core.excludesFile").arg(&place.ignored)
        };
        self.patiently(setting)?.checked()?;
        let key = format!("includeif.gitdir:{}.path", literal(&utf8(&self.own_part(worktree)?)?));
        if self.includes(&place.settings)? == [&*key] {
            return Ok(());
        }
        self.forget_include(&place.settings)?;
        let include = || self.call().args(["config", "--local", "--add", &key]).arg(&place.settings);
        self.patiently(include)?.checked().map(drop)
    }

    /// Ends what [`Git::ignore_given`] has begun.
    pub fn forget_given(&self, folder: &Path) -> Result<()> {
        if folder.symlink_metadata().is_err() {
            return Ok(());
        }
        self.forget_include(&IgnoreFiles::of(folder).settings)?;
        remove_folder(folder).map_err(|cause| Error::io("remove", folder, &cause))
    }

    /// True if the index of a worktree has this file, or a file below it.
    pub fn has_tracked(&self, worktree: &Path, path: &str) -> Result<bool> {
        let pathspec = format!(":(top,literal){path}");
        let listed =
            self.inside(worktree)?.call().args(["ls-files", "-z", "--", &pathspec]).run()?.checked()?;
        Ok(!listed.stdout.is_empty())
    }

    /// True if git ignores a path of a worktree: a `.gitignore` of the project can say that it does not.
    pub fn is_ignored(&self, worktree: &Path, path: &str) -> Result<bool> {
        let call = self.inside(worktree)?.call().args(["check-ignore", "--quiet", "--", path]);
        let output = call.run()?;
        match output.code() {
            Some(1) => Ok(false),
            _ => output.checked().map(|_| true),
        }
    }

    /// The names that the user ignores in every repository.
    fn ignored_by_user(&self) -> Result<Vec<u8>> {
        let named = self.call().args(["config", "--type=path", "--get", "core.excludesFile"]).run()?;
        let file = if named.success() {
            let path = named.stdout.strip_suffix(b"\n").unwrap_or(&named.stdout);
            Some(self.repo.join(OsStr::from_bytes(path)))
        } else {
            let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
            let settings = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")));
            settings.map(|settings| settings.join("git/ignore"))
        };
        let text = file.map(|file| if_found(&file, fs::read(&file))).transpose()?.flatten();
        Ok(text.unwrap_or_default())
    }

    /// The settings of the repository that include this file.
    fn includes(&self, settings: &Path) -> Result<Vec<String>> {
        let words = ["config", "--local", "-z", "--get-regexp", r"^includeif\.gitdir:.*\.path$"];
        let listed = self.call().args(words).run()?;
        if listed.code() == Some(1) {
            return Ok(Vec::new());
        }
        let printed = listed.checked()?.stdout;
        let of = |entry: &[u8]| {
            let at = entry.iter().position(|byte| *byte == b'\n')?;
            let is_it = &entry[at + 1..] == settings.as_os_str().as_bytes();
            is_it.then(|| String::from_utf8_lossy(&entry[..at]).into_owned())
        };
        Ok(printed.split(|byte| *byte == 0).filter_map(of).collect())
    }

    fn forget_include(&self, settings: &Path) -> Result<()> {
        let file = utf8(settings)?;
        for key in self.includes(settings)? {
            let words = ["config", "--local", "--fixed-value", "--unset-all", &key, &file];
            let output = self.patiently(|| self.call().args(words))?;
            // Another process has removed it meanwhile.
            if output.code() != Some(5) {
                output.checked()?;
            }
        }
        Ok(())
    }
}

fn utf8(path: &Path) -> Result<String> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        let message = format!("{} is not UTF-8, so git cannot have settings for it", path.display());
        Error::new(ErrorKind::Environment, message).help("move it to a folder whose name is UTF-8")
    })
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
