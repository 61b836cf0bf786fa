//! The arguments that make harnesses report: each calls `orange agent event` for its events, and changes no file of the user. A
//! variable in the agent's environment names the program, so that these texts are the same everywhere. Harnesses that need a
//! plugin get a file in the task's folder.

use std::path::Path;

use super::Harness;
use crate::Result;
use crate::store::home;
use orange_system::atomic;

/// claude: hooks in its settings. It shows its dialog while the hook for a permission waits for an answer.
pub(super) const CLAUDE: &str = concat!(
    r#"--settings={"hooks":{"#,
    r#""SessionStart":[{"hooks":[{"type":"command","command":"\"$ORANGE_PROGRAM\" agent event || :"}]}],"#,
    r#""UserPromptSubmit":[{"hooks":[{"type":"command","command":"\"$ORANGE_PROGRAM\" agent event || :"}]}],"#,
    r#""PreToolUse":[{"hooks":[{"type":"command","command":"\"$ORANGE_PROGRAM\" agent event || :"}]}],"#,
    r#""PostToolUse":[{"hooks":[{"type":"command","command":"\"$ORANGE_PROGRAM\" agent event || :"}]}],"#,
    r#""PostToolUseFailure":[{"hooks":[{"type":"command","command":"\"$ORANGE_PROGRAM\" agent event || :"}]}],"#,
    r#""PermissionDenied":[{"hooks":[{"type":"command","command":"\"$ORANGE_PROGRAM\" agent event || :"}]}],"#,
    r#""PermissionRequest":[{"hooks":[{"type":"command","command":"\"$ORANGE_PROGRAM\" agent event --hold || :","timeout":86400}]}],"#,
    r#""Elicitation":[{"hooks":[{"type":"command","command":"\"$ORANGE_PROGRAM\" agent event || :"}]}],"#,
    r#""Stop":[{"hooks":[{"type":"command","command":"\"$ORANGE_PROGRAM\" agent event || :"}]}],"#,
    r#""StopFailure":[{"hooks":[{"type":"command","command":"\"$ORANGE_PROGRAM\" agent event || :"}]}],"#,
    r#""Notification":[{"hooks":[{"type":"command","command":"\"$ORANGE_PROGRAM\" agent event || :"}]}],"#,
    r#""SessionEnd":[{"hooks":[{"type":"command","command":"\"$ORANGE_PROGRAM\" agent event || :"}]}]"#,
    "}}"
);

/// codex: hooks in its configuration. It runs only hooks that the user trusts, by their hashes; these are the hashes that codex
/// writes when a person trusts these very texts, so they allow no other hook. With another hash codex would ask in a dialog, so
/// only tested versions get them.
pub(super) const CODEX: &str = concat!(
    "hooks={",
    r#"SessionStart=[{hooks=[{type="command",command="\"$ORANGE_PROGRAM\" agent event || :"}]}],"#,
    r#"UserPromptSubmit=[{hooks=[{type="command",command="\"$ORANGE_PROGRAM\" agent event || :"}]}],"#,
    r#"PreToolUse=[{hooks=[{type="command",command="\"$ORANGE_PROGRAM\" agent event || :"}]}],"#,
    r#"PermissionRequest=[{hooks=[{type="command",command="\"$ORANGE_PROGRAM\" agent event || :"}]}],"#,
    r#"PostToolUse=[{hooks=[{type="command",command="\"$ORANGE_PROGRAM\" agent event || :"}]}],"#,
    r#"Stop=[{hooks=[{type="command",command="\"$ORANGE_PROGRAM\" agent event || :"}]}],"#,
    r#"Interrupt=[{hooks=[{type="command",command="\"$ORANGE_PROGRAM\" agent event || :"}]}],"#,
    r#"SessionEnd=[{hooks=[{type="command",command="\"$ORANGE_PROGRAM\" agent event || :"}]}],"#,
    "state={",
    r#""/<session-flags>/config.toml:session_start:0:0"={trusted_hash="sha256:3eda76a9bc64e94807a19f9790579775bf13dd4e92875a9d04179a3e40ca86b7"},"#,
    r#""/<session-flags>/config.toml:user_prompt_submit:0:0"={trusted_hash="sha256:9138984f6c2b2e2108cc32d27260f7105dfd894c42a6cfc90434b0c021a2b06c"},"#,
    r#""/<session-flags>/config.toml:pre_tool_use:0:0"={trusted_hash="sha256:cdfa352c07813194610ebb631052240a7f72d6073833d6346d46a5d511bfd48a"},"#,
    r#""/<session-flags>/config.toml:permission_request:0:0"={trusted_hash="sha256:a0db185feaaa394bf2b293b79decb3f9a13ce9ccfba76d58b1f423032f30fd8a"},"#,
    r#""/<session-flags>/config.toml:post_tool_use:0:0"={trusted_hash="sha256:bd03b1c090ab5d2809c3040b9afdc05f5aa43e08efff66348ead075f61a6d076"},"#,
    r#""/<session-flags>/config.toml:stop:0:0"={trusted_hash="sha256:8aaec7727fb4e140128af887f1fd1a99f2a170ff8514a7a98cb1c8cd59c49421"},"#,
    r#""/<session-flags>/config.toml:interrupt:0:0"={trusted_hash="sha256:9947cd5a38fbc3d992fc4bf2e9c695955744043fda4fca024c4d07a9d2e82a24"},"#,
    r#""/<session-flags>/config.toml:session_end:0:0"={trusted_hash="sha256:12e134c9cee1205438ed76295d7674534cd9820569385367120019e49e00d119"}"#,
    "}}"
);

/// The version of codex with these hashes.
pub(super) const CODEX_VERSION: &str = "codex-cli 0.169.";

/// opencode: a plugin in its configuration. The variable adds to the user's own configuration.
pub(super) const OPENCODE: &str =
    r#"OPENCODE_CONFIG_CONTENT={"plugin":["{task_dir:json}/reporting/opencode.js"]}"#;

/// opencode: before it first loads a plugin, it installs a package beside its configuration, and waits for that. Without a package
/// registry npm tries three times, which takes more than a minute, or ten if nothing refuses the connection. The plugin drops
/// these variables when it is loaded.
pub(super) const OPENCODE_INSTALLS: &[&str] =
    &["npm_config_fetch_retries=0", "npm_config_fetch_timeout=20000"];

/// pi: an extension.
pub(super) const PI: &str = "{task_dir}/reporting/pi.js";

/// The plugins, by their names in the folder `reporting` of a task.
const PLUGINS: [(&str, &str); 2] =
    [("opencode.js", include_str!("reporting/opencode.js")), ("pi.js", include_str!("reporting/pi.js"))];

/// Writes the plugins of this harness into this folder.
pub fn write(harness: &Harness, folder: &Path) -> Result<()> {
    let is_named = |name: &str| {
        let place = format!("/reporting/{name}");
        harness.report.iter().chain(&harness.report_set).any(|word| word.contains(&place))
    };
    for (name, text) in PLUGINS.iter().filter(|(name, _)| is_named(name)) {
        home::make_folder(folder)?;
        atomic::write(&folder.join(name), text.as_bytes())?;
    }
    Ok(())
}
