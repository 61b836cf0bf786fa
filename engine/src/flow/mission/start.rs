//! Starts a mission.

use std::collections::BTreeMap;

use orange_core::Actor;
use orange_core::mission::MissionStatus;
use orange_core::plan::{self, Inputs, Plan, Policy, StepValue, WorktreeUse};

use super::advance;
use crate::app::App;
use crate::drive::git::Git;
use crate::flow::create::{admit, check_branch};
use crate::flow::foreign;
use crate::hooks::steps::{REVIEWER, check_switches};
use crate::store::create::{MISSIONS, NewSource};
use crate::store::projects::Project;
use crate::store::{self, WorkItemDir, WorkItemDraft};
use crate::{Error, ErrorKind, Result};
use orange_api::stored_plan;

/// The wishes of who starts a mission.
#[derive(Clone, Copy, Debug)]
pub struct MissionWishes<'a> {
    pub project: &'a Project,
    /// The step workflow.
    pub plan: &'a Plan<'a>,
    /// Work that it is to do.
    pub prompt: Option<&'a str>,
    /// The branch, if it has a name already.
    pub branch: Option<&'a str>,
    /// Pauses, if not those of the plan.
    pub policy: PolicyWishes,
    /// True if the agent that starts it gets messages, if the plan has them.
    pub notices: bool,
    /// Attempts of its steps that were made elsewhere before.
    pub attempts_before: u32,
    /// Values for its inputs, as `NAME=VALUE` has them; the plan's defaults are added.
    pub inputs: &'a [(String, String)],
    /// Origin, if the engine starts it by itself.
    pub source: Option<&'a NewSource>,
    /// The harness of steps that name none.
    pub harness: &'a str,
    /// The harness of steps of the role `reviewer` that name no harness.
    pub review_harness: &'a str,
}

/// Differences from the policy of the plan.
#[derive(Clone, Copy, Debug, Default)]
pub struct PolicyWishes {
    /// Mode with a pause after every step, or without.
    pub execution: Option<orange_core::plan::Execution>,
    /// At which ends of steps it pauses.
    pub intervene: Option<orange_core::plan::Intervene>,
}

/// A mission that was started.
#[derive(Debug)]
pub struct Started {
    pub dir: WorkItemDir,
    /// Hint for the person about the repository.
    pub hint: Option<String>,
}

/// Starts a mission: makes it, and starts its first agent if a worktree is free. It refuses what would make the mission
/// useless before the mission exists.
///
/// # Errors
/// `not_found` for an unknown harness; `usage` without a prompt that the steps use; `refused` for a branch that
/// is taken.
pub fn start(app: &App, new: MissionWishes<'_>) -> Result<Started> {
    check(app, new)?;
    let inputs = inputs(new)?;
    app.remember_environment(&new.project.name)?;
    let copy = stored_plan::write(new.plan)?;
    let draft = draft(app, new, copy, inputs, foreign::inherited(app)?);
    let locked = store::create_among(&app.home, &draft, &|kind, owned| app.is_done(kind, owned), |others| {
        admit(app, others)
    })?;
    let dir = locked.dir().clone();
    drop(locked);
    advance::advance_detached(app, &dir)?;
    Ok(Started { dir, hint: uncommitted(new.project)? })
}

/// The mission works in a worktree of its own, which has only what is committed.
fn uncommitted(project: &Project) -> Result<Option<String>> {
    let changes = Git::at(&project.path).changes(&project.path)?.len();
    let hint = format!(
        "{changes} uncommitted changes in {} are not in the mission's worktree",
        project.path.display()
    );
    Ok((changes > 0).then_some(hint))
}

fn check(app: &App, new: MissionWishes<'_>) -> Result<()> {
    let plan = new.plan;
    let wants_prompt = plan.steps.iter().any(|step| step.texts().any(|it| it.has(StepValue::MissionPrompt)));
    let is_empty = new.prompt.is_none_or(|prompt| prompt.trim().is_empty());
    if wants_prompt && is_empty {
        return Err(Error::new(ErrorKind::Usage, "the prompt is missing").help(format!(
            "say what is to be done: `orange mission start {} \"…\"`, or `-` for standard input",
            plan.name
        )));
    }
    for harness in plan.steps.iter().filter_map(|step| step.harness).chain([new.harness, new.review_harness])
    {
        app.harness(harness)?;
    }
    for step in plan.steps.iter().filter(|step| !step.is_program() && !step.is_ask()) {
        let is_reviewer = plan.role(step.role) == REVIEWER;
        let harness = step.harness.unwrap_or(if is_reviewer { new.review_harness } else { new.harness });
        check_switches(&app.harness(harness)?, step).map_err(|mut error| {
            error.message = format!("step {}: {}", step.id, error.message);
            error
        })?;
    }
    check_worktrees(plan)?;
    app.tmux.check()?;
    let git = Git::at(&new.project.path);
    git.check()?;
    match new.branch {
        Some(branch) => check_branch(new.project, branch)?,
        // Those in this folder differ by their ids.
        None => git.check_room_for(&format!("{MISSIONS}{}", plan.name)).map_err(|error| {
            error.help("give the mission another branch: `orange mission start … --branch NAME`")
        })?,
    }
    git.check_identity()
}

/// Refuses a plan with steps that work in worktrees of their own.
fn check_worktrees(plan: &Plan<'_>) -> Result<()> {
    match plan.steps.iter().find(|step| step.worktree == WorktreeUse::Own) {
        None => Ok(()),
        Some(step) => Err(Error::new(
            ErrorKind::Refused,
            format!("step {} asks for a worktree of its own, which this version cannot give", step.id),
        )
        .help("take `worktree = \"own\"` out, or use a version that has it")),
    }
}

/// The inputs of the mission, defaults added.
fn inputs(new: MissionWishes<'_>) -> Result<Inputs> {
    let plan = new.plan;
    let declared: Vec<_> = plan.inputs.iter().map(|it| (it.name, it.kind)).collect();
    let inputs = plan::given(&declared, new.inputs.iter().cloned()).and_then(|it| plan.start_inputs(it));
    inputs.map_err(|fault| {
        Error::new(ErrorKind::Usage, fault.words("input")).help(format!(
            "give each value with `--input NAME=VALUE`; `orange workflow show {}` lists them",
            plan.name
        ))
    })
}

fn draft(
    app: &App,
    new: MissionWishes<'_>,
    copy: Vec<u8>,
    inputs: Inputs,
    inherited: Option<NewSource>,
) -> WorkItemDraft {
    let plan = new.plan;
    let prompt = new.prompt.unwrap_or_default();
    let first_line = prompt.trim().lines().next().unwrap_or_default();
    let policy = Policy {
        execution: new.policy.execution.unwrap_or(plan.policy.execution),
        intervene: new.policy.intervene.unwrap_or(plan.policy.intervene),
    };
    WorkItemDraft {
        project: new.project.name.clone(),
        branch: new.branch.map(str::to_owned),
        base: None,
        parent: None,
        summary: first_line.to_owned(),
        harness: new.harness.to_owned(),
        review_harness: new.review_harness.to_owned(),
        workflow: plan.name.to_owned(),
        definition: plan.source_hash.to_owned(),
        status: MissionStatus::Pending.as_str().to_owned(),
        counters: BTreeMap::new(),
        body: format!("\n{}\n", prompt.trim()),
        actor: new.source.map_or_else(|| app.caller.actor(), |_| Actor::Engine).into(),
        creator: app.caller.task().map(str::to_owned),
        priority: 0,
        blocked_by: Vec::new(),
        budget: None,
        source: new.source.cloned().or(inherited),
        mission: Some(store::create::NewMission {
            plan: copy,
            prompt: prompt.to_owned(),
            execution: policy.execution.as_str().to_owned(),
            intervene: policy.intervene.as_str().to_owned(),
            notices: new.notices && plan.notices,
            attempts_before: new.attempts_before,
            inputs,
            creator_spawn: app.caller.spawn(),
        }),
    }
}
