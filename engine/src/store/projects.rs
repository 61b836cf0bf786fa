//! `projects.json`: the repositories that tasks are created for.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::store::lock::LockRank;
use crate::store::settings::Settings;
use crate::store::{Home, lock, pool, suggest};
use crate::{Error, ErrorKind, Result};
use orange_system::files::{if_found, is_same, real};
use orange_system::{atomic, nofollow};

/// The number of worktrees of a project, unless it sets another.
pub const DEFAULT_POOL_SIZE: u32 = 2;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Project {
    /// Its name: letters, digits, `_` and `-`, beginning with a letter or digit.
    pub name: String,
    /// Its repository, absolute.
    pub path: PathBuf,
    /// The branch from which tasks begin and into which they are merged.
    #[serde(default = "default_branch")]
    pub default_branch: String,
    /// The number of worktrees that its tasks may hold at once.
    #[serde(default = "default_pool_size")]
    pub pool_size: u32,
    /// The workflow of its new tasks; `None` for `default`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// The megabytes that the transcripts of one task may take; `None` for 20.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcripts_mb: Option<u32>,
    /// True if Orange may type answers into the terminals of agents when their harness takes no answer otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub type_answers: bool,
    /// `auto` if the engine starts waiting tasks by itself; if unset, `spawn_next` hooks and people start them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// The days after which the monitor removes merged backups; `None` for never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup_days: Option<u32>,
    /// The days after which the monitor removes branches of finished, merged tasks; `None` for never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch_days: Option<u32>,
    /// The days after which the monitor removes deleted tasks and missions; `None` for never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trash_days: Option<u32>,
    /// The settings of a person for this project, in the form of `orange.toml`.
    #[serde(default, skip_serializing_if = "Settings::is_empty")]
    pub settings: Settings,
    /// Unknown members, from a newer version or a person, which are kept.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl Project {
    /// The workflow of its new tasks.
    pub fn workflow(&self) -> &str {
        self.workflow.as_deref().unwrap_or("default")
    }

    /// True if every free worktree goes to a waiting task.
    pub fn is_auto(&self) -> bool {
        self.queue.as_deref() == Some("auto")
    }
}

fn default_branch() -> String {
    "main".to_owned()
}

fn default_pool_size() -> u32 {
    DEFAULT_POOL_SIZE
}

/// Every project, in the order of the file; none if there is no file.
pub fn read(home: &Home) -> Result<Vec<Project>> {
    let path = home.projects_json();
    let bytes = if_found(&path, nofollow::read(&path, nofollow::LONGEST))?;
    bytes.map_or(Ok(Vec::new()), |bytes| {
        serde_json::from_slice(&bytes).map_err(|cause| corrupt(&path, &cause))
    })
}

/// The project of this name.
pub fn get(home: &Home, name: &str) -> Result<Project> {
    let projects = read(home)?;
    let index = index_of(&projects, name)?;
    Ok(projects[index].clone())
}

/// The project whose repository or worktree contains the folder; of nested repositories, the innermost.
pub fn at(home: &Home, folder: &Path) -> Result<Project> {
    let projects = read(home)?;
    let folder = real(folder);
    let workspace =
        folder.strip_prefix(real(&home.workspaces())).ok().and_then(|inside| inside.iter().next());
    let workspace = workspace.and_then(|name| name.to_str());
    let of_workspace = match workspace.and_then(|name| name.rsplit_once("--")) {
        Some((project, _)) => Some(project.to_owned()),
        None => pool::folder_of(home, workspace.unwrap_or_default())?.map(|dir| dir.project),
    };
    let found = match of_workspace {
        Some(name) => projects.iter().find(|project| project.name == *name),
        None => {
            let around = projects.iter().filter(|project| folder.starts_with(real(&project.path)));
            around.max_by_key(|project| real(&project.path).iter().count())
        }
    };
    found.cloned().ok_or_else(|| {
        Error::new(ErrorKind::NotFound, format!("{} is in no project", folder.display()))
            .help("name one, go into its repository, or add this one with `orange project add`")
    })
}

/// Adds a project, unless its name is invalid or its name or path is taken.
pub fn add(home: &Home, project: Project) -> Result<()> {
    check_name(&project.name)?;
    change(home, |projects| {
        if let Some(taken) = projects.iter().find(|known| known.name == project.name) {
            let path = taken.path.display();
            return Err(Error::new(
                ErrorKind::Refused,
                format!("there is a project `{}` already, at {path}", taken.name),
            )
            .help("choose another name with --name, or change it with `orange project update`"));
        }
        if let Some(taken) = projects.iter().find(|known| is_same(&known.path, &project.path)) {
            let path = project.path.display();
            return Err(Error::new(
                ErrorKind::Refused,
                format!("{path} is the project `{}` already", taken.name),
            )
            .help("change it with `orange project update`"));
        }
        projects.push(project);
        Ok(())
    })
}

/// Changes a project and returns the result. Its name stays.
pub fn update(home: &Home, name: &str, edit: impl FnOnce(&mut Project)) -> Result<Project> {
    change(home, |projects| {
        let index = index_of(projects, name)?;
        let project = &mut projects[index];
        edit(project);
        project.name = name.to_owned();
        Ok(project.clone())
    })
}

/// Removes a project from the list and returns it; its files and tasks stay.
pub fn remove(home: &Home, name: &str) -> Result<Project> {
    change(home, |projects| index_of(projects, name).map(|index| projects.remove(index)))
}

/// Checks the name of a project, which is part of paths, tmux names and slot names; the error suggests a valid one.
pub fn check_name(name: &str) -> Result<()> {
    const LONGEST: usize = 100;
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    let begins = name.starts_with(|first: char| first.is_ascii_alphanumeric());
    if begins && name.len() <= LONGEST && name.chars().all(allowed) {
        return Ok(());
    }
    let replaced = name.replace(|letter| !allowed(letter), "-");
    let possible: String = replaced.trim_matches(['-', '_']).chars().take(LONGEST).collect();
    let possible = if possible.is_empty() { "project" } else { &possible };
    Err(Error::new(ErrorKind::Usage, format!("`{name}` cannot be the name of a project")).help(format!(
        "use letters, digits, `_` and `-`, beginning with a letter or digit: --name {possible}"
    )))
}

fn change<T>(home: &Home, edit: impl FnOnce(&mut Vec<Project>) -> Result<T>) -> Result<T> {
    home.prepare()?;
    let path = home.projects_json();
    let _lock = lock::acquire(
        home,
        &path.with_file_name(".projects.lock"),
        LockRank::Projects,
        "the list of projects",
    )?;
    atomic::sweep(home.root());
    let mut projects = read(home)?;
    let result = edit(&mut projects)?;
    let mut text = serde_json::to_vec_pretty(&projects).map_err(|cause| {
        Error::new(ErrorKind::Usage, format!("the project cannot be written down: {cause}"))
    })?;
    text.push(b'\n');
    atomic::write(&path, &text)?;
    Ok(result)
}

fn index_of(projects: &[Project], name: &str) -> Result<usize> {
    projects.iter().position(|project| project.name == name).ok_or_else(|| {
        let known: Vec<&str> = projects.iter().map(|project| project.name.as_str()).collect();
        Error::new(ErrorKind::NotFound, format!("there is no project `{name}`"))
            .help(suggest::help(name, &known, "projects"))
    })
}

fn corrupt(path: &Path, cause: &serde_json::Error) -> Error {
    Error::new(ErrorKind::Corrupt, format!("{}:{}: {cause}", path.display(), cause.line()))
        .help("it is a JSON list of projects: mend that line, or restore the file; nothing was changed")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::store::tests::home;

    fn project(name: &str, path: &Path) -> Project {
        Project {
            name: name.to_owned(),
            path: path.to_owned(),
            default_branch: "main".to_owned(),
            pool_size: 2,
            workflow: None,
            transcripts_mb: None,
            type_answers: false,
            queue: None,
            backup_days: None,
            branch_days: None,
            trash_days: None,
            settings: Settings::default(),
            other: Map::new(),
        }
    }

    #[track_caller]
    fn check_name_error(name: &str, possible: &str) {
        let error = check_name(name).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Usage);
        assert!(error.help.ends_with(&format!("--name {possible}")), "{}", error.help);
        check_name(possible).unwrap();
    }

    #[test]
    fn names_are_checked() {
        check_name("coffee-2_x").unwrap();
        check_name_error("a:b.c", "a-b-c");
        check_name_error("-x", "x");
        check_name_error("../..", "project");
        check_name_error("", "project");
        check_name_error("кофе", "project");
        check_name_error(&"x".repeat(101), &"x".repeat(100));
    }

    #[test]
    fn projects_are_added_changed_and_removed() {
        let (folder, home) = home();
        assert_eq!(read(&home).unwrap(), []);
        add(&home, project("coffee", folder.path())).unwrap();
        assert_eq!(add(&home, project("coffee", Path::new("/x"))).unwrap_err().kind, ErrorKind::Refused);
        assert_eq!(add(&home, project("tea", folder.path())).unwrap_err().kind, ErrorKind::Refused);
        let error = get(&home, "cofee").unwrap_err();
        assert_eq!((error.kind, error.help.as_str()), (ErrorKind::NotFound, "did you mean `coffee`?"));
        update(&home, "coffee", |project| project.pool_size = 5).unwrap();
        assert_eq!(get(&home, "coffee").unwrap().pool_size, 5);
        remove(&home, "coffee").unwrap();
        assert_eq!(remove(&home, "coffee").unwrap_err().kind, ErrorKind::NotFound);
    }

    #[test]
    fn unknown_keys_are_kept_and_missing_ones_have_defaults() {
        let (_folder, home) = home();
        home.prepare().unwrap();
        fs::write(home.projects_json(), r#"[{"name": "coffee", "path": "/x", "roast": {"dark": true}}]"#)
            .unwrap();
        let changed =
            update(&home, "coffee", |project| project.workflow = Some("minimal".to_owned())).unwrap();
        assert_eq!((changed.default_branch.as_str(), changed.pool_size), ("main", 2));
        assert!(fs::read_to_string(home.projects_json()).unwrap().contains("\"dark\": true"));
    }

    #[test]
    fn a_broken_list_is_corrupt_and_stays() {
        let (_folder, home) = home();
        home.prepare().unwrap();
        fs::write(home.projects_json(), "[\n{\"name\": 1}]").unwrap();
        let error = add(&home, project("coffee", Path::new("/x"))).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Corrupt);
        assert!(error.message.contains("projects.json:2: "), "{}", error.message);
        assert_eq!(fs::read_to_string(home.projects_json()).unwrap(), "[\n{\"name\": 1}]");
    }

    #[test]
    fn the_project_is_known_from_where_one_stands() {
        let (folder, home) = home();
        let (outer, inner) = (folder.path().join("outer"), folder.path().join("outer/inner"));
        fs::create_dir_all(inner.join("src")).unwrap();
        fs::create_dir_all(home.workspace("outer--1").join("src")).unwrap();
        add(&home, project("outer", &outer)).unwrap();
        add(&home, project("inner", &inner)).unwrap();
        let name_at = |path: &Path| at(&home, path).map(|project| project.name);
        assert_eq!(name_at(&outer).unwrap(), "outer");
        assert_eq!(name_at(&inner.join("src")).unwrap(), "inner");
        assert_eq!(name_at(&home.workspace("outer--1").join("src")).unwrap(), "outer");
        assert_eq!(name_at(folder.path()).unwrap_err().kind, ErrorKind::NotFound);
        std::os::unix::fs::symlink(&inner, folder.path().join("link")).unwrap();
        assert_eq!(name_at(&folder.path().join("link")).unwrap(), "inner");
    }
}
