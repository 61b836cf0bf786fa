//! The workflows that there are: the compiled-in ones, then the custom ones of the home. Tasks follow the machines among them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use orange_core::plan::Plan;
use orange_core::{Compiled, Machine, Workflow};

use crate::store::{Home, home, suggest};
use crate::{Error, ErrorKind, Result};
use orange_system::files::entries;
use orange_system::{atomic, nofollow};

/// Compiles the text of a custom workflow. The path is for messages, its ending says the language, and the files of its prompts
/// stand beside it. The result lives as long as the process; the error has all findings.
pub type Compile = fn(path: &str, text: &str) -> std::result::Result<Compiled<'static>, String>;

/// The workflows that are compiled into a binary.
#[derive(Clone, Copy, Debug)]
pub struct Workflows {
    /// Workflows of tasks, sorted by name.
    pub machines: &'static [&'static Machine<'static>],
    /// Workflows of missions, sorted by name. None has the name of a machine.
    pub plans: &'static [&'static Plan<'static>],
}

/// The compiled-in parts of a binary.
#[derive(Clone, Copy, Debug)]
pub struct CompiledParts {
    /// The workflows that are compiled in.
    pub workflows: Workflows,
    /// The compiler, if the binary has one.
    pub compile: Option<Compile>,
}

/// The endings of workflow files.
const EXTENSIONS: [&str; 3] = ["yml", "yaml", "toml"];

/// Every workflow that this process can follow.
#[derive(Debug)]
pub struct Machines {
    pub(crate) built_in: Workflows,
    compile: Option<Compile>,
    folder: PathBuf,
    /// Custom workflows, each of which is compiled on first use, and again when its text has changed.
    custom: Mutex<BTreeMap<String, Custom>>,
}

/// A workflow file of the home, as it was last read.
#[derive(Clone, Debug)]
struct Custom {
    path: PathBuf,
    text: String,
    compiled: Result<Compiled<'static>>,
    is_fresh: bool,
}

/// A workflow in a list.
#[derive(Debug)]
pub struct WorkflowEntry {
    pub name: String,
    /// Its file, when it is a custom one.
    pub file: Option<PathBuf>,
    /// Compiled workflow, or the reason for which it does not compile.
    pub workflow: Result<Workflow<'static>>,
}

impl Machines {
    /// The compiled-in workflows, and the workflow files of the home.
    pub fn new(built: CompiledParts, home: &Home) -> Machines {
        let CompiledParts { workflows, compile } = built;
        Machines { built_in: workflows, compile, folder: home.workflows(), custom: Mutex::default() }
    }

    /// For tests: these and no others.
    #[cfg(test)]
    pub(crate) fn only(machines: &'static [&'static Machine<'static>]) -> Machines {
        let workflows = Workflows { machines, plans: &[] };
        Machines::new(CompiledParts { workflows, compile: None }, &Home::at("/nowhere"))
    }

    /// The machine of this workflow; the error suggests the nearest name, or has all findings of a custom one.
    pub fn named(&self, name: &str) -> Result<&'static Machine<'static>> {
        let machines = || self.built_in.machines.iter().map(|machine| machine.name);
        match self.workflow(name)? {
            Some(Workflow::Machine(machine)) => Ok(machine),
            Some(Workflow::Plan(_)) => {
                let message = format!("`{name}` is a step workflow, and tasks follow states");
                let known = suggest::help(name, &machines().collect::<Vec<_>>(), "workflows of states");
                Err(Error::new(ErrorKind::Refused, message)
                    .help(format!("`orange mission start {name}` makes a mission; {known}")))
            }
            None => Err(self.unknown(name, machines())),
        }
    }

    /// The workflow with this name, of either kind.
    pub fn any(&self, name: &str) -> Result<Workflow<'static>> {
        let built_in = || self.built_in.all().map(|workflow| workflow.name());
        self.workflow(name)?.ok_or_else(|| self.unknown(name, built_in()))
    }

    /// The workflow with this name, if there is one; the error has all findings of a custom one.
    pub fn workflow(&self, name: &str) -> Result<Option<Workflow<'static>>> {
        if let Some(workflow) = self.built_in(name) {
            return Ok(Some(workflow));
        }
        let mut custom = self.custom();
        if let Some(known) = custom.get(name).filter(|known| known.is_fresh) {
            return known.compiled.clone().map(|it| Some(it.workflow));
        }
        let Some(path) = self.file(name)? else { return Ok(None) };
        let Some(compile) = self.compile else { return Err(not_compiled(name, &path)) };
        let text = read(&path)?;
        // Of a workflow that includes files, the text does not say whether it is the same.
        let is_same = |known: &Custom| {
            let is_whole = known.compiled.as_ref().is_ok_and(|it| it.files.is_empty());
            known.path == path && known.text == text && is_whole
        };
        let known = custom.remove(name).filter(is_same);
        let compiled = known.map_or_else(|| compiled(compile, name, &path, &text), |known| known.compiled);
        custom.insert(name.to_owned(), Custom { path, text, compiled: compiled.clone(), is_fresh: true });
        compiled.map(|it| Some(it.workflow))
    }

    /// Every workflow: the compiled-in ones, first machines, then plans, both by name; then the custom ones. A custom one with the name of a compiled-in one is an
    /// error, since it is never followed.
    pub fn all(&self) -> Result<Vec<WorkflowEntry>> {
        let built_in = self.built_in.all().map(|workflow| WorkflowEntry {
            name: workflow.name().to_owned(),
            file: None,
            workflow: Ok(workflow),
        });
        let custom = self.files()?.into_iter().map(|(name, file)| {
            let workflow = match self.built_in(&name) {
                Some(_) => Err(shadowed(&name, &file)),
                None => self.workflow(&name).and_then(|it| it.ok_or_else(|| gone(&name, &file))),
            };
            WorkflowEntry { name, file: Some(file), workflow }
        });
        Ok(built_in.chain(custom).collect())
    }

    /// Every machine that can be followed.
    pub fn usable(&self) -> Result<Vec<&'static Machine<'static>>> {
        let machine = |listed: WorkflowEntry| match listed.workflow {
            Ok(Workflow::Machine(machine)) => Some(machine),
            Ok(Workflow::Plan(_)) | Err(_) => None,
        };
        Ok(self.all()?.into_iter().filter_map(machine).collect())
    }

    /// Checks the files of custom workflows again on their next use, so that a process that lives long sees edits.
    pub fn look_again(&self) {
        self.custom().values_mut().for_each(|custom| custom.is_fresh = false);
    }

    /// Saves the definition of a custom workflow, so that it can be compared with a later one.
    pub fn keep(&self, machine: &Machine<'_>) -> Result<()> {
        let custom = self.custom();
        let Some(Custom { path, text, compiled: Ok(compiled), .. }) = custom.get(machine.name) else {
            return Ok(());
        };
        let folder = self.kept_folder(machine.source_hash);
        let kept = folder.join(machine.name).with_extension(path.extension().unwrap_or_default());
        if nofollow::metadata(&kept).is_ok() {
            return Ok(());
        }
        let texts = compiled.files.iter().map(|(name, text)| (folder.join(name), *text));
        // The definition comes last, so that it is kept only with all that it includes.
        for (file, text) in texts.chain([(kept, text.as_str())]) {
            file.parent().map_or(Ok(()), home::make_folder)?;
            atomic::write(&file, text.as_bytes())?;
        }
        Ok(())
    }

    /// The saved definition with this hash.
    pub fn kept(&self, name: &str, definition: &str) -> Option<PathBuf> {
        let file = self.kept_folder(definition).join(name);
        EXTENSIONS.iter().map(|extension| file.with_extension(extension)).find(|file| file.exists())
    }

    /// The folders of saved definitions that no workflow has any more, each with its hash.
    pub fn former_definitions(&self) -> Result<Vec<(String, PathBuf)>> {
        let current: Vec<&str> = self.usable()?.into_iter().map(|machine| machine.source_hash).collect();
        let folder = self.folder.join(".kept");
        let found =
            nofollow::entries(&folder).map_err(|cause| Error::io("read the folder", &folder, &cause))?;
        let named =
            found.into_iter().filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())));
        Ok(named.filter(|(hash, _)| !current.contains(&hash.as_str())).collect())
    }

    /// The file of a custom workflow that has been used.
    pub fn file_of(&self, name: &str) -> Option<PathBuf> {
        self.custom().get(name).map(|custom| custom.path.clone())
    }

    fn built_in(&self, name: &str) -> Option<Workflow<'static>> {
        self.built_in.all().find(|workflow| workflow.name() == name)
    }

    fn custom(&self) -> MutexGuard<'_, BTreeMap<String, Custom>> {
        self.custom.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept_folder(&self, definition: &str) -> PathBuf {
        self.folder.join(".kept").join(definition)
    }

    fn file(&self, name: &str) -> Result<Option<PathBuf>> {
        if !is_name(name) {
            return Ok(None);
        }
        let files = EXTENSIONS.map(|extension| self.folder.join(name).with_extension(extension));
        let mut there = files.into_iter().filter(|file| file.is_file());
        match (there.next(), there.next()) {
            (Some(one), Some(other)) => Err(twice(name, &one, &other)),
            (one, _) => Ok(one),
        }
    }

    /// The custom workflows by name. Other files are ignored.
    fn files(&self) -> Result<Vec<(String, PathBuf)>> {
        let mut files = BTreeMap::new();
        for entry in entries(&self.folder)? {
            let path = entry.path();
            let is_ours = path.extension().is_some_and(|it| EXTENSIONS.iter().any(|known| it == *known));
            if let Some(name) = path
                .file_stem()
                .and_then(|stem| stem.to_str())
                .filter(|name| is_ours && is_name(name) && path.is_file())
            {
                files.insert(name.to_owned(), path);
            }
        }
        Ok(files.into_iter().collect())
    }

    /// The error for a name that no workflow has; these compiled-in ones are of the kind that is asked for.
    pub(crate) fn unknown(&self, name: &str, built_in: impl Iterator<Item = &'static str>) -> Error {
        let custom = self.files().unwrap_or_default();
        let custom =
            custom.iter().map(|(name, _)| name.as_str()).filter(|name| self.built_in(name).is_none());
        let built_in: Vec<&str> = built_in.collect();
        let names: Vec<&str> = built_in.into_iter().chain(custom).collect();
        let known = suggest::help(name, &names, "workflows");
        let other = match self.compile {
            Some(_) => format!("a file {} makes another one", self.folder.join("NAME.yml").display()),
            None => "`cargo xtask build-workflow` builds others in".to_owned(),
        };
        Error::new(ErrorKind::NotFound, format!("there is no workflow `{name}`"))
            .help(format!("{known}; {other}"))
    }
}

impl Workflows {
    fn all(self) -> impl Iterator<Item = Workflow<'static>> {
        let machines = self.machines.iter().map(|it| Workflow::Machine(it));
        machines.chain(self.plans.iter().map(|it| Workflow::Plan(it)))
    }
}

/// True if a workflow or an attempt can have this name, which is part of paths.
pub fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

fn read(path: &Path) -> Result<String> {
    let bytes = nofollow::read_linked(path, nofollow::LONGEST)
        .map_err(|cause| Error::io("read the workflow", path, &cause))?;
    String::from_utf8(bytes).map_err(|_| {
        Error::new(ErrorKind::Corrupt, format!("{} is not a UTF-8 text", path.display()))
            .help("save the file as UTF-8")
    })
}

fn compiled(compile: Compile, name: &str, path: &Path, text: &str) -> Result<Compiled<'static>> {
    let shown = path.display().to_string();
    let compiled = compile(&shown, text).map_err(|errors| {
        Error::new(ErrorKind::Corrupt, format!("the workflow `{name}` cannot be followed:\n{errors}"))
            .help(format!("mend {shown}; `orange-workflow check` says more about it"))
    })?;
    let called = compiled.workflow.name();
    if called == name {
        return Ok(compiled);
    }
    let message = format!("{shown} calls its workflow `{called}`, and a workflow is called as its file is");
    Err(Error::new(ErrorKind::Corrupt, message)
        .help(format!("write `name: {name}`, or give the file the other name")))
}

fn not_compiled(name: &str, path: &Path) -> Error {
    let message =
        format!("`{name}` is a custom workflow, {}, and this binary has no compiler", path.display());
    Error::new(ErrorKind::NotFound, message).help(
        "`cargo xtask build-workflow` builds one that has; with `--workflows DIR` it builds this workflow in",
    )
}

fn twice(name: &str, one: &Path, other: &Path) -> Error {
    let message = format!("`{name}` has two files: {} and {}", one.display(), other.display());
    Error::new(ErrorKind::Corrupt, message).help("move one of them away")
}

/// For a file that was removed after it was listed.
fn gone(name: &str, file: &Path) -> Error {
    let message = format!("the workflow `{name}` is gone: {}", file.display());
    Error::new(ErrorKind::NotFound, message).help("list the workflows again")
}

fn shadowed(name: &str, file: &Path) -> Error {
    let message = format!("{} is never followed: a workflow `{name}` is compiled in", file.display());
    Error::new(ErrorKind::Refused, message).help("give it another name")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::flow::tests::MACHINES;

    #[test]
    fn a_custom_workflow_is_looked_for_once_until_a_reload() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        let compile: Compile = |_, _| Ok(Compiled { workflow: Workflow::Machine(MACHINES[0]), files: &[] });
        let workflows = Workflows { machines: &[], plans: &[] };
        let machines = Machines::new(CompiledParts { workflows, compile: Some(compile) }, &home);
        let is_followed = || machines.named("test").map(|machine| machine.name);
        assert_eq!(is_followed().unwrap_err().kind, ErrorKind::NotFound);
        fs::create_dir(home.workflows()).unwrap();
        fs::write(home.workflows().join("test.yml"), "name: test\n").unwrap();
        assert_eq!(is_followed(), Ok("test"));
        fs::remove_file(home.workflows().join("test.yml")).unwrap();
        assert_eq!(is_followed(), Ok("test"));
        machines.look_again();
        assert_eq!(is_followed().unwrap_err().kind, ErrorKind::NotFound);
    }
}
