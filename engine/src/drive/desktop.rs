//! notify-send: messages on the desktop.

use std::time::Duration;

use crate::Result;
use orange_system::exec::ProgramCall;

/// Shows a message.
///
/// # Errors
/// `environment` without `notify-send` or a desktop.
pub fn show(title: &str, text: &str, timeout: Duration) -> Result<()> {
    // The text may have markup there.
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let call = ProgramCall::new("notify-send").args(["--app-name=orange", "--", title, &text]);
    call.bound(timeout).run()?.checked().map(drop)
}
