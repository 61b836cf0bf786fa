//! `chromedriver`: one process for all tests.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

/// A running `chromedriver`.
#[derive(Clone, Debug)]
pub(crate) struct ChromeDriver {
    /// Address at which it answers.
    pub(crate) address: String,
    /// The browser that it drives.
    pub(crate) chromium: PathBuf,
}

static DRIVER: OnceLock<Result<ChromeDriver, String>> = OnceLock::new();
static PROCESS: Mutex<Option<Child>> = Mutex::new(None);

/// The driver, or why there is none.
pub(crate) fn get() -> Result<&'static ChromeDriver, String> {
    DRIVER.get_or_init(start).as_ref().map_err(String::clone)
}

/// Ends the driver. Its browsers end with their sessions.
pub(crate) fn stop() {
    if let Some(mut process) = PROCESS.lock().unwrap_or_else(PoisonError::into_inner).take() {
        process.kill().unwrap();
        process.wait().unwrap();
    }
}

fn start() -> Result<ChromeDriver, String> {
    let chromium = found("chromium")?;
    let mut command = Command::new(found("chromedriver")?);
    command.arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut process = command.spawn().map_err(|error| format!("chromedriver cannot be run: {error}"))?;
    let lines = BufReader::new(process.stdout.take().unwrap()).lines();
    *PROCESS.lock().unwrap_or_else(PoisonError::into_inner) = Some(process);
    let port = lines.map_while(Result::ok).find_map(|line| {
        let port = line.split("started successfully on port ").nth(1)?;
        port.trim_end_matches('.').parse::<u16>().ok()
    });
    let port = port.ok_or("chromedriver does not say on which port it listens")?;
    Ok(ChromeDriver { address: format!("http://127.0.0.1:{port}"), chromium })
}

fn found(program: &str) -> Result<PathBuf, String> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).map(|it| it.join(program)).find(|it| Path::is_file(it));
    found.ok_or_else(|| {
        format!("{program} is not installed (Debian: apt-get install chromium chromium-driver)")
    })
}
