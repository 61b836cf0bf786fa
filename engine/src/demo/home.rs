//! The scratch home of a demo, and the process that removes it when the demo has ended, however it has ended.

use std::fs::{self, DirBuilder};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::thread;
use std::time::Duration;

use super::scratch::{AGENT, PROJECT, REPOSITORY, environment, furnish};
use crate::app::App;
use crate::{Error, ErrorKind, Result};
use orange_system::exec::{CallOutput, ProcessGroup, ProgramCall};
use orange_system::process::{self, ProcessRoot, become_independent};
use orange_system::{files, random};

/// A socket's path can have about a hundred bytes, and the folder for temporary files may be far down.
const PARENT: &str = "/tmp";

/// The word to the sweeper that the folder stays.
const KEEP: &str = "keep";

/// Variables of the user that the programs of the demo have, too.
const KEPT: &[&str] = &["TERM", "COLORTERM", "NO_COLOR"];

/// A scratch home in use.
pub struct DemoHome {
    root: PathBuf,
    program: PathBuf,
    /// Sweeps when its standard input ends, and so after the death of this process, too.
    sweeper: Child,
}

impl DemoHome {
    /// Makes a home with one repository. The sweeper makes its folder, so that no moment has one that nobody removes.
    ///
    /// # Errors
    /// `environment` where it cannot be made.
    pub fn begin(app: &App) -> Result<DemoHome> {
        let sweeper = ProgramCall::new(&app.program).args(["demo", "--sweep"]);
        let mut sweeper = sweeper.companion(Path::new("/dev/null"))?;
        let mut root = String::new();
        if let Some(output) = sweeper.stdout.take() {
            BufReader::new(output).read_line(&mut root).unwrap_or_default();
        }
        let root = PathBuf::from(root.trim_end());
        if !root.is_dir() {
            return Err(Error::new(
                ErrorKind::Environment,
                format!("no scratch folder can be made in {PARENT}"),
            )
            .help(format!("make {PARENT} writable, and free some space there")));
        }
        let home = DemoHome { root, program: app.program.clone(), sweeper };
        furnish(&home.root, AGENT)?;
        for (folder, words) in REPOSITORY {
            home.call(Path::new("git"), &home.root.join(folder)).args(*words).run()?.checked()?;
        }
        home.orange(&["install", "--harness", "claude"])?;
        Ok(home)
    }

    /// The folder of everything.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `ORANGE_HOME`.
    pub fn orange_home(&self) -> PathBuf {
        self.root.join("orange")
    }

    /// Runs `orange` in the repository.
    ///
    /// # Errors
    /// `environment` where it fails.
    pub fn orange(&self, words: &[&str]) -> Result<CallOutput> {
        self.call(&self.program, &self.root.join(PROJECT)).args(words).run()?.checked()
    }

    /// Shows the dashboard on this terminal until a person leaves it.
    ///
    /// # Errors
    /// `environment` where it cannot be started.
    pub fn dashboard(&self) -> Result<()> {
        let call = self.call(&self.program, &self.root.join(PROJECT)).arg("dashboard");
        let mut dashboard = call.attended(ProcessGroup::Inherited)?;
        dashboard.wait().map(drop).map_err(|cause| Error::io("wait for", &self.program, &cause))
    }

    /// Ends every agent and removes the folder, or keeps it.
    ///
    /// # Errors
    /// `environment` where something is left.
    pub fn end(mut self, keep: bool) -> Result<()> {
        if keep && let Some(input) = &mut self.sweeper.stdin {
            input.write_all(KEEP.as_bytes()).map_err(|cause| Error::io("keep", &self.root, &cause))?;
        }
        let ended = self.sweeper.wait().map_err(|cause| Error::io("remove", &self.root, &cause))?;
        if ended.success() && self.root.exists() == keep {
            return Ok(());
        }
        let message = format!("{} could not be cleared", self.root.display());
        Err(Error::new(ErrorKind::Environment, message).help("remove it by hand: no work is in it"))
    }

    fn call(&self, program: &Path, folder: &Path) -> ProgramCall {
        let call = ProgramCall::new(program).folder(folder);
        let call = call.only(|name| KEPT.iter().any(|kept| name == *kept));
        environment(&self.root).into_iter().fold(call, |call, (name, value)| call.env(name, value))
    }
}

/// Makes the folder, reports it by `tell`, waits for the end of standard input, and sweeps.
///
/// # Errors
/// `environment` where something is left.
pub fn sweep(tell: &dyn Fn(&Path) -> Result<()>) -> Result<()> {
    become_independent()?;
    let name: String = random::bytes::<4>()?.iter().map(|byte| format!("{byte:02x}")).collect();
    let root = Path::new(PARENT).join(format!("orange-demo-{name}"));
    DirBuilder::new().mode(0o700).create(&root).map_err(|cause| Error::io("make", &root, &cause))?;
    let is_known = tell(&root).is_ok();
    let mut word = String::new();
    std::io::stdin().read_to_string(&mut word).unwrap_or_default();
    process::end(&[ProcessRoot::Home(root.join("orange"))])?;
    if is_known && word == KEEP {
        return Ok(());
    }
    remove(&root)
}

/// Removes the folder. A program that has just been killed may still be writing its last file.
fn remove(root: &Path) -> Result<()> {
    const TRIES: u32 = 100;
    for _ in 1..TRIES {
        if files::remove_folder(root).is_ok() && !root.exists() {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(20));
    }
    fs::remove_dir_all(root).map_err(|cause| Error::io("remove", root, &cause))
}
