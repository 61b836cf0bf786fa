//! The levels that the flags of `check` give to findings.

use orange_codegen::catalogue::{self, Check};
use orange_codegen::{Diagnostic, Level, suggest};

use crate::answer::Failure;
use crate::args;

/// What `--deny`, `--warn` and `--allow` say.
#[derive(Debug)]
pub(crate) struct Levels {
    deny_warnings: bool,
    named: Vec<(&'static Check, Level)>,
}

impl Levels {
    /// Reads the flags.
    ///
    /// # Errors
    ///
    /// An unknown check, one that two flags give different levels, or one whose level no flag may change.
    pub(crate) fn new(flags: &args::Check) -> Result<Self, Failure> {
        let mut levels = Self { deny_warnings: false, named: Vec::new() };
        for name in &flags.deny {
            if name == "warnings" {
                levels.deny_warnings = true;
            } else {
                levels.set("--deny", name, Level::Deny)?;
            }
        }
        for name in &flags.warn {
            levels.set("--warn", name, Level::Warn)?;
        }
        for name in &flags.allow {
            levels.set("--allow", name, Level::Allow)?;
        }
        Ok(levels)
    }

    /// Gives each finding its level and drops those that are then off. An error stays an error.
    pub(crate) fn apply(&self, findings: &mut Vec<Diagnostic>) {
        for finding in findings.iter_mut() {
            finding.level = self.of(finding);
        }
        findings.retain(|it| it.level != Level::Allow);
    }

    fn of(&self, finding: &Diagnostic) -> Level {
        match (finding.level, self.named(finding.check)) {
            (Level::Error, _) => Level::Error,
            (_, Some(level)) => level,
            (Level::Warn | Level::Info, None) if self.deny_warnings => Level::Deny,
            (level, None) => level,
        }
    }

    fn named(&self, check: &Check) -> Option<Level> {
        self.named.iter().find(|(it, _)| *it == check).map(|(_, level)| *level)
    }

    fn set(&mut self, flag: &str, name: &str, level: Level) -> Result<(), Failure> {
        let check =
            find(name).map_err(|help| Failure::new(format!("{flag}: there is no check `{name}`"), help))?;
        if check.level == Level::Error && level != Level::Deny {
            return Err(Failure::new(
                format!("{flag}: `{}` is an error, which no flag changes", check.name),
                format!("mend the workflow: `orange-workflow explain {}` says how", check.code),
            ));
        }
        match self.named(check) {
            Some(other) if other != level => Err(Failure::new(
                format!(
                    "`{}` is given two levels, `{}` and `{}`",
                    check.name,
                    other.as_str(),
                    level.as_str()
                ),
                "name it in one of --deny, --warn and --allow",
            )),
            Some(_) => Ok(()),
            None => {
                self.named.push((check, level));
                Ok(())
            }
        }
    }
}

/// The check of this code or name, or else a help that names one.
pub(crate) fn find(code_or_name: &str) -> Result<&'static Check, String> {
    catalogue::find(code_or_name).ok_or_else(|| {
        let known = catalogue::all().iter().flat_map(|it| [it.name, it.code]);
        match suggest::closest(code_or_name, known) {
            Some(close) => format!("did you mean `{close}`?"),
            None => "`orange-workflow explain --list` lists them all".to_owned(),
        }
    })
}
