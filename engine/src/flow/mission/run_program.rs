//! The process of a step's program: runs it, and reports its end.

use std::path::Path;

use orange_core::mission::{ProgramOutcome, ProgramOutput, ProgramReport};
use orange_core::plan::StepId;
use orange_system::{atomic, fault, nofollow, variables};

use super::advance::{self, WORKER};
use super::attempt::{self, AttemptReport, OwnAttempt};
use super::open_attempt::AttemptWatch;
use super::program::AttemptPrograms;
use super::{LockedMission, Projection, readers};
use crate::Result;
use crate::app::App;
use crate::drive::git::Git;
use crate::hooks::program::{ProgramEnd, ProgramRun};
use crate::hooks::steps::{self, StepAttempt};
use crate::hooks::wall::{self, ProgramKind, ProgramPlace};
use crate::hooks::{prepare, workspace};
use crate::store::event::EndedAttempt;
use crate::store::lock::Lock;
use crate::store::{Event, WorkItem, WorkItemDir, work_item};

/// The most bytes that a program may write into the file of `ORANGE_OUTPUT`.
const LONGEST_OUTPUT: u64 = 64 * 1024;

/// An attempt whose program runs.
struct ProgramAttempt {
    projection: Projection,
    task: WorkItem,
    step: StepId,
    number: u32,
    /// Number of the record of its start, which names the file of its output.
    record: u64,
}

/// Runs the program of the next step and records its end, then brings the mission forward. Another process that runs it is left to it.
///
/// # Errors
/// Those of the store; `environment` when a process of the program survives.
pub fn run(app: &App, dir: &WorkItemDir) -> Result<()> {
    let Some((step, number, programs, lock)) = next(app, dir)? else { return Ok(()) };
    // Those of a program whose process was killed.
    programs.end()?;
    let ran = begin(app, dir, step, number)?.map(|attempt| attempt.run(app, dir));
    programs.unlock(lock)?;
    match ran {
        Some(ran) => ran.and_then(|()| advance::advance(app, dir)),
        None => Ok(()),
    }
}

/// The programs that may start now.
fn startable(projection: &Projection) -> Vec<(StepId, u32)> {
    let works = projection
        .mission
        .startable(projection.plan)
        .filter(|(step, _)| !projection.plan.step(*step).is_ask());
    works.filter(|(step, _)| projection.plan.step(*step).is_program()).collect()
}

/// The first attempt of a program that may start and that no other process has, with its lock.
fn next(app: &App, dir: &WorkItemDir) -> Result<Option<(StepId, u32, AttemptPrograms, Lock)>> {
    let projection = Projection::of(dir, &work_item::read_journal_last(dir, 0)?.history())?;
    for (step, number) in startable(&projection) {
        let programs = AttemptPrograms::of(dir, projection.plan, step, number);
        if let Some(lock) = programs.lock(app)? {
            return Ok(Some((step, number, programs, lock)));
        }
    }
    Ok(None)
}

/// Records the start of an attempt, if it may still start.
fn begin(app: &App, dir: &WorkItemDir, step: StepId, number: u32) -> Result<Option<ProgramAttempt>> {
    let mut mission = LockedMission::lock(app, dir)?;
    let projection = mission.projection.clone();
    if !startable(&projection).contains(&(step, number)) {
        return Ok(None);
    }
    // Its folder may be gone.
    let demand = projection.plan.demand_on(step);
    let ready = workspace::acquire(app, &mut mission.locked)
        .and_then(|_| wall::check_programs(app, mission.locked.task(), demand));
    let found = match ready.and_then(|()| readers::found(app, &mut mission, step)) {
        Ok(found) => found,
        Err(error) => return mission.obstruct(&error.one_line(), Vec::new()).map(|()| None),
    };
    let started = Event::StepStarted {
        step: projection.plan.step(step).id.to_owned(),
        attempt: number,
        worker: WORKER.to_owned(),
        spawn: mission.locked.history().agents.last_spawn + 1,
        found,
    };
    mission.record(started, Vec::new())?;
    fault::step("run", "the program of a step");
    let record = mission.locked.history().last_seq;
    Ok(Some(ProgramAttempt { projection, task: mission.locked.task().clone(), step, number, record }))
}

impl ProgramAttempt {
    /// Runs it, and records its end.
    fn run(self, app: &App, dir: &WorkItemDir) -> Result<()> {
        let ProgramAttempt { projection, task, step, number, record } = &self;
        let name = projection.plan.step(*step).id;
        let Some(slot) = task.worktree() else { return Ok(()) };
        let worktree = app.home.workspace(slot);
        let attempt = StepAttempt {
            plan: projection.plan,
            mission: &projection.mission,
            mission_prompt: &projection.prompt,
            step: *step,
            number: *number,
        };
        let argv = steps::argv(app, task, &attempt, projection.plan.step(*step).run)?;
        let commit = Git::at(&app.project_of(task)?.path).head(&worktree)?;
        let demand = projection.plan.demand_on(*step);
        let place = ProgramPlace { app, dir, task, folder: &worktree, kind: ProgramKind::Step, demand };
        let file = place.output(projection.plan.is_concurrent().then_some(*record))?;
        let ports = prepare::ports_of(app, task)?;
        let counted = work_item::read_journal_last(dir, 0)?.history().mission.counted(*number);
        let timeout = projection.plan.step(*step).timeout.unwrap_or(u32::MAX);
        let Some(run) = ProgramRun::of(&argv, timeout, place, *record) else { return Ok(()) };
        let run = run
            .envs(&prepare::variables(Some(slot), ports))
            .without(&app.denied(task)?)
            .env(variables::GATE, &AttemptPrograms::of(dir, projection.plan, *step, *number).mark)
            .env(variables::MISSION, &dir.id)
            .env(variables::STEP, name)
            .env(variables::ATTEMPT, &counted.to_string())
            .env(variables::OUTPUT, &file.to_string_lossy());
        let state = AttemptWatch::of(dir, *step, *number);
        let end = run.run(&|| state.is_open())?;
        let said = report(projection, *step, &end, output(&file));
        atomic::remove(&file)?;
        fault::step("report", "the program of a step");
        let mut mission = LockedMission::lock(app, dir)?;
        if !mission.projection.works_at(*step, *number) {
            return Ok(());
        }
        let own = OwnAttempt { step: name.to_owned(), attempt: *number };
        readers::look(app, &mut mission, &own.step, own.attempt)?;
        let ended = EndedAttempt { commit, ..attempt::ended(&own, said) };
        mission.record(Event::StepEnded(ended), Vec::new()).map(drop)
    }
}

/// The report that follows from the end of a program.
fn report(
    projection: &Projection,
    step: StepId,
    ended: &ProgramEnd,
    output: std::result::Result<ProgramOutput, String>,
) -> AttemptReport {
    let failure = ended.failure.as_ref().map(|it| it.message.clone()).unwrap_or_default();
    let outcome = ProgramOutcome { code: ended.code, failure: &failure, printed: &ended.output, output };
    match ProgramReport::of(projection.plan, step, outcome) {
        ProgramReport::Completed(report) => AttemptReport::Completed(report),
        ProgramReport::Failed(reason) => AttemptReport::Failed(reason),
    }
}

/// The output of a program; empty where it has written none.
fn output(file: &Path) -> std::result::Result<ProgramOutput, String> {
    let name = variables::OUTPUT;
    if nofollow::metadata(file).is_ok_and(|it| it.len() > LONGEST_OUTPUT) {
        return Err(format!("the file of {name} is longer than {} KiB", LONGEST_OUTPUT / 1024));
    }
    let text = match nofollow::read(file, LONGEST_OUTPUT) {
        Ok(text) => text,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(ProgramOutput::default()),
        Err(cause) => return Err(format!("the file of {name} cannot be read: {cause}")),
    };
    if text.iter().all(u8::is_ascii_whitespace) {
        return Ok(ProgramOutput::default());
    }
    serde_json::from_slice(&text)
        .map_err(|cause| format!("the file of {name} is not the JSON object of a report: {cause}"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn an_output_is_one_small_object() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("output");
        let read = |text: &str| {
            fs::write(&file, text).unwrap();
            output(&file)
        };
        assert_eq!(output(&folder.path().join("none")), Ok(ProgramOutput::default()));
        assert_eq!(read(" \n"), Ok(ProgramOutput::default()));
        let both = read(r#"{"result": "PASS", "summary": "3 of 3"}"#);
        assert_eq!(both.map(|it| (it.result, it.summary)), Ok((Some("PASS".into()), Some("3 of 3".into()))));
        for wrong in ["[]", "PASS", r#"{"result": 3}"#, r#"{"warnings": {"a": 3}}"#, r#"{"result": "a"} {}"#]
        {
            let error = read(wrong).unwrap_err();
            assert!(
                error.starts_with("the file of ORANGE_OUTPUT is not the JSON object"),
                "{wrong}: {error}"
            );
        }
        let long = read(&format!("{{\"summary\": \"{}\"}}", "x".repeat(64 * 1024)));
        assert_eq!(long, Err("the file of ORANGE_OUTPUT is longer than 64 KiB".to_owned()));
        #[cfg(unix)]
        {
            let link = folder.path().join("link");
            std::os::unix::fs::symlink(&file, &link).unwrap();
            assert!(output(&link).unwrap_err().contains("cannot be read"));
        }
    }
}
