//! Asks the programs of gates. Each runs in the task's worktree and without the task's lock; its answer counts as long as the
//! worktree is as the program saw it.

use orange_system::variables;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use orange_core::{Actor, Program, Workspace};

use crate::app::App;
use crate::drive::git::WorktreeContent;
use crate::flow::lock_recovered;
use crate::flow::request::refusal::short;
use crate::flow::snapshot::work;
use crate::hooks::prepare;
use crate::hooks::program::{self, ProgramEnd, ProgramRun};
use crate::hooks::wall::{self, ProgramKind, ProgramPlace};
use crate::store::event::{Answer, Question};
use crate::store::lock::{self, LockRank};
use crate::store::{Event, LockedWorkItem, Set, WorkItem, WorkItemDir, WorkItemHistory, work_item};
use crate::{Error, ErrorKind, Result};
use orange_system::{atomic, fault};

/// Limit for the start of a process that is to run a program; after it the process counts as dead.
const START: Duration = Duration::from_secs(10);

/// The locked task, once the programs have answered that the decision needs. `needs` returns the next one. The lock is released
/// while a program runs; the task must then be where it was.
///
/// # Errors
/// `gate_failed` when the worktree has changed meanwhile, and `refused` when the task has moved; `environment` when the program
/// did not answer, because the process that ran it was killed.
pub fn answered(
    app: &App,
    mut locked: LockedWorkItem,
    by: Actor,
    needs: &dyn Fn(&LockedWorkItem) -> Result<Option<Program<'static>>>,
) -> Result<LockedWorkItem> {
    let dir = locked.dir().clone();
    let (status, since) = (locked.task().status().to_owned(), locked.history().since.clone());
    let mut asked: Vec<(Program<'_>, WorktreeContent)> = Vec::new();
    while let Some(program) = needs(&locked)? {
        let now = work(app, locked.task())?.ok_or_else(|| no_worktree(program, locked.task()))?;
        if let Some((_, then)) = asked.iter().find(|(other, _)| *other == program) {
            return Err(changed(program, then, &now));
        }
        let (seq, is_this) = question(&mut locked, program, &now, by)?;
        drop(locked);
        app.progress.step(&program.to_string());
        wait(app, &dir, seq)?;
        locked = lock_recovered(app, &dir)?;
        if (locked.task().status(), &locked.history().since) != (&status, &since) {
            return Err(moved(program, &status, &locked));
        }
        // The program of another request has ended, and now this one is asked.
        if is_this {
            asked.push((program, now));
        }
    }
    Ok(locked)
}

/// The locked task, if no program has to answer before the decision. Otherwise it starts the program and does not wait.
pub fn begun(
    app: &App,
    mut locked: LockedWorkItem,
    needs: &dyn Fn(&LockedWorkItem) -> Result<Option<Program<'static>>>,
) -> Result<Option<LockedWorkItem>> {
    let Some(program) = needs(&locked)? else { return Ok(Some(locked)) };
    let dir = locked.dir().clone();
    let now = work(app, locked.task())?.ok_or_else(|| no_worktree(program, locked.task()))?;
    let (seq, _) = question(&mut locked, program, &now, Actor::Engine)?;
    drop(locked);
    start(app, &dir, seq)?;
    Ok(None)
}

/// Starts the process that runs the program of a question; it leaves it to another that runs it already.
pub fn start(app: &App, dir: &WorkItemDir, seq: u64) -> Result<()> {
    app.start_detached(&["task", "ask", &dir.id, &seq.to_string()], dir)
}

/// True if a program that a gate asks is running.
pub fn is_running(dir: &WorkItemDir, history: &WorkItemHistory) -> bool {
    history.gates.asked.is_some() && lock::held_longer(&dir.program_lock(), Duration::ZERO).is_some()
}

/// The number of the question that is asked now, and whether it is this one. A program that runs for the same content of the
/// worktree is waited for, also if another request has asked it; one that runs for another content is stopped by the new question.
fn question(
    locked: &mut LockedWorkItem,
    program: Program<'_>,
    work: &WorktreeContent,
    by: Actor,
) -> Result<(u64, bool)> {
    let question = Question {
        argv: program.argv.iter().map(|word| (*word).to_owned()).collect(),
        timeout: program.timeout,
        commit: work.commit.clone(),
        changes: work.changes.clone(),
        actor: by.into(),
    };
    if let Some((seq, open)) = &locked.history().gates.asked
        && (&open.commit, &open.changes) == (&question.commit, &question.changes)
    {
        let is_this = (&open.argv, open.timeout) == (&question.argv, question.timeout);
        if is_this || is_running(locked.dir(), locked.history()) {
            return Ok((*seq, is_this));
        }
    }
    locked.append(Event::GateAsked(question), Set::new())?;
    Ok((locked.history().last_seq, true))
}

/// Starts the process that runs the program, unless one runs it, and waits until the question is no longer asked.
fn wait(app: &App, dir: &WorkItemDir, seq: u64) -> Result<()> {
    start(app, dir, seq)?;
    let mut last_life = Instant::now();
    loop {
        if !is_asked(dir, seq) {
            return Ok(());
        }
        if lock::held_longer(&dir.program_lock(), Duration::ZERO).is_some() {
            last_life = Instant::now();
        } else if last_life.elapsed() > START {
            let message = "the process that ran the program of a gate has ended without an answer";
            return Err(Error::new(ErrorKind::Environment, message).help(format!(
                "repeat the command: it asks again; {} may say why",
                app.home.log_file().display()
            )));
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// True if this question has no answer, and is the last one.
fn is_asked(dir: &WorkItemDir, seq: u64) -> bool {
    let journal = work_item::read_journal_last(dir, 0);
    journal.is_ok_and(|journal| journal.history().gates.asked.is_some_and(|(asked, _)| asked == seq))
}

/// Runs the program of a question, and journals its answer. Another process that runs the same one is left to it.
pub fn run(app: &App, dir: &WorkItemDir, seq: u64) -> Result<()> {
    let lock = match lock::acquire(&app.home, &dir.program_lock(), LockRank::Program, "a program of a gate") {
        Ok(lock) => lock,
        Err(error) if error.kind == ErrorKind::Locked => return Ok(()),
        Err(error) => return Err(error),
    };
    let (task, journal) = WorkItem::read_last(&app.home, dir, 0)?;
    let Some((_, question)) = journal.history().gates.asked.filter(|(asked, _)| *asked == seq) else {
        return atomic::remove(&dir.program_lock());
    };
    // They are left of a process that was killed.
    program::end_asked(dir)?;
    fault::step("run", "the program of a gate");
    let ended = match task.worktree().map(|name| app.home.workspace(name)) {
        Some(worktree) => {
            let ports = prepare::ports_of(app, &task)?;
            let argv = prepare::with_port(&question.argv, ports)?;
            let variables = prepare::variables(task.worktree().map(|name| &**name), ports);
            let demand = wall::demand_on_programs(app, dir, &task, &journal.history())?;
            let kind = ProgramKind::Worktree;
            let place = ProgramPlace { app, dir, task: &task, folder: &worktree, kind, demand };
            let run = ProgramRun::of(&argv, question.timeout, place, seq);
            let denied = app.denied(&task)?;
            let run = run.map(|run| run.envs(&variables).without(&denied));
            let state = QuestionState::of(dir, seq);
            run.map(|run| run.env(variables::GATE, &dir.id).run(&|| state.is_asked())).transpose()?
        }
        None => None,
    };
    let Some(ProgramEnd { code, output, file, failure }) = ended else { return Ok(()) };
    let reason = failure.map(|failure| failure.message.clone());
    let answer = Answer { asked: seq, passed: reason.is_none(), code, reason, output, file };
    fault::step("answer", "a gate");
    let answered = LockedWorkItem::lock(&app.home, dir)
        .and_then(|mut locked| locked.append(Event::GateAnswered(answer), Set::new()));
    atomic::remove(&dir.program_lock())?;
    drop(lock);
    match answered {
        // The process that ended the program holds the lock.
        Err(error) if error.kind == ErrorKind::Locked && !is_asked(dir, seq) => Ok(()),
        answered => answered,
    }
}

/// State of a question, asked or answered, by a journal that is read again only when it has grown.
struct QuestionState<'n> {
    dir: &'n WorkItemDir,
    seq: u64,
    length: std::cell::Cell<u64>,
    answer: std::cell::Cell<bool>,
}

impl QuestionState<'_> {
    fn of(dir: &WorkItemDir, seq: u64) -> QuestionState<'_> {
        QuestionState { dir, seq, length: 0.into(), answer: true.into() }
    }

    fn is_asked(&self) -> bool {
        let length = fs::metadata(self.dir.history()).map_or(0, |metadata| metadata.len());
        if self.length.replace(length) != length {
            self.answer.set(is_asked(self.dir, self.seq));
        }
        self.answer.get()
    }
}

fn no_worktree(program: Program<'_>, task: &WorkItem) -> Error {
    let message = format!("`{program}` cannot be asked: the task has no worktree");
    let help = match task.holds() {
        Some(Workspace::Folder) => {
            "its agent works without one (`workspace: none`), so this gate never holds".to_owned()
        }
        Some(Workspace::Worktree) | None => format!("`orange task spawn {}` gives it one", task.id),
    };
    Error::new(ErrorKind::GateFailed, message).help(help)
}

fn changed(program: Program<'_>, then: &WorktreeContent, now: &WorktreeContent) -> Error {
    let what = if then.commit == now.commit {
        "files of the worktree have changed".to_owned()
    } else {
        let at = |work: &WorktreeContent| short(&work.commit).to_owned();
        format!("the worktree has moved from commit {} to {}", at(then), at(now))
    };
    Error::new(ErrorKind::GateFailed, format!("{what} while `{program}` ran, so its answer does not count"))
        .help("repeat the command when nothing works there; git has to ignore what the program itself writes")
}

fn moved(program: Program<'_>, from: &str, locked: &LockedWorkItem) -> Error {
    let to = locked.task().status();
    let message = if from == to {
        format!("the task has left {from} and come back while `{program}` ran")
    } else {
        format!("the task has moved from {from} to {to} while `{program}` ran")
    };
    Error::new(ErrorKind::Refused, message)
        .help(format!("`orange task next {}` shows where it can go now", locked.dir().id))
}
