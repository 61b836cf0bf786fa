//! The work about which a gate accepts a verdict, and its changes since then.

use orange_core::{Machine, SectionGate, WorkSince, fingerprint, section};

use crate::Result;
use crate::app::App;
use crate::drive::git::{self, Git};
use crate::hooks::imported;
use crate::store::event::Pass;
use crate::store::{WorkItem, WorkItemHistory};

/// The commit of a task's work, and a hash of its changes since the base; nothing of a task without commits of its own.
pub fn work(app: &App, task: &WorkItem) -> Result<(Option<String>, Option<String>)> {
    let project = app.project_of(task)?;
    let git = Git::at(&project.path);
    let Some(commit) = tip(app, &git, task)? else { return Ok((None, None)) };
    let patch = git.compare_commit(&commit, &project.default_branch, None)?.patch_hash()?;
    Ok((Some(commit), Some(patch)))
}

/// Changes of the work since the verdicts that stand in a text and that gates in this state want to be about the present work, by section.
pub fn since<'t>(
    app: &App,
    machine: &Machine<'_>,
    task: &WorkItem,
    history: &'t WorkItemHistory,
) -> Result<Vec<(&'t str, WorkSince)>> {
    let Some(status) = machine.state_named(task.status()) else { return Ok(Vec::new()) };
    let stands = |gate: &SectionGate<'_>| {
        let pass = history.gates.passes.get(gate.section).filter(|_| gate.of.is_some())?;
        let content = section(&task.body, gate.section)?;
        (Pass::hash_of(fingerprint(content)) == pass.hash).then_some(pass)
    };
    let gates = machine.gates_of(status).flat_map(|gate| gate.sections());
    let mut passes: Vec<&'t Pass> = Vec::new();
    for pass in gates.filter_map(stands) {
        if !passes.contains(&pass) {
            passes.push(pass);
        }
    }
    passes.into_iter().map(|pass| Ok((pass.section.as_str(), since_pass(app, task, pass)?))).collect()
}

fn since_pass(app: &App, task: &WorkItem, pass: &Pass) -> Result<WorkSince> {
    let project = app.project_of(task)?;
    let git = Git::at(&project.path);
    let (Some(before), Some(now)) = (pass.commit.as_deref(), tip(app, &git, task)?) else {
        return Ok(WorkSince::Unknown);
    };
    if before == now {
        return Ok(WorkSince::Same);
    }
    let work = git.compare_commit(&now, &project.default_branch, None)?;
    // Work that is part of its base was merged, and has no patch any more.
    if work.base == now {
        return Ok(WorkSince::Same);
    }
    let has_same_patch = match &pass.patch {
        Some(patch) => *patch == work.patch_hash()?,
        None => false,
    };
    Ok(WorkSince::Changed { has_same_patch, commits: git.commits_since(before, &now)? })
}

fn tip(app: &App, git: &Git, task: &WorkItem) -> Result<Option<String>> {
    imported::look(app, task);
    match task.worktree() {
        Some(name) => git::stands_on(&app.home.workspace(name)),
        None => git.branch_tip(&task.branch),
    }
}
