//! The wall around a program that runs what agents have written: one of a gate, of `run_command`, of `setup` or of a step.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use orange_core::wall::{Demand, Grants, Level, Network};
use orange_system::exec::{ProgramCall, find_on_path};
use orange_system::files::{real, remove_folder};
use orange_system::nofollow;

use super::{SOCKET, bubblewrap, granted, home, inside, listed, seeded, variables_of};
use crate::app::App;
use crate::drive::git::REQUEST_FOLDER;
use crate::drive::wall::{Mount, Proxy, ProxyRules, RUN, WallPlan, visible};
use crate::hooks::imported;
use crate::store::effective::effective;
use crate::store::home::make_folder;
use crate::store::projects::Project;
use crate::store::{
    Event, WorkItem, WorkItemDir, WorkItemHistory, WorkItemKind, event, mission_plan, work_item,
};
use crate::{Error, Result};

/// Use of a program, which says what it may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramKind {
    /// One of a gate, of `run_command` or of `setup`: it changes files of the worktree, and reads the project's repository.
    Worktree,
    /// One of a gate on the result of a merge, in a checkout and with a home that are removed after it.
    MergeResult,
    /// One of a step: it also commits, as a worker does.
    Step,
}

/// Place in which a program runs.
#[derive(Clone, Copy, Debug)]
pub struct ProgramPlace<'p> {
    pub app: &'p App,
    pub dir: &'p WorkItemDir,
    pub task: &'p WorkItem,
    /// The folder that it works in.
    pub folder: &'p Path,
    pub kind: ProgramKind,
    /// The demand of the workflow.
    pub demand: Demand,
}

/// Proxy of one program, in a folder that ends with it.
#[derive(Debug)]
pub struct ProgramProxy {
    /// Absent when it has ended.
    proxy: Option<Proxy>,
    folder: PathBuf,
}

impl Drop for ProgramProxy {
    fn drop(&mut self) {
        drop(self.proxy.take());
        // A folder that stays has no socket, and ends with the task.
        remove_folder(&self.folder).unwrap_or_default();
    }
}

/// The demand of the workflow of a task or mission on programs that belong to no step.
///
/// # Errors
/// `not_found` and `corrupt` for a workflow that is gone or cannot be read: its demand is not known.
pub fn demand_on_programs(
    app: &App,
    dir: &WorkItemDir,
    task: &WorkItem,
    history: &WorkItemHistory,
) -> Result<Demand> {
    match task.kind {
        WorkItemKind::Task => Ok(app.machine_of(&task.owned)?.demand_on_programs()),
        WorkItemKind::Mission => match history.mission.records.first().map(|it| &it.event) {
            Some(Event::MissionCreated { plan_hash, .. }) => {
                Ok(mission_plan::of(dir, plan_hash)?.demand_on_programs())
            }
            // No program runs for a mission before it is created.
            _ => Ok(Demand::NONE),
        },
    }
}

/// Refuses programs of a task whose wall cannot be made.
///
/// # Errors
/// `environment` with the remedy.
pub fn check_programs(app: &App, task: &WorkItem, demand: Demand) -> Result<()> {
    if is_wanted(app, task, demand)? { bubblewrap(app)?.check(app.path()) } else { Ok(()) }
}

/// True if programs of this task run in a wall: the project wants it, the workflow demands it, or an agent has had one. What such an
/// agent has written runs nowhere else.
fn is_wanted(app: &App, task: &WorkItem, demand: Demand) -> Result<bool> {
    let has_had_wall = || app.home.dir(task.kind, &task.project, &task.id).wall().join("homes").is_dir();
    let level = effective(&app.home, &app.project_of(task)?)?.sandbox.level.value;
    Ok(level.max(demand.level) == Level::Wall || has_had_wall())
}

impl ProgramKind {
    /// Removes what programs of this use have left in their home.
    pub fn forget(self, dir: &WorkItemDir) -> Result<()> {
        clear(&self.home(dir))
    }

    /// The private home of such programs. No agent has it: what a program writes there, such as a shell's settings, no agent runs.
    fn home(self, dir: &WorkItemDir) -> PathBuf {
        let name = match self {
            ProgramKind::Worktree | ProgramKind::Step => "programs",
            ProgramKind::MergeResult => "merge-result",
        };
        dir.wall().join("homes").join(name)
    }
}

impl ProgramPlace<'_> {
    /// This call as it runs here: in a wall where the project or the workflow wants one, else as it is. `name` is the program of the
    /// call, and no other one of the task has this number.
    ///
    /// # Errors
    /// `environment` where the wall cannot be made, and `refused` for a grant that would show what it hides: the program does not
    /// run without it.
    pub fn around(
        &self,
        call: ProgramCall,
        name: &str,
        number: u64,
    ) -> Result<(ProgramCall, Option<ProgramProxy>)> {
        let ProgramPlace { app, task, folder, .. } = self;
        if !is_wanted(app, task, self.demand)? {
            return Ok((call, None));
        }
        let bubblewrap = bubblewrap(app)?;
        bubblewrap.check(app.path())?;
        let project = app.project_of(task)?;
        let grants = effective(&app.home, &project)?.sandbox.grants();
        let rules = self.rules(&grants)?;
        let net = self.net(number);
        clear(&net)?;
        let has_proxy = rules.is_some();
        if has_proxy {
            make_folder(&net)?;
        }
        let plan = self.plan(&project, &grants, name, has_proxy.then_some(&*net))?;
        seeded(&plan, &project, &[])?;
        let proxy = rules.map(|rules| self.proxy(rules, &net)).transpose()?;
        let proxy = proxy.map(|proxy| ProgramProxy { proxy: Some(proxy), folder: net });
        let around = bubblewrap.around(&plan, &variables_of(&[&grants.env], folder, has_proxy))?;
        let around = around.folder(folder).bound(call.limit());
        Ok((call.within(around), proxy))
    }

    /// The file into which a program of a step writes its report, in a folder that the wall shows. One of several that run at once has a
    /// file with its number.
    pub fn output(&self, number: Option<u64>) -> Result<PathBuf> {
        let file = match (is_wanted(self.app, self.task, self.demand)?, number) {
            (false, None) => self.dir.program_output(),
            (false, Some(number)) => self.dir.program_output().with_extension(format!("{number}.json")),
            (true, None) => {
                clear(&self.output_folder())?;
                self.output_folder().join("report.json")
            }
            (true, Some(number)) => self.output_folder().join(format!("report-{number}.json")),
        };
        file.parent().map_or(Ok(()), make_folder)?;
        orange_system::atomic::remove(&file)?;
        Ok(file)
    }

    fn plan(&self, project: &Project, grants: &Grants, name: &str, net: Option<&Path>) -> Result<WallPlan> {
        let ProgramPlace { app, dir, folder, kind, .. } = self;
        let home = home()?;
        let root = app.home.root();
        let kept = [home.clone(), real(&home), root.to_owned(), folder.to_path_buf(), real(&project.path)];
        // A path that is not absolute is one of the worktree.
        let is_elsewhere = !name.contains('/') || Path::new(name).is_absolute();
        let programs: Vec<PathBuf> =
            find_on_path(name, app.path()).filter(|_| is_elsewhere).into_iter().collect();
        let mut read: BTreeSet<PathBuf> = visible(app.path(), &programs, &kept).into_iter().collect();
        read.extend(granted(&grants.read, &home, &kept)?);
        let mut own = vec![Mount::read(&app.program)];
        own.extend(net.map(|net| Mount::Read { from: net.to_owned(), at: Path::new(RUN).join("net") }));
        if *kind == ProgramKind::Step {
            own.push(Mount::write(&self.output_folder()));
        }
        let requests = folder.join(REQUEST_FOLDER);
        Ok(WallPlan {
            homes: BTreeSet::from([home.clone(), real(&home)]).into_iter().collect(),
            private_home: kind.home(dir),
            orange_home: root.to_owned(),
            worktree: folder.to_path_buf(),
            is_read_only: false,
            requests: PathBuf::new(),
            // The requests of agents have their secrets.
            hidden: nofollow::metadata(&requests).ok().map(|_| requests).into_iter().collect(),
            read: read.into_iter().collect(),
            write: granted(&grants.write, &home, &kept)?,
            own,
            repository: self.repository()?,
            inside: if net.is_some() { inside(&app.program) } else { Vec::new() },
        })
    }

    fn repository(&self) -> Result<Vec<Mount>> {
        let ProgramPlace { app, dir, task, kind, .. } = self;
        match kind {
            ProgramKind::Worktree | ProgramKind::MergeResult => imported::shared(app, task),
            ProgramKind::Step => {
                let agents = work_item::read_journal_last(dir, 0)?.history().agents.alive;
                let commits = |it: &event::Spawn| super::is_walled(it) && it.actor != event::Actor::Reviewer;
                let has_live = agents.values().any(commits);
                imported::beside(app, task, has_live)
            }
        }
    }

    /// The rules of its proxy; none where it reaches no host. The hosts of harnesses are for agents alone, so that with
    /// [`Network::Model`] nothing is left for a program.
    fn rules(&self, grants: &Grants) -> Result<Option<ProxyRules>> {
        let network = self.demand.network(grants.network);
        match network {
            Network::None | Network::Model => Ok(None),
            Network::Listed | Network::Open => listed(network, grants.hosts.iter()).map(Some),
        }
    }

    fn proxy(&self, rules: ProxyRules, net: &Path) -> Result<Proxy> {
        let shown = self.dir.shown();
        let refused = move |host: &str, count: u64| {
            log::warn!(target: "wall", "{shown}: the wall of a program refuses {host} ({count} times)");
        };
        Proxy::start(&net.join(SOCKET), rules, refused)
    }

    fn net(&self, number: u64) -> PathBuf {
        self.dir.wall().join("net").join(format!("program-{number}"))
    }

    fn output_folder(&self) -> PathBuf {
        self.dir.wall().join("output")
    }
}

/// Removes a folder, if it is there.
fn clear(folder: &Path) -> Result<()> {
    match remove_folder(folder) {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::io("remove", folder, &cause))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
