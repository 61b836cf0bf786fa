//! `orange-workflow.toml`: the levels that a tree of files gives to checks.

mod glob;
mod page_url;
mod read;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::answer::Failure;
use crate::input::Input;
use crate::levels::Levels;
use crate::paths::{self, Folders};

use glob::Glob;
pub(crate) use page_url::PageUrl;

/// The name of the file.
pub(crate) const NAME: &str = "orange-workflow.toml";

/// The contents of one such file.
#[derive(Debug, Default)]
pub(crate) struct Config {
    /// For every file below its folder.
    lints: Levels,
    /// For some of them; later ones win.
    paths: Vec<ForPaths>,
    /// Address of the published pages of checks.
    docs: Option<PageUrl>,
}

/// Levels for the files whose path fits.
#[derive(Debug)]
struct ForPaths {
    files: Vec<Glob>,
    lints: Levels,
}

/// The nearest configuration of every file of a run.
#[derive(Debug, Default)]
pub(crate) struct Configs {
    /// By the folders that have one.
    configs: HashMap<PathBuf, Config>,
    /// For every folder that was looked at, the nearest folder with a configuration.
    nearest: HashMap<PathBuf, Option<PathBuf>>,
    /// Folder of each file.
    places: HashMap<String, PathBuf>,
    failures: Vec<Failure>,
}

impl Configs {
    /// Looks for the configurations of these files, each folder once.
    pub(crate) fn of(inputs: &[Input]) -> Self {
        let mut configs = Self::default();
        let mut folders = Folders::default();
        for input in inputs {
            let folder = folders.of(Path::new(&input.shown)).to_owned();
            configs.look_above(&folder);
            configs.places.insert(input.shown.clone(), folder);
        }
        configs
    }

    /// The errors of the configurations. Their valid parts apply all the same.
    pub(crate) fn take_failures(&mut self) -> Vec<Failure> {
        std::mem::take(&mut self.failures)
    }

    /// Address of the published pages of checks, for a file.
    pub(crate) fn docs(&self, file: &str) -> Option<&PageUrl> {
        let (_, _, config) = self.config(file)?;
        config.docs.as_ref()
    }

    /// The levels for a file, the weightiest last.
    pub(crate) fn levels(&self, file: &str) -> Vec<&Levels> {
        let Some((folder, top, config)) = self.config(file) else { return Vec::new() };
        let name = Path::new(file).file_name().unwrap_or_default();
        let path = paths::relative(top, &folder.join(name));
        let fitting = config.paths.iter().filter(|it| it.files.iter().any(|glob| glob.fits(&path)));
        std::iter::once(&config.lints).chain(fitting.map(|it| &it.lints)).collect()
    }

    /// The folder of a file, and the nearest one with a configuration.
    fn config(&self, file: &str) -> Option<(&Path, &Path, &Config)> {
        let folder = self.places.get(file)?;
        let top = self.nearest.get(folder)?.as_ref()?;
        Some((folder, top, self.configs.get(top)?))
    }

    fn look_above(&mut self, folder: &Path) {
        let known = folder.ancestors().find(|it| self.nearest.contains_key(*it));
        let new: Vec<&Path> = folder.ancestors().take_while(|it| Some(*it) != known).collect();
        let mut nearest = known.and_then(|it| self.nearest[it].clone());
        for folder in new.into_iter().rev() {
            if self.read(folder) {
                nearest = Some(folder.to_owned());
            }
            self.nearest.insert(folder.to_owned(), nearest.clone());
        }
    }

    /// Reads the configuration of a folder, if it has one.
    fn read(&mut self, folder: &Path) -> bool {
        let path = folder.join(NAME);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return false,
            Err(error) => {
                let message = format!("cannot read {}: {error}", path.display());
                self.failures.push(Failure::new(message, "see whether it is a text file that you may read"));
                return true;
            }
        };
        let (config, failures) = read::read(&shown(&path), text);
        self.configs.insert(folder.to_owned(), config);
        self.failures.extend(failures);
        true
    }
}

/// The path from the current folder.
fn shown(path: &Path) -> String {
    let current = paths::current();
    if path.starts_with(&current) { paths::relative(&current, path) } else { path.display().to_string() }
}
