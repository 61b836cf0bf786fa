//! `orange task merge`, `orange task sync` and `orange task create-pr`

use super::cancel::confirm;
use crate::app::App;
use crate::caller::Caller;
use crate::cmd::args::MergeArgs;
use crate::flow::merge::{MergeWish, merge, unmerged, would_merge};
use crate::flow::refusal::short;
use crate::flow::request::transition_result;
use crate::flow::sync::{self, SyncWish};
use crate::flow::written::WrittenMessage;
use crate::flow::{self, activity};
use crate::store::{WorkItem, WorkItemDir};
use crate::{Error, ErrorKind, Result};
use orange_api::{Merged, OpenedPullRequest, StatusChange, Success, Synced, TransitionResult};

/// Merges a task's branch and finishes the task.
pub fn run(app: &App, dir: &WorkItemDir, args: &MergeArgs, as_json: bool) -> Result<(Merged, String)> {
    let MergeArgs { strategy, keep, no_keep, local, force, yes, dry_run, push, no_push, .. } = *args;
    let MergeArgs { edit, remote_only, by_forge, .. } = *args;
    if force && !yes && !dry_run && app.caller == Caller::Person {
        confirm_ends(app, dir, as_json)?;
    }
    let push = (push || no_push).then_some(push);
    let keep = (keep || no_keep).then_some(keep);
    let (into, message) = (args.into.as_deref(), args.message.as_deref());
    let wish = MergeWish {
        strategy,
        into,
        message,
        push,
        keep,
        local,
        by_forge,
        remote_only,
        force,
        is_for_parent: false,
        has_whole_message: false,
    };
    let merged = match dry_run {
        true => would_merge(app, dir, wish)?,
        false if edit => merge_edited(app, dir, wish)?,
        false => merge(app, dir, wish)?,
    };
    let Merged { result, branch, into, strategy, pushed, commit, message, kept: _, queued, hints } = &merged;
    let at = commit.as_deref().map(|commit| format!(", {}", short(commit))).unwrap_or_default();
    let then = match (pushed, remote_only) {
        (true, true) => "; only on the remote",
        (true, false) => "; pushed",
        (false, _) => "",
    };
    let verb = match (dry_run, queued) {
        (true, _) => "would merge",
        (false, true) => "the forge merges",
        (false, false) => "merged",
    };
    let message = message.as_deref().map(|text| format!("\nits message:\n{}", indented(text)));
    let hints: String = hints.iter().map(|hint| format!("\n{hint}")).collect();
    let text = format!(
        "{}\n{verb} {branch} into {into} ({strategy}{at}){then}{}{hints}",
        transition_result::text(result),
        message.unwrap_or_default()
    );
    Ok((merged, text))
}

/// Merges with a message that a person writes in an editor. A text whose merge fails stays.
fn merge_edited(app: &App, dir: &WorkItemDir, wish: MergeWish<'_>) -> Result<Merged> {
    let Some(planned) = would_merge(app, dir, wish)?.message else {
        return Err(Error::new(
            ErrorKind::Usage,
            "this merge has no message to edit: it makes no commit of its own, or goes on with one that was begun",
        )
        .help("leave --edit out, use `--strategy squash` or `--strategy merge`, or write it with --message"));
    };
    let WrittenMessage { text, file } = WrittenMessage::read(app, &planned)?;
    let wish = MergeWish { message: Some(&text), has_whole_message: true, ..wish };
    let merged = merge(app, dir, wish).map_err(|error| file.kept(error))?;
    file.forget()?;
    Ok(merged)
}

fn indented(text: &str) -> String {
    let lines = text.trim_end().lines().map(|line| format!("  {line}"));
    lines.map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// Brings a task's branch up to its base.
pub fn sync(app: &App, dir: &WorkItemDir, wish: SyncWish) -> Result<(Synced, String)> {
    let dry_run = wish.dry_run;
    let synced = sync::sync(app, dir, wish)?;
    let Synced { branch, base, strategy, from, commit, backup, pushed, .. } = &synced;
    if let Some((conflict, returned)) = synced.conflict.as_ref().zip(synced.returned.as_ref()) {
        let verb = if dry_run { "its agent would resolve that" } else { "its agent resolves that" };
        let text = format!("{}\n{conflict}: {verb}", transition_result::text(returned));
        return Ok((synced, text));
    }
    if from == commit {
        let text = format!("{branch} has everything of {base}");
        return Ok((synced, text));
    }
    let verb = if dry_run { "would bring" } else { "brought" };
    let then = if *pushed { "; pushed" } else { "" };
    let kept = backup.as_deref().map(|kept| format!("\nthe commits before are in {kept}"));
    let text = format!(
        "{verb} {branch} up to {base} ({strategy}, {} → {}){then}{}",
        short(from),
        short(commit),
        kept.unwrap_or_default()
    );
    Ok((synced, text))
}

/// Asks before a merge that ends living agents: work without a review may still have some.
fn confirm_ends(app: &App, dir: &WorkItemDir, as_json: bool) -> Result<()> {
    let (task, journal) = WorkItem::read(&app.home, dir)?;
    let agents = activity::of_task(app, dir, &task, &journal.history(), || app.tmux.panes().ok());
    let agents: Vec<_> =
        agents.iter().map(|agent| format!("agent {} ({})", agent.spawn, agent.actor)).collect();
    if agents.is_empty() {
        return Ok(());
    }
    confirm(app, dir, &format!("End {} and merge", agents.join(" and ")), &task, as_json)
}

/// The answer to a transition. A transition to the status of merged tasks says if the branch is not merged.
pub fn transition_answer(app: &App, dir: &WorkItemDir, result: TransitionResult) -> (StatusChange, String) {
    let hint = unmerged(app, dir, &result.to);
    let text =
        [transition_result::text(&result)].into_iter().chain(hint.clone()).collect::<Vec<_>>().join("\n");
    let merged = hint.as_ref().map(|_| false);
    (StatusChange { result, merged, hints: hint.into_iter().collect() }, text)
}

/// Opens a pull request for a task, or finds the one that is open.
pub fn create_pr(app: &App, dir: &WorkItemDir, dry_run: bool) -> Result<(OpenedPullRequest, String)> {
    if dry_run {
        let pr_url = flow::would_create_pr(app, dir)?;
        let (id, created) = (dir.id.clone(), pr_url.is_none());
        let text = pr_url.clone().unwrap_or_else(|| "would open a pull request".to_owned());
        let opened = OpenedPullRequest { success: Success, id, pr_url, created, template: None, dry_run };
        return Ok((opened, text));
    }
    let opened = flow::create_pr(app, dir)?;
    let (url, is_new, template) = (opened.url, opened.is_new, opened.template);
    let mut text = url.clone();
    if !is_new {
        text += "  (it was open already)";
    }
    if let Some(template) = template.as_ref().filter(|template| !template.others.is_empty()) {
        text += &format!("\ntemplate: {}; there is also {}", template.path, template.others.join(", "));
    }
    let template = template.map(|template| template.path);
    Ok((
        OpenedPullRequest {
            success: Success,
            id: dir.id.clone(),
            pr_url: Some(url),
            created: is_new,
            template,
            dry_run,
        },
        text,
    ))
}
