//! Messages on the desktop: notify-send, and on macOS osascript.

use std::time::Duration;

use crate::Result;
use orange_system::exec::ProgramCall;

/// Shows a message.
///
/// # Errors
/// `environment` without that program or a desktop.
pub fn show(title: &str, text: &str, timeout: Duration) -> Result<()> {
    let call = if cfg!(target_os = "macos") {
        ProgramCall::new("osascript").args(script(title, text))
    } else {
        // The text may have markup there.
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        ProgramCall::new("notify-send").args(["--app-name=orange", "--", title, &text])
    };
    call.bound(timeout).run()?.checked().map(drop)
}

/// The arguments of osascript. The message stays outside of the script, whatever is in it.
fn script<'t>(title: &'t str, text: &'t str) -> [&'t str; 9] {
    const SHOW: &str = "display notification (item 2 of argv) with title (item 1 of argv)";
    ["-e", "on run argv", "-e", SHOW, "-e", "end run", "--", title, text]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_stays_outside_of_the_script() {
        let text = "\" & (do shell script \"id\") & \"";
        let words = script("-e beep", text);
        assert_eq!(words[6..], ["--", "-e beep", text]);
        assert!(words[..6].iter().all(|word| !word.contains("beep") && !word.contains("shell")));
    }
}
