//! `orange-fleet crab`

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use orange_api::{Error, ErrorKind, Result};
use serde_json::json;

use super::Said;
use crate::client::GatewayAccess;
use crate::crab::{self, CrabSettings, Tell, Times, find_orange};
use crate::host::KEPT_BY_CRABS;
use crate::lines;
use crate::serve::settings::PORT;

/// Address of the gateway, and the token for it, of a crab or a script.
#[derive(Clone, Debug, Args)]
pub struct GatewayArgs {
    /// The address of the gateway; give the option once for each of several, the preferred one first [env: ORANGE_FLEET_GATEWAY; default: http://127.0.0.1:8800]
    #[arg(long, value_name = "URL")]
    pub gateway: Vec<String>,
    /// The file with the token [default: the token in ORANGE_FLEET_TOKEN]
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// A PEM file with the certificate authority of the gateway [default: the public authorities]
    #[arg(long, value_name = "FILE")]
    pub authority: Option<PathBuf>,
}

/// Options for the steps of a crab: program, harnesses, limits.
#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// The program `orange` [default: the one beside this program, else the one on PATH]
    #[arg(long, value_name = "FILE")]
    pub orange: Option<PathBuf>,
    /// The harness of steps that name no harness [default: `claude`]
    #[arg(long, value_name = "HARNESS")]
    pub harness: Option<String>,
    /// The harness of steps of the role `reviewer` that name no harness
    #[arg(long, value_name = "HARNESS")]
    pub review_harness: Option<String>,
    /// Agree to what the harnesses ask before they work, as `orange setup --yes` does
    #[arg(long)]
    pub agree: bool,
    /// Give steps back while the disk has less than this many MB
    #[arg(long, value_name = "MB", default_value_t = 500)]
    pub least_free_mb: u64,
    /// Days for which a crab keeps the missions of attempts that have ended; 0 keeps them for ever
    #[arg(long, value_name = "DAYS", default_value_t = KEPT_BY_CRABS, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub keep: u32,
    /// Seconds between two looks for agents that have died without a report
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub look: u64,
    /// Seconds for which the crab takes no step after one that could not start here; each further one doubles them
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub fault_pause: u64,
}

/// `orange-fleet crab …`
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  orange-fleet crab --token-file coffee.token --colony coffee --role any
  orange-fleet crab --gateway https://fleet.example.org --token-file coffee.token --colony coffee --role planner,worker --name atlas
  orange-fleet crab --token-file coffee.token --colony coffee --role any --leave

The crab runs until it is interrupted. Its agents go on without it. A crab that is started again in the same folder takes over its step.")]
pub struct CrabArgs {
    #[command(flatten)]
    pub gateway: GatewayArgs,
    /// The name or the id of its colony
    #[arg(long, value_name = "COLONY")]
    pub colony: String,
    /// Its roles, such as `planner,worker`; `any` takes every step
    #[arg(long, value_name = "ROLE,…", value_delimiter = ',', required = true)]
    pub role: Vec<String>,
    /// Its name, for people [default: the name of this machine and its roles]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Its folder [default: ~/orange-fleet/crabs/NAME]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Options for its steps.
    #[command(flatten)]
    pub run: RunArgs,
    /// Take the crab out of its colony for good: its agent is ended, and its work is backed up
    #[arg(long)]
    pub leave: bool,
}

impl GatewayArgs {
    /// The gateway of the arguments, or else of the environment.
    ///
    /// # Errors
    /// `environment` when a file cannot be read; `usage` without a token.
    pub fn gateway(&self) -> Result<GatewayAccess> {
        let set = |name: &str| std::env::var(name).ok().filter(|it| !it.is_empty());
        let own = || set("ORANGE_FLEET_GATEWAY").unwrap_or_else(|| format!("http://127.0.0.1:{PORT}"));
        let addresses = if self.gateway.is_empty() { vec![own()] } else { self.gateway.clone() };
        let split = addresses.iter().flat_map(|it| it.split(',')).map(str::trim);
        let read = |path: &PathBuf| std::fs::read(path).map_err(|cause| Error::io("read", path, &cause));
        let token = match &self.token_file {
            Some(path) => String::from_utf8_lossy(&read(path)?).trim().to_owned(),
            None => set("ORANGE_FLEET_TOKEN").unwrap_or_default(),
        };
        if token.is_empty() {
            return Err(Error::new(ErrorKind::Usage, "the token is missing").help(
                "name its file with `--token-file`, or put it into ORANGE_FLEET_TOKEN; `orange-fleet token new` makes one",
            ));
        }
        Ok(GatewayAccess {
            addresses: split.filter(|it| !it.is_empty()).map(str::to_owned).collect(),
            token,
            authorities: self.authority.as_ref().map(read).transpose()?,
        })
    }
}

impl RunArgs {
    /// The options as words of a command line.
    pub fn words(&self) -> Vec<String> {
        let named = [
            ("--orange", self.orange.as_ref().map(|it| it.display().to_string())),
            ("--harness", self.harness.clone()),
            ("--review-harness", self.review_harness.clone()),
            ("--least-free-mb", Some(self.least_free_mb.to_string())),
            ("--keep", Some(self.keep.to_string())),
            ("--look", Some(self.look.to_string())),
            ("--fault-pause", Some(self.fault_pause.to_string())),
        ];
        let mut words: Vec<String> = self.agree.then(|| "--agree".to_owned()).into_iter().collect();
        for (name, value) in named {
            words.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
        }
        words
    }
}

impl CrabArgs {
    pub(super) fn run(self) -> Result<Said> {
        let leave = self.leave;
        let settings = self.settings()?;
        let name = settings.name.clone();
        if leave { crab::leave(settings) } else { crab::run(settings) }?;
        Ok(Said { text: format!("{name} has left its colony"), json: json!({ "left": name }) })
    }

    fn settings(self) -> Result<CrabSettings> {
        let name = self.name.unwrap_or_else(|| format!("{}-{}", machine(), self.role.join("-")));
        let home = match self.dir {
            Some(home) => home,
            None => own_folder()?.join("crabs").join(plain(&name)),
        };
        let RunArgs { orange, harness, review_harness, agree, least_free_mb, keep, look, fault_pause } =
            self.run;
        let tell: Tell = {
            let name = name.clone();
            Arc::new(move |text: &str| lines::to_stderr(&format!("{name}: {text}")))
        };
        Ok(CrabSettings {
            gateway: self.gateway.gateway()?,
            colony: self.colony,
            roles: self.role,
            orange: find_orange(orange)?,
            harness: (harness, review_harness),
            agrees: agree,
            least_free_mb,
            keep_days: Some(keep).filter(|days| *days > 0),
            times: Times {
                look: Duration::from_secs(look),
                fault: Duration::from_secs(fault_pause),
                ..Times::default()
            },
            name,
            home,
            tell,
        })
    }
}

/// `~/orange-fleet`
pub(super) fn own_folder() -> Result<PathBuf> {
    let home = std::env::var_os("HOME").filter(|it| !it.is_empty()).ok_or_else(|| {
        Error::new(ErrorKind::Environment, "HOME is not set").help("name the folder with `--dir`")
    })?;
    Ok(PathBuf::from(home).join("orange-fleet"))
}

fn machine() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// The name with `-` for each character that is not safe in a path.
fn plain(name: &str) -> String {
    let letter = |it: char| if it.is_ascii_alphanumeric() || it == '-' || it == '_' { it } else { '-' };
    name.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct CommandLine {
        #[command(flatten)]
        run: RunArgs,
    }

    #[test]
    fn the_arguments_of_a_crab_are_passed_on() {
        let words = ["x", "--agree", "--harness", "codex", "--orange", "/o", "--look", "1", "--keep", "0"];
        let line = CommandLine::parse_from(words);
        let again = CommandLine::parse_from([vec!["x".to_owned()], line.run.words()].concat());
        assert_eq!(format!("{line:?}"), format!("{again:?}"));
    }
}
