//! The levels that flags and configurations give to findings.

use orange_analysis::catalogue::{self, Check};
use orange_analysis::lint::causes::one_finding;
use orange_codegen::{Diagnostic, Level, diag, suggest};

use crate::answer::Failure;
use crate::args;

/// Stands for every finding that would only be printed.
pub(crate) const WARNINGS: &str = "warnings";

/// The levels that one source gives: the flags, or a table of a configuration.
#[derive(Debug, Default)]
pub(crate) struct Levels {
    deny_warnings: bool,
    named: Vec<(&'static Check, Level)>,
}

/// Why a check cannot be given a level, and what to do about it.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// The error, with the check's name.
    pub message: String,
    /// What to write instead.
    pub help: String,
}

impl Levels {
    /// Reads `--deny`, `--warn` and `--allow`.
    ///
    /// # Errors
    ///
    /// An unknown check, one that two flags give different levels, or one whose level no flag may change.
    pub(crate) fn of_flags(flags: &args::Check) -> Result<Self, Failure> {
        let mut levels = Self::default();
        let named = [
            ("--deny", &flags.deny, Level::Deny),
            ("--warn", &flags.warn, Level::Warn),
            ("--allow", &flags.allow, Level::Allow),
        ];
        for (flag, names, level) in named {
            for name in names {
                if level == Level::Deny && name == WARNINGS {
                    levels.deny_warnings();
                } else if let Err(Refusal { message, help }) = levels.set(name, level) {
                    return Err(Failure::new(format!("{flag}: {message}"), help));
                }
            }
        }
        Ok(levels)
    }

    /// Raises all findings that would only be printed, except named ones.
    pub(crate) fn deny_warnings(&mut self) {
        self.deny_warnings = true;
    }

    /// Gives a check a level.
    ///
    /// # Errors
    ///
    /// There is no such check, it has another level already, or it is an error.
    pub(crate) fn set(&mut self, name: &str, level: Level) -> Result<(), Refusal> {
        let check =
            find(name).map_err(|help| Refusal { message: format!("there is no check `{name}`"), help })?;
        let name = check.name;
        if check.level == Level::Error && level != Level::Deny {
            return Err(Refusal {
                message: format!("`{name}` is an error, which nothing lowers"),
                help: format!("mend the workflow: `orange-workflow explain {}` says how", check.code),
            });
        }
        match self.named(check) {
            Some(other) if other != level => Err(Refusal {
                message: format!(
                    "`{name}` is given two levels, `{}` and `{}`",
                    other.as_str(),
                    level.as_str()
                ),
                help: "name it once".to_owned(),
            }),
            Some(_) => Ok(()),
            None => {
                self.named.push((check, level));
                Ok(())
            }
        }
    }

    /// The level of a check's finding that had this one before. An error stays an error.
    pub(crate) fn of(&self, check: &Check, before: Level) -> Level {
        match (before, self.named(check)) {
            (Level::Error, _) => Level::Error,
            (_, Some(level)) => level,
            (Level::Warn | Level::Info, None) if self.deny_warnings => Level::Deny,
            (level, None) => level,
        }
    }

    fn named(&self, check: &Check) -> Option<Level> {
        self.named.iter().find(|(it, _)| *it == check).map(|(_, level)| *level)
    }
}

/// Gives each finding its level, the weightiest place last, and drops those that are then off. Of a fault, the worst that is left tells.
pub(crate) fn apply(places: &[&Levels], findings: &mut Vec<Diagnostic>) {
    let at_its_level = |mut finding: Diagnostic| {
        finding.level = places.iter().fold(finding.level, |level, it| it.of(finding.check, level));
        (finding.level != Level::Allow).then_some(finding)
    };
    let judged = std::mem::take(findings).into_iter().filter_map(|mut finding| {
        let fault = std::mem::take(&mut finding.fault);
        if fault.is_empty() {
            return at_its_level(finding);
        }
        one_finding(fault.into_iter().filter_map(at_its_level).collect())
    });
    findings.extend(judged);
    diag::sort(findings);
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
