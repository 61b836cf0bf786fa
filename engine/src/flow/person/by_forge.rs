//! The pull request of a task at its merge: merged already, or by its forge now.

use std::thread;
use std::time::{Duration, Instant};

use orange_api::SettingOrigin;
use orange_core::Program;
use orange_core::forge::{AskedMerge, ForgeMergeCourse};
use orange_journal::history::AskedAnswer;
use orange_system::fault;

use crate::app::App;
use crate::drive::forge::{Forge, ForgeMerge, ForgeMergeState, MergeRules, PrState, PullRequest};
use crate::drive::git::{Git, MergeForm, REMOTE, Strategy};
use crate::flow::person::merge_advice::advised;
use crate::flow::person::merge_message;
use crate::hooks;
use crate::store::effective::Sourced;
use crate::store::projects::Project;
use crate::store::{Event, LockedWorkItem, Set, WorkItem, WorkItemHistory, event};
use crate::{Error, ErrorKind, Result};

/// The time for which a merge is followed; then the monitor follows it.
const PATIENCE: Duration = Duration::from_secs(60);

/// The time between two questions about a merge.
const PAUSE: Duration = Duration::from_secs(1);

/// The task's pull request, if it is merged; an open or closed one is an error.
pub(super) fn pull_request(app: &App, locked: &mut LockedWorkItem) -> Result<Option<PullRequest>> {
    let forge = app.forge_of(&app.project_of(locked.task())?)?;
    let pr = ask(app, locked, &forge).map_err(|error| {
        let help = format!("{}; or merge here with --local", error.help);
        error.help(help)
    })?;
    merged_one(&forge, pr)
}

pub(super) fn asked_if_merged(app: &App, task: &WorkItem) -> Result<Option<PullRequest>> {
    let forge = app.forge_of(&app.project_of(task)?)?;
    merged_one(&forge, asked_without_a_note(app, task, &forge)?)
}

fn merged_one(forge: &Forge, pr: Option<PullRequest>) -> Result<Option<PullRequest>> {
    let Some(pr) = pr else { return Ok(None) };
    let url = &pr.url;
    match pr.state {
        PrState::Merged => Ok(Some(pr)),
        PrState::Open => {
            Err(Error::new(ErrorKind::Refused, format!("the task's pull request is open: {url}")).help(
                format!(
                    "have {} merge it with --by-forge, or merge it there (`{}`) and repeat this; or merge here with --local",
                    forge.name(),
                    forge.merge_command(url)
                ),
            ))
        }
        PrState::Closed => Err(closed(url)),
    }
}

/// The forge's answer about the task's pull request, or about the one of its branch, which then becomes the task's.
fn ask(app: &App, locked: &mut LockedWorkItem, forge: &Forge) -> Result<Option<PullRequest>> {
    let found = asked_without_a_note(app, locked.task(), forge)?;
    if let Some(pr) = found.as_ref().filter(|_| locked.task().pr_url.is_none()) {
        hooks::pull_request::keep(locked, &pr.url)?;
    }
    Ok(found)
}

fn asked_without_a_note(app: &App, task: &WorkItem, forge: &Forge) -> Result<Option<PullRequest>> {
    if let Some(url) = &task.pr_url {
        app.progress.step(&format!("asking {} about {url}", forge.name()));
        return forge.view(url).map(Some);
    }
    app.progress.step(&format!("asking {} about {}", forge.name(), task.branch));
    hooks::pull_request::find(app, forge, task)
}

/// The end of a merge that the forge was asked for.
pub(super) enum ForgeMergeEnd {
    /// The pull request is merged.
    Merged(PullRequest),
    /// The forge has accepted the merge and has not made it yet.
    Queued,
}

/// A merge by the forge, as the caller and the project want it.
#[derive(Clone, Copy)]
pub(super) struct WantedMerge<'w> {
    pub project: &'w Project,
    pub into: &'w str,
    pub strategy: Strategy,
    /// The message of the commit that the merge makes, if the caller gives one.
    pub message: Option<&'w str>,
    /// True if the message is the text of the pull request, unless the caller gives one.
    pub has_text: bool,
}

/// The strategy of a merge by the forge: one that was chosen, or else what the repository offers first.
pub(super) fn wanted_strategy(asked: Option<Strategy>, setting: &Sourced<Strategy>) -> Strategy {
    let is_chosen = setting.source != SettingOrigin::Default;
    asked.or(is_chosen.then_some(setting.value)).unwrap_or(Strategy::Auto)
}

/// Has the forge merge the task's open pull request. It can be repeated after a failure at any point: the forge merges once.
///
/// # Errors
/// `refused` without an open pull request, while the branch has work that the pull request lacks, and if the forge refuses.
pub(super) fn merge(
    app: &App,
    locked: &mut LockedWorkItem,
    wanted: WantedMerge<'_>,
    programs: &[Program<'_>],
) -> Result<ForgeMergeEnd> {
    let forge = app.forge_of(wanted.project)?;
    forge.check(app.path())?;
    let found = ask(app, locked, &forge)?;
    let pr = open_one(locked.task(), found)?;
    if pr.state == PrState::Merged {
        return Ok(ForgeMergeEnd::Merged(pr));
    }
    let commit = check_published(app, locked.task(), wanted.project)?;
    let url = pr.url.clone();
    let state = match course(locked.history(), &url, &commit) {
        Some(id) => forge.merge_state(&url, &id, &commit)?,
        None => None,
    };
    let state = match state {
        Some(state) => state,
        None => {
            check_result(app, locked, wanted, programs)?;
            begin(app, locked, &forge, &url, &commit, wanted)?
        }
    };
    follow(app, locked, &forge, pr, &commit, state)
}

/// Dry run of [`merge`]: the pull request that the forge would merge, or has merged. It asks no repository for its rules.
pub(super) fn would_merge(app: &App, task: &WorkItem, project: &Project) -> Result<PullRequest> {
    let forge = app.forge_of(project)?;
    forge.check(app.path())?;
    let pr = open_one(task, asked_without_a_note(app, task, &forge)?)?;
    if pr.state == PrState::Open {
        check_published(app, task, project)?;
    }
    Ok(pr)
}

/// The pull request that is to be merged, or is merged.
fn open_one(task: &WorkItem, pr: Option<PullRequest>) -> Result<PullRequest> {
    match pr {
        Some(pr) if pr.state != PrState::Closed => Ok(pr),
        Some(pr) => Err(closed(&pr.url)),
        None => {
            Err(Error::new(ErrorKind::Refused, format!("{} has no pull request", task.branch)).help(format!(
                "open one with `orange task create-pr {}`, or leave --by-forge out to merge here",
                task.id
            )))
        }
    }
}

/// The commit of the branch; refused if the remote has another one, and while the worktree has uncommitted work.
fn check_published(app: &App, task: &WorkItem, project: &Project) -> Result<String> {
    let (git, branch) = (Git::at(&project.path), &task.branch);
    let worktree = task.worktree().map(|name| app.home.workspace(name));
    if let Some(worktree) = worktree.filter(|worktree| worktree.exists()) {
        git.check_all_committed(&worktree, branch)?;
    }
    app.progress.step(&format!("asking {REMOTE} for {branch}"));
    let there = git.tip_on_remote(branch)?;
    let here = git.branch_tip(branch)?;
    match (here, there) {
        (Some(here), Some(there)) if here == there => Ok(here),
        (None, Some(there)) => Ok(there),
        (Some(_) | None, _) => {
            let message = format!("`{branch}` has another commit here than on `{REMOTE}`");
            Err(Error::new(ErrorKind::Refused, message).help(format!(
                "`orange task create-pr {}` pushes it into the pull request; or fetch what `{REMOTE}` has, then repeat this",
                task.id
            )))
        }
    }
}

/// The name of the merge that the forge has accepted for this commit, if one is known.
fn course(history: &WorkItemHistory, url: &str, commit: &str) -> Option<String> {
    let asked = history.branch.asked_merge.as_ref()?;
    let (id, is_queued) = match &asked.answer {
        Some(AskedAnswer::Pending { id, .. }) => (Some(id.as_str()), false),
        Some(AskedAnswer::Queued { .. }) => (None, true),
        Some(AskedAnswer::Refused { .. }) | None => (None, false),
    };
    let asked = AskedMerge { url: &asked.url, commit: &asked.commit, id, is_queued };
    match asked.course(url, commit) {
        ForgeMergeCourse::Follow(id) => Some(id.to_owned()),
        ForgeMergeCourse::Ask => None,
    }
}

/// Has the programs of gates look at the files that the merge makes of the target as it is.
fn check_result(
    app: &App,
    locked: &mut LockedWorkItem,
    wanted: WantedMerge<'_>,
    programs: &[Program<'_>],
) -> Result<()> {
    if programs.is_empty() {
        return Ok(());
    }
    let WantedMerge { project, into, .. } = wanted;
    let git = Git::at(&project.path);
    if let Some(warning) = git.fetch(&[into])? {
        return Err(Error::new(ErrorKind::Environment, warning).help("mend that, then repeat this"));
    }
    let form =
        MergeForm { strategy: Strategy::Squash, leaves_target: true, is_trial: true, ..MergeForm::default() };
    let branch = locked.task().branch.clone();
    let plan = git
        .plan_merge(&branch, into, form, None)
        .map_err(|flaw| advised(app, locked.task(), into, "push, then repeat this", flaw))?;
    hooks::merge_result::check(app, locked, project, &plan.commit, programs)
}

/// Asks the forge to merge, after the journal has it.
fn begin(
    app: &App,
    locked: &mut LockedWorkItem,
    forge: &Forge,
    url: &str,
    commit: &str,
    wanted: WantedMerge<'_>,
) -> Result<ForgeMergeState> {
    app.progress.step(&format!("asking {} to merge {url}", forge.name()));
    let rules = forge.merge_rules(url)?;
    let strategy =
        strategy_by(&rules, wanted.strategy).ok_or_else(|| not_allowed(forge, &rules, wanted.strategy))?;
    let text = match wanted.message {
        None if wanted.has_text && strategy.is_some_and(Strategy::has_message) => {
            Some(merge_message::message(forge.kind(), url, &forge.text(url)?))
        }
        Some(_) | None => None,
    };
    let asked = event::AskedForMerge {
        url: url.to_owned(),
        commit: commit.to_owned(),
        strategy: strategy.map(|strategy| event::Strategy::from(strategy.as_str())),
    };
    locked.append(Event::PrMergeAsked(asked), Set::new())?;
    fault::step("merge", url);
    forge.merge(&ForgeMerge { url, commit, strategy, message: wanted.message.or(text.as_deref()) })
}

/// The strategy by the rules of the repository: the inner `None` where its queue decides, the outer one if it is not allowed.
fn strategy_by(rules: &MergeRules, wanted: Strategy) -> Option<Option<Strategy>> {
    if rules.has_queue { Some(None) } else { rules.allowed.choose(wanted).map(Some) }
}

fn not_allowed(forge: &Forge, rules: &MergeRules, wanted: Strategy) -> Error {
    let allowed: Vec<&str> = rules.allowed.each().map(Strategy::as_str).collect();
    let message = match wanted {
        Strategy::Auto => format!("the repository allows no merge on {}", forge.name()),
        Strategy::FastForward | Strategy::Merge | Strategy::Squash | Strategy::Rebase => {
            format!("the repository does not allow `{}` on {}", wanted.as_str(), forge.name())
        }
    };
    let help = match allowed.is_empty() {
        true => "allow one in the settings of the repository, or merge here with --local".to_owned(),
        false => {
            format!("it allows {}: choose one with --strategy, or `--strategy auto`", allowed.join(", "))
        }
    };
    Error::new(ErrorKind::Refused, message).help(help)
}

/// Follows a merge until the forge has made or refused it, or for a while.
fn follow(
    app: &App,
    locked: &mut LockedWorkItem,
    forge: &Forge,
    pr: PullRequest,
    commit: &str,
    mut state: ForgeMergeState,
) -> Result<ForgeMergeEnd> {
    let begun = Instant::now();
    loop {
        record(locked, &pr.url, &state)?;
        match state {
            ForgeMergeState::Merged(by) => {
                let commit = by.or(pr.commit);
                return Ok(ForgeMergeEnd::Merged(PullRequest { state: PrState::Merged, commit, ..pr }));
            }
            ForgeMergeState::Queued => return Ok(ForgeMergeEnd::Queued),
            ForgeMergeState::Refused(why) => return Err(refused(forge, &pr.url, &why)),
            ForgeMergeState::Pending(id) => {
                if begun.elapsed() > PATIENCE {
                    return Ok(ForgeMergeEnd::Queued);
                }
                app.progress.step(&format!("{} merges {}", forge.name(), pr.url));
                thread::sleep(PAUSE);
                let found = forge.merge_state(&pr.url, &id, commit)?;
                state = found.unwrap_or_else(|| {
                    ForgeMergeState::Refused("it does not know the merge any more".to_owned())
                });
            }
        }
    }
}

/// Writes down an answer of the forge that the journal lacks.
pub(crate) fn record(locked: &mut LockedWorkItem, url: &str, state: &ForgeMergeState) -> Result<()> {
    let known = locked.history().branch.asked_merge.as_ref().and_then(|asked| asked.answer.as_ref());
    let url = url.to_owned();
    let event = match (state, known) {
        (ForgeMergeState::Merged(_), _) => return Ok(()),
        (ForgeMergeState::Queued, Some(AskedAnswer::Queued { .. })) => return Ok(()),
        (ForgeMergeState::Queued, _) => Event::PrMergeAccepted(event::AcceptedMerge { url, id: None }),
        (ForgeMergeState::Pending(id), Some(AskedAnswer::Pending { id: known, .. })) if id == known => {
            return Ok(());
        }
        (ForgeMergeState::Pending(id), _) => {
            Event::PrMergeAccepted(event::AcceptedMerge { url, id: Some(id.clone()) })
        }
        (ForgeMergeState::Refused(error), _) => {
            Event::PrMergeRefused(event::RefusedMerge { url, error: error.clone() })
        }
    };
    locked.append(event, Set::new())?;
    fault::step("follow the merge of", &locked.task().id);
    Ok(())
}

fn refused(forge: &Forge, url: &str, why: &str) -> Error {
    Error::new(ErrorKind::Refused, format!("{} does not merge {url}: {why}", forge.name()))
        .help("mend what it names, then repeat this; the task stays as it is")
}

fn closed(url: &str) -> Error {
    Error::new(ErrorKind::Refused, format!("the task's pull request was closed and not merged: {url}"))
        .help("reopen it, merge here with --local, or `orange task cancel` the task")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::forge::ForgeKind;
    use orange_core::forge::AllowedMerges;

    #[test]
    fn a_strategy_that_nobody_chose_is_the_repository_s() {
        let of = |value, source| Sourced { value, source };
        let none = of(Strategy::FastForward, SettingOrigin::Default);
        assert_eq!(wanted_strategy(None, &none), Strategy::Auto);
        assert_eq!(wanted_strategy(Some(Strategy::FastForward), &none), Strategy::FastForward);
        let set = of(Strategy::Squash, SettingOrigin::File);
        assert_eq!(wanted_strategy(None, &set), Strategy::Squash);
        assert_eq!(wanted_strategy(Some(Strategy::Merge), &set), Strategy::Merge);
    }

    #[test]
    fn a_queue_decides_the_strategy() {
        let allowed = AllowedMerges { squash: true, ..AllowedMerges::default() };
        let rules = MergeRules { allowed, ..MergeRules::default() };
        assert_eq!(strategy_by(&rules, Strategy::Auto), Some(Some(Strategy::Squash)));
        assert_eq!(strategy_by(&rules, Strategy::Rebase), None);
        assert_eq!(strategy_by(&MergeRules { has_queue: true, ..rules }, Strategy::Rebase), Some(None));
        let error = not_allowed(&Forge::at(ForgeKind::GitHub, "/"), &rules, Strategy::Rebase);
        assert!(error.help.contains("it allows squash"), "{}", error.help);
    }

    #[test]
    fn a_merge_under_way_is_followed_by_its_name() {
        let mut history = WorkItemHistory::default();
        assert_eq!(course(&history, "u", "c"), None);
        let mut with = |answer| {
            let asked = orange_journal::history::AskedMerge { url: "u".into(), commit: "c".into(), answer };
            history.branch.asked_merge = Some(asked);
            course(&history, "u", "c")
        };
        assert_eq!(with(None), None);
        let since = || "2026-11-30T10:00:00Z".to_owned();
        assert_eq!(with(Some(AskedAnswer::Pending { id: "i".into(), since: since() })).as_deref(), Some("i"));
        assert_eq!(with(Some(AskedAnswer::Queued { since: since() })), None);
        assert_eq!(with(Some(AskedAnswer::Refused { error: "no".into() })), None);
    }
}
