//! Helpers of the drivers' tests: a private tmux server that is gone afterwards.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use tempfile::TempDir;

use super::tmux::{Tmux, TmuxSpawn};
use orange_system::exec::ProgramCall;

/// A tmux server on a private socket, under a configuration that contradicts every default we rely on.
pub(crate) struct TestServer {
    pub(crate) tmux: Tmux,
    pub(crate) folder: TempDir,
    socket: OsString,
}

const HOSTILE: &str = "\
set -g remain-on-exit on
set -g automatic-rename on
set -g allow-rename on
set -g base-index 5
set -g pane-base-index 3
set -g renumber-windows on
set -g default-command 'false'
set -g default-shell /bin/false
set -g destroy-unattached on
set -s exit-unattached on
set -g status off
set -g prefix C-a
set -g mouse on
set -g history-limit 0
set -g default-terminal screen
set -g detach-on-destroy off
set -s exit-empty off
set -g update-environment 'PATH HOME ORANGE_ACTOR TERM'
set -g synchronize-panes on
set -g aggressive-resize on
set -g set-titles on
set -g status-left '#(touch expanded)#S'
set -g no-such-option on
";

impl TestServer {
    pub(crate) fn new() -> TestServer {
        TestServer::with("")
    }

    /// One whose configuration has these lines, too.
    pub(crate) fn with(more: &str) -> TestServer {
        let folder = tempfile::Builder::new().prefix("orange").tempdir_in("/tmp").unwrap();
        std::fs::write(folder.path().join(".tmux.conf"), [HOSTILE, more].concat()).unwrap();
        let socket = folder.path().join("socket").into_os_string();
        let tmux = Tmux::new(Some(&socket)).env("HOME", folder.path());
        TestServer { tmux, folder, socket }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn socket(&self) -> &OsStr {
        &self.socket
    }

    /// A raw call to this server, as a person could make it.
    pub(crate) fn raw(&self, args: &[&str]) -> String {
        ProgramCall::new("tmux")
            .arg("-S")
            .arg(&self.socket)
            .args(args)
            .env("HOME", self.path())
            .text()
            .unwrap()
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        let call = ProgramCall::new("tmux").arg("-S").arg(&self.socket).arg("kill-server");
        call.run().unwrap();
    }
}

/// An agent that is a few lines of shell: `$1` and so on are `args`.
pub(crate) fn scripted(script: &str, args: &[&OsStr]) -> Vec<OsString> {
    let fixed = ["-c", script, "agent"].map(OsString::from);
    fixed.into_iter().chain(args.iter().map(OsString::from)).collect()
}

/// A spawn of such an agent.
pub(crate) fn spawn<'a>(
    task: &'a str,
    session: &'a str,
    folder: &'a Path,
    args: &'a [OsString],
) -> TmuxSpawn<'a> {
    TmuxSpawn { session, window: "worker", task, folder, env: &[], program: OsStr::new("/bin/sh"), args }
}
