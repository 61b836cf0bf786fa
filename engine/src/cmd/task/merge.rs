//! `orange task merge` and `orange task create-pr`

use serde_json::json;

use crate::cmd::answer::Answer;
use crate::cmd::args::MergeArgs;
use crate::flow::merge::{Merged, Wish, merge};
use crate::flow::settled;
use crate::flow::snapshot::status_of;
use crate::hooks::pull_request;
use crate::orange::Orange;
use crate::store::TaskDir;
use crate::{Error, Kind, Result};

/// Merges a task's branch and finishes the task.
pub fn run(orange: &Orange, dir: &TaskDir, args: &MergeArgs) -> Result<Answer> {
    let MergeArgs { strategy, local, force, .. } = *args;
    let Merged { moved, pushed, commit } = merge(orange, dir, Wish { strategy, local, force })?;
    let mut json = moved.json();
    json["pushed"] = pushed.into();
    json["commit"] = commit.into();
    Ok(Answer::new(json, moved.text()))
}

/// Opens a pull request for a task, or finds the one that is open.
pub fn create_pr(orange: &Orange, dir: &TaskDir) -> Result<Answer> {
    orange.caller.check_person("open a pull request")?;
    let mut open = settled(orange, dir)?;
    let machine = orange.machine_of(&open.task().owned)?;
    if machine.state(status_of(machine, open.task())?).terminal {
        return Err(Error::new(Kind::Refused, format!("the task is over: it is {}", open.task().status()))
            .help("create a new task for what is still to be done"));
    }
    let opened = pull_request::open(orange, &mut open)?;
    let template = opened.template.as_ref();
    let json = json!({
        "success": true,
        "id": dir.id,
        "pr_url": opened.url,
        "created": opened.is_new,
        "template": template.map(|template| &template.path),
    });
    let mut text = opened.url.clone();
    if !opened.is_new {
        text += "  (it was open already)";
    }
    if let Some(template) = template.filter(|template| !template.others.is_empty()) {
        text += &format!("\ntemplate: {}; there is also {}", template.path, template.others.join(", "));
    }
    Ok(Answer::new(json, text))
}
