//! The questions of gemini: a login, and trust in the folder.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::json::get;
use super::{Matter, Remedy};
use crate::around::Around;

/// Variables and a file that may replace a choice of login.
const CHOSEN: &[&str] =
    &["GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA", "GEMINI_CLI_SYSTEM_SETTINGS_PATH"];
const SYSTEM_SETTINGS: &str = "/etc/gemini-cli/settings.json";

pub(super) fn matters(repo: &Path, agreed: bool, around: &Around) -> Vec<Matter> {
    let file = around.folder("GEMINI_CLI_HOME", "").join(".gemini/settings.json");
    let settings = fs::read_to_string(file).unwrap_or_default();
    // The settings may have comments, so the text is searched.
    let has_login = settings.contains("\"selectedType\"")
        || CHOSEN.iter().any(|name| around.variable(name).is_some())
        || Path::new(SYSTEM_SETTINGS).exists();
    vec![
        Matter {
            name: "login",
            allows: "begin without its welcome, logged in".to_owned(),
            is_answered: has_login,
            is_for_full: false,
            blocks: true,
            remedy: Remedy::Person("run `gemini` once, and choose how to log in".to_owned()),
        },
        Matter {
            name: "trust",
            allows: format!("read, edit and run what is in {}", repo.display()),
            is_answered: agreed || asks_no_trust(&settings, around),
            is_for_full: false,
            blocks: true,
            remedy: Remedy::Argument,
        },
    ]
}

fn asks_no_trust(settings: &str, around: &Around) -> bool {
    let settings: Value = serde_json::from_str(settings).unwrap_or_default();
    around.variable("GEMINI_CLI_TRUST_WORKSPACE") == Some("true")
        || get(&settings, &["security", "folderTrust", "enabled"]) == Some(&Value::Bool(false))
}
