//! `cargo xtask install`: builds the programs in one go, installs them, and says what else they need.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use clap::Args;

use crate::Result;
use crate::build_workflow::folder_of_workflows;
use crate::place::{make_writable, put_programs, put_text};
use crate::target::{host, on_path};
use crate::workspace::{OwnRepository, answer, typed};

/// The profile that is quick to build.
const PROFILE: &str = "quick";

/// The programs for everybody.
const PROGRAMS: [&str; 3] = ["orange", "orange-dashboard", "orange-workflow"];

/// The programs of `--fleet`.
const FLEET_PROGRAMS: [&str; 2] = ["orange-fleet", "orange-mcp"];

/// The programs that complete their commands and write their manual pages.
const DOCUMENTED: [&str; 2] = ["orange", "orange-workflow"];

/// The checks of `orange doctor` about programs that a newcomer may lack.
const CHECKS: [&str; 5] = ["tmux", "git", "gh", "glab", "harnesses"];

/// Build and install `orange`, `orange-dashboard` and `orange-workflow`
///
/// The completions of bash, zsh and fish and the manual pages are installed, too. No file of yours is edited. The programs
/// are as those of `build-workflow`, but larger, since they are quicker to build.
#[derive(Args)]
#[command(after_help = "\
Examples:
  cargo xtask install
  cargo xtask install --to /usr/local/bin
  cargo xtask install --fleet
  cargo xtask install --workflows ../my-flows")]
pub struct Install {
    /// The folder for the programs; `~/.local/bin` by default. Completions and manual pages go into `share` beside it
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,

    /// Also build and install `orange-fleet` and `orange-mcp`, which takes more than twice as long
    #[arg(long)]
    fleet: bool,

    /// The folder with the workflows to compile in; our own by default
    #[arg(long, value_name = "DIR")]
    workflows: Option<PathBuf>,
}

/// The folders into which files are installed.
#[derive(Debug, PartialEq, Eq)]
struct InstallFolders {
    programs: PathBuf,
    bash: PathBuf,
    zsh: PathBuf,
    fish: PathBuf,
    manual: PathBuf,
}

/// Builds and installs.
pub fn run(workspace: &OwnRepository, arguments: &Install) -> Result<ExitCode> {
    let given = arguments.workflows.clone().unwrap_or_else(|| workspace.root.join("workflows"));
    let workflows = folder_of_workflows(&given)?;
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folders = match &arguments.to {
        Some(to) => InstallFolders::at(
            &std::path::absolute(to).map_err(|error| format!("--to leads nowhere: {error}"))?,
        ),
        None => InstallFolders::of_home(variable("HOME").as_deref(), variable("XDG_DATA_HOME").as_deref())?,
    };
    folders.all().into_iter().try_for_each(make_writable)?;
    let (programs, target) = (programs(arguments.fleet), host()?);
    let mut build = workspace.cargo(cargo_arguments(&programs, &target));
    build.env("ORANGE_WORKFLOWS", workflows);
    println!("{}", typed(&build));
    let status = build.status().map_err(|error| format!("cargo cannot be run: {error}"))?;
    if !status.success() {
        return Err(format!(
            "nothing is installed: `{}` failed, {status}; cargo says why above",
            typed(&build)
        ));
    }
    let built = workspace.target_folder()?.join(&target).join(PROFILE);
    install_built(&built, &folders, &programs)?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    println!("\n{}", folders.describe(&programs, on_path("zsh", &path).is_some()));
    println!("\n{}", requirements(&doctor(&folders.programs)));
    if let Some(hint) = path_hint(&folders.programs, &path) {
        println!("{hint}");
    }
    println!(
        "\nNext, in a repository of yours: `orange setup`. Without an account, `orange demo` shows the life of a task."
    );
    Ok(ExitCode::SUCCESS)
}

/// The programs to build.
fn programs(fleet: bool) -> Vec<&'static str> {
    let more: &[&str] = if fleet { &FLEET_PROGRAMS } else { &[] };
    PROGRAMS.iter().chain(more).copied().collect()
}

/// The arguments of the one call of cargo.
fn cargo_arguments(programs: &[&str], target: &str) -> Vec<String> {
    // The target is named, so that a setting of cargo does not lead the build into another folder.
    let words = ["build", "--profile", PROFILE, "--target", target].map(str::to_owned);
    let packages = programs.iter().flat_map(|name| ["--package".to_owned(), (*name).to_owned()]);
    words.into_iter().chain(packages).collect()
}

/// Installs built programs, and the completions and manual pages that they print and write.
fn install_built(built: &Path, folders: &InstallFolders, programs: &[&str]) -> Result<()> {
    put_programs(built, &folders.programs, programs)?;
    for name in programs.iter().filter(|name| DOCUMENTED.contains(*name)) {
        let program = folders.programs.join(name);
        for (shell, folder, file) in [
            ("bash", &folders.bash, (*name).to_owned()),
            ("zsh", &folders.zsh, format!("_{name}")),
            ("fish", &folders.fish, format!("{name}.fish")),
        ] {
            let mut completions = Command::new(&program);
            completions.args(["completions", shell]);
            put_text(&answer(completions)?, folder, &file)?;
        }
        let mut manual = Command::new(&program);
        manual.arg("manual").arg(&folders.manual);
        answer(manual)?;
    }
    Ok(())
}

impl InstallFolders {
    /// The folders around a folder of programs: `share` is beside `bin`, and inside a folder with another name.
    fn at(programs: &Path) -> InstallFolders {
        let is_bin = programs.file_name().is_some_and(|name| name == "bin");
        let prefix = if is_bin { programs.parent().unwrap_or(programs) } else { programs };
        InstallFolders::with(programs.to_path_buf(), &prefix.join("share"), &prefix.join("share"))
    }

    /// The folders of a person, of whom the shells also read the folder of data.
    fn of_home(home: Option<&Path>, data: Option<&Path>) -> Result<InstallFolders> {
        let home = home.ok_or("HOME is not set: name a folder with `--to DIR`")?;
        let share = home.join(".local/share");
        let data = data.filter(|folder| folder.is_absolute()).unwrap_or(&share);
        Ok(InstallFolders::with(home.join(".local/bin"), data, &share))
    }

    fn with(programs: PathBuf, data: &Path, share: &Path) -> InstallFolders {
        InstallFolders {
            programs,
            bash: data.join("bash-completion/completions"),
            zsh: data.join("zsh/site-functions"),
            fish: data.join("fish/vendor_completions.d"),
            manual: share.join("man/man1"),
        }
    }

    fn all(&self) -> [&Path; 5] {
        [&self.programs, &self.bash, &self.zsh, &self.fish, &self.manual]
    }

    /// The installed files, as people read it.
    fn describe(&self, programs: &[&str], has_zsh: bool) -> String {
        let mut text = format!("{}: {}", self.programs.display(), programs.join(", "));
        text += &format!("\n{}: manual pages", self.manual.display());
        text += &format!(
            "\n{}: completions of bash, which its package bash-completion reads",
            self.bash.display()
        );
        text += &format!("\n{}: completions of fish", self.fish.display());
        text += &format!("\n{}: completions of zsh", self.zsh.display());
        if has_zsh {
            let folder = self.zsh.display();
            text +=
                &format!("\n    zsh reads them after `fpath=({folder} $fpath)` above `compinit` in ~/.zshrc");
        }
        text
    }
}

/// The output of `orange doctor`.
fn doctor(programs: &Path) -> String {
    let mut doctor = Command::new(programs.join("orange"));
    let said = doctor.arg("doctor").stdin(Stdio::null()).output();
    // It fails where something is missing, and then says so, too.
    said.map(|said| String::from_utf8_lossy(&said.stdout).into_owned()).unwrap_or_default()
}

/// The lines about programs that a newcomer may lack, each with its remedy.
fn requirements(doctor: &str) -> String {
    let mut is_wanted = false;
    let mut kept = Vec::new();
    for line in doctor.lines() {
        if !line.starts_with(' ') {
            is_wanted = line.split_whitespace().nth(1).is_some_and(|check| CHECKS.contains(&check));
        }
        if is_wanted {
            kept.push(line);
        }
    }
    if kept.is_empty() { "`orange doctor` says what is missing".to_owned() } else { kept.join("\n") }
}

/// The remedy where a shell does not find the installed `orange`.
fn path_hint(programs: &Path, path: &OsStr) -> Option<String> {
    let installed = programs.join("orange");
    let folder = programs.display();
    match on_path("orange", path) {
        Some(found) if found == installed || found.canonicalize().ok() == installed.canonicalize().ok() => {
            None
        }
        Some(found) => Some(format!(
            "`orange` is {} on PATH, before {folder}: remove it, or put {folder} first",
            found.display()
        )),
        None => Some(format!(
            "{folder} is not on PATH: add `export PATH=\"{folder}:$PATH\"` to ~/.profile and log in again; in fish, `fish_add_path {folder}`"
        )),
    }
}

#[cfg(test)]
mod tests;
