//! Coding agents as data: their names, and how they get a prompt.

mod built_in;
mod file;
mod keys;
mod merge;
mod needs;
pub mod report;
pub mod reporting;
mod sandbox;
mod template;
pub mod transcript;
pub mod until;

use orange_system::variables;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::time::Duration;

use crate::{Error, ErrorKind, Result};
use orange_core::plan::Effort;
use orange_system::exec::{ProgramCall, find_on_path};
use orange_system::nofollow;

pub use built_in::built_in;
pub use file::{all, named};
pub use keys::Harness;
pub use needs::HarnessSandbox;
use template::{StartValues, fill};
pub use template::{quoted_names, shell_word};

/// The options of an agent's start.
#[derive(Clone, Copy, Debug, Default)]
pub struct StartOptions<'s> {
    /// True if it may do everything without asking.
    pub full: bool,
    /// True if it is inside a wall.
    pub walled: bool,
    /// True for a reviewer.
    pub reviews: bool,
    /// True if a person has agreed to its first dialogs.
    pub consent: bool,
    /// True if there is a server of the Model Context Protocol for it.
    pub mcp: bool,
    /// True if it reports its activity.
    pub report: bool,
    /// Its effort, in the harness's own words.
    pub effort: Option<&'s str>,
    /// Its model, likewise.
    pub model: Option<&'s str>,
    /// Its conversation, if that is known before the start.
    pub conversation: Option<ConversationStart<'s>>,
    /// The names of its variables, as [`quoted_names`] writes them.
    pub variables: &'s str,
}

/// The conversation of an agent to start, by the harness's id of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConversationStart<'s> {
    New(&'s str),
    /// One that is continued.
    Resumed(&'s str),
}

/// The paths that an agent's arguments can name.
#[derive(Clone, Copy, Debug)]
pub struct StartPaths<'p> {
    /// A file with its prompt.
    pub prompt: &'p Path,
    /// The folder of its task in the store.
    pub task_dir: &'p Path,
    /// The folder that it works in.
    pub worktree: &'p Path,
    /// The main checkout of the project.
    pub repo: &'p Path,
    /// `ORANGE_HOME`.
    pub home: &'p Path,
    /// `orange` itself.
    pub orange: &'p Path,
}

/// The longest argument that Linux takes, without the zero byte at its end.
const LONGEST_ARGUMENT: usize = 128 * 1024 - 1;

impl Harness {
    /// True if it has arguments, variables or a plugin to report.
    pub fn has_reports(&self) -> bool {
        !self.report.is_empty() || !self.report_set.is_empty()
    }

    /// Reason for which it cannot report; `None` if it can. If that depends on its version, the program on this `PATH` is asked.
    /// `is_set` returns whether the agent has a variable already.
    pub fn why_silent(&self, path: &OsStr, is_set: impl Fn(&str) -> bool) -> Option<String> {
        let Harness { name, report_version, .. } = self;
        if !self.has_reports() {
            return Some(format!("{name} is given nothing to report with"));
        }
        if let Some((variable, _)) = pairs(&self.report_set).find(|(variable, _)| is_set(variable)) {
            return Some(format!("{variable} is set, by which {name} would be told to"));
        }
        if report_version.is_empty() {
            return None;
        }
        let call =
            ProgramCall::new(&self.binary).arg("--version").env("PATH", path).bound(Duration::from_secs(10));
        let version = call.without(variables::GIT).text().unwrap_or_default();
        let is_other = !version.contains(report_version);
        is_other.then(|| format!("`{}` is not a version of {name} that is known to", version.trim()))
    }

    /// Checks that its program is on this `PATH`.
    pub fn check(&self, path: &OsStr) -> Result<()> {
        if find_on_path(&self.binary, path).is_some() {
            return Ok(());
        }
        let Harness { name, binary, install, .. } = self;
        let message =
            format!("`{binary}`, the program of the harness {name}, is not installed or not on PATH");
        let help =
            if install.is_empty() { "install it".to_owned() } else { format!("install it: {install}") };
        Err(Error::new(ErrorKind::Environment, message).help(help))
    }

    /// Checks that it has an option for this setting of a workflow, whose key in `harnesses.toml` has the same name.
    pub fn check_option(&self, key: &str, args: &[String], value: Option<&str>) -> Result<()> {
        let Some(value) = value.filter(|_| args.is_empty()) else { return Ok(()) };
        let Harness { name, .. } = self;
        Err(Error::new(ErrorKind::Refused, format!("the harness {name} has no option for `{key}: {value}`")).help(format!(
            "delete `{key}` where the workflow starts this agent, or give `[{name}]` in harnesses.toml its `{key}`: \
             [\"--{key}\", \"{{{key}}}\"]"
        )))
    }

    /// Its word for the effort of a step.
    ///
    /// # Errors
    /// `refused` when it has no option for the effort, or no word for this one.
    pub fn effort_word(&self, effort: Effort) -> Result<&str> {
        self.check_option("effort", &self.effort, Some(effort.as_str()))?;
        match effort {
            Effort::Low | Effort::Medium | Effort::High => Ok(effort.as_str()),
            Effort::Max if !self.max_effort.is_empty() => Ok(&self.max_effort),
            Effort::Max => {
                let Harness { name, .. } = self;
                let message = format!("the harness {name} has no word for `effort: max`");
                Err(Error::new(ErrorKind::Refused, message).help(format!(
                    "write `high` where the workflow says `max`, or give `[{name}]` in harnesses.toml its word: `max_effort = \"…\"`"
                )))
            }
        }
    }

    /// The call that starts it in its worktree.
    pub fn call(&self, start: StartOptions<'_>, places: StartPaths<'_>) -> Result<ProgramCall> {
        let text = nofollow::read(places.prompt, nofollow::LONGEST)
            .map_err(|cause| Error::io("read the prompt", places.prompt, &cause))?;
        let call =
            ProgramCall::new(&self.binary).args(self.args(start, text, places)).folder(places.worktree);
        let unset: Vec<&str> = self.unset.iter().map(String::as_str).collect();
        let call = call.without(&unset).without(variables::GIT).without(&[variables::OVERRIDES]);
        let call = match self.overrides.as_slice() {
            [] => call,
            names => call.env(variables::OVERRIDES, names.join(" ")),
        };
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let variables = self.variables(start, places, is_set);
        Ok(variables.into_iter().fold(call, |call, (name, value)| call.env(name, value)))
    }

    /// The variables that it gets. `is_set` returns whether it has one already.
    fn variables(
        &self,
        start: StartOptions<'_>,
        places: StartPaths<'_>,
        is_set: impl Fn(&str) -> bool,
    ) -> Vec<(&str, OsString)> {
        let values = values(&start, OsStr::new(""), places);
        let reporting = pairs(&self.report_set).filter(|_| start.report);
        let defaults = pairs(&self.report_defaults).filter(|(name, _)| start.report && !is_set(name));
        let all = pairs(&self.set).chain(reporting).chain(defaults);
        all.map(|(name, value)| (name, fill(value, &values))).collect()
    }

    /// Its arguments. One of them contains the prompt, or the name of its file if it is too long or has a zero byte.
    pub fn args(&self, start: StartOptions<'_>, prompt: Vec<u8>, places: StartPaths<'_>) -> Vec<OsString> {
        let fits = |args: &Vec<OsString>| {
            args.iter().all(|arg| arg.len() <= LONGEST_ARGUMENT && !arg.as_bytes().contains(&0))
        };
        Some(self.filled(start, &plain(prompt), places))
            .filter(fits)
            .unwrap_or_else(|| self.filled(start, &pointer_to(places.prompt), places))
    }

    fn filled(&self, start: StartOptions<'_>, prompt: &OsStr, places: StartPaths<'_>) -> Vec<OsString> {
        let values = values(&start, prompt, places);
        merge::merge(self.template(start).map(|arg| fill(arg, &values)).collect())
    }

    /// The templates to fill in: lists of arguments, one after the other.
    fn template(&self, start: StartOptions<'_>) -> impl Iterator<Item = &String> {
        let by_permission = self.by_permission(start);
        let last = self.review.as_ref().filter(|_| start.reviews).unwrap_or(by_permission);
        let is_new = matches!(start.conversation, Some(ConversationStart::New(_)));
        let is_resumed = matches!(start.conversation, Some(ConversationStart::Resumed(_)));
        let lists = [
            (is_new, &self.session),
            (is_resumed, &self.resume),
            (start.model.is_some(), &self.model),
            (start.effort.is_some(), &self.effort),
            (start.consent, &self.consent),
            (start.report, &self.report),
            (start.mcp, &self.mcp),
            (true, last),
        ];
        lists.into_iter().filter(|(applies, _)| *applies).flat_map(|(_, list)| list)
    }
}

impl Harness {
    /// The list of its permissions: inside a wall that of its table `sandbox`, if that has one.
    fn by_permission(&self, start: StartOptions<'_>) -> &Vec<String> {
        let (outside, inside) = match start.full {
            true => (&self.full, &self.sandbox.full),
            false => (&self.reduced, &self.sandbox.reduced),
        };
        inside.as_ref().filter(|_| start.walled).unwrap_or(outside)
    }
}

impl StartOptions<'_> {
    fn session(&self) -> &str {
        match self.conversation {
            Some(ConversationStart::New(id) | ConversationStart::Resumed(id)) => id,
            None => "",
        }
    }
}

fn values<'v>(start: &'v StartOptions<'v>, prompt: &'v OsStr, places: StartPaths<'v>) -> StartValues<'v> {
    StartValues {
        prompt,
        prompt_file: places.prompt,
        effort: OsStr::new(start.effort.unwrap_or_default()),
        model: OsStr::new(start.model.unwrap_or_default()),
        task_dir: places.task_dir,
        worktree: places.worktree,
        repo: places.repo,
        home: places.home,
        session: OsStr::new(start.session()),
        orange: places.orange,
        variables: OsStr::new(start.variables),
    }
}

/// The names and values of variables as `NAME=value`.
fn pairs(variables: &[String]) -> impl Iterator<Item = (&str, &str)> {
    variables.iter().filter_map(|variable| variable.split_once('='))
}

/// The prompt, changed if it could be read as an option (`-`) or a file (`@`).
fn plain(mut prompt: Vec<u8>) -> OsString {
    if prompt.first().is_some_and(|first| b"-@".contains(first)) {
        prompt.insert(0, b'\n');
    }
    OsString::from_vec(prompt)
}

fn pointer_to(file: &Path) -> OsString {
    let mut text = OsString::from("Read the file ");
    text.push(file);
    text.push(" and do what it says: it is your prompt.");
    text
}

#[cfg(test)]
mod tests;
