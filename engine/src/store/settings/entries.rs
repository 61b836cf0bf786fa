//! The entries of a table of settings, whose errors name their line.

use orange_core::feedback::flaw_of_login;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::Result;
use crate::store::suggest;
use crate::store::toml_text::{TomlText, in_order};

pub(super) type SettingResult<T> = std::result::Result<T, SettingFlaw>;

/// An entry that has no meaning, and where it is, if that is not the key.
pub(super) struct SettingFlaw {
    pub(super) at: Option<usize>,
    pub(super) what: String,
}

impl From<String> for SettingFlaw {
    fn from(what: String) -> SettingFlaw {
        SettingFlaw { at: None, what }
    }
}

pub(super) struct Reader<'t>(pub(super) TomlText<'t>);

impl Reader<'_> {
    pub(super) fn each(
        &self,
        table: &DeTable<'_>,
        keys: &[&str],
        mut set: impl FnMut(&str, &Spanned<DeValue<'_>>) -> SettingResult<()>,
    ) -> Result<()> {
        each(table, keys, &mut set).map_err(|flaw| self.0.broken(flaw.at.unwrap_or_default(), &flaw.what))
    }
}

/// Reads each entry of a table, whose keys are these.
pub(super) fn each(
    table: &DeTable<'_>,
    keys: &[&str],
    set: &mut dyn FnMut(&str, &Spanned<DeValue<'_>>) -> SettingResult<()>,
) -> SettingResult<()> {
    for (name, value) in in_order(table) {
        let (at, key) = (name.span().start, &**name.get_ref());
        if !keys.contains(&key) {
            let help = suggest::help(key, keys, "keys");
            return Err(SettingFlaw { at: Some(at), what: format!("`{key}` is not a key here: {help}") });
        }
        set(key, value).map_err(|flaw| SettingFlaw { at: flaw.at.or(Some(at)), ..flaw })?;
    }
    Ok(())
}

pub(super) fn table<'t>(key: &str, value: &'t Spanned<DeValue<'t>>) -> SettingResult<&'t DeTable<'t>> {
    Ok(value.get_ref().as_table().ok_or_else(|| format!("`{key}` is a table: [{key}]"))?)
}

pub(super) fn flag(key: &str, value: &Spanned<DeValue<'_>>) -> SettingResult<bool> {
    Ok(value.get_ref().as_bool().ok_or_else(|| format!("`{key}` is true or false"))?)
}

/// One of several values that have a word each.
pub(super) fn word<T: Copy>(
    key: &str,
    value: &Spanned<DeValue<'_>>,
    known: &[T],
    as_str: fn(T) -> &'static str,
) -> SettingResult<T> {
    let words = || known.iter().map(|it| as_str(*it)).collect::<Vec<_>>().join(", ");
    let given = value.get_ref().as_str();
    let found = known.iter().copied().find(|it| given == Some(as_str(*it)));
    Ok(found.ok_or_else(|| format!("`{key}` is one of these words in quotes: {}", words()))?)
}

pub(super) fn logins(key: &str, value: &Spanned<DeValue<'_>>) -> SettingResult<Vec<String>> {
    strings(value, &|| format!("`{key}` is a list of names in quotes: [\"ada\"]"), flaw_of_login)
}

pub(super) fn strings(
    value: &Spanned<DeValue<'_>>,
    wrong: &dyn Fn() -> String,
    flaw: fn(&str) -> Option<String>,
) -> SettingResult<Vec<String>> {
    let items = value.get_ref().as_array().ok_or_else(wrong)?;
    let mut read = Vec::new();
    for item in items {
        let text = item.get_ref().as_str().ok_or_else(wrong)?;
        if let Some(what) = flaw(text) {
            return Err(SettingFlaw { at: Some(item.span().start), what });
        }
        read.push(text.to_owned());
    }
    Ok(read)
}

pub(super) fn text(key: &str, value: &Spanned<DeValue<'_>>) -> SettingResult<String> {
    let text = value.get_ref().as_str().map(str::to_owned);
    Ok(text.ok_or_else(|| format!("`{key}` is one string in quotes"))?)
}

pub(super) fn number(key: &str, value: &Spanned<DeValue<'_>>) -> SettingResult<u32> {
    let DeValue::Integer(number) = value.get_ref() else {
        return Err(format!("`{key}` is a whole number").into());
    };
    let read = u32::from_str_radix(number.as_str(), number.radix()).ok();
    Ok(read.ok_or_else(|| format!("`{key}` is a whole number, and not a negative one"))?)
}
