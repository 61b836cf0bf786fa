//! The parts of an installation of Orange, and their removal. Work is never removed: tasks, worktrees and backups stay.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use orange_core::COMMANDS;
use rustix::fs::{Access, access};

use crate::app::App;
use crate::drive::git::Git;
use crate::setup::skill::{HARNESS_FOLDERS, is_ours};
use crate::setup::{self, SetupRecord};
use crate::store::index::INDEXES;
use crate::store::{Home, WorkItemKind, list, projects};
use crate::{Error, ErrorKind, Result};
use orange_system::atomic;
use orange_system::exec::find_on_path;
use orange_system::files::{entries, remove_folder};

/// Every program of an installation, as it may be beside `orange`.
const PROGRAMS: &[&str] = &["orange-dashboard", "orange-workflow", "orange-mcp", "orange-fleet", "orange"];

/// A part of the installation that can be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledFile {
    /// `consent`, `skill`, `completions`, `manual`, `cache`, `home` or `program`.
    pub kind: &'static str,
    pub path: PathBuf,
}

/// Something that stays, and how a person removes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptPart {
    /// Description, in words.
    pub what: String,
    /// The command that removes it.
    pub by_hand: String,
}

/// Everything that Orange has on this machine, as far as this user's files show.
#[derive(Debug, Default)]
pub struct Installation {
    pub files: Vec<InstalledFile>,
    pub kept: Vec<KeptPart>,
}

/// Looks for the parts of the installation; changes nothing.
///
/// # Errors
/// `environment` where a folder cannot be read, and `corrupt` for a file of the home.
pub fn look(app: &App) -> Result<Installation> {
    let mut found = Installation::default();
    let record = SetupRecord::read(&app.home)?;
    let changed: BTreeSet<&PathBuf> = record.edits.iter().map(|edit| &edit.file).collect();
    found.add("consent", changed.into_iter().cloned());
    let around = app.around()?;
    let skills = HARNESS_FOLDERS.iter().map(|place| place.file(&around)).filter(|file| is_ours(file));
    found.add("skill", skills);
    let data = around.folder("XDG_DATA_HOME", ".local/share");
    let folder = app.program.parent().unwrap_or(&app.program);
    let shares: BTreeSet<PathBuf> = [Some(data), share_beside(folder)].into_iter().flatten().collect();
    let config = around.folder("XDG_CONFIG_HOME", ".config").join("fish/completions");
    found.add("completions", shares.iter().flat_map(|share| completions(share)).chain(of_fish(&config)));
    found.add("manual", shares.iter().map(|share| manual(share)).collect::<Result<Vec<_>>>()?.concat());
    found.look_at_home(app)?;
    found.look_at_programs(folder);
    Ok(found)
}

/// Refuses while an agent runs, and for everybody but a person.
///
/// # Errors
/// `not_allowed`, and `refused` with the agents' tasks and missions.
pub fn check(app: &App) -> Result<()> {
    app.caller.check_person("uninstall orange")?;
    // Without tmux, no agent can run.
    if find_on_path("tmux", app.path()).is_none() {
        return Ok(());
    }
    let panes = app.tmux.panes()?;
    let all = WorkItemKind::ALL.iter().map(|kind| list::dirs(&app.home, &[*kind], None));
    let all = all.collect::<Result<Vec<_>>>()?.concat();
    let running: Vec<_> =
        all.iter().filter(|dir| panes.iter().any(|pane| pane.belongs_to(&dir.id))).collect();
    let [first, ..] = running[..] else { return Ok(()) };
    let shown: Vec<String> = running.iter().map(|dir| dir.shown()).collect();
    let help =
        format!("let them finish, or cancel them, such as {}; their work stays", first.command("cancel"));
    Err(Error::new(ErrorKind::Refused, format!("agents are at work: {}", shown.join(", "))).help(help))
}

/// Removes the files of an installation. The programs go last, so that what fails can be repeated.
///
/// # Errors
/// `environment` where a file cannot be removed.
pub fn remove(app: &App, installation: &Installation) -> Result<()> {
    check(app)?;
    if SetupRecord::read(&app.home)? != SetupRecord::default() {
        setup::undo(&app.home, None)?;
    }
    for InstalledFile { kind, path } in &installation.files {
        match *kind {
            // `undo` has taken back the changes in a person's file.
            "consent" => {}
            "home" => remove_home(&app.home)?,
            _ => atomic::remove(path)?,
        }
        if let (&"skill", Some(folder)) = (kind, path.parent()) {
            // A file that others have put into it keeps the folder.
            fs::remove_dir(folder).unwrap_or_default();
        }
    }
    Ok(())
}

impl Installation {
    fn add(&mut self, kind: &'static str, paths: impl IntoIterator<Item = PathBuf>) {
        self.files.extend(paths.into_iter().map(|path| InstalledFile { kind, path }));
    }

    fn keep(&mut self, what: String, by_hand: String) {
        self.kept.push(KeptPart { what, by_hand });
    }

    /// A home without work is removed, unless a person has written something there; of any other, only its caches.
    fn look_at_home(&mut self, app: &App) -> Result<()> {
        let (home, root) = (&app.home, app.home.root());
        if !root.is_dir() {
            return Ok(());
        }
        let items = list::dirs(home, &WorkItemKind::ALL, None)?.len();
        let deleted = list::deleted(home, &WorkItemKind::ALL)?.len();
        let worktrees = visible(&home.workspaces())?;
        let is_written = [
            home.workflows(),
            home.harnesses_toml(),
            home.prices_toml(),
            home.notify_toml(),
            home.set_aside(""),
        ];
        let is_written = is_written.iter().any(|path| path.exists());
        if items + deleted + worktrees == 0 && !is_written {
            self.add("home", [root.to_owned()]);
        } else {
            self.add("cache", caches(home)?);
            let what = format!(
                "{}: {items} tasks and missions, {deleted} deleted ones, {worktrees} worktrees, and your settings",
                root.display()
            );
            let repositories = projects::read(home)?.into_iter().map(|project| project.path);
            let prune = repositories.map(|path| format!("; git -C '{}' worktree prune", path.display()));
            self.keep(what, format!("rm -r '{}'{}", root.display(), prune.collect::<String>()));
        }
        for project in projects::read(home)?.iter().filter(|project| project.path.is_dir()) {
            let path = project.path.display();
            match Git::at(&project.path).count_backups() {
                Ok(0) => {}
                Ok(backups) => {
                    let by_hand = format!(
                        "git -C '{path}' for-each-ref --format='delete %(refname)' refs/orange/backup | git -C '{path}' update-ref --stdin"
                    );
                    self.keep(format!("{path}: {backups} backups of work that is on no branch"), by_hand);
                }
                Err(error) => {
                    let by_hand = format!("git -C '{path}' for-each-ref refs/orange/backup");
                    self.keep(format!("{path}: its backups cannot be counted: {error}"), by_hand);
                }
            }
        }
        Ok(())
    }

    fn look_at_programs(&mut self, folder: &Path) {
        let programs: Vec<PathBuf> =
            PROGRAMS.iter().map(|name| folder.join(name)).filter(|file| file.is_file()).collect();
        let shown = folder.display();
        let what = format!("the programs in {shown}");
        if folder.join(".cargo-lock").exists() {
            self.keep(format!("{what}: a build of cargo"), "cargo clean".to_owned());
        } else if folder.iter().any(|name| name == "Cellar") {
            self.keep(format!("{what}: Homebrew has installed them"), "brew uninstall orange".to_owned());
        } else if access(folder, Access::WRITE_OK).is_err() {
            let files: Vec<String> = programs.iter().map(|file| format!("'{}'", file.display())).collect();
            self.keep(format!("{what}: another user's"), format!("sudo rm {}", files.join(" ")));
        } else {
            self.add("program", programs);
        }
    }
}

/// `share` beside `bin`, and inside a folder with another name.
fn share_beside(folder: &Path) -> Option<PathBuf> {
    let is_bin = folder.file_name().is_some_and(|name| name == "bin");
    Some(if is_bin { folder.parent()? } else { folder }.join("share"))
}

fn completions(share: &Path) -> Vec<PathBuf> {
    let [bash, zsh] = ["bash-completion/completions", "zsh/site-functions"].map(|folder| share.join(folder));
    let names = ["orange", "orange-workflow"];
    let files = names.iter().flat_map(|name| [bash.join(name), zsh.join(format!("_{name}"))]);
    files.filter(|file| file.is_file()).chain(of_fish(&share.join("fish/vendor_completions.d"))).collect()
}

fn of_fish(folder: &Path) -> Vec<PathBuf> {
    let files = ["orange.fish", "orange-workflow.fish"].map(|name| folder.join(name));
    files.into_iter().filter(|file| file.is_file()).collect()
}

/// The manual pages of our commands; another program may have a name that begins as ours do.
fn manual(share: &Path) -> Result<Vec<PathBuf>> {
    let folder = share.join("man/man1");
    let names = entries(&folder)?.into_iter().filter_map(|entry| entry.file_name().into_string().ok());
    let is_ours = |name: &String| {
        let Some(rest) = name.strip_prefix("orange").and_then(|rest| rest.strip_suffix(".1")) else {
            return false;
        };
        let word = rest.strip_prefix('-').map(|rest| rest.split('-').next().unwrap_or_default());
        rest.is_empty() || word.is_some_and(|word| COMMANDS.iter().any(|(name, _)| *name == word))
    };
    let mut pages: Vec<PathBuf> = names.filter(is_ours).map(|name| folder.join(name)).collect();
    pages.sort();
    Ok(pages)
}

/// The number of entries of a folder whose names do not begin with a dot.
fn visible(folder: &Path) -> Result<usize> {
    let names = entries(folder)?.into_iter().map(|entry| entry.file_name());
    Ok(names.filter(|name| !name.as_encoded_bytes().starts_with(b".")).count())
}

/// The files of a home that the next command makes again, and its logs.
fn caches(home: &Home) -> Result<Vec<PathBuf>> {
    let mut files = vec![home.log_file(), home.former_log()];
    for kind in WorkItemKind::ALL {
        for project in entries(&home.all(kind))? {
            files.extend(INDEXES.iter().map(|name| project.path().join(name)));
        }
    }
    files.retain(|file| file.is_file());
    Ok(files)
}

/// Removes what `orange` has written into a home without work. Files of others stay, and the home with them.
fn remove_home(home: &Home) -> Result<()> {
    const FILES: &[&str] = &[
        "projects.json",
        "setup.json",
        "tokens.json",
        "trusted.json",
        "notified.json",
        "answers.json",
        "orange.log",
        "orange.old.log",
    ];
    const FOLDERS: &[&str] = &["environments", "tasks", "missions", "workspaces", "trash"];
    let root = home.root();
    for entry in entries(root)? {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if FOLDERS.contains(&&*name) {
            remove_folder(&path).map_err(|cause| Error::io("remove", &path, &cause))?;
        } else if FILES.contains(&&*name) || (name.starts_with('.') && name.ends_with(".lock")) {
            atomic::remove(&path)?;
        }
    }
    // With a file of somebody else it stays.
    fs::remove_dir(root).unwrap_or_default();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::tests::MACHINES;
    use crate::machines::Machines;
    use crate::store::tests::{home, task};

    #[test]
    fn only_our_manual_pages_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let pages = folder.path().join("man/man1");
        fs::create_dir_all(&pages).unwrap();
        for name in
            ["orange.1", "orange-task-update.1", "orange-workflow.1", "orange-juice.1", "oranges.1", "git.1"]
        {
            fs::write(pages.join(name), "").unwrap();
        }
        let expect = ["orange-task-update.1", "orange-workflow.1", "orange.1"].map(|name| pages.join(name));
        assert_eq!(manual(folder.path()).unwrap(), expect);
    }

    #[test]
    fn a_home_with_work_is_kept_but_for_its_caches() {
        let (folder, home) = home();
        task(&home, "fix");
        fs::write(home.log_file(), "").unwrap();
        let app = App::for_tests(Machines::only(MACHINES), home, folder.path());
        let mut found = Installation::default();
        found.look_at_home(&app).unwrap();
        assert_eq!(found.files, [InstalledFile { kind: "cache", path: app.home.log_file() }]);
        assert!(found.kept[0].what.contains("1 tasks and missions"), "{found:?}");
    }

    #[test]
    fn a_home_without_work_goes_but_for_other_files() {
        let (folder, home) = home();
        home.prepare().unwrap();
        fs::write(home.projects_json(), "[]").unwrap();
        fs::write(home.root().join("diary.txt"), "mine").unwrap();
        let app = App::for_tests(Machines::only(MACHINES), home, folder.path());
        let mut found = Installation::default();
        found.look_at_home(&app).unwrap();
        assert_eq!(found.files[0].kind, "home");
        remove_home(&app.home).unwrap();
        assert!(!app.home.projects_json().exists() && app.home.root().join("diary.txt").exists());
        fs::remove_file(app.home.root().join("diary.txt")).unwrap();
        remove_home(&app.home).unwrap();
        assert!(!app.home.root().exists());
    }

    #[test]
    fn backups_that_cannot_be_counted_are_named() {
        let (folder, home) = home();
        home.prepare().unwrap();
        let repository = folder.path().join("gone");
        fs::create_dir(&repository).unwrap();
        let project =
            projects::Project { name: "gone".into(), path: repository.clone(), ..Default::default() };
        projects::add(&home, project).unwrap();
        let app = App::for_tests(Machines::only(MACHINES), home, folder.path());
        let mut found = Installation::default();
        found.look_at_home(&app).unwrap();
        let shown = format!("{}: its backups cannot be counted: ", repository.display());
        assert!(found.kept.iter().any(|kept| kept.what.starts_with(&shown)), "{found:?}");
    }
}
