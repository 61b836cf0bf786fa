//! Budgets in `orange.toml`, in `projects.json`, and in `budget.toml` of the home.

use std::path::Path;

use orange_core::budget::{Budget, BudgetKind};
use serde::{Deserialize, Serialize};
use toml::Spanned;
use toml::de::DeValue;

use super::entries::{Reader, SettingResult, each, table};
use crate::Result;
use crate::store::toml_text::TomlText;

/// Budgets; `None` where the source says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BudgetSettings {
    /// Limits of each task that has none of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<Budget>,
    /// Limits of all agents of a day in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day: Option<Budget>,
    /// Limits of all agents of a month in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub month: Option<Budget>,
}

const KEYS: &[&str] = &["task", "day", "month"];

const KINDS: &[&str] = &["cost", "tokens", "fresh_tokens", "time", "starts"];

impl BudgetSettings {
    /// True if it sets nothing.
    pub fn is_empty(&self) -> bool {
        *self == BudgetSettings::default()
    }

    fn set(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> SettingResult<()> {
        let place = match key {
            "task" => &mut self.task,
            "day" => &mut self.day,
            _ => &mut self.month,
        };
        *place = Some(budget(key, value)?);
        Ok(())
    }
}

/// The budgets of all projects in these bytes of the file at this path.
///
/// # Errors
/// `corrupt` with the line of an unknown key or of a value that has no meaning.
pub fn parse_home(path: &Path, bytes: &[u8]) -> Result<BudgetSettings> {
    let text = TomlText::new(path, bytes)?;
    let table = text.table()?;
    let mut settings = BudgetSettings::default();
    Reader(text).each(table.get_ref(), KEYS, |key, value| settings.set(key, value))?;
    Ok(settings)
}

/// The table `budget` of an `orange.toml`.
pub(super) fn read(key: &str, value: &Spanned<DeValue<'_>>) -> SettingResult<BudgetSettings> {
    let mut settings = BudgetSettings::default();
    each(table(key, value)?, KEYS, &mut |key, value| settings.set(key, value))?;
    Ok(settings)
}

pub(super) fn budget(key: &str, value: &Spanned<DeValue<'_>>) -> SettingResult<Budget> {
    let mut budget = Budget::default();
    let wrong = || format!("`{key}` is a table: {key} = {{cost = 5.00, time = \"2h\", starts = 12}}");
    let limits = value.get_ref().as_table().ok_or_else(wrong)?;
    each(limits, KINDS, &mut |key, value| {
        let text = match value.get_ref() {
            DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
            DeValue::Float(number) => number.as_str(),
            DeValue::String(text) => text,
            DeValue::Integer(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_)
            | DeValue::Table(_) => "",
        };
        if let Some(kind) = BudgetKind::named(key) {
            budget.set(kind, Some(kind.read(text)?));
        }
        Ok(())
    })?;
    Ok(budget)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::settings;

    #[test]
    fn budgets_are_read_from_both_files() {
        let limits = "task = {cost = 5.00, tokens = '20M', time = '2h', starts = 12}\nday = {cost = 40}\n";
        let home = parse_home(Path::new("budget.toml"), limits.as_bytes()).unwrap();
        assert_eq!(home.task.unwrap().written(), "cost=5,tokens=20M,time=2h,starts=12");
        assert_eq!((home.day.unwrap().written(), home.month), ("cost=40".to_owned(), None));
        let file = settings::parse(Path::new("orange.toml"), format!("[budget]\n{limits}").as_bytes());
        assert_eq!(file.unwrap().budget, home);
    }

    #[test]
    fn a_flaw_names_its_line() {
        for (text, part) in [
            ("week = {cost = 5}\n", "budget.toml:1: `week` is not a key here"),
            ("task = 5\n", "budget.toml:1: `task` is a table: task = {cost = 5.00"),
            ("[task]\ncost = 5\nmoney = 5\n", "budget.toml:3: `money` is not a key here"),
            ("[task]\ncost = -5\n", "budget.toml:2: `cost` is dollars"),
            ("[task]\ntime = 2\n", "budget.toml:2: `time` is a number and its unit"),
            ("[task]\nstarts = true\n", "budget.toml:2: `starts` is a number of starts"),
        ] {
            let error = parse_home(Path::new("budget.toml"), text.as_bytes()).unwrap_err();
            assert!(error.message.contains(part), "{error}");
        }
    }
}
