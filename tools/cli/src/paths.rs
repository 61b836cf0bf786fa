//! The folders and repositories of files, for any spelling of their paths.

use std::collections::HashMap;
use std::env;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Finds the folders of files; each folder is looked up once.
#[derive(Debug, Default)]
pub(crate) struct Folders {
    known: HashMap<PathBuf, PathBuf>,
}

impl Folders {
    /// The folder of a file, from the root of the file system and without links in it. For a text that is
    /// in no file, it is the current one.
    pub(crate) fn of(&mut self, file: &Path) -> &Path {
        let parent = file.parent().unwrap_or(Path::new(""));
        self.known.entry(parent.to_owned()).or_insert_with(|| absolute(parent))
    }
}

/// Finds the paths of files in their repositories.
#[derive(Debug, Default)]
pub(crate) struct Repositories {
    folders: Folders,
    /// The repository of each folder.
    roots: HashMap<PathBuf, PathBuf>,
}

impl Repositories {
    /// The path of a file from the root of its repository, or else from the current folder; of one that lies in
    /// neither, the whole path.
    pub(crate) fn path(&mut self, file: &str) -> String {
        let file = Path::new(file);
        let folder = self.folders.of(file);
        let root = self.roots.entry(folder.to_owned()).or_insert_with(|| root_of(folder));
        let file = folder.join(file.file_name().unwrap_or_default());
        if file.starts_with(&*root) { relative(root, &file) } else { file.display().to_string() }
    }
}

/// The closest folder upwards with a `.git`, or else the current one.
fn root_of(folder: &Path) -> PathBuf {
    folder.ancestors().find(|it| is_repository(&it.join(".git"))).map_or_else(current, Path::to_owned)
}

/// Sandboxes of agents leave empty folders of this name behind, which git ignores, too.
fn is_repository(git: &Path) -> bool {
    git.is_file() || git.join("HEAD").exists()
}

/// A path from the root of the file system, without links as far as it exists.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    fs::canonicalize(path).or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

/// The current folder, from the root of the file system.
pub(crate) fn current() -> PathBuf {
    env::current_dir().map_or_else(|_| PathBuf::from("/"), |it| absolute(&it))
}

/// The path from a folder to a file, both from the root of the file system, with `/` between the names.
pub(crate) fn relative(folder: &Path, file: &Path) -> String {
    let shared = folder.components().zip(file.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared).map(|_| "..".to_owned());
    let down = file.components().skip(shared).filter(|it| *it != Component::CurDir);
    let down = down.map(|it| it.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(folder: &str, file: &str, expect: &str) {
        assert_eq!(relative(Path::new(folder), Path::new(file)), expect);
    }

    #[test]
    fn the_path_from_a_folder_to_a_file() {
        check("/a/b", "/a/b/c.yml", "c.yml");
        check("/a/b", "/a/b/c/d.yml", "c/d.yml");
        check("/a/b", "/a/c/d.yml", "../c/d.yml");
        check("/", "/a.yml", "a.yml");
    }
}
