//! `orange-fleet up`: a gateway and its crabs on this machine, as processes of their own that end with this one.

mod children;

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use orange_api::gateway::{ColonyAnswer, NewColonyBody};
use orange_api::{Error, ErrorKind, Result};
use orange_system::atomic;
use signal_hook::consts::{SIGINT, SIGTERM};

use self::children::{Child, Children};
use crate::cmd::ClientArgs;
use crate::crab::Tell;
use crate::crab::git::project_name;
use crate::serve::auth::{Rights, Tokens};

pub use self::children::follow_parent;

/// Time between two looks at the processes.
const LOOK: Duration = Duration::from_millis(100);

/// Processes that `orange-fleet up` is to start, and their settings.
#[derive(Clone)]
pub struct UpSettings {
    pub folder: PathBuf,
    /// The repository: an address or a path for git.
    pub repository: String,
    /// The branch that work starts from.
    pub base: Option<String>,
    /// The name of the colony; of the repository, if it has none.
    pub colony: Option<String>,
    /// The roles of each crab.
    pub crabs: Vec<Vec<String>>,
    /// Address at which the gateway listens.
    pub listen: SocketAddr,
    /// Further arguments of the gateway.
    pub serve: Vec<String>,
    /// Further arguments of each crab.
    pub crab: Vec<String>,
    /// Says what happens.
    pub tell: Tell,
}

/// Starts everything, and stops it at Ctrl-C or SIGTERM.
///
/// # Errors
/// The gateway or a crab does not start.
pub fn run(settings: &UpSettings) -> Result<()> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).map_err(|cause| {
            Error::new(ErrorKind::Environment, format!("signals cannot be heard: {cause}"))
        })?;
    }
    let mut children = Children::new(Arc::clone(&settings.tell));
    let outcome = start(settings, &mut children, &stop).and_then(|()| watch(&mut children, &stop));
    children.stop();
    outcome?;
    (settings.tell)(
        "everything is stopped; agents that were at work go on, and the next `orange-fleet up` takes them up",
    );
    Ok(())
}

fn start(settings: &UpSettings, children: &mut Children, stop: &AtomicBool) -> Result<()> {
    let gateway = settings.folder.join("gateway");
    fs::create_dir_all(&gateway).map_err(|cause| Error::io("make", &gateway, &cause))?;
    let name = settings.colony.clone().unwrap_or_else(|| colony_name(&settings.repository));
    let of_colony = settings.folder.join("colony");
    check_colony(&of_colony, &name)?;
    let shown = gateway.to_string_lossy().into_owned();
    let listen = settings.listen.to_string();
    let words = ["serve", "--dir", &shown, "--listen", &listen].map(str::to_owned);
    let words = words.into_iter().chain(settings.serve.iter().cloned()).collect();
    let address = children.add_gateway(words, stop)?;
    // A token in the environment is for another gateway.
    let client = ClientArgs {
        gateway: Some(address.clone()),
        token_file: Some(Tokens::admin_file(&gateway)),
        ..ClientArgs::default()
    };
    let body = NewColonyBody {
        name: name.clone(),
        repository: settings.repository.clone(),
        base: settings.base.clone(),
    };
    let made: ColonyAnswer = client.client()?.post("/v1/colonies", &body)?.answer;
    atomic::write_linked(&of_colony, format!("{name}\n").as_bytes())?;
    let colony = made.colony_id;
    let token = token(&gateway, &settings.folder, &colony)?;
    for (number, roles) in settings.crabs.iter().enumerate() {
        let name = format!("{}-{}", roles.join("-"), number + 1);
        let home = settings.folder.join("crabs").join(&name).to_string_lossy().into_owned();
        let (token, roles) = (token.to_string_lossy(), roles.join(","));
        let words = ["crab", "--gateway", &address, "--token-file", &token, "--colony", &colony];
        let own = ["--role", &roles, "--name", &name, "--dir", &home];
        let words = words.iter().chain(&own).map(|it| (*it).to_owned());
        children.add(Child::new(&name, words.chain(settings.crab.iter().cloned()).collect()))?;
    }
    (settings.tell)(&format!(
        "{address} serves the colony {name} with {} crabs; Ctrl-C stops them\n\
         orange-fleet mission start dev-task \"…\" --colony {name} --gateway {address} --dir {shown}",
        settings.crabs.len()
    ));
    Ok(())
}

/// Refuses another colony than that of before: its crabs would be the same ones, and end the agents that are at work for the first.
fn check_colony(file: &Path, name: &str) -> Result<()> {
    let before = match fs::read_to_string(file) {
        Ok(before) => before,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(cause) => return Err(Error::io("read", file, &cause)),
    };
    if before.trim() == name {
        return Ok(());
    }
    let folder = file.parent().unwrap_or(file).display();
    let message = format!("the crabs in {folder} work for the colony {}", before.trim());
    Err(Error::new(ErrorKind::Refused, message)
        .help(format!("give the fleet of {name} a folder of its own with `--dir DIR`")))
}

fn watch(children: &mut Children, stop: &AtomicBool) -> Result<()> {
    while !stop.load(Ordering::Relaxed) {
        children.look()?;
        std::thread::sleep(LOOK);
    }
    Ok(())
}

/// The name of a repository without the digits that tell clones apart.
fn colony_name(repository: &str) -> String {
    let name = project_name(repository);
    name.rsplit_once('-').map_or(name.clone(), |(begins, _)| begins.to_owned())
}

/// The file with the token of the crabs, which only its owner reads. It is made once for each colony.
fn token(gateway: &Path, folder: &Path, colony: &str) -> Result<PathBuf> {
    let path = folder.join(format!("crabs-{colony}.token"));
    let tokens = Tokens::open(gateway)?;
    let rights = Rights::Crab { colony: colony.to_owned() };
    let known = fs::read_to_string(&path).ok().and_then(|text| tokens.holder(text.trim()));
    if known.is_none_or(|holder| holder.rights != rights) {
        let token = tokens.make("the crabs of `orange-fleet up`", rights)?;
        atomic::write_linked(&path, token.as_bytes())?;
    }
    Ok(path)
}
