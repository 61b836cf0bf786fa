//! Runs the programs that gates ask about the result of a merge, before a branch moves. They run in a checkout of their own, which is
//! removed afterwards, and which gets what worktrees of the project get.

use std::path::Path;

use orange_core::Program;
use orange_system::process::{self, ProcessRoot};
use orange_system::{fault, variables};

use crate::app::App;
use crate::drive::git::Git;
use crate::hooks::given::{self, Means};
use crate::hooks::prepare;
use crate::hooks::program::{ProgramEnd, ProgramRun};
use crate::hooks::wall::{self, ProgramKind, ProgramPlace};
use crate::store::effective::{Effective, effective};
use crate::store::projects::Project;
use crate::store::{Event, LockedWorkItem, Set};
use crate::{Error, ErrorKind, Result};

/// Runs these programs on the commit of a merge. One that has succeeded on the same files does not run again.
///
/// # Errors
/// `gate_failed` for a program that fails; `environment` if the checkout cannot be made or prepared.
pub fn check(
    app: &App,
    locked: &mut LockedWorkItem,
    project: &Project,
    commit: &str,
    programs: &[Program<'_>],
) -> Result<()> {
    let git = Git::at(&project.path);
    let tree = git.tree_of(commit)?;
    let has_passed = |program: &Program<'_>| {
        let mut checked = locked.history().branch.checked_results.iter();
        checked.any(|it| it.tree == tree && it.argv == program.argv)
    };
    let open: Vec<&Program<'_>> = programs.iter().filter(|program| !has_passed(program)).collect();
    if open.is_empty() {
        return Ok(());
    }
    let checkout = locked.dir().merge_result();
    if checkout.symlink_metadata().is_ok() {
        // It is left of a merge that was killed, and perhaps a program is.
        process::end(&[ProcessRoot::Gate(locked.dir().id.clone())])?;
    }
    git.remove_checkout(&checkout)?;
    // A home that a program of an earlier result has changed judges nothing.
    ProgramKind::MergeResult.forget(locked.dir())?;
    fault::step("check out", "the result of the merge");
    git.add_checkout(&checkout, commit)?;
    let settings = effective(&app.home, project)?;
    let checked = prepare(app, locked, project, &settings, &checkout).and_then(|()| {
        open.iter().try_for_each(|program| ask(app, locked, &checkout, program, commit, &tree))
    });
    let removed = git.remove_checkout(&checkout);
    checked.and(removed)
}

fn prepare(
    app: &App,
    locked: &LockedWorkItem,
    project: &Project,
    settings: &Effective,
    checkout: &Path,
) -> Result<()> {
    let copies = settings.copy.value.iter().map(|path| (path, Means::Copy));
    let links = settings.link.value.iter().map(|path| (path, Means::Link));
    copies.chain(links).try_for_each(|(path, means)| given::lend(&project.path, checkout, path, means))?;
    for program in &settings.setup.value {
        let ProgramEnd { failure, .. } = run(app, locked, checkout, &program.argv, program.timeout)?;
        if let Some(failure) = failure {
            let message = format!("the result of the merge is not prepared: {}", failure.message);
            return Err(Error::new(ErrorKind::Environment, message).help(format!(
                "mend what `{}` needs, then merge again; nothing was merged",
                program.argv.join(" ")
            )));
        }
    }
    Ok(())
}

fn ask(
    app: &App,
    locked: &mut LockedWorkItem,
    checkout: &Path,
    program: &Program<'_>,
    commit: &str,
    tree: &str,
) -> Result<()> {
    let argv: Vec<String> = program.argv.iter().map(|word| (*word).to_owned()).collect();
    let ProgramEnd { code, output, file, failure } = run(app, locked, checkout, &argv, program.timeout)?;
    let whole = file.as_ref().map(|file| format!(" (all of it: {file} in the task's folder)"));
    let error = failure.map(|failure| format!("{}{}", failure.message, whole.unwrap_or_default()));
    let checked = Event::MergeChecked {
        argv,
        commit: commit.to_owned(),
        tree: tree.to_owned(),
        code,
        output,
        file,
        error: error.clone(),
    };
    fault::step("record", "the check of a merge");
    locked.append(checked, Set::new())?;
    let Some(error) = error else { return Ok(()) };
    let message = format!("the result of the merge does not pass: {error}");
    Err(Error::new(ErrorKind::GateFailed, message).help(format!(
        "nothing was merged: mend what `{program}` has found on the branch, perhaps after `orange task sync {}`, then merge again",
        locked.dir().id
    )))
}

fn run(
    app: &App,
    locked: &LockedWorkItem,
    checkout: &Path,
    argv: &[String],
    timeout: u32,
) -> Result<ProgramEnd> {
    let id = &locked.dir().id;
    let argv = prepare::with_port(argv, None)?;
    app.progress.step(&argv.join(" "));
    fault::step("run", argv.join(" "));
    let number = locked.history().last_seq + 1;
    let place = ProgramPlace {
        app,
        dir: locked.dir(),
        task: locked.task(),
        folder: checkout,
        kind: ProgramKind::MergeResult,
        demand: wall::demand_on_programs(app, locked.dir(), locked.task(), locked.history())?,
    };
    let run = ProgramRun::of(&argv, timeout, place, number)
        .ok_or_else(|| Error::new(ErrorKind::Usage, "a program without a name"))?;
    // It is not a person: `orange` takes what it asks for as an agent's wish.
    let run = run.env(variables::GATE, id).env(variables::TASK, id).env(variables::ACTOR, "worker");
    run.envs(&prepare::variables(None, None)).without(&app.denied(locked.task())?).run(&|| true)
}
