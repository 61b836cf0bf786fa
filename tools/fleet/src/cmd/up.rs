//! `orange-fleet up`

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use orange_api::{Error, ErrorKind, Result};
use serde_json::json;

use super::Said;
use super::crab::{RunArgs, own_folder};
use crate::lines;
use crate::up::{self, UpSettings};

/// `orange-fleet up …`
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  orange-fleet up --repository ~/code/coffee --agree
  orange-fleet up --repository git@example.org:coffee.git --crabs 3
  orange-fleet up --repository ~/code/coffee --crab planner,worker --crab reviewer --prompts-path ~/agent-prompts

Ctrl-C stops the gateway and the crabs. Agents that are at work go on, and the next start takes them up.")]
pub struct UpArgs {
    /// The repository on which the crabs work: an address or a path for git
    #[arg(long, value_name = "URL")]
    repository: String,
    /// The branch from which new branches start [default: the repository's own]
    #[arg(long, value_name = "BRANCH")]
    base: Option<String>,
    /// The name of the colony [default: that of the repository]
    #[arg(long, value_name = "NAME")]
    colony: Option<String>,
    /// This many crabs, each of which takes every step
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100), conflicts_with = "crab")]
    crabs: u32,
    /// A crab with these roles; once for each crab
    #[arg(long, value_name = "ROLE,…")]
    crab: Vec<String>,
    /// The folder of the gateway and the crabs [default: ~/orange-fleet]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Address at which the gateway listens
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8800")]
    listen: SocketAddr,
    /// A folder whose `workflows/*.toml` missions can follow, beside the workflows that are built in
    #[arg(long, value_name = "DIR")]
    prompts_path: Vec<PathBuf>,
    /// Show the tasks and missions of this home of `orange` in the console, too, and let people answer them there
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
    /// Seconds without a heartbeat, about, after which a step is given to another crab
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    lease: f64,
    /// Options for the steps of the crabs.
    #[command(flatten)]
    run: RunArgs,
}

impl UpArgs {
    pub(super) fn run(self) -> Result<Said> {
        let roles = |it: &String| it.split(',').map(|role| role.trim().to_owned()).collect();
        let any = (0..self.crabs).map(|_| vec!["any".to_owned()]);
        let crabs = if self.crab.is_empty() { any.collect() } else { self.crab.iter().map(roles).collect() };
        let prompts =
            self.prompts_path.iter().flat_map(|it| ["--prompts-path".to_owned(), it.display().to_string()]);
        let serve =
            ["--log", "warn", "--lease"].map(str::to_owned).into_iter().chain([self.lease.to_string()]);
        let orange = self.run.orange.as_ref().filter(|_| self.home.is_some());
        let home = [("--home", self.home.as_ref()), ("--orange", orange)];
        let home = home.into_iter().flat_map(|(name, value)| {
            value.into_iter().flat_map(move |it| [name.to_owned(), it.display().to_string()])
        });
        up::run(&UpSettings {
            folder: self.dir.map_or_else(own_folder, Ok)?,
            repository: here(self.repository)?,
            base: self.base,
            colony: self.colony,
            crabs,
            listen: self.listen,
            serve: serve.chain(prompts).chain(home).collect(),
            crab: self.run.words(),
            tell: Arc::new(lines::to_stderr),
        })?;
        Ok(Said { text: String::new(), json: json!({ "stopped": true }) })
    }
}

/// A path of this machine as it is seen from every folder; an address of another one as it is.
fn here(repository: String) -> Result<String> {
    let path = PathBuf::from(&repository);
    if let Ok(found) = path.canonicalize() {
        return Ok(found.display().to_string());
    }
    if is_address(&repository) {
        return Ok(repository);
    }
    let message = format!("there is no repository {}", repository.escape_debug());
    Err(Error::new(ErrorKind::NotFound, message)
        .help("name a folder of this machine, or an address that git knows"))
}

/// True if git takes this for an address: it has `://`, or a colon before the first slash.
fn is_address(repository: &str) -> bool {
    repository.contains("://") || repository.split('/').next().is_some_and(|it| it.contains(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_not_there_is_no_repository() {
        for address in ["https://example.org/toy.git", "git@example.org:toy.git", "file:///no/such/toy.git"] {
            assert_eq!(here(address.to_owned()).unwrap(), address);
        }
        for folder in ["/no/such/toy.git", "no-such-toy", "./a:b"] {
            assert_eq!(here(folder.to_owned()).unwrap_err().kind, ErrorKind::NotFound, "{folder}");
        }
    }
}
