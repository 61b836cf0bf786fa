//! `[[schedule]]` in `orange.toml`: missions that start at given times.

use orange_core::budget::BudgetKind;
use orange_core::schedule::{Cron, Missed, Overlap, ScheduleRule};
use toml::Spanned;
use toml::de::DeValue;

use super::entries::{SettingFlaw, SettingResult, each, table, text, word};
use super::intake::plain;

/// The zone of a schedule that names none.
const UTC: &str = "UTC";

/// The grace of a schedule that sets none, in seconds.
const GRACE: u32 = 3600;

/// The longest grace, in seconds: a week.
const LONGEST_GRACE: u64 = 7 * 86_400;

/// A mission that starts at given times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleSettings {
    /// Its name, of which the keys of its slots are made.
    pub name: String,
    /// The cron expression as it is written.
    pub cron: String,
    /// That expression.
    pub times: Cron,
    /// The zone of its times, by its name in the zone database.
    pub tz: String,
    /// The step workflow.
    pub mission: String,
    /// The prompt of the missions.
    pub prompt: Option<String>,
    /// As in [`ScheduleRule`].
    pub overlap: Overlap,
    /// As in [`ScheduleRule`].
    pub missed: Missed,
    /// As in [`ScheduleRule`].
    pub grace: u32,
}

impl ScheduleSettings {
    /// The rule that decides about slots.
    pub fn rule(&self) -> ScheduleRule {
        ScheduleRule { overlap: self.overlap, missed: self.missed, grace: self.grace.into() }
    }
}

const KEYS: &[&str] = &["name", "cron", "tz", "mission", "prompt", "overlap", "missed", "grace"];

/// The tables `schedule` of an `orange.toml`.
pub(super) fn read(key: &str, value: &Spanned<DeValue<'_>>) -> SettingResult<Vec<ScheduleSettings>> {
    let wrong = || format!("`{key}` is a list of missions, each in a table of its own: [[{key}]]");
    let items = value.get_ref().as_array().ok_or_else(wrong)?;
    let mut read: Vec<ScheduleSettings> = Vec::new();
    for item in items {
        let one = one(key, item)?;
        if read.iter().any(|other| other.name == one.name) {
            let what = format!("the name `{}` has another [[{key}]]", one.name);
            return Err(SettingFlaw { at: Some(item.span().start), what });
        }
        read.push(one);
    }
    Ok(read)
}

fn one(key: &str, item: &Spanned<DeValue<'_>>) -> SettingResult<ScheduleSettings> {
    let (mut name, mut cron, mut mission, mut prompt) = (None, None, None, None);
    let (mut tz, mut grace) = (UTC.to_owned(), GRACE);
    let (mut overlap, mut missed) = (Overlap::default(), Missed::default());
    each(table(key, item)?, KEYS, &mut |key, value| {
        match key {
            "name" => name = Some(checked_name(key, value)?),
            "cron" => {
                let text = text(key, value)?;
                cron = Some((Cron::parse(&text)?, text));
            }
            "tz" => tz = zone(key, value)?,
            "mission" => mission = Some(plain(key, value)?),
            "prompt" => prompt = Some(text(key, value)?),
            "overlap" => overlap = word(key, value, &Overlap::ALL, Overlap::as_str)?,
            "missed" => missed = word(key, value, &Missed::ALL, Missed::as_str)?,
            _ => grace = duration(key, value)?,
        }
        Ok(())
    })?;
    let lacks =
        |what: &str| SettingFlaw { at: Some(item.span().start), what: format!("each [[{key}]] has {what}") };
    let name = name.ok_or_else(|| lacks("a `name`: name = \"triage\""))?;
    let (times, cron) = cron.ok_or_else(|| lacks("its times: cron = \"0 7 * * 1-5\""))?;
    let mission = mission.ok_or_else(|| lacks("a `mission`: the name of a step workflow"))?;
    Ok(ScheduleSettings { name, cron, times, tz, mission, prompt, overlap, missed, grace })
}

fn checked_name(key: &str, value: &Spanned<DeValue<'_>>) -> SettingResult<String> {
    const LONGEST: usize = 40;
    let name = text(key, value)?;
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    let is_name = (1..=LONGEST).contains(&name.len()) && name.chars().all(is_plain);
    let wrong = || format!("`{key}` has letters, digits, `-` and `_`, and {LONGEST} of them at most");
    Ok(Some(name).filter(|_| is_name).ok_or_else(wrong)?)
}

/// A name becomes a path below the folder of zones.
fn zone(key: &str, value: &Spanned<DeValue<'_>>) -> SettingResult<String> {
    let name = text(key, value)?;
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_+".contains(letter);
    let is_one = name.split('/').all(|part| !part.is_empty() && part.chars().all(is_plain));
    Ok(Some(name).filter(|_| is_one).ok_or_else(|| format!("`{key}` is a zone such as \"Europe/Berlin\""))?)
}

fn duration(key: &str, value: &Spanned<DeValue<'_>>) -> SettingResult<u32> {
    let wrong = || format!("`{key}` is a time up to a week in quotes: {key} = \"2h\"");
    let read = BudgetKind::Time.read(value.get_ref().as_str().unwrap_or_default()).ok();
    let seconds = read.filter(|seconds| *seconds <= LONGEST_GRACE).and_then(|it| u32::try_from(it).ok());
    Ok(seconds.ok_or_else(wrong)?)
}
