//! The arguments by which harnesses report what they do: each calls `orange agent event` for its events, and no file of a user's
//! is touched. The program is named by a variable of the agent's environment, so that these texts are the same everywhere.
//! Harnesses that take a plugin and no command are given a file in the task's folder.

use std::path::Path;

use super::Harness;
use crate::Result;
use crate::store::{atomic, home};

/// claude: hooks in its settings. Its dialog stands on the screen while the hook for a permission waits for an answer.
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

/// codex: hooks in its configuration. It runs only those that the user trusts, and what it takes for the user's trust is the hash
/// of a hook; these are what it writes down itself when a person trusts these very texts. So no hook of anybody else's is
/// let through. With another hash it would ask in a dialog, so they are given to the versions alone that have been tried.
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

/// The versions of codex whose hashes those are.
pub(super) const CODEX_VERSION: &str = "codex-cli 0.169.";

/// opencode: a plugin that its configuration names. What this variable says is added to the user's own configuration.
pub(super) const OPENCODE: &str =
    r#"OPENCODE_CONFIG_CONTENT={"plugin":["{task_dir:json}/reporting/opencode.js"]}"#;

/// opencode: before it loads a plugin of anybody's, it installs a package of its own beside its configuration and waits for the
/// end of that, where this has not been done yet. Without a package registry npm would try three times, for more than a minute, or for
/// ten where nobody refuses the connection. The plugin drops these variables when it is loaded.
pub(super) const OPENCODE_INSTALLS: &[&str] =
    &["npm_config_fetch_retries=0", "npm_config_fetch_timeout=20000"];

/// pi: an extension.
pub(super) const PI: &str = "{task_dir}/reporting/pi.js";

/// The plugins, by their names in the folder `reporting` of a task.
const PLUGINS: [(&str, &str); 2] =
    [("opencode.js", include_str!("reporting/opencode.js")), ("pi.js", include_str!("reporting/pi.js"))];

/// Writes the plugins that this harness is told of into this folder.
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
