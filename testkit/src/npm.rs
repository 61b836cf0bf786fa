//! Packages of npm, installed once below a folder of builds.

use std::collections::hash_map::DefaultHasher;
use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Packages that a test needs.
#[derive(Clone, Copy, Debug)]
pub struct NpmPackages<'t> {
    /// The text of `package.json`.
    pub package: &'t str,
    /// The text of `package-lock.json`; without it, npm takes the newest versions that the package allows.
    pub lock: Option<&'t str>,
    /// True if the packages may run their own programs during the installation.
    pub runs_scripts: bool,
}

impl NpmPackages<'_> {
    /// Installs them below this folder, once; another process may do the same. Gives the folder with `node_modules`.
    ///
    /// # Errors
    /// npm is missing or fails, or the folder cannot be written.
    pub fn installed_below(&self, cache: &Path) -> Result<PathBuf, String> {
        self.finished_below(cache, |_| Ok(()))
    }

    /// Installs them as [`NpmPackages::installed_below`] does, and finishes the installation with a function.
    ///
    /// # Errors
    /// npm is missing or fails, the folder cannot be written, or the function fails.
    pub fn finished_below(
        &self,
        cache: &Path,
        finish: impl FnOnce(&Path) -> Result<(), String>,
    ) -> Result<PathBuf, String> {
        let mut hasher = DefaultHasher::new();
        (self.package, self.lock).hash(&mut hasher);
        let folder = cache.join(format!("{:016x}", hasher.finish()));
        let _guard = guard(cache)?;
        if !folder.exists() {
            self.install(&folder, finish)?;
        }
        Ok(folder)
    }

    /// Installs them in this folder, in place of what was there.
    ///
    /// # Errors
    /// npm is missing or fails, or the folder cannot be written.
    pub fn installed_again(&self, folder: &Path) -> Result<(), String> {
        let _guard = guard(folder.parent().unwrap_or(folder))?;
        if folder.exists() {
            fs::remove_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        self.install(folder, |_| Ok(()))
    }

    /// Installs them whole or not at all.
    fn install(&self, folder: &Path, finish: impl FnOnce(&Path) -> Result<(), String>) -> Result<(), String> {
        let begun = folder.with_extension("new");
        let in_folder = |error: std::io::Error| format!("{}: {error}", begun.display());
        if begun.exists() {
            fs::remove_dir_all(&begun).map_err(in_folder)?;
        }
        fs::create_dir_all(&begun).map_err(in_folder)?;
        fs::write(begun.join("package.json"), self.package).map_err(in_folder)?;
        if let Some(lock) = self.lock {
            fs::write(begun.join("package-lock.json"), lock).map_err(in_folder)?;
        }
        let scripts: &[&str] = if self.runs_scripts { &[] } else { &["--ignore-scripts"] };
        // `npm ci` refuses a lock without the packages of other systems, which some coding agents have by the dozen.
        npm(&begun, &[&["install"], scripts].concat())?;
        finish(&begun)?;
        fs::rename(&begun, folder).map_err(in_folder)
    }
}

/// Runs npm in a folder.
///
/// # Errors
/// npm is missing or fails; the text has the reason that it gives.
pub fn npm(folder: &Path, arguments: &[&str]) -> Result<(), String> {
    let mut npm = Command::new("npm");
    npm.args(arguments).args(["--no-audit", "--no-fund", "--loglevel=error"]);
    let output = npm.current_dir(folder).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("npm cannot be run: {error}; install Node.js with npm"))?;
    if output.status.success() {
        return Ok(());
    }
    let reason = reason(&String::from_utf8_lossy(&output.stderr));
    Err(format!("`npm {}` failed: {reason}", arguments.join(" ")))
}

/// The first sentence among the errors of npm, which come behind a code and end with the name of a log.
fn reason(said: &str) -> String {
    let errors = said.lines().filter_map(|line| line.strip_prefix("npm error ")).map(str::trim);
    let mut sentences = errors.filter(|it| !it.is_empty() && !it.starts_with("code "));
    sentences.next().unwrap_or("it does not say why").to_owned()
}

/// A lock that is held during an installation.
fn guard(cache: &Path) -> Result<File, String> {
    let locked = fs::create_dir_all(cache).and_then(|()| {
        let file = File::create(cache.join(".lock"))?;
        file.lock().map(|()| file)
    });
    locked.map_err(|error| format!("{}: {error}", cache.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_npm_is_behind_its_code() {
        let said = "npm error code EUSAGE\nnpm error\nnpm error the lock is not in sync.\nnpm error A complete log of this run\n";
        assert_eq!(reason(said), "the lock is not in sync.");
        assert_eq!(reason("Killed\n"), "it does not say why");
    }
}
