//! The questions of claude: a login, a key of the environment, trust in a repository, bypassed permissions.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::json::get;
use super::{Matter, Remedy, read_json};
use crate::Result;
use crate::around::Around;

/// Variables that replace a login.
const LOGINS: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
];

/// The number of characters of a key that claude records with the answer.
const END_OF_KEY: usize = 20;

const TRUSTED: &str = "hasTrustDialogAccepted";
const BYPASS: &str = "skipDangerousModePermissionPrompt";
const ONBOARDED: &str = "hasCompletedOnboarding";

pub(super) fn matters(repo: &Path, agreed: bool, around: &Around) -> Result<Vec<Matter>> {
    let folder = around.folder("CLAUDE_CONFIG_DIR", ".claude");
    let file = match around.variable("CLAUDE_CONFIG_DIR") {
        Some(_) => folder.join(".claude.json"),
        None => around.in_home(".claude.json"),
    };
    let known = read_json(&file)?;
    let settings = read_json(&folder.join("settings.json"))?;
    let mut matters = vec![login(&file, &folder, &known, around)];
    matters.extend(key(&file, &known, around));
    matters.push(trust(&file, &known, repo));
    matters.push(Matter {
        name: "bypass",
        allows: "run every command without asking, if the workflow gives full permissions".to_owned(),
        is_answered: agreed
            || is_true(&settings, &[BYPASS])
            || is_true(&known, &["bypassPermissionsModeAccepted"]),
        is_for_full: true,
        blocks: true,
        remedy: Remedy::Argument,
    });
    matters.push(root(around));
    Ok(matters)
}

fn login(file: &Path, folder: &Path, known: &Value, around: &Around) -> Matter {
    let by_variable = LOGINS.iter().find(|name| around.variable(name).is_some());
    let has_login = by_variable.is_some() || folder.join(".credentials.json").exists();
    let remedy = if has_login {
        set(file, &[ONBOARDED], Value::Bool(true), Value::Null)
    } else {
        Remedy::Person(
            "run `claude` once to log in, or set ANTHROPIC_API_KEY and run `orange setup`".to_owned(),
        )
    };
    Matter {
        name: "login",
        allows: match by_variable {
            Some(name) => format!("begin without its welcome, logged in by {name}"),
            None => "begin without its welcome, logged in".to_owned(),
        },
        is_answered: is_true(known, &[ONBOARDED]),
        is_for_full: false,
        blocks: true,
        remedy,
    }
}

/// It asks about a key in the environment until it has any answer.
fn key(file: &Path, known: &Value, around: &Around) -> Option<Matter> {
    let key = around.variable("ANTHROPIC_API_KEY")?;
    let letters: Vec<char> = key.chars().collect();
    let end: String = letters[letters.len().saturating_sub(END_OF_KEY)..].iter().collect();
    let answered = |list: &str| match get(known, &["customApiKeyResponses", list]) {
        Some(Value::Array(keys)) => keys.clone(),
        Some(_) | None => Vec::new(),
    };
    let is_in = |list: &str| answered(list).iter().any(|known| *known == end.as_str());
    let before = get(known, &["customApiKeyResponses", "approved"]).cloned().unwrap_or_default();
    let mut after = answered("approved");
    after.push(Value::from(end.as_str()));
    Some(Matter {
        name: "key",
        allows: "use the key in ANTHROPIC_API_KEY".to_owned(),
        is_answered: is_in("approved") || is_in("rejected"),
        is_for_full: false,
        blocks: true,
        remedy: set(file, &["customApiKeyResponses", "approved"], Value::Array(after), before),
    })
}

fn trust(file: &Path, known: &Value, repo: &Path) -> Matter {
    let name = repo.to_string_lossy();
    let path = ["projects", &*name, TRUSTED];
    let before = get(known, &path).cloned().unwrap_or_default();
    Matter {
        name: "trust",
        allows: format!("read, edit and run what is in {name}"),
        is_answered: is_true(known, &path),
        is_for_full: false,
        blocks: true,
        remedy: set(file, &path, Value::Bool(true), before),
    }
}

fn root(around: &Around) -> Matter {
    Matter {
        name: "root",
        allows: "bypass permissions as root, which claude refuses".to_owned(),
        is_answered: !around.is_root()
            || around.variable("IS_SANDBOX") == Some("1")
            || around.variable("CLAUDE_CODE_BUBBLEWRAP").is_some(),
        is_for_full: true,
        blocks: true,
        remedy: Remedy::Person("run `orange` as another user, or set IS_SANDBOX=1 in a container".to_owned()),
    }
}

fn set(file: &Path, path: &[&str], value: Value, before: Value) -> Remedy {
    let path = path.iter().map(|name| (*name).to_owned()).collect();
    Remedy::File { file: PathBuf::from(file), path, value, before }
}

fn is_true(value: &Value, path: &[&str]) -> bool {
    get(value, path) == Some(&Value::Bool(true))
}
