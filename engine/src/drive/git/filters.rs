//! Filters that a repository needs to check its files out, and that are not installed here.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;

use super::Git;
use crate::{Error, ErrorKind, Result};
use orange_system::exec::find_on_path;

/// Git Large File Storage. Without its settings git checks out its pointers in the place of the files, and an agent would work on those.
const LFS: &str = "lfs";

/// The commands that a filter can have.
const VERBS: [&str; 3] = ["process", "smudge", "clean"];

/// Commands of the shell, which are on no `PATH`.
const OF_SHELL: [&str; 8] = [":", ".", "[", "command", "eval", "exec", "set", "test"];

/// Reason for which a filter does not work.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FilterFlaw {
    /// Git has no settings for it.
    NotSetUp,
    /// This program of it is not there.
    NoProgram(String),
}

impl Git {
    /// Refuses a branch, or else the default branch, whose `.gitattributes` name a filter that git cannot run here: git could not check
    /// the branch out.
    ///
    /// # Errors
    /// `environment` with the filter, and how to install it.
    pub fn check_filters(&self, branch: &str, default_branch: &str, path: &OsStr) -> Result<()> {
        let used = self.filters_of(&self.revision_of(branch, default_branch)?)?;
        let settings = if used.is_empty() { Vec::new() } else { self.settings_of_filters()? };
        for name in used {
            if let Some(flaw) = flaw(&name, &settings, &|program| self.has_program(program, path)) {
                return Err(missing(&name, &flaw));
            }
        }
        Ok(())
    }

    /// The filters that the `.gitattributes` of a commit name.
    fn filters_of(&self, revision: &str) -> Result<BTreeSet<String>> {
        let words = ["grep", "--text", "-h", "--no-line-number", "--no-column", "--fixed-strings", "-e"];
        let call = self.call().args(words).args(["filter=", revision, "--", ":(top,glob)**/.gitattributes"]);
        let found = call.run()?;
        if found.code() == Some(1) {
            return Ok(BTreeSet::new());
        }
        Ok(named(&String::from_utf8_lossy(&found.checked()?.stdout)))
    }

    /// The settings of all filters, each with its value.
    pub(super) fn settings_of_filters(&self) -> Result<Vec<(String, String)>> {
        let listed = self.call().args(["config", "-z", "--get-regexp", r"^filter\."]).run()?;
        if listed.code() == Some(1) {
            return Ok(Vec::new());
        }
        let printed = String::from_utf8_lossy(&listed.checked()?.stdout).into_owned();
        let split = |entry: &str| {
            let (key, value) = entry.split_once('\n').unwrap_or((entry, "true"));
            (!key.is_empty()).then(|| (key.to_owned(), value.to_owned()))
        };
        Ok(printed.split('\0').filter_map(split).collect())
    }

    /// True if git finds this program: on `PATH`, or among its own.
    fn has_program(&self, program: &str, path: &OsStr) -> Result<bool> {
        if program.contains('/') {
            return Ok(!program.starts_with('/') || Path::new(program).is_file());
        }
        if OF_SHELL.contains(&program) || find_on_path(program, path).is_some() {
            return Ok(true);
        }
        let own = self.call().arg("--exec-path").text()?;
        Ok(find_on_path(program, OsStr::new(&own)).is_some())
    }
}

/// The filters that lines of `.gitattributes` name.
fn named(lines: &str) -> BTreeSet<String> {
    let lines = lines.lines().map(str::trim_start).filter(|line| !line.starts_with('#'));
    let words = lines.flat_map(str::split_whitespace).filter_map(|word| word.strip_prefix("filter="));
    words.map(str::to_owned).collect()
}

/// Reason for which git cannot run a filter. One that is not required may fail: git then takes the file as it is.
fn flaw(name: &str, settings: &[(String, String)], has: &dyn Fn(&str) -> Result<bool>) -> Option<FilterFlaw> {
    let value = |key: &str| {
        let wanted = format!("filter.{name}.{key}");
        settings.iter().rev().find(|(key, _)| *key == wanted).map(|(_, value)| value.as_str())
    };
    let commands: Vec<&str> =
        VERBS.into_iter().filter_map(value).filter(|command| !command.is_empty()).collect();
    if commands.is_empty() {
        return (name == LFS).then_some(FilterFlaw::NotSetUp);
    }
    let is_required = value("required").is_some_and(|value| !["false", "no", "off", "0"].contains(&value));
    let mut programs = commands.into_iter().filter_map(program_of).filter(|_| is_required);
    programs.find(|program| has(program).is_ok_and(|has| !has)).map(|it| FilterFlaw::NoProgram(it.to_owned()))
}

/// The program of a command, which git gives to a shell; `None` unless it is a plain word.
fn program_of(command: &str) -> Option<&str> {
    let word = command.split_whitespace().next()?;
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_.+-/".contains(letter);
    word.chars().all(is_plain).then_some(word)
}

fn missing(name: &str, flaw: &FilterFlaw) -> Error {
    let what = match flaw {
        FilterFlaw::NotSetUp => "git has no settings for it".to_owned(),
        FilterFlaw::NoProgram(program) => format!("its program `{program}` is not installed or not on PATH"),
    };
    let message = format!("the filter `{name}`, which `.gitattributes` names, is missing: {what}");
    let help = match name {
        LFS => "install git-lfs (https://git-lfs.com), then run `git lfs install`".to_owned(),
        _ => format!("install it, or correct what `git config --get-regexp 'filter\\.{name}\\.'` shows"),
    };
    Error::new(ErrorKind::Environment, message).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, settings: &[(&str, &str)]) -> Option<FilterFlaw> {
        let settings: Vec<_> =
            settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        flaw(name, &settings, &|program| Ok(program == "there"))
    }

    #[test]
    fn filters_are_read_from_attributes() {
        let lines = "*.bin filter=lfs diff=lfs -text\n # *.x filter=off\n[attr]big filter=two\n* -filter\n";
        assert_eq!(named(lines), BTreeSet::from(["lfs".to_owned(), "two".to_owned()]));
    }

    #[test]
    fn a_required_filter_without_its_program_is_missing() {
        let gone = Some(FilterFlaw::NoProgram("gone".to_owned()));
        assert_eq!(found("x", &[("filter.x.clean", "gone -a"), ("filter.x.required", "true")]), gone);
        assert_eq!(found("x", &[("filter.x.clean", "gone -a")]), None, "git passes the file on");
        assert_eq!(found("x", &[("filter.x.smudge", "there"), ("filter.x.required", "true")]), None);
        assert_eq!(found("x", &[("filter.x.smudge", "f() { :; }; f"), ("filter.x.required", "true")]), None);
        assert_eq!(found("x", &[]), None, "an unknown filter does nothing");
        assert_eq!(found("lfs", &[]), Some(FilterFlaw::NotSetUp));
    }
}
