//! The caller of a command: a person, the engine itself, or an agent that `orange` started.

use orange_system::variables::{ACTOR, ASKED, SECRET, SPAWN, TASK};
use std::path::Path;

use orange_core::Actor;

use crate::store::{Home, WorkItem, WorkItemDir, WorkItemHistory, WorkItemKind, list, secret, work_item};
use crate::{Error, ErrorKind, Result};
use orange_system::files::real;

/// Author of the command that a process carries out, whose environment the process has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandOrigin {
    Person,
    Agent,
    /// Nobody's: the monitor and the wrappers of agents act by themselves.
    Engine,
}

impl CommandOrigin {
    /// The origin of a process with this caller.
    pub fn of(caller: &Caller) -> CommandOrigin {
        match caller {
            Caller::Person => CommandOrigin::Person,
            Caller::Agent { .. } => CommandOrigin::Agent,
            Caller::Engine => match std::env::var(ASKED).as_deref() {
                Ok("person") => CommandOrigin::Person,
                Ok("agent") => CommandOrigin::Agent,
                Ok(_) | Err(_) => CommandOrigin::Engine,
            },
        }
    }

    /// The value of [`ASKED`] for a process that carries the command out, if it is one.
    pub fn asked(self) -> Option<&'static str> {
        match self {
            CommandOrigin::Person => Some("person"),
            CommandOrigin::Agent => Some("agent"),
            CommandOrigin::Engine => None,
        }
    }
}

/// Actor that asks. Agents run as the same user, so this distinguishes honest callers only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Caller {
    /// A person at a terminal, or a program of theirs.
    #[default]
    Person,
    /// A process that `orange` has started for its own work.
    Engine,
    /// An agent of a task.
    Agent {
        task: String,
        /// The number of its spawn, if its environment says one.
        spawn: Option<u32>,
        /// The actor that it claims to be. In its own task, the journal decides about that.
        claim: Actor,
        /// The secret that it presents.
        secret: Option<String>,
    },
}

impl Caller {
    /// Reads the caller from the environment.
    pub fn from_env() -> Caller {
        let variable = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
        match variable(TASK) {
            Some(task) => Caller::Agent {
                task,
                spawn: variable(SPAWN).and_then(|number| number.parse().ok()),
                claim: variable(ACTOR).and_then(|name| Actor::built_in(&name)).map_or(Actor::Worker, agent),
                secret: shown(),
            },
            None => Caller::Person,
        }
    }

    /// Refuses an agent a command that only `orange` itself runs, such as `orange agent ended`.
    pub fn check_not_agent(&self, what: &str) -> Result<()> {
        match self {
            Caller::Person | Caller::Engine => Ok(()),
            Caller::Agent { task, .. } => Err(refusal(format!(
                "{TASK} says that an agent of task {task} asks, and {what} is the engine's alone"
            ))
            .help("an agent asks with `orange task update`; `orange task next` shows for what. The agent of a step asks with `orange step`")),
        }
    }

    /// The task of the asking agent; `None` for any other caller.
    pub fn task(&self) -> Option<&str> {
        match self {
            Caller::Agent { task, .. } => Some(task),
            Caller::Person | Caller::Engine => None,
        }
    }

    /// The number of the asking agent.
    pub fn spawn(&self) -> Option<u32> {
        match self {
            Caller::Agent { spawn, .. } => *spawn,
            Caller::Person | Caller::Engine => None,
        }
    }

    /// The actor, apart from any one task.
    pub fn actor(&self) -> Actor {
        match self {
            Caller::Agent { claim, .. } => *claim,
            Caller::Person => Actor::Human,
            Caller::Engine => Actor::Engine,
        }
    }

    /// Refuses every caller but a person, such as `migrate a task`.
    pub fn check_person(&self, what: &str) -> Result<()> {
        match self {
            Caller::Person => Ok(()),
            Caller::Engine | Caller::Agent { .. } => Err(refusal(format!("only a person may {what}"))
                .help("leave it to the person who looks after the task")),
        }
    }

    /// The actor that a request about this task would have.
    pub fn actor_for(&self, id: &str, history: &WorkItemHistory) -> Actor {
        match self {
            Caller::Agent { task, spawn, claim, .. } if task == id => {
                spawn.and_then(|spawn| recorded(history, spawn)).unwrap_or(*claim)
            }
            Caller::Agent { .. } | Caller::Person | Caller::Engine => self.actor(),
        }
    }

    /// The actor who asks for a change of this task in this folder, or why it may not.
    ///
    /// An agent may change its own task, from its worktree, unless it has been replaced or its end is recorded; and a task that it
    /// has created, until that has an agent of its own. It may read every task.
    pub fn check(
        &self,
        home: &Home,
        folder: &Path,
        asked: &WorkItem,
        history: &WorkItemHistory,
    ) -> Result<Actor> {
        match self {
            Caller::Agent { task, spawn, secret, .. } if *task == asked.id => {
                let actor = check_token(*spawn, history)?;
                check_secret(home, task, *spawn, secret.as_deref())?;
                check_place(home, folder, asked).map(|()| actor)
            }
            Caller::Agent { task, spawn, claim, secret } => {
                check_creator(task, &asked.id, history)?;
                check_secret(home, task, *spawn, secret.as_deref()).map(|()| *claim)
            }
            Caller::Person | Caller::Engine => Ok(self.actor()),
        }
    }

    /// The actor who answers, retries or cancels this mission, or why it may not. An agent may do so with a mission that it has
    /// started, and not with the one whose step it works at.
    ///
    /// # Errors
    /// `not_allowed` for any other agent.
    pub fn check_answer(&self, home: &Home, mission: &str, history: &WorkItemHistory) -> Result<Actor> {
        match self {
            Caller::Person | Caller::Engine => Ok(self.actor()),
            Caller::Agent { task, spawn, claim, secret } => {
                if history.creator.as_ref() == Some(task) {
                    return check_secret(home, task, *spawn, secret.as_deref()).map(|()| *claim);
                }
                Err(refusal(format!("an agent of {task} may look at mission {mission}, and not decide about it")).help(
                    "the person or the agent that has started it does; a step's agent ends with `orange step complete` or `fail`",
                ))
            }
        }
    }

    /// The number of the asking agent of this mission. One whose end is recorded may report, too: its attempt says whether
    /// that still counts.
    ///
    /// # Errors
    /// `not_allowed` for anybody but an agent of this mission, in its worktree.
    pub fn check_step(&self, home: &Home, folder: &Path, mission: &WorkItem) -> Result<u32> {
        match self {
            Caller::Agent { task, spawn: Some(spawn), secret, .. } if *task == mission.id => {
                let dir = home.mission(&mission.project, task);
                // The end of an agent removes its secret.
                if !is_over(&dir, *spawn)? {
                    check_secret(home, task, Some(*spawn), secret.as_deref())?;
                }
                check_place(home, folder, mission).map(|()| *spawn)
            }
            Caller::Agent { .. } | Caller::Person | Caller::Engine => {
                Err(refusal("only the agent of a step reports how it ended").help(format!(
                    "a person answers for it: `orange mission show {id}` shows how, `orange mission cancel {id}` ends it",
                    id = mission.id
                )))
            }
        }
    }
}

/// The secret that this process presents.
pub fn shown() -> Option<String> {
    std::env::var(SECRET).ok().filter(|value| !value.is_empty())
}

/// Refuses a command about an agent, such as `orange agent ended`, to a process without its secret. This catches mistakes
/// and protects from nobody, since agents run as the user who can read it.
pub fn check_shown(dir: &WorkItemDir, spawn: u32, shown: Option<&str>) -> Result<()> {
    let kept = secret::read(dir, spawn)?;
    let Some(flaw) = flaw(kept.as_deref(), shown) else { return Ok(()) };
    // The end of an agent removes its secret, and nothing is done about an agent whose end is on record.
    if kept.is_none() && is_over(dir, spawn)? {
        return Ok(());
    }
    let (asks, ends) = match dir.kind {
        WorkItemKind::Task => ("orange task update", dir.command("stop")),
        WorkItemKind::Mission => ("orange step complete", dir.command("cancel")),
    };
    Err(refusal(format!("this is for agent {spawn} of {} alone, and {SECRET} {flaw}", dir.shown())).help(
        format!(
            "`orange` runs this by itself; an agent asks with `{asks}`, and a person ends one with {ends}"
        ),
    ))
}

/// Reason for which the secret that a process shows is not the kept one of an agent.
fn flaw(kept: Option<&str>, shown: Option<&str>) -> Option<&'static str> {
    match (kept, shown) {
        (Some(kept), Some(shown)) if kept == shown => None,
        (Some(_), Some(_)) => Some("is another one's"),
        (Some(_), None) => Some("is not set"),
        (None, _) => Some("is none that is kept"),
    }
}

/// True if the end of this agent is on record.
fn is_over(dir: &WorkItemDir, spawn: u32) -> Result<bool> {
    let journal = work_item::read_journal_last(dir, 0)?;
    let history = journal.history();
    Ok(spawn <= history.agents.last_spawn && !history.agents.alive.contains_key(&spawn))
}

/// The actor of an agent, which may claim neither the engine's nor a person's.
fn agent(claim: Actor) -> Actor {
    match claim {
        Actor::Reviewer => Actor::Reviewer,
        Actor::Worker | Actor::Human | Actor::Engine | Actor::Declared(_) => Actor::Worker,
    }
}

fn recorded(history: &WorkItemHistory, spawn: u32) -> Option<Actor> {
    history.agents.alive.get(&spawn).and_then(|record| record.actor.known())
}

fn check_token(spawn: Option<u32>, history: &WorkItemHistory) -> Result<Actor> {
    let spawn = spawn.ok_or_else(unnumbered)?;
    recorded(history, spawn).ok_or_else(|| {
        refusal(format!("agent {spawn} of this task has been replaced or ended"))
            .help("stop here: another agent or a person carries on")
    })
}

fn unnumbered() -> Error {
    refusal(format!("{TASK} says that an agent asks, and {SPAWN} does not say which"))
        .help("ask from the environment that the agent was started with")
}

/// Refuses a process that claims to be an agent without its secret, which each agent has until its end.
pub fn check_secret(home: &Home, task: &str, spawn: Option<u32>, given: Option<&str>) -> Result<()> {
    let spawn = spawn.ok_or_else(unnumbered)?;
    let dir = list::with_id(home, &WorkItemKind::ALL, None, task)?.pop();
    let kept = dir.as_ref().map_or(Ok(None), |dir| secret::read(dir, spawn))?;
    let Some(flaw) = flaw(kept.as_deref(), given) else { return Ok(()) };
    let whose = dir.map_or_else(|| task.to_owned(), |dir| dir.shown());
    Err(refusal(format!("{TASK} and {SPAWN} say that agent {spawn} of {whose} asks, and {SECRET} {flaw}")).help(
        format!(
            "ask from the environment that this agent was started with; a person asks without {TASK}, and starts an agent \
             again that has lost its secret: `orange task restart`"
        ),
    ))
}

fn check_place(home: &Home, folder: &Path, task: &WorkItem) -> Result<()> {
    let Some(name) = &task.owned.workspace else { return Ok(()) };
    let worktree = home.workspace(name);
    if real(folder).starts_with(real(&worktree)) {
        return Ok(());
    }
    let (word, folder) = (task.kind.word(), folder.display());
    let place = if task.worktree().is_some() { "worktree" } else { "folder" };
    let message = format!("an agent asks from its {word}'s {place}, and this is {folder}");
    Err(refusal(message).help(format!("do the work and ask in {}", worktree.display())))
}

fn check_creator(task: &str, id: &str, history: &WorkItemHistory) -> Result<()> {
    if history.creator.as_deref() == Some(task) && history.agents.last_spawn == 0 {
        return Ok(());
    }
    Err(refusal(format!("an agent of task {task} may read task {id}, and not change it"))
        .help(format!("ask the person who looks after {id}, or create a task of your own for what it needs")))
}

fn refusal(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::NotAllowed, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::event::Spawn;
    use crate::store::{Event, LockedWorkItem, Set, WorkItemDir, tests};

    fn agent_of(task: &str, spawn: Option<u32>) -> Caller {
        Caller::Agent { task: task.to_owned(), spawn, claim: Actor::Worker, secret: None }
    }

    /// A task with a reviewer, its second agent, in its worktree.
    fn under_review() -> (tempfile::TempDir, Home, WorkItemDir) {
        let (folder, home) = tests::home();
        let dir = tests::task(&home, "fix").dir().clone();
        let mut locked = LockedWorkItem::lock(&home, &dir).unwrap();
        std::fs::create_dir_all(home.workspace("coffee--1").join("src")).unwrap();
        let record = Spawn { spawn: 2, actor: Actor::Reviewer.into(), ..Spawn::default() };
        locked.append(Event::AgentSpawned(record), Set::new().workspace(Some("coffee--1"))).unwrap();
        drop(locked);
        (folder, home, dir)
    }

    /// `own` stands for the task's id; then the caller shows the secret of its spawn.
    #[track_caller]
    fn check(mut caller: Caller, place: &str, expect: std::result::Result<Actor, &str>) {
        let (_folder, home, dir) = under_review();
        secret::make(&dir, 2).unwrap();
        if let Caller::Agent { task, secret: shown, .. } = &mut caller
            && task == "own"
        {
            task.clone_from(&dir.id);
            *shown = secret::read(&dir, 2).unwrap();
        }
        let locked = LockedWorkItem::lock(&home, &dir).unwrap();
        match (caller.check(&home, &home.root().join(place), locked.task(), locked.history()), expect) {
            (Ok(actor), Ok(expected)) => assert_eq!(actor, expected),
            (Err(error), Err(part)) => {
                assert_eq!(error.kind, ErrorKind::NotAllowed);
                assert!(error.message.contains(part), "{error}");
            }
            (found, expected) => panic!("{found:?} is not {expected:?}"),
        }
    }

    #[test]
    fn an_agent_is_what_the_journal_says_in_its_own_task() {
        const INSIDE: &str = "workspaces/coffee--1/src";
        check(agent_of("own", Some(2)), INSIDE, Ok(Actor::Reviewer));
        check(agent_of("own", Some(1)), INSIDE, Err("agent 1 of this task has been replaced or ended"));
        check(agent_of("own", None), INSIDE, Err("ORANGE_SPAWN"));
        check(agent_of("own", Some(2)), "workspaces/coffee--11", Err("worktree"));
        check(agent_of("own", Some(2)), "", Err("worktree"));
    }

    #[test]
    fn a_refusal_names_commands_that_tasks_and_missions_have() {
        let (_folder, home) = tests::home();
        for (dir, expect) in [
            (
                home.task("coffee", "t1"),
                ["of task t1 alone", "`orange task update`", "`orange task stop t1`"],
            ),
            (
                home.mission("coffee", "m1"),
                ["of mission m1 alone", "`orange step complete`", "`orange mission cancel m1`"],
            ),
        ] {
            std::fs::create_dir_all(dir.agents()).unwrap();
            secret::make(&dir, 1).unwrap();
            let refused = check_shown(&dir, 1, None).unwrap_err().for_person().to_string();
            assert!(expect.iter().all(|part| refused.contains(part)), "{refused}");
        }
    }

    #[test]
    fn an_agent_shows_the_secret_that_it_was_given() {
        let (_folder, home, dir) = under_review();
        secret::make(&dir, 2).unwrap();
        let kept = secret::read(&dir, 2).unwrap().unwrap();
        let locked = LockedWorkItem::lock(&home, &dir).unwrap();
        let inside = home.workspace("coffee--1");
        let asks = |secret: Option<&str>| {
            let (task, secret) = (dir.id.clone(), secret.map(str::to_owned));
            let caller = Caller::Agent { task, spawn: Some(2), claim: Actor::Worker, secret };
            caller
                .check(&home, &inside, locked.task(), locked.history())
                .map_err(|error| error.message.clone())
        };
        assert_eq!(asks(Some(&kept)), Ok(Actor::Reviewer));
        assert!(asks(None).unwrap_err().contains("ORANGE_SECRET is not set"));
        assert!(asks(Some("0")).unwrap_err().contains("ORANGE_SECRET is another one's"));
        assert!(asks(Some("")).is_err());
        secret::forget(&dir, 2).unwrap();
        assert!(asks(Some(&kept)).unwrap_err().contains("ORANGE_SECRET is none that is kept"));
        assert!(asks(None).is_err());
    }

    #[test]
    fn the_agent_of_a_mission_shows_its_secret_too() {
        let (_folder, home) = tests::home();
        let dir = tests::mission(&home, "brew").dir().clone();
        secret::make(&dir, 1).unwrap();
        let kept = secret::read(&dir, 1).unwrap();
        check_secret(&home, &dir.id, Some(1), kept.as_deref()).unwrap();
        for other in [None, Some("0")] {
            let error = check_secret(&home, &dir.id, Some(1), other).unwrap_err();
            assert_eq!(error.kind, ErrorKind::NotAllowed);
        }
    }

    #[test]
    fn others_tasks_are_a_persons_and_the_engine_s() {
        check(agent_of("other", Some(2)), "workspaces/coffee--1", Err("may read task"));
        check(Caller::Person, "", Ok(Actor::Human));
        check(Caller::Engine, "", Ok(Actor::Engine));
    }

    #[test]
    fn a_task_is_its_creators_until_it_has_an_agent() {
        let (_folder, home) = tests::home();
        let creator = tests::task(&home, "other").dir().clone();
        secret::make(&creator, 7).unwrap();
        let dir = tests::task(&home, "fix").dir().clone();
        let mut locked = LockedWorkItem::lock(&home, &dir).unwrap();
        let created = Event::TaskCreated {
            branch: "fix".to_owned(),
            actor: Actor::Worker.into(),
            creator: Some(creator.id.clone()),
        };
        locked.append(created, Set::new()).unwrap();
        let shown =
            |secret| Caller::Agent { task: creator.id.clone(), spawn: Some(7), claim: Actor::Worker, secret };
        let other = shown(secret::read(&creator, 7).unwrap());
        let without = shown(None).check(&home, home.root(), locked.task(), locked.history());
        assert!(without.unwrap_err().message.contains("ORANGE_SECRET is not set"));
        assert_eq!(other.check(&home, home.root(), locked.task(), locked.history()).unwrap(), Actor::Worker);
        locked.append(Event::AgentSpawned(Spawn { spawn: 1, ..Spawn::default() }), Set::new()).unwrap();
        assert_eq!(
            other.check(&home, home.root(), locked.task(), locked.history()).unwrap_err().kind,
            ErrorKind::NotAllowed
        );
    }
}
