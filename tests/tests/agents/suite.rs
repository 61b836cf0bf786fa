//! Things that all lives share: the agents, the user that runs them, the `orange` of this build; and things that cannot be had.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use orange_tests::harnesses::{self, ALL, Installed, TestedHarness};
use orange_tests::programs::{built, target_folder};
use tempfile::TempDir;

use crate::record;
use crate::user::TestUser;

/// Things that all lives share.
#[derive(Debug)]
pub(crate) struct LifeSuite {
    pub(crate) installed: Installed,
    pub(crate) user: TestUser,
    /// A folder with the programs `orange` and `orange-fleet`.
    pub(crate) bin: PathBuf,
    /// A folder with `orange` and, beside it, `orange-mcp`.
    pub(crate) bin_with_server: PathBuf,
    /// Reasons for which harnesses cannot be run, by harness.
    missing: Vec<(&'static str, String)>,
}

static SUITE: OnceLock<Result<LifeSuite, String>> = OnceLock::new();
static FOLDER: Mutex<Option<TempDir>> = Mutex::new(None);
static SKIPPED: AtomicUsize = AtomicUsize::new(0);

/// The suite, if these harnesses can be run.
pub(crate) fn get(harnesses: &[&str]) -> Result<&'static LifeSuite, String> {
    let suite = SUITE.get_or_init(make).as_ref().map_err(String::clone)?;
    let missing = suite.missing.iter().find(|(name, _)| harnesses.contains(name));
    missing.map_or(Ok(suite), |(name, why)| Err(format!("{name} cannot be run: {why}")))
}

/// Says that a life is skipped, past everything that catches the output of tests.
pub(crate) fn skip(life: &str, why: &str) {
    SKIPPED.fetch_add(1, Ordering::Relaxed);
    eprintln!("SKIPPED: {life}: {why}");
}

/// Reason for which a life that has begun is skipped all the same.
#[derive(Debug)]
pub(crate) struct Lacking(pub(crate) String);

/// Ends a life that needs what cannot be had here. It is skipped, and nothing is called a failure.
pub(crate) fn give_up(why: String) -> ! {
    std::panic::resume_unwind(Box::new(Lacking(why)))
}

/// Number of skipped lives.
pub(crate) fn skipped() -> usize {
    SKIPPED.load(Ordering::Relaxed)
}

/// Removes what the suite has made for this run.
pub(crate) fn clean() {
    drop(FOLDER.lock().unwrap_or_else(PoisonError::into_inner).take());
}

fn make() -> Result<LifeSuite, String> {
    for program in ["tmux", "git", "npm"] {
        let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output();
        if !found.is_ok_and(|found| found.status.success()) {
            return Err(format!("{program} is not installed"));
        }
    }
    let user = TestUser::find()?;
    let cache = target_folder().join("agents");
    let installed = match std::env::var("ORANGE_AGENTS").as_deref() {
        Ok("latest") => harnesses::latest_below(&cache)?,
        _ => harnesses::pinned_below(&cache)?,
    };
    let (bin, bin_with_server) = copies_of_orange()?;
    fs::create_dir(bin.join("home")).map_err(|error| error.to_string())?;
    user.owns(&bin.join("home"));
    let mut suite = LifeSuite { installed, user, bin, bin_with_server, missing: Vec::new() };
    suite.missing = ALL.iter().filter_map(|harness| Some((harness.name, suite.lacks(*harness)?))).collect();
    record::versions(&suite);
    Ok(suite)
}

impl LifeSuite {
    /// Reason for which this harness does not even say its version.
    fn lacks(&self, harness: TestedHarness) -> Option<String> {
        let mut command = Command::new(self.installed.programs().join(harness.name));
        command.arg("--version").env("HOME", self.bin.join("home")).current_dir("/");
        self.user.runs(&mut command);
        match command.output() {
            Ok(output) if output.status.success() => None,
            Ok(output) => {
                Some(String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or("it fails").to_owned())
            }
            Err(error) => Some(error.to_string()),
        }
    }
}

/// `orange` where the user can run it: the folder of the build may be closed to others. Beside the second one is `orange-mcp`.
fn copies_of_orange() -> Result<(PathBuf, PathBuf), String> {
    let built = build_orange();
    let folder = tempfile::Builder::new().prefix("orange-agents-bin-").tempdir_in("/tmp");
    let folder = folder.map_err(|error| error.to_string())?;
    let path = folder.path().to_path_buf();
    let with_server = path.join("with-server");
    let copy = |from: &str, to: &Path| fs::copy(built.join(from), to.join(from));
    let copied = fs::create_dir(&with_server)
        .and_then(|()| copy("orange", &path))
        .and_then(|_| copy("orange-fleet", &path))
        .and_then(|_| fs::hard_link(path.join("orange"), with_server.join("orange")))
        .and_then(|()| copy("orange-mcp", &with_server))
        .and_then(|_| fs::set_permissions(&path, fs::Permissions::from_mode(0o755)));
    copied.map_err(|error| error.to_string())?;
    *FOLDER.lock().unwrap_or_else(PoisonError::into_inner) = Some(folder);
    Ok((path, with_server))
}

/// The folder with the programs as they are now. A build that fails is not a reason to skip anything.
fn build_orange() -> PathBuf {
    built(&["--package", "orange", "--package", "orange-mcp", "--package", "orange-fleet"])
}

/// Limit for anything before a life is given up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(600);
