//! The questions of codex: a login, and trust in a repository.

use std::io;
use std::path::Path;

use toml::Spanned;
use toml::de::DeTable;

use super::{Matter, Remedy};
use crate::around::Around;
use crate::{Error, Result};
use orange_system::nofollow;

pub(super) fn matters(repo: &Path, agreed: bool, around: &Around) -> Result<Vec<Matter>> {
    let folder = around.folder("CODEX_HOME", ".codex");
    let file = folder.join("config.toml");
    let text = match nofollow::read_linked(&file, nofollow::LONGEST) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => String::new(),
        Err(cause) => return Err(Error::io("read", &file, &cause)),
    };
    // codex refuses settings that are not TOML, and then they answer nothing.
    let config = DeTable::parse(&text).map(Spanned::into_inner).unwrap_or_default();
    let has_login = folder.join("auth.json").exists()
        || ["OPENAI_API_KEY", "CODEX_API_KEY"].iter().any(|name| around.variable(name).is_some())
        || names_provider(&config);
    Ok(vec![
        Matter {
            name: "login",
            allows: "begin without its welcome, logged in".to_owned(),
            is_answered: has_login,
            is_for_full: false,
            // The login may be in a keyring, which cannot be read.
            blocks: false,
            remedy: Remedy::Person("run `codex login`".to_owned()),
        },
        Matter {
            name: "trust",
            allows: format!("read, edit and run what is in {}", repo.display()),
            is_answered: agreed || has_answer(&config, repo),
            is_for_full: false,
            blocks: true,
            remedy: Remedy::Argument,
        },
    ])
}

/// True if its settings, or those of a profile, name the provider of the model.
fn names_provider(config: &DeTable<'_>) -> bool {
    let profiles = config.get("profiles").and_then(|profiles| profiles.get_ref().as_table());
    let mut profiles = profiles.into_iter().flat_map(|profiles| profiles.values());
    config.contains_key("model_provider")
        || profiles.any(|keys| keys.get_ref().get("model_provider").is_some())
}

/// True if its settings answer for a repository: `[projects."/repo"]` with a `trust_level`.
fn has_answer(config: &DeTable<'_>, repo: &Path) -> bool {
    let projects = config.get("projects").and_then(|projects| projects.get_ref().as_table());
    let mut projects = projects.into_iter().flat_map(|projects| projects.iter());
    projects.any(|(path, keys)| {
        Path::new(path.get_ref().as_ref()) == repo && keys.get_ref().get("trust_level").is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_is_named_by_the_settings_or_a_profile() {
        let names = |config: &str| names_provider(DeTable::parse(config).unwrap().get_ref());
        assert!(names("model_provider = 'x'") && names("[profiles.a]\nmodel_provider = 'x'"));
        assert!(!names("[model_providers.x]\nname = 'x'"));
    }

    #[test]
    fn the_answer_about_a_repository_is_found() {
        let config = "model = 'x'\n[projects.\"/a \\\"b\\\"\"]\ntrust_level = \"trusted\"\n\n[projects.'/c']\n\
                      trust_level=\"untrusted\"\n[projects.\"/d\"]\n[other]\ntrust_level = \"trusted\"\n";
        let has = |repo: &str| has_answer(DeTable::parse(config).unwrap().get_ref(), Path::new(repo));
        assert!(has("/a \"b\"") && has("/c"));
        assert!(!has("/d") && !has("/a") && !has("/other"));
    }
}
