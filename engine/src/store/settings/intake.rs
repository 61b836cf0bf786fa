//! `[[intake]]` in `orange.toml`: the issues that become tasks.

use orange_core::budget::Budget;
use orange_core::feedback::Authors;
use orange_core::intake::{IntakeAuthors, IntakeRule};
use toml::Spanned;
use toml::de::DeValue;

use super::budgets::budget;
use super::entries::{SettingFlaw, SettingResult, each, flag, logins, number, table, text};

/// The most open tasks, and the most of a day, that a rule can have.
const MOST: u32 = 1000;

/// A label whose issues become tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntakeSettings {
    /// The label.
    pub label: String,
    /// The people whose label counts.
    pub labelled_by: Authors,
    /// The people whose issues are taken.
    pub authors: IntakeAuthors,
    /// The workflow of the tasks; `None` for the project's.
    pub workflow: Option<String>,
    /// True if the tasks are started at once.
    pub spawn: bool,
    /// The most open tasks at once.
    pub max_open: u32,
    /// The most tasks of a day in UTC.
    pub max_per_day: u32,
    /// True if the issue gets a comment.
    pub comment: bool,
    /// Limits of each task.
    pub budget: Option<Budget>,
}

const KEYS: &[&str] =
    &["label", "labelled_by", "authors", "workflow", "spawn", "max_open", "max_per_day", "comment", "budget"];

impl IntakeSettings {
    /// The rule that decides about issues.
    pub const fn rule(&self) -> IntakeRule<'_> {
        IntakeRule {
            authors: &self.authors,
            labelled_by: &self.labelled_by,
            max_open: self.max_open,
            max_per_day: self.max_per_day,
        }
    }
}

impl Default for IntakeSettings {
    fn default() -> IntakeSettings {
        IntakeSettings {
            label: String::new(),
            labelled_by: Authors::Write,
            authors: IntakeAuthors::default(),
            workflow: None,
            spawn: false,
            max_open: 3,
            max_per_day: 5,
            comment: true,
            budget: None,
        }
    }
}

/// The tables `intake` of an `orange.toml`.
pub(super) fn read(key: &str, value: &Spanned<DeValue<'_>>) -> SettingResult<Vec<IntakeSettings>> {
    let wrong = || format!("`{key}` is a list of labels, each in a table of its own: [[{key}]]");
    let items = value.get_ref().as_array().ok_or_else(wrong)?;
    let mut read: Vec<IntakeSettings> = Vec::new();
    for item in items {
        let one = one(key, item)?;
        let flaw = |what| SettingFlaw { at: Some(item.span().start), what };
        if one.label.is_empty() {
            return Err(flaw(format!("each [[{key}]] has a `label`: label = \"agent\"")));
        }
        if read.iter().any(|other| other.label.eq_ignore_ascii_case(&one.label)) {
            return Err(flaw(format!("the label `{}` has another [[{key}]]", one.label.escape_debug())));
        }
        read.push(one);
    }
    Ok(read)
}

fn one(key: &str, item: &Spanned<DeValue<'_>>) -> SettingResult<IntakeSettings> {
    let mut one = IntakeSettings::default();
    each(table(key, item)?, KEYS, &mut |key, value| {
        match key {
            "label" => one.label = plain(key, value)?,
            "labelled_by" => one.labelled_by = people(key, value)?,
            "authors" => {
                let is_anyone = value.get_ref().as_str() == Some(IntakeAuthors::ANYONE);
                one.authors = if is_anyone {
                    IntakeAuthors::Anyone
                } else {
                    IntakeAuthors::Of(people(key, value).map_err(|flaw| or_anyone(flaw, value))?)
                };
            }
            "workflow" => one.workflow = Some(plain(key, value)?),
            "spawn" => one.spawn = flag(key, value)?,
            "max_open" => one.max_open = count(key, value)?,
            "max_per_day" => one.max_per_day = count(key, value)?,
            "comment" => one.comment = flag(key, value)?,
            _ => one.budget = Some(budget(key, value)?),
        }
        Ok(())
    })?;
    Ok(one)
}

/// A text of one line that is not empty.
pub(super) fn plain(key: &str, value: &Spanned<DeValue<'_>>) -> SettingResult<String> {
    let text = text(key, value)?;
    let is_plain = !text.trim().is_empty() && text.trim() == text && !text.contains(char::is_control);
    Ok(Some(text)
        .filter(|_| is_plain)
        .ok_or_else(|| format!("`{key}` is one line without blanks around it"))?)
}

fn people(key: &str, value: &Spanned<DeValue<'_>>) -> SettingResult<Authors> {
    match value.get_ref().as_str() {
        Some(Authors::WRITE) => Ok(Authors::Write),
        Some(_) => Err(format!("`{key}` is \"write\" or a list of names in quotes: [\"ada\"]").into()),
        None => Ok(Authors::Logins(logins(key, value)?)),
    }
}

fn or_anyone(flaw: SettingFlaw, value: &Spanned<DeValue<'_>>) -> SettingFlaw {
    if value.get_ref().is_str() {
        return SettingFlaw { what: format!("{}; or \"{}\"", flaw.what, IntakeAuthors::ANYONE), ..flaw };
    }
    flaw
}

fn count(key: &str, value: &Spanned<DeValue<'_>>) -> SettingResult<u32> {
    let number = Some(number(key, value)?).filter(|number| (1..=MOST).contains(number));
    Ok(number.ok_or_else(|| format!("`{key}` is a number from 1 to {MOST}"))?)
}
