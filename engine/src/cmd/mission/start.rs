//! `orange mission start`

use std::borrow::Cow;

use crate::Result;
use crate::app::App;
use crate::cmd::answer::CommandAnswer;
use crate::cmd::args::StartArgs;
use crate::cmd::mission::changed;
use crate::cmd::{project, stdin};
use crate::flow::mission::start::{MissionWishes, PolicyWishes, Started, start};
use crate::store::effective::effective;

pub fn run(app: &App, args: &StartArgs) -> Result<CommandAnswer> {
    let project = project::named_or_here(app, args.project.as_deref())?;
    let prompt: Option<Cow<'_, str>> =
        args.prompt.as_deref().map(|prompt| stdin::or_text(prompt, "the prompt")).transpose()?;
    let settings = effective(&app.home, &project)?;
    let new = MissionWishes {
        project: &project,
        plan: app.machines.plan(&args.workflow)?,
        prompt: prompt.as_deref(),
        branch: args.branch.as_deref(),
        policy: PolicyWishes { execution: args.policy.execution, intervene: args.policy.intervene },
        notices: !args.no_notices,
        attempts_before: 0,
        inputs: &args.inputs,
        source: None,
        harness: args.harness.as_deref().unwrap_or(settings.worker()),
        review_harness: args.review_harness.as_deref().unwrap_or(settings.reviewer()),
    };
    let Started { dir, hint } = start(app, new)?;
    let hints = [hint, settings.trust.warning(&project.name)];
    let hint: String = hints.into_iter().flatten().map(|hint| format!("; {hint}")).collect();
    changed(
        app,
        &dir,
        &format!("started{hint}; `orange mission watch {}` shows what happens", dir.id),
        Vec::new(),
    )
}
