//! The questions of codex: a login, and trust in a repository.

use std::io::ErrorKind;
use std::path::Path;

use super::{Matter, Remedy};
use crate::around::Around;
use crate::{Error, Result, nofollow};

pub(super) fn matters(repo: &Path, agreed: bool, around: &Around) -> Result<Vec<Matter>> {
    let folder = around.folder("CODEX_HOME", ".codex");
    let file = folder.join("config.toml");
    let config = match nofollow::read_linked(&file, nofollow::LONGEST) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(cause) if cause.kind() == ErrorKind::NotFound => String::new(),
        Err(cause) => return Err(Error::io("read", &file, &cause)),
    };
    let has_login = folder.join("auth.json").exists()
        || ["OPENAI_API_KEY", "CODEX_API_KEY"].iter().any(|name| around.variable(name).is_some())
        || config.lines().any(|line| value_of(line, "model_provider").is_some());
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

/// Whether its settings answer for a repository: `[projects."/repo"]` with a `trust_level`.
fn has_answer(config: &str, repo: &Path) -> bool {
    let mut is_inside = false;
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            is_inside = table_of(line).is_some_and(|path| Path::new(&path) == repo);
        } else if is_inside && value_of(line, "trust_level").is_some() {
            return true;
        }
    }
    false
}

/// The path in `[projects."/repo"]`.
fn table_of(line: &str) -> Option<String> {
    let name = line.strip_prefix("[projects.")?.trim();
    let name = name.split_once(']').map_or(name, |_| &name[..name.rfind(']').unwrap_or(name.len())]).trim();
    match name.strip_prefix('\'') {
        Some(literal) => literal.strip_suffix('\'').map(str::to_owned),
        // A basic string of TOML is one of JSON, except for a few escapes that no path needs.
        None => serde_json::from_str(name).ok(),
    }
}

fn value_of<'l>(line: &'l str, key: &str) -> Option<&'l str> {
    line.trim().strip_prefix(key)?.trim_start().strip_prefix('=').map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_about_a_repository_is_found() {
        let config = "model = 'x'\n[projects.\"/a \\\"b\\\"\"]\ntrust_level = \"trusted\"\n\n[projects.'/c']\n\
                      trust_level=\"untrusted\"\n[projects.\"/d\"]\n[other]\ntrust_level = \"trusted\"\n";
        let has = |repo: &str| has_answer(config, Path::new(repo));
        assert!(has("/a \"b\"") && has("/c"));
        assert!(!has("/d") && !has("/a") && !has("/other"));
    }
}
