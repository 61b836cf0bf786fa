//! Coding agents for the tests: their versions, and the settings that make them use a scripted model.

mod install;

use serde_json::json;

pub use install::{ALL, Installed, TestedHarness, latest_below, pinned, pinned_below};

/// A variable of the environment, and its value.
pub type Variable = (&'static str, String);

/// The environment in which every harness uses only the model at this address.
pub fn variables(url: &str) -> Vec<Variable> {
    let fixed = [
        ("ANTHROPIC_API_KEY", "sk-ant-scripted"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("DISABLE_TELEMETRY", "1"),
        ("DISABLE_ERROR_REPORTING", "1"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("SCRIPTED_API_KEY", "scripted"),
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        ("OPENCODE_DISABLE_SHARE", "1"),
        ("PI_OFFLINE", "1"),
        ("PI_TELEMETRY", "0"),
        ("PI_SKIP_VERSION_CHECK", "1"),
        // Connections to other addresses fail at once.
        ("HTTPS_PROXY", "http://127.0.0.1:9"),
        ("NO_PROXY", "127.0.0.1,localhost"),
    ];
    let mut all: Vec<Variable> = fixed.into_iter().map(|(name, value)| (name, value.to_owned())).collect();
    all.push(("ANTHROPIC_BASE_URL", url.to_owned()));
    all
}

/// The files of a home directory in which every harness uses the model at this address.
pub fn files(url: &str) -> Vec<(&'static str, String)> {
    // The state after a first start with a login and no other answers.
    let claude = json!({ "hasCompletedOnboarding": true, "theme": "dark",
        "customApiKeyResponses": { "approved": ["sk-ant-scripted"], "rejected": [] } });
    let codex = format!(
        "model = \"scripted\"\nmodel_provider = \"scripted\"\ncheck_for_update_on_startup = false\n\n\
         [model_providers.scripted]\nname = \"Scripted\"\nbase_url = \"{url}/v1\"\nwire_api = \"responses\"\n\
         env_key = \"SCRIPTED_API_KEY\"\n\n[analytics]\nenabled = false\n"
    );
    let opencode = json!({
        "$schema": "https://opencode.ai/config.json",
        "autoupdate": false,
        "share": "disabled",
        "model": "scripted/scripted",
        "small_model": "scripted/scripted",
        "provider": { "scripted": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Scripted",
            "options": { "baseURL": format!("{url}/v1"), "apiKey": "scripted" },
            "models": { "scripted": { "name": "Scripted", "limit": { "context": 200_000, "output": 8_000 } } },
        } },
    });
    let pi_models = json!({ "providers": { "scripted": {
        "baseUrl": format!("{url}/v1"),
        "api": "openai-completions",
        "apiKey": "scripted",
        "compat": { "supportsDeveloperRole": false, "supportsReasoningEffort": false },
        "models": [{ "id": "scripted", "contextWindow": 200_000, "maxTokens": 8_000 }],
    } } });
    let pi_settings = json!({ "defaultProvider": "scripted", "defaultModel": "scripted",
        "enableInstallTelemetry": false, "quietStartup": true });
    vec![
        (".claude.json", claude.to_string()),
        (".codex/config.toml", codex),
        (".config/opencode/opencode.json", opencode.to_string()),
        // Its spinners take half of a processor while it waits.
        (".local/state/opencode/kv.json", json!({ "animations_enabled": false }).to_string()),
        (".pi/agent/models.json", pi_models.to_string()),
        (".pi/agent/settings.json", pi_settings.to_string()),
    ]
}

/// The files of a home directory by which opencode sees that its own package is installed, which no plugin of the tests uses.
pub fn opencode_package() -> Vec<(&'static str, String)> {
    const NAME: &str = "@opencode-ai/plugin";
    let version = ALL.into_iter().find(|harness| harness.name == "opencode").map(pinned).unwrap_or_default();
    let dependencies = json!({ "dependencies": { NAME: version } });
    let lock = json!({ "lockfileVersion": 3, "packages": { "": dependencies } });
    let package = json!({ "name": NAME, "version": version });
    vec![
        (".config/opencode/package.json", dependencies.to_string()),
        (".config/opencode/package-lock.json", lock.to_string()),
        (".config/opencode/node_modules/@opencode-ai/plugin/package.json", package.to_string()),
    ]
}
