//! The language server in Emacs, with the configuration that `docs/editors.md` shows.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::neovim::{block, said};
use crate::scratch::{CLEAN, Scratch};

/// Packages that the configuration is for.
const PACKAGES: &str = "(progn (package-initialize) (require 'eglot) (require 'yaml-mode))";

#[test]
fn somebody_mends_a_workflow_in_emacs() {
    let packages = Command::new("emacs").args(["--batch", "--eval", PACKAGES]).output();
    if !packages.is_ok_and(|it| it.status.success()) {
        println!(
            "SKIPPED: the language server in Emacs: emacs with eglot and yaml-mode is not installed \
             (Debian: apt-get install emacs-nox elpa-eglot elpa-yaml-mode)"
        );
        return;
    }
    let scratch = Scratch::new();
    let workflow = CLEAN.replace("pending, to: later", "pending, to: workng").replace("later", "working");
    scratch.write("clean.yml", workflow);
    scratch.write("init.el", block("elisp"));
    let program = Path::new(env!("CARGO_BIN_EXE_orange-workflow")).parent().unwrap();
    let output = Command::new("emacs")
        .args(["--batch", "-l"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/emacs/smoke.el"))
        .args(["init.el", "clean.yml"])
        .current_dir(scratch.path())
        .env("PATH", format!("{}:/usr/bin:/bin", program.display()))
        .env("HOME", scratch.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
}
