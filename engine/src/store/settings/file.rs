//! `orange.toml` in a project's repository.

use std::path::Path;

use orange_core::feedback::{Authors, Resolve};
use orange_core::forge::ForgeKind;
use orange_core::merge::{MessageForm, Strategy};
use toml::Spanned;
use toml::de::DeValue;

use super::entries::{
    Reader, SettingFlaw, SettingResult, each, flag, logins, number, strings, table, text, word,
};
use super::{
    MergeSettings, Ports, Settings, TIMEOUT, WorktreeProgram, budgets, flaw_of_path, flaw_of_program,
    flaw_of_variable, intake, ports, sandbox, schedules,
};
use crate::Result;
use crate::store::toml_text::TomlText;

/// Its name, at the top of the repository.
pub const FILE: &str = "orange.toml";

/// The longest such file that is read, in bytes.
pub const LONGEST: u64 = 64 * 1024;

/// The settings in these bytes of the file at this path.
///
/// # Errors
/// `corrupt` with the line of an unknown key or of a value that has no meaning.
pub fn parse(path: &Path, bytes: &[u8]) -> Result<Settings> {
    let text = TomlText::new(path, bytes)?;
    let table = text.table()?;
    let mut settings = Settings::default();
    Reader(text).each(table.get_ref(), KEYS, |key, value| set(&mut settings, key, value))?;
    Ok(settings)
}

const KEYS: &[&str] = &[
    "copy",
    "link",
    "setup",
    "ports",
    "harness",
    "reclaim_when_waiting",
    "environment",
    "merge",
    "forge",
    "feedback",
    "budget",
    "agent",
    "intake",
    "schedule",
    "sandbox",
];

fn set(settings: &mut Settings, key: &str, value: &Spanned<DeValue<'_>>) -> SettingResult<()> {
    match key {
        "copy" => settings.copy = Some(paths(key, value)?),
        "link" => settings.link = Some(paths(key, value)?),
        "environment" => settings.environment = Some(variables(key, value)?),
        "setup" => settings.setup = Some(programs(key, value)?),
        "ports" => settings.ports = Some(read_ports(value)?),
        "merge" => {
            each(table(key, value)?, MERGE_KEYS, &mut |key, value| {
                set_merge(&mut settings.merge, key, value)
            })?;
        }
        "forge" => {
            each(table(key, value)?, &["kind"], &mut |key, value| {
                settings.forge = Some(word(key, value, &ForgeKind::ALL, ForgeKind::as_str)?);
                Ok(())
            })?;
        }
        "feedback" => {
            each(table(key, value)?, &["authors", "bots", "resolve", "patience"], &mut |key, value| {
                match key {
                    "authors" => settings.feedback.authors = Some(authors(key, value)?),
                    "bots" => settings.feedback.bots = Some(logins(key, value)?),
                    "patience" => settings.feedback.patience = Some(number(key, value)?),
                    _ => settings.feedback.resolve = Some(word(key, value, &Resolve::ALL, Resolve::as_str)?),
                }
                Ok(())
            })?;
        }
        "budget" => settings.budget = budgets::read(key, value)?,
        "agent" => {
            each(table(key, value)?, &["env_deny"], &mut |key, value| {
                settings.env_deny = Some(variables(key, value)?);
                Ok(())
            })?;
        }
        "sandbox" => settings.sandbox = sandbox::read(key, value)?,
        "intake" => settings.intake = Some(intake::read(key, value)?),
        "schedule" => settings.schedule = Some(schedules::read(key, value)?),
        "harness" => {
            each(table(key, value)?, &["task", "review"], &mut |key, value| {
                let name = Some(text(key, value)?).filter(|name| !name.is_empty());
                let name = name.ok_or_else(|| format!("`{key}` is the name of a harness"))?;
                let place = if key == "task" { &mut settings.harness } else { &mut settings.review_harness };
                *place = Some(name);
                Ok(())
            })?;
        }
        _ => settings.reclaim_when_waiting = Some(flag(key, value)?),
    }
    Ok(())
}

const MERGE_KEYS: &[&str] = &["strategy", "sync", "into", "message", "coauthors", "push", "keep"];

fn set_merge(merge: &mut MergeSettings, key: &str, value: &Spanned<DeValue<'_>>) -> SettingResult<()> {
    let strategy = |known: &[Strategy]| word(key, value, known, Strategy::as_str);
    match key {
        "strategy" => merge.strategy = Some(strategy(&Strategy::ALL)?),
        "sync" => merge.sync = Some(strategy(&Strategy::OF_SYNC)?),
        "into" => {
            let name = Some(text(key, value)?).filter(|name| !name.is_empty());
            merge.into = Some(name.ok_or_else(|| format!("`{key}` is the name of a branch"))?);
        }
        "message" => merge.message = Some(word(key, value, &MessageForm::ALL, MessageForm::as_str)?),
        "coauthors" => merge.coauthors = Some(flag(key, value)?),
        "push" => merge.push = Some(flag(key, value)?),
        _ => merge.keep = Some(flag(key, value)?),
    }
    Ok(())
}

fn paths(key: &str, value: &Spanned<DeValue<'_>>) -> SettingResult<Vec<String>> {
    strings(value, &|| format!("`{key}` is a list of paths in quotes: [\".env\"]"), flaw_of_path)
}

fn variables(key: &str, value: &Spanned<DeValue<'_>>) -> SettingResult<Vec<String>> {
    strings(value, &|| format!("`{key}` is a list of names in quotes: [\"API_KEY\"]"), flaw_of_variable)
}

fn authors(key: &str, value: &Spanned<DeValue<'_>>) -> SettingResult<Authors> {
    match value.get_ref().as_str() {
        Some(Authors::WRITE) => Ok(Authors::Write),
        Some(_) => Err(format!("`{key}` is \"write\" or a list of names in quotes: [\"ada\"]").into()),
        None => Ok(Authors::Logins(logins(key, value)?)),
    }
}

fn programs(key: &str, value: &Spanned<DeValue<'_>>) -> SettingResult<Vec<WorktreeProgram>> {
    let wrong = || format!("`{key}` is a list of programs, each in a table of its own: [[{key}]]");
    let items = value.get_ref().as_array().ok_or_else(wrong)?;
    items.iter().map(|item| program(key, item)).collect()
}

fn program(key: &str, item: &Spanned<DeValue<'_>>) -> SettingResult<WorktreeProgram> {
    let mut program = WorktreeProgram { argv: Vec::new(), timeout: TIMEOUT };
    each(table(key, item)?, &["argv", "timeout"], &mut |key, value| {
        match key {
            "argv" => {
                let wrong = || "`argv` is a list of strings in quotes: [\"npm\", \"ci\"]".to_owned();
                let words = value.get_ref().as_array().ok_or_else(wrong)?;
                let words = words.iter().map(|word| word.get_ref().as_str().map(str::to_owned));
                program.argv = words.collect::<Option<_>>().ok_or_else(wrong)?;
            }
            _ => program.timeout = number(key, value)?,
        }
        Ok(())
    })?;
    flaw_of_program(&program)
        .map_or(Ok(program), |what| Err(SettingFlaw { at: Some(item.span().start), what }))
}

fn read_ports(value: &Spanned<DeValue<'_>>) -> SettingResult<Ports> {
    let (mut base, mut per_slot) = (None, ports::PER_SLOT);
    each(table("ports", value)?, &["base", "per_slot"], &mut |key, value| {
        let number = number(key, value)?;
        if key == "base" {
            base = Some(number)
        } else {
            per_slot = number
        }
        Ok(())
    })?;
    let base = base.ok_or_else(|| "`ports` has a `base`: the first port of the first worktree".to_owned())?;
    Ok(Ports::new(base, per_slot)?)
}
