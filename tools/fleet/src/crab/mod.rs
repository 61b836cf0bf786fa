//! The crab: a worker process that takes steps from a gateway and runs each with the `orange` of its own home.
//!
//! [`decide::next`] decides what comes next; everything else carries that out. A kill at any point loses nothing: `job.json` says how
//! far the crab is, the engine keeps its missions, and agents go on without the crab.

pub mod api;
pub mod decide;
pub mod files;
pub mod git;
pub mod heartbeat;
pub mod job;
pub mod orange;
pub mod program;
pub mod push;
pub mod repository;
mod retention;
pub mod socket;
pub mod texts;
mod wait;
mod work;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use orange_api::{Error, ErrorKind, MissionRow, Result};
use orange_core::scheduler::Ability;

use self::api::{Api, Registration};
use self::files::CrabHome;
use self::job::{Job, is_key};
use self::orange::Engine;
use self::retention::Removals;
use self::socket::GatewaySocket;
use self::work::{After, JobWorker};
use crate::client::{GatewayAccess, GatewayFailure};

/// The shortest and the longest time between two tries of a gateway that does not answer.
const RETRIES: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));

/// Says what happens, a line each.
pub type Tell = Arc<dyn Fn(&str) + Send + Sync>;

/// Settings with which a crab is started.
#[derive(Clone)]
pub struct CrabSettings {
    pub gateway: GatewayAccess,
    pub colony: String,
    /// Its name, for people.
    pub name: String,
    pub roles: Vec<String>,
    pub home: PathBuf,
    /// The program `orange`.
    pub orange: PathBuf,
    /// The harness of steps that name none, and that of reviewers.
    pub harness: (Option<String>, Option<String>),
    /// True if it agrees to what harnesses ask before they work.
    pub agrees: bool,
    /// The millions of bytes that its disk must have for it.
    pub least_free_mb: u64,
    /// For how many days it keeps the missions of attempts that have ended; for ever without a number.
    pub keep_days: Option<u32>,
    /// The times that it keeps.
    pub times: Times,
    /// Says what happens.
    pub tell: Tell,
}

/// The times that a crab keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Between two heartbeats, if the gateway does not say.
    pub heartbeat: Duration,
    /// Between two looks for agents that have died without a report.
    pub look: Duration,
    /// Time for which a crab that cannot start steps asks for none; it doubles with each step that it gives back.
    pub fault: Duration,
    /// Time for which a push is tried.
    pub push: Duration,
}

impl Default for Times {
    fn default() -> Times {
        let seconds = Duration::from_secs;
        Times { heartbeat: seconds(2), look: seconds(10), fault: seconds(30), push: seconds(3600) }
    }
}

/// A crab at work.
struct Crab {
    settings: CrabSettings,
    api: Arc<Api>,
    home: CrabHome,
    id: String,
    orange: Engine,
    /// Between two heartbeats.
    heartbeat: Duration,
    /// Number of steps that it has given back in a row.
    faults: u32,
    /// The WebSocket on which it waits.
    socket: Option<GatewaySocket>,
    /// The removals of old missions.
    removals: Removals,
    /// Until then it polls, since WebSockets have failed.
    polls_until: Option<Instant>,
}

/// Works until it is killed, which it survives.
///
/// # Errors
/// `locked` when another crab has the home; `refused` when the gateway does not register it; those of its files.
pub fn run(settings: CrabSettings) -> Result<()> {
    let mut crab = Crab::new(settings)?;
    crab.register()?;
    crab.end_strangers()?;
    if let Some(job) = crab.home.job()? {
        crab.carry_out(job)?;
    }
    loop {
        let job = crab.wait_for_work()?;
        crab.carry_out(job)?;
    }
}

/// Takes a crab out of its colony: its agent is ended, and its work is backed up.
///
/// # Errors
/// Those of [`run`].
pub fn leave(settings: CrabSettings) -> Result<()> {
    let crab = Crab::new(settings)?;
    crab.home.forget()?;
    crab.end_strangers()?;
    match crab.api.leave(&crab.id) {
        Ok(()) | Err(GatewayFailure::Refused { status: 404, .. }) => Ok(()),
        Err(failed) => Err(failed.into_error()),
    }
}

impl Crab {
    fn new(settings: CrabSettings) -> Result<Crab> {
        let api = Arc::new(Api::new(settings.gateway.clone())?);
        let home = CrabHome::take(&settings.home)?;
        let id = home.crab_id(|| Ok(format!("crab-{}", random()?)))?;
        let orange = Engine::new(settings.orange.clone(), home.folder());
        let heartbeat = settings.times.heartbeat;
        let removals = Removals::default();
        Ok(Crab {
            settings,
            api,
            home,
            id,
            orange,
            heartbeat,
            faults: 0,
            socket: None,
            removals,
            polls_until: None,
        })
    }

    fn tell(&self, text: &str) {
        (self.settings.tell)(text);
    }

    /// Registers, however long the gateway takes.
    fn register(&mut self) -> Result<()> {
        let CrabSettings { colony, name, roles, .. } = &self.settings;
        let own = Registration {
            crab: self.id.clone(),
            colony: colony.clone(),
            name: name.clone(),
            roles: roles.clone(),
            abilities: self.abilities(),
        };
        let mut pause = RETRIES.0;
        loop {
            match self.api.register(&own) {
                Ok(answer) => {
                    self.heartbeat = Duration::from_millis(answer.heartbeat_ms);
                    self.tell(&format!(
                        "registered in {} as {} ({})",
                        own.colony,
                        own.name,
                        own.roles.join(", ")
                    ));
                    return Ok(());
                }
                Err(failed @ GatewayFailure::Refused { .. }) => return Err(failed.into_error()),
                Err(failed @ GatewayFailure::Unheard(_)) => self.pause_after(&failed, &mut pause),
            }
        }
    }

    /// Its abilities. A machine on which no wall can be made, or on which a wall does not hold, gets no step that demands one.
    fn abilities(&self) -> BTreeSet<Ability> {
        let wall = self.orange.attacks_wall();
        if let Err(error) = &wall {
            self.tell(&format!("takes no steps that demand a wall: {}", error.one_line()));
        }
        let is_able = |ability: &Ability| match ability {
            Ability::Gates => true,
            Ability::Wall => wall.is_ok(),
        };
        Ability::ALL.into_iter().filter(is_able).collect()
    }

    fn pause_after(&self, failed: &GatewayFailure, pause: &mut Duration) {
        if *pause == RETRIES.0 {
            self.tell(&format!("the gateway is asked again: {failed}"));
        }
        std::thread::sleep(*pause);
        *pause = (*pause * 2).min(RETRIES.1);
    }

    /// Ends the missions of its home that belong to no job: those of a crab whose `job.json` is gone.
    fn end_strangers(&self) -> Result<()> {
        let own = self.home.job()?.map(|job| job.key());
        for MissionRow { id: mission, workflow, .. } in self.orange.unfinished()? {
            if is_key(&workflow) && Some(&workflow) != own.as_ref() {
                self.tell(&format!(
                    "ends the mission {mission}, which belongs to no job; its work is backed up"
                ));
                self.orange.cancel(&mission)?;
            }
        }
        Ok(())
    }

    fn carry_out(&mut self, job: Job) -> Result<()> {
        match JobWorker::new(self, job).work()? {
            After::Ended => self.faults = 0,
            After::GivenBack => {
                // The gateway gives no steps to this crab before it registers again.
                let pause = self.settings.times.fault * 2u32.saturating_pow(self.faults.min(2));
                self.faults += 1;
                self.tell(&format!("asks for no steps for {} s", pause.as_secs()));
                std::thread::sleep(pause);
                self.register()?;
            }
        }
        Ok(())
    }
}

/// A random id, which nobody else has.
fn random() -> Result<String> {
    let bytes = orange_system::random::bytes::<10>()?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The `orange` of a crab: the one that is named, else the one beside this program, else the one on `PATH`.
///
/// # Errors
/// `not_found` when the named one is not there.
pub fn find_orange(named: Option<PathBuf>) -> Result<PathBuf> {
    if let Some(named) = named {
        return match named.is_file() {
            true => Ok(std::path::absolute(&named).unwrap_or(named)),
            false => Err(Error::new(ErrorKind::NotFound, format!("there is no program {}", named.display()))),
        };
    }
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.join("orange")));
    Ok(beside.filter(|it| it.is_file()).unwrap_or_else(|| PathBuf::from("orange")))
}
