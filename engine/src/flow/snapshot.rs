//! A task as values for the core.

use orange_core::{
    Answers, Checks, Children, Gate, Hook, LifeFacts, Machine, Permissions, Program, ProgramAnswer, Role,
    SeenSection, Spawn, StateId, View, When, WorkSince, Workspace,
};

use crate::app::App;
use crate::drive::git::{Git, WorktreeContent};
use crate::flow::{delegation, judged};
use crate::hooks::imported;
use crate::store::event::{self, Pass};
use crate::store::{WorkItem, WorkItemHistory, suggest};
use crate::{Error, ErrorKind, Result};

/// The values that a view borrows.
#[derive(Clone, Debug)]
pub struct Snapshot<'t> {
    status: StateId,
    counters: Vec<u32>,
    seen: Vec<SeenSection<'t>>,
    task: &'t WorkItem,
    restarts: u32,
    last: Option<Spawn<'t>>,
    reviewers: Vec<&'t str>,
    answers: Vec<KnownAnswer<'t>>,
    checks: Checks,
    children: Children,
    /// True if its worktree was reclaimed for another task.
    is_reclaimed: bool,
}

/// A program's answer for the present content of the worktree.
#[derive(Clone, Debug)]
struct KnownAnswer<'t> {
    /// The number of the question.
    asked: u64,
    answer: ProgramAnswer<'t>,
}

impl<'t> Snapshot<'t> {
    /// The task under its machine, with what programs have answered about the present content of its worktree, and what is known
    /// of its pull request.
    pub fn of(
        app: &App,
        machine: &'static Machine<'static>,
        task: &'t WorkItem,
        history: &'t WorkItemHistory,
    ) -> Result<Snapshot<'t>> {
        let status = status_of(machine, task)?;
        let answers = answers(app, machine, status, task, history)?;
        let asks_checks = machine.gates_of(status).any(|gate| matches!(gate, Gate::Checks));
        let checks = if asks_checks { checks_of(app, task, history)? } else { Checks::default() };
        let asks_children = machine.gates_of(status).any(|gate| matches!(gate, Gate::Children(_)));
        let children = if asks_children { delegation::whole(app, task)? } else { Children::default() };
        let mut snapshot =
            Snapshot { answers, checks, children, ..Snapshot::at(machine, task, history, status) };
        for (section, work) in judged::since(app, machine, task, history)? {
            let seen = snapshot.seen.iter_mut();
            seen.filter(|seen| seen.section == section).for_each(|seen| seen.work = work);
        }
        Ok(snapshot)
    }

    /// Leaves out failures that were answered to earlier questions: who asks again wants to know whether that is still so.
    pub fn ask_again(&mut self, since: u64) {
        self.answers.retain(|known| known.asked > since || known.answer.failure.is_none());
    }

    /// Says which of the reviewers with names are alive: of some that are on record, nobody has noticed the end.
    pub fn see_alive(&mut self, reviewers: Vec<&'t str>) {
        self.reviewers = reviewers;
    }

    /// Assumes that a program succeeds.
    pub fn assume(&mut self, program: &Program<'static>) {
        let answer = ProgramAnswer { argv: program.argv, failure: None };
        self.answers.push(KnownAnswer { asked: u64::MAX, answer });
    }

    /// Lets this function read the facts.
    pub fn with_facts<T>(&self, read: impl FnOnce(&LifeFacts<'_>) -> T) -> T {
        let programs: Vec<ProgramAnswer<'_>> = self.answers.iter().map(|known| known.answer).collect();
        let owned = &self.task.owned;
        let answers =
            Answers { programs: &programs, checks: self.checks, children: self.children, is_merge: false };
        let (status, counters, seen) = (self.status, &self.counters, &self.seen);
        read(&LifeFacts {
            view: View { status, counters, body: &self.task.body, seen, answers },
            has_summary: !self.task.summary.trim().is_empty(),
            // It is restored before anything needs it.
            workspace: self.task.holds().or(self.is_reclaimed.then_some(Workspace::Worktree)),
            has_session: owned.tmux_session.is_some(),
            hooks_wait: owned.hooks_wait.is_some(),
            restarts: self.restarts,
            reviewers: &self.reviewers,
            last: self.last,
        })
    }

    fn at(
        machine: &Machine<'_>,
        task: &'t WorkItem,
        history: &'t WorkItemHistory,
        status: StateId,
    ) -> Snapshot<'t> {
        let seen = |(pass, when): (&'t Pass, When)| {
            let fingerprint = u64::from_str_radix(&pass.hash, 16).ok()?;
            Some(SeenSection { section: &pass.section, fingerprint, when, work: WorkSince::default() })
        };
        let passed = history.gates.passes.values().map(|pass| (pass, When::Passed));
        let entered = history.gates.entered.iter().map(|stood| (stood, When::Entered));
        let found = history.gates.found.iter().map(|stood| (stood, When::Started));
        let agent = machine.state(status).agent.into();
        let last = history.agents.here.values().rfind(|it| it.actor == agent);
        Snapshot {
            status,
            counters: machine.counters.iter().map(|counter| task.counter(counter.name)).collect(),
            seen: passed.chain(entered).chain(found).filter_map(seen).collect(),
            task,
            restarts: history.agents.restarts,
            last: last.and_then(|last| as_started(machine, last)),
            reviewers: history.agents.alive.values().filter_map(|it| it.name.as_deref()).collect(),
            answers: Vec::new(),
            checks: Checks::default(),
            children: Children::default(),
            is_reclaimed: history.worktree.reclaimed.is_some(),
        }
    }
}

/// The answers of the programs that are asked in a state, about the present content of the worktree.
fn answers<'t>(
    app: &App,
    machine: &'static Machine<'static>,
    status: StateId,
    task: &'t WorkItem,
    history: &'t WorkItemHistory,
) -> Result<Vec<KnownAnswer<'t>>> {
    let mut known = Vec::new();
    for program in machine.gates_of(status).filter_map(Gate::program) {
        known.extend(
            history.gates.answers.iter().filter(|(it, _)| it.argv == program.argv).map(|it| (program, it)),
        );
    }
    // Without an answer there is no need to look.
    let Some(now) = (if known.is_empty() { None } else { work(app, task)? }) else { return Ok(Vec::new()) };
    known.retain(|(_, (it, _))| (&it.commit, &it.changes) == (&now.commit, &now.changes));
    let answer = |(program, (_, answer)): (&Program<'static>, &'t (_, event::Answer))| {
        let failure = answer.reason.as_deref().filter(|_| !answer.passed);
        KnownAnswer { asked: answer.asked, answer: ProgramAnswer { argv: program.argv, failure } }
    };
    Ok(known.into_iter().map(answer).collect())
}

/// The content of the task's worktree, if it has one.
pub fn work(app: &App, task: &WorkItem) -> Result<Option<WorktreeContent>> {
    let Some(name) = task.worktree() else { return Ok(None) };
    imported::look(app, task);
    Git::at(&app.project_of(task)?.path).work(&app.home.workspace(name)).map(Some)
}

/// State of the checks of the task's pull request: those of another commit than the branch's do not count.
pub fn checks_of(app: &App, task: &WorkItem, history: &WorkItemHistory) -> Result<Checks> {
    let Some(url) = &task.pr_url else { return Ok(Checks::NoPullRequest) };
    let Some(seen) = history.branch.checks.as_ref().filter(|seen| seen.url == *url) else {
        return Ok(Checks::Unseen);
    };
    imported::look(app, task);
    let git = Git::at(&app.project_of(task)?.path);
    let tip = match task.worktree() {
        Some(name) => git.head(&app.home.workspace(name))?,
        None => git.branch_tip(&task.branch)?,
    };
    Ok(match &seen.state {
        // A branch that is not there has no checks.
        _ if tip.as_ref() != Some(&seen.commit) => Checks::Outdated,
        event::Checks::Green => Checks::Green,
        event::Checks::None => Checks::None,
        event::Checks::Pending => Checks::Pending,
        event::Checks::Red => Checks::Red,
        event::Checks::Other(_) => Checks::Unseen,
    })
}

/// Returns the spawn of a recorded agent, if its workflow still has its prompt.
fn as_started<'t>(machine: &Machine<'_>, record: &'t event::Spawn) -> Option<Spawn<'t>> {
    let reviews = record.actor == event::Actor::Reviewer;
    let role = if reviews { Role::Reviewer } else { Role::Worker };
    let permissions = match record.permissions {
        event::Permissions::Full => Permissions::Full,
        event::Permissions::Reduced | event::Permissions::Other(_) => Permissions::Reduced,
    };
    Some(Spawn {
        model: record.model.as_deref(),
        effort: record.effort.as_deref(),
        reviewer: record.name.as_deref(),
        ..Spawn::new(machine.prompt_named(&record.prompt)?, role, permissions)
    })
}

/// The state of the task.
pub fn status_of(machine: &Machine<'_>, task: &WorkItem) -> Result<StateId> {
    machine.state_named(task.status()).ok_or_else(|| {
        let message = format!(
            "the workflow {} no longer has the status {}, where this task is",
            machine.name,
            task.status()
        );
        Error::new(ErrorKind::Refused, message).help(left_behind(machine, &task.id))
    })
}

/// Help for a task whose status its workflow no longer has: the commands that a person can use.
pub fn left_behind(machine: &Machine<'_>, id: &str) -> String {
    let names: Vec<_> = machine.states.iter().map(|state| state.name).collect();
    format!(
        "a person moves it on with `orange task migrate {id} --to STATUS` ({}), or ends it with `orange task cancel {id}`",
        names.join(", ")
    )
}

/// The state of this name; the error suggests the nearest one.
pub fn state_named(machine: &Machine<'_>, name: &str) -> Result<StateId> {
    machine.state_named(name).ok_or_else(|| {
        let names: Vec<_> = machine.states.iter().map(|state| state.name).collect();
        let near = suggest::nearest(name, names.iter().copied());
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        Error::new(ErrorKind::NotFound, format!("the workflow {} has no status `{name}`", machine.name))
            .help(format!("{near}it has: {}", names.join(", ")))
    })
}

/// Workspace that a task still has to get; `None` for a task that was started. A task that has come to its state with an agent in
/// its plain folder has its workspace.
pub fn waits(app: &App, task: &WorkItem) -> Option<Workspace> {
    if task.holds() == Some(Workspace::Folder) && task.owned.tmux_session.is_some() {
        return None;
    }
    // A task of another binary's workflow cannot be started here.
    let machine = app.machine_of(&task.owned).ok()?;
    let has_summary = !task.summary.trim().is_empty();
    let starts_in = || Some(machine.starts_in(status_of(machine, task).ok()?, has_summary));
    if is_to_start(machine, task).ok()? { starts_in() } else { None }
}

/// Spawn of the agent that the workflow starts between the initial state and this one, if it starts one there.
pub fn first_spawn(machine: &'static Machine<'static>, to: StateId) -> Option<Spawn<'static>> {
    let leading = machine.between(machine.initial, to).map(|id| machine.transition(id));
    leading.flat_map(|it| it.hooks).find_map(Hook::spawn).copied()
}

/// True if a task still has to get its workspace and an agent. A task whose hooks wait starts with these.
pub fn is_to_start(machine: &Machine<'_>, task: &WorkItem) -> Result<bool> {
    Ok(task.owned.hooks_wait.is_none() && machine.is_to_start(status_of(machine, task)?, task.holds()))
}
