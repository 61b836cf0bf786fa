//! Gates of a step: programs and files that are checked before the report of its agent counts.

use std::io;
use std::path::Path;

use orange_core::plan::{FileFault, StepGate, StepId};
use orange_system::{nofollow, variables};

use super::open_attempt::AttemptWatch;
use super::program::AttemptPrograms;
use super::{LockedMission, Projection};
use crate::app::App;
use crate::hooks::prepare;
use crate::hooks::program::{ProgramEnd, ProgramRun};
use crate::hooks::steps::{self, StepAttempt};
use crate::hooks::wall::{ProgramKind, ProgramPlace};
use crate::store::event::StepEnd;
use crate::store::{Event, WorkItem, WorkItemDir};
use crate::{Error, ErrorKind, Result};

/// The longest file in which a gate looks for a text.
const LONGEST_FILE: u64 = 4 * 1024 * 1024;

/// The gates of an attempt whose report would count without them.
pub(super) struct DueGates {
    projection: Projection,
    task: WorkItem,
    step: StepId,
    number: u32,
    /// Number of the record of its start, which names the file of a long output.
    record: u64,
}

/// The gates that this event has to pass; `None` where it has none, says no completion, or was recorded before.
///
/// # Errors
/// Those of [`LockedMission::record`], so that a report which is refused anyway runs no program.
pub(super) fn due(mission: &LockedMission, event: &Event) -> Result<Option<DueGates>> {
    let Event::StepEnded(ended) = event else { return Ok(None) };
    let projection = &mission.projection;
    let Some(step) = projection.plan.step_named(&ended.step) else { return Ok(None) };
    let is_gated = ended.end == StepEnd::Completed && !projection.plan.step(step).gates.is_empty();
    if !is_gated || mission.following(event)? == projection.mission {
        return Ok(None);
    }
    Ok(Some(DueGates {
        projection: projection.clone(),
        task: mission.locked.task().clone(),
        step,
        number: ended.attempt,
        record: mission.locked.history().mission.start_of(&ended.step, ended.attempt).map_or(0, |it| it.seq),
    }))
}

impl DueGates {
    /// Checks them all, without the mission's lock.
    ///
    /// # Errors
    /// `refused` with what each gate lacks that says no, or while another report of the attempt is at its gates.
    pub(super) fn check(&self, app: &App, dir: &WorkItemDir) -> Result<()> {
        let programs = self.programs(dir);
        let Some(lock) = programs.lock(app)? else {
            let message = "another report of this attempt is at its gates; nothing was recorded";
            return Err(Error::new(ErrorKind::Refused, message).help("wait for its answer"));
        };
        // Those of a report whose process was killed.
        programs.end()?;
        let lacks = self.lacks(app, dir);
        programs.unlock(lock)?;
        let lacks = lacks?;
        if lacks.is_empty() {
            return Ok(());
        }
        let count = match lacks.len() {
            1 => "a gate says".to_owned(),
            several => format!("{several} gates say"),
        };
        let step = self.projection.plan.step(self.step).id;
        let message =
            format!("{count} no to the report of step {step}; nothing was recorded\n{}", lacks.join("\n"));
        Err(Error::new(ErrorKind::Refused, message)
            .help("mend that and report again; `orange step fail --reason -` gives up"))
    }

    /// The lacks of each gate that says no; nothing once the attempt is over.
    fn lacks(&self, app: &App, dir: &WorkItemDir) -> Result<Vec<String>> {
        let Some(slot) = self.task.worktree() else {
            return Ok(vec!["the mission has no worktree to look into".to_owned()]);
        };
        let worktree = app.home.workspace(slot);
        let watch = AttemptWatch::of(dir, self.step, self.number);
        let mut lacks = Vec::new();
        for gate in self.projection.plan.step(self.step).gates {
            if !watch.is_open() {
                return Ok(Vec::new());
            }
            lacks.extend(match gate {
                StepGate::File { file, contains } => {
                    look_into(&worktree, file, contains).map(|it| it.words(file, contains))
                }
                StepGate::Program { run, timeout } => {
                    let argv = steps::argv(app, &self.task, &self.attempt(), run)?;
                    let end = self.run(app, dir, &worktree, &argv, *timeout, &watch)?;
                    match &end {
                        Some(end) => no_of(&argv, end),
                        None => Some("a gate has no program".to_owned()),
                    }
                }
            });
        }
        // The core then says why the report is refused.
        Ok(if watch.is_open() { lacks } else { Vec::new() })
    }

    fn programs(&self, dir: &WorkItemDir) -> AttemptPrograms {
        AttemptPrograms::of(dir, self.projection.plan, self.step, self.number)
    }

    fn attempt(&self) -> StepAttempt<'_> {
        StepAttempt {
            plan: self.projection.plan,
            mission: &self.projection.mission,
            mission_prompt: &self.projection.prompt,
            step: self.step,
            number: self.number,
        }
    }

    fn run(
        &self,
        app: &App,
        dir: &WorkItemDir,
        worktree: &Path,
        argv: &[String],
        timeout: u32,
        watch: &AttemptWatch<'_>,
    ) -> Result<Option<ProgramEnd>> {
        let ports = prepare::ports_of(app, &self.task)?;
        let slot = self.task.worktree().map(|name| &**name);
        let place = ProgramPlace {
            app,
            dir,
            task: &self.task,
            folder: worktree,
            kind: ProgramKind::Worktree,
            demand: self.projection.plan.demand_on(self.step),
        };
        let Some(run) = ProgramRun::of(argv, timeout, place, self.record) else { return Ok(None) };
        run.envs(&prepare::variables(slot, ports))
            .without(&app.denied(&self.task)?)
            .env(variables::GATE, &self.programs(dir).mark)
            .env(variables::MISSION, &dir.id)
            .env(variables::STEP, self.projection.plan.step(self.step).id)
            .run(&|| watch.is_open())
            .map(Some)
    }
}

/// The words of a program that says no, with what it printed.
fn no_of(argv: &[String], end: &ProgramEnd) -> Option<String> {
    let failure = end.failure.as_ref()?;
    let name = argv.join(" ");
    Some(match (end.code, end.output.trim()) {
        (Some(code), "") => format!("`{name}` ended with status {code} and printed nothing"),
        (Some(code), output) => format!("`{name}` ended with status {code}:\n{output}"),
        (None, "") => failure.message.to_string(),
        (None, output) => format!("{}\n{output}", failure.message),
    })
}

/// The fault of a file that a gate asks for; `None` of one as it has to be.
fn look_into(worktree: &Path, file: &str, contains: &str) -> Option<FileFault> {
    let unreadable = |cause: io::Error| {
        let is_missing = cause.kind() == io::ErrorKind::NotFound;
        if is_missing { FileFault::Missing } else { FileFault::Unreadable(cause.to_string()) }
    };
    let path = worktree.join(file);
    let is_inside = match (path.canonicalize(), worktree.canonicalize()) {
        (Ok(path), Ok(worktree)) => path.starts_with(worktree),
        (Err(cause), _) | (_, Err(cause)) => return Some(unreadable(cause)),
    };
    if !is_inside {
        return Some(FileFault::Unreadable("a link leads out of the worktree".to_owned()));
    }
    let text = match nofollow::read_linked(&path, LONGEST_FILE) {
        Ok(text) => text,
        Err(cause) => return Some(unreadable(cause)),
    };
    let has = |text: &[u8], part: &[u8]| part.is_empty() || text.windows(part.len()).any(|it| it == part);
    (!has(&text, contains.as_bytes())).then_some(FileFault::Lacks)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_is_there_and_contains_a_text() {
        let folder = tempfile::tempdir().unwrap();
        let worktree = folder.path().join("w");
        fs::create_dir_all(worktree.join("sub")).unwrap();
        fs::write(worktree.join("NOTES.md"), "# Notes\n## Cause\nA typo.\n").unwrap();
        fs::write(folder.path().join("outside"), "## Cause").unwrap();
        let look = |file: &str, contains: &str| look_into(&worktree, file, contains);
        assert_eq!(look("NOTES.md", "## Cause"), None);
        assert_eq!(look("./NOTES.md", ""), None);
        assert_eq!(look("NOTES.md", "## Causes"), Some(FileFault::Lacks));
        assert_eq!(look("notes", ""), Some(FileFault::Missing));
        assert!(matches!(look("sub", ""), Some(FileFault::Unreadable(_))));
        #[cfg(unix)]
        {
            use std::os::unix::fs::symlink;
            symlink(folder.path().join("outside"), worktree.join("link")).unwrap();
            symlink(folder.path(), worktree.join("up")).unwrap();
            symlink("NOTES.md", worktree.join("inside")).unwrap();
            for out in ["link", "up/outside"] {
                let found = look(out, "## Cause");
                assert!(matches!(found, Some(FileFault::Unreadable(_))), "{out}: {found:?}");
            }
            assert_eq!(look("inside", "## Cause"), None);
        }
    }
}
