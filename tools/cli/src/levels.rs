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
    named: Vec<(Selector, Level)>,
}

/// The checks that a name in a flag or a configuration stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Selector {
    One(&'static Check),
    /// Every check whose code begins like the code of this one, with so many characters.
    Prefix(&'static Check, usize),
}

/// Reason for which a check cannot be given a level, and the remedy.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// The error, with the check's name.
    pub message: String,
    /// Text to write instead.
    pub help: String,
}

impl Levels {
    /// Reads `--deny`, `--warn` and `--allow`.
    ///
    /// # Errors
    ///
    /// An unknown check, one that two flags give different levels, or one whose level no flag may change.
    pub(crate) fn of_flags(flags: &args::CheckArgs) -> Result<Self, Failure> {
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

    /// Gives a level to a check, or to every one whose code begins like this.
    ///
    /// # Errors
    ///
    /// There is no such check, it has another level already, or it is an error.
    pub(crate) fn set(&mut self, name: &str, level: Level) -> Result<(), Refusal> {
        let selector = Selector::read(name)
            .map_err(|help| Refusal { message: format!("there is no check `{name}`"), help })?;
        let name = selector.name();
        if level != Level::Deny && selector.checks().all(|it| it.level == Level::Error) {
            let (message, help) = match selector {
                Selector::One(check) => (
                    format!("`{name}` is an error, which nothing lowers"),
                    format!("mend the workflow: `orange-workflow explain {}` says how", check.code),
                ),
                Selector::Prefix(..) => (
                    format!("every check `{name}…` is an error, which nothing lowers"),
                    "mend the workflow".to_owned(),
                ),
            };
            return Err(Refusal { message, help });
        }
        match self.named.iter().find(|(it, _)| *it == selector).map(|it| it.1) {
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
                self.named.push((selector, level));
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

    /// The level that the most exact of the names gives.
    fn named(&self, check: &Check) -> Option<Level> {
        let fitting = self.named.iter().filter(|(it, _)| it.has(check));
        fitting.max_by_key(|(it, _)| it.exactness()).map(|(_, level)| *level)
    }
}

impl Selector {
    /// The check of this name or code, or those whose codes begin like this; or else a help that names one.
    fn read(name: &str) -> Result<Self, String> {
        let length = name.len();
        let is_start = |check: &&&Check| {
            let start = check.code.get(..length).filter(|it| *it != check.code && length > 0);
            start.is_some_and(|it| it.eq_ignore_ascii_case(name))
        };
        match catalogue::all().iter().find(is_start) {
            Some(first) => Ok(Self::Prefix(first, length)),
            None => find(name).map(Self::One),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::One(check) => check.name,
            Self::Prefix(first, length) => first.code.get(..length).unwrap_or(first.code),
        }
    }

    fn has(self, check: &Check) -> bool {
        match self {
            Self::One(it) => it == check,
            Self::Prefix(..) => check.code.starts_with(self.name()),
        }
    }

    fn checks(self) -> impl Iterator<Item = &'static Check> {
        catalogue::all().iter().copied().filter(move |it| self.has(it))
    }

    fn exactness(self) -> usize {
        match self {
            Self::One(_) => usize::MAX,
            Self::Prefix(_, length) => length,
        }
    }
}

fn given(places: &[&Levels], check: &Check, before: Level) -> Level {
    places.iter().fold(before, |level, it| it.of(check, level))
}

/// Gives each finding its level, the weightiest place last, and drops those that are then off. Of a fault, the worst that is left tells.
pub(crate) fn apply(places: &[&Levels], findings: &mut Vec<Diagnostic>) {
    let at_its_level = |mut finding: Diagnostic| {
        finding.level = given(places, finding.check, finding.level);
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

#[cfg(test)]
mod tests {
    use orange_codegen::catalogue::{A01, C4D, C40, C46, S07};

    use super::*;

    /// The levels after these names and levels, or the refusal of the last one.
    fn levels(named: &[(&str, Level)]) -> Result<Levels, String> {
        let mut levels = Levels::default();
        for (name, level) in named {
            levels.set(name, *level).map_err(|it| format!("{}; {}", it.message, it.help))?;
        }
        Ok(levels)
    }

    #[test]
    fn the_most_exact_name_decides() {
        for named in [
            [("C4", Level::Deny), ("C46", Level::Allow), ("c", Level::Warn)],
            [("c", Level::Warn), ("crash-no-stuck", Level::Allow), ("c4", Level::Deny)],
        ] {
            let levels = levels(&named).unwrap();
            assert_eq!(levels.of(&C40, Level::Warn), Level::Deny);
            assert_eq!(levels.of(&C4D, Level::Warn), Level::Deny);
            assert_eq!(levels.of(&C46, Level::Warn), Level::Allow);
            assert_eq!(levels.of(&S07, Level::Warn), Level::Warn);
        }
        assert_eq!(levels(&[("S", Level::Allow)]).unwrap().of(&A01, Level::Error), Level::Error);
    }

    #[test]
    fn a_beginning_is_refused_for_the_reasons_a_name_is() {
        let refused = |named: &[(&str, Level)]| levels(named).unwrap_err();
        assert_eq!(
            refused(&[("A0", Level::Warn)]),
            "every check `A0…` is an error, which nothing lowers; mend the workflow"
        );
        assert_eq!(
            refused(&[("C4", Level::Warn), ("c4", Level::Allow)]),
            "`C4` is given two levels, `warn` and `allow`; name it once"
        );
        assert!(refused(&[("Z", Level::Warn)]).starts_with("there is no check `Z`"));
        assert!(refused(&[("", Level::Warn)]).starts_with("there is no check ``"));
    }
}
