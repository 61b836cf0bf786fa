//! The entries of a table of settings, whose errors name their line.

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
