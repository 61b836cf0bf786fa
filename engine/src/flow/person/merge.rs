//! Merges a task on the forge's word about its pull request, or else here; then takes the transition with its cleanup.

use std::time::Duration;

use orange_core::merge::MessageForm;
use orange_core::{Gate, LifeTurn, Machine, Program};

use crate::app::App;
use crate::caller::Caller;
use crate::drive::forge::PullRequest;
pub use crate::drive::git::Strategy;
use crate::drive::git::{Git, Merge, MergeForm, REMOTE};
use crate::flow::activity;
use crate::flow::life::{self, TurnRecord};
use crate::flow::person::by_forge::{self, ForgeMergeEnd, WantedMerge, asked_if_merged, pull_request};
use crate::flow::person::merge_advice::advised;
use crate::flow::person::merge_message::{self, GivenMessage};
use crate::flow::request::transition_result;
use crate::flow::request::{Goal, asked, carry_out, decide};
use crate::flow::{TaskPreview, changed, delegation, lock_recovered, pull_request as followed};
pub use crate::hooks::sync::lock_merges;
use crate::hooks::{self, imported};
use crate::store::effective::EffectiveMerge;
use crate::store::projects::Project;
use crate::store::{Event, LockedWorkItem, Set, WorkItem, WorkItemDir, WorkItemHistory, event, list};
use crate::{Error, ErrorKind, Result};
use orange_api::{Merged, TransitionResult};
use orange_system::fault;

/// The wishes of the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeWish<'a> {
    /// The strategy of a merge here; `None` for that of the project.
    pub strategy: Option<Strategy>,
    /// The target; `None` for the branch that the task is based on.
    pub into: Option<&'a str>,
    /// The message of the commit that the merge makes.
    pub message: Option<&'a str>,
    /// True if the message has everything: no author is added.
    pub has_whole_message: bool,
    /// True to push the target, false to leave it; `None` for what the project does.
    pub push: Option<bool>,
    /// True if the task goes on after the merge, false if it is finished; `None` for what the project does.
    pub keep: Option<bool>,
    /// Merge here, whatever the pull request says.
    pub local: bool,
    /// Have the forge merge the pull request. For persons only.
    pub by_forge: bool,
    /// The remote gets the merge, and the target here stays as it is.
    pub remote_only: bool,
    /// The engine merges it into the branch of the task that has created it.
    pub is_for_parent: bool,
    /// Merge although the workflow refuses or the branch is empty. For persons only.
    pub force: bool,
}

/// A merge here: its target and its form.
struct Aim {
    project: Project,
    into: String,
    strategy: Strategy,
    text: MessageForm,
    without_authors: bool,
    push: bool,
}

/// Merges a task's branch and finishes the task; one that was finished without a merge keeps its status. Nothing is merged
/// unless the core allows the transition, nothing is pushed before all local steps have succeeded, and the transition is
/// taken after the push. The command can be repeated after a failure at any point. Another merge in the project is waited
/// for.
pub fn merge(app: &App, dir: &WorkItemDir, wish: MergeWish<'_>) -> Result<Merged> {
    let mut locked = asked(app, lock_recovered(app, dir)?, Goal::Merge { force: wish.force })?;
    let machine = app.machine_of(&locked.task().owned)?;
    let settings = changed::merge_settings(app, locked.task())?;
    let keep = keeps(wish, settings.keep.value, app.caller == Caller::Person);
    let turn = turn(app, machine, locked.task(), locked.history(), wish, keep)?;
    let aim = aim(app, locked.task(), wish, settings)?;
    let effects = if keep { &[] } else { turn.hooks() };
    let room = hooks::preflight(app, locked.task(), effects)?;
    let branch = locked.task().branch.clone();
    let programs = asked_of_result(machine, &turn, wish);
    let pr = match () {
        () if wish.local => None,
        () if wish.by_forge => match by_forge::merge(app, &mut locked, aim.by_forge(wish), &programs)? {
            ForgeMergeEnd::Merged(pr) => Some(pr),
            ForgeMergeEnd::Queued => {
                return Ok(queued(transition_result::staying(locked.task()), branch, aim.into));
            }
        },
        () => pull_request(app, &mut locked)?,
    };
    check_keeps(wish, pr.as_ref())?;
    let keep = keep && pr.is_none();
    let into = aim.into.clone();
    let mut hints = Vec::new();
    let (mut events, pushed, commit, strategy) = match pr {
        Some(pr) => (followed::merged(app, locked.task(), &pr)?, false, pr.commit, "pr"),
        None => {
            let GivenMessage { text, hint } = given_message(app, locked.task(), wish, &aim)?;
            hints.extend(hint);
            let wish = MergeWish { message: wish.message.or(text.as_deref()), keep: Some(keep), ..wish };
            merge_here(app, &mut locked, wish, aim, &programs)?
        }
    };
    if wish.force {
        let from = locked.task().status().to_owned();
        events.iter_mut().for_each(|event| mark_forced(event, &from));
    }
    let events = events.into_iter().map(Into::into).collect();
    let result = if turn.events.is_empty() || keep {
        // The task is in the merged state, and its branch was not merged before; or it goes on.
        locked.append_many(events)?;
        transition_result::staying(locked.task())
    } else {
        life::record(app, machine, &mut locked, &turn, TurnRecord { led_to_it: events, room, agent: None })?;
        carry_out(app, locked)?
    };
    Ok(Merged {
        result,
        branch,
        into,
        strategy: strategy.into(),
        pushed,
        commit,
        message: None,
        kept: keep,
        queued: false,
        hints,
    })
}

/// The answer about a merge that the forge has accepted and not made yet.
fn queued(result: TransitionResult, branch: String, into: String) -> Merged {
    let hints = Vec::from([
        "the task ends once its pull request is merged, which `orange monitor` notices".to_owned()
    ]);
    let strategy = "pr".to_owned();
    let (pushed, commit, message, kept) = (false, None, None, false);
    Merged { result, branch, into, strategy, pushed, commit, message, kept, queued: true, hints }
}

/// Dry run of [`merge`]. It asks the forge, and git without a fetch.
pub fn would_merge(app: &App, dir: &WorkItemDir, wish: MergeWish<'_>) -> Result<Merged> {
    let preview = TaskPreview::of(app, dir)?;
    let (task, history) = (&preview.task, &preview.history);
    let machine = app.machine_of(&task.owned)?;
    let settings = changed::merge_settings(app, task)?;
    let keep = keeps(wish, settings.keep.value, app.caller == Caller::Person);
    let turn = turn(app, machine, task, history, wish, keep)?;
    let aim = aim(app, task, wish, settings)?;
    if !keep {
        hooks::dry_run(app, task, turn.hooks())?;
    }
    let pr = match () {
        () if wish.local => None,
        () if wish.by_forge => Some(by_forge::would_merge(app, task, &aim.project)?),
        () => asked_if_merged(app, task)?,
    };
    check_keeps(wish, pr.as_ref())?;
    let keep = keep && pr.is_none();
    let git = Git::at(&aim.project.path);
    if pr.is_none() && history.branch.merge.is_none() && !wish.force {
        let tip = git.branch_tip(&task.branch)?;
        let was_undone = changed::undone_merge(history, &aim.into).is_some();
        if tip.is_none() || !was_undone && git.is_merged(&task.branch, &aim.into)? {
            return Err(nothing_to_merge(&task.branch, &aim.into));
        }
    }
    let mut strategy = if pr.is_some() { "pr" } else { aim.strategy.as_str() };
    let (mut message, mut hints) = (None, Vec::new());
    if pr.is_none() && history.branch.merge.is_none() {
        changed::check_restored(task, history)?;
        let GivenMessage { text, hint } = given_message(app, task, wish, &aim)?;
        hints.extend(hint);
        let wish = MergeWish { message: wish.message.or(text.as_deref()), ..wish };
        let plan = plan(app, &git, task, history, wish, &aim, true)?;
        strategy = plan.strategy.as_str();
        if plan.strategy.has_message() && !plan.is_begun {
            message = Some(git.message_of(&plan.commit)?);
        }
    }
    let result = if keep { transition_result::staying(task) } else { preview.planned(machine, &turn) };
    Ok(Merged {
        result,
        branch: task.branch.clone(),
        strategy: strategy.into(),
        pushed: pr.is_none() && aim.push && git.has_remote()?,
        commit: pr.and_then(|pr| pr.commit),
        message,
        into: aim.into,
        kept: keep,
        queued: false,
        hints,
    })
}

impl Aim {
    /// This merge, by the forge.
    fn by_forge<'a>(&'a self, wish: MergeWish<'a>) -> WantedMerge<'a> {
        WantedMerge {
            project: &self.project,
            into: &self.into,
            strategy: self.strategy,
            message: wish.message,
            has_text: self.text == MessageForm::PullRequest,
        }
    }
}

/// True if the task goes on after the merge. The setting is about merges that a person makes, without force.
fn keeps(wish: MergeWish<'_>, setting: bool, is_person: bool) -> bool {
    wish.keep.unwrap_or(setting && is_person && !wish.force && !wish.is_for_parent && !wish.by_forge)
}

/// The message that the project takes from the task's pull request, if the merge makes a commit of its own.
fn given_message(app: &App, task: &WorkItem, wish: MergeWish<'_>, aim: &Aim) -> Result<GivenMessage> {
    let is_wanted = aim.text == MessageForm::PullRequest && aim.strategy.has_message();
    if !is_wanted || wish.message.is_some() || wish.is_for_parent {
        return Ok(GivenMessage::default());
    }
    merge_message::of_pull_request(app, task, !wish.local)
}

/// The target and the strategy of a merge.
fn aim(app: &App, task: &WorkItem, wish: MergeWish<'_>, settings: EffectiveMerge) -> Result<Aim> {
    imported::take(app, task)?;
    let project = app.project_of(task)?;
    // Nobody is there to choose another one where the branch has moved.
    let is_forward = settings.strategy.value == Strategy::FastForward;
    let usual = if wish.is_for_parent && is_forward { Strategy::Auto } else { settings.strategy.value };
    let strategy = match wish.by_forge {
        true => by_forge::wanted_strategy(wish.strategy, &settings.strategy),
        false => wish.strategy.unwrap_or(usual),
    };
    if wish.message.is_some() && !strategy.has_message() {
        let message = format!("a merge with the strategy `{}` makes no commit of its own", strategy.as_str());
        return Err(Error::new(ErrorKind::Usage, message)
            .help("leave --message out, or use `--strategy squash` or `--strategy merge`"));
    }
    let into = match wish.into {
        Some(into) => into.to_owned(),
        None => changed::merge_target(task, &project, &settings)?,
    };
    if wish.by_forge {
        app.caller.check_person("have a forge merge a pull request")?;
    }
    if wish.keep == Some(true) {
        app.caller.check_person("merge a task that goes on")?;
    }
    if wish.into.is_some() {
        app.caller.check_person("merge into another branch")?;
    }
    let is_of_task = delegation::is_merged_into_parent(app, task) && wish.into.is_none();
    if wish.remote_only {
        check_remote_only(&project, &into, is_of_task)?;
    }
    if into != project.default_branch || is_of_task {
        check_target(app, &project, task, &into)?;
    }
    Ok(Aim {
        project,
        into,
        strategy,
        text: settings.message.value,
        without_authors: !settings.coauthors.value || wish.has_whole_message,
        // The branch of a task is pushed by its own workflow.
        push: wish.remote_only || wish.push.unwrap_or(settings.push.value && !is_of_task),
    })
}

/// Refuses a merge on the remote alone where that makes no sense.
fn check_remote_only(project: &Project, into: &str, is_of_task: bool) -> Result<()> {
    if is_of_task {
        let message =
            format!("`{into}` is the branch of the task that has created this one, which works here");
        return Err(Error::new(ErrorKind::Refused, message).help("leave --remote-only out"));
    }
    if Git::at(&project.path).has_remote()? {
        return Ok(());
    }
    let message = format!("{} has no remote `{REMOTE}` that could get the merge", project.name);
    Err(Error::new(ErrorKind::Refused, message)
        .help(format!("leave --remote-only out, or add one: `git remote add {REMOTE} URL`")))
}

/// Refuses to go on with a task whose pull request is merged.
fn check_keeps(wish: MergeWish<'_>, pr: Option<&PullRequest>) -> Result<()> {
    let Some(pr) = pr.filter(|_| wish.keep == Some(true)) else { return Ok(()) };
    let message = format!("the task's pull request is merged: {}", pr.url);
    Err(Error::new(ErrorKind::Refused, message)
        .help("leave --keep out to finish the task, or merge what it has since with --local"))
}

/// Refuses a target at which an agent works, or that has uncommitted work of another task.
pub(super) fn check_target(app: &App, project: &Project, task: &WorkItem, into: &str) -> Result<()> {
    let git = Git::at(&project.path);
    git.check_branch_name(into)?;
    if into == task.branch {
        let message = format!("`{into}` is the branch of the task itself");
        return Err(Error::new(ErrorKind::Usage, message).help("name another branch: --into BRANCH"));
    }
    let others = list::of_branch(&app.home, &project.name, into, &|kind, owned| app.is_done(kind, owned))?;
    for other in others.iter().filter(|other| other.branch == into && !app.is_done_with_worktree(other)) {
        let dir = app.home.dir(other.kind, &other.project, &other.id);
        let (_, journal) = WorkItem::read(&app.home, &dir)?;
        let agents = activity::of_task(app, &dir, other, &journal.history(), || app.tmux.panes().ok());
        if let Some(agent) = agents.first() {
            let (word, id) = (other.kind.word(), &other.id);
            let message =
                format!("`{into}` is the branch of {word} {id}, where agent {} is at work", agent.spawn);
            return Err(Error::new(ErrorKind::Refused, message)
                .help(format!("wait until it has ended, or stop it with `orange {word} stop {id}`")));
        }
        let worktree = other.worktree().map(|name| app.home.workspace(name));
        if let Some(worktree) = worktree.filter(|worktree| worktree.exists()) {
            git.check_all_committed(&worktree, into)?;
        }
    }
    Ok(())
}

/// The plan of a merge here.
fn plan(
    app: &App,
    git: &Git,
    task: &WorkItem,
    history: &WorkItemHistory,
    wish: MergeWish<'_>,
    aim: &Aim,
    is_trial: bool,
) -> Result<Merge> {
    let worktree = task.worktree().map(|name| app.home.workspace(name));
    let form = MergeForm {
        strategy: aim.strategy,
        title: task.summary.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default(),
        message: wish.message,
        text: aim.text,
        without_authors: aim.without_authors,
        begun: changed::begun_merge(history, &aim.into),
        undone: changed::undone_merge(history, &aim.into),
        leaves_target: wish.remote_only,
        is_trial,
    };
    git.plan_merge(&task.branch, &aim.into, form, worktree.as_deref())
        .map_err(|unmergeable| advised(app, task, &aim.into, "then merge again", unmergeable))
}

/// Advice for a task that has come to the state of merged tasks without a merge. An error while reading does not fail the command:
/// the transition is made.
pub fn unmerged(app: &App, dir: &WorkItemDir, to: &str) -> Option<String> {
    let (task, journal) = WorkItem::read(&app.home, dir).ok()?;
    let machine = app.machine_of(&task.owned).ok()?;
    let is_end = machine.commands.merge.is_some_and(|merge| machine.state(merge).name == to);
    if !is_end || journal.history().branch.is_merged {
        return None;
    }
    let project = app.project_of(&task).ok()?;
    let into = changed::merge_target(&task, &project, &changed::merge_settings(app, &task).ok()?).ok()?;
    let WorkItem { id, branch, .. } = task;
    let is_merged = Git::at(&project.path).is_merged(&branch, &into).ok()?;
    (!is_merged).then(|| format!("{branch} is not merged into {into}: `orange task merge {id}` merges it"))
}

/// The core's answer to the merge.
fn turn(
    app: &App,
    machine: &'static Machine<'static>,
    task: &WorkItem,
    history: &WorkItemHistory,
    wish: MergeWish<'_>,
    keep: bool,
) -> Result<LifeTurn<'static>> {
    if wish.force {
        app.caller.check_person("force a merge")?;
    }
    if !wish.force && !keep {
        check_children(app, task)?;
    }
    let ask = |force| decide(app, machine, task, history, Goal::Merge { force });
    ask(wish.force).map_err(|refusal| {
        let is_rule =
            matches!(refusal.kind, ErrorKind::NoTransition | ErrorKind::GuardFailed | ErrorKind::GateFailed);
        if is_rule && app.caller == Caller::Person && ask(true).is_ok() {
            let help = format!("{}; `orange task merge --force` merges all the same", refusal.help);
            return refusal.help(help);
        }
        refusal
    })
}

/// Refuses a task while tasks are open that its agents have created: their work belongs to it.
fn check_children(app: &App, task: &WorkItem) -> Result<()> {
    let open: Vec<String> = delegation::open(app, task)?.into_iter().map(|child| child.branch).collect();
    if open.is_empty() {
        return Ok(());
    }
    let message = format!("tasks that it has created are not over: {}", open.join(", "));
    Err(Error::new(ErrorKind::Refused, message)
        .help("wait for them, or cancel them; `orange task merge --force` merges without them"))
}

/// Merges here and pushes. Returns the events, which belong to the transition that follows.
fn merge_here(
    app: &App,
    locked: &mut LockedWorkItem,
    wish: MergeWish<'_>,
    aim: Aim,
    programs: &[Program<'_>],
) -> Result<(Vec<Event>, bool, Option<String>, &'static str)> {
    let branch = locked.task().branch.clone();
    let (project, into) = (&aim.project, &aim.into);
    let git = Git::at(&project.path);
    // A second merge begins where the first has left the target, whose programs may take their time.
    let seconds = programs.iter().map(|program| u64::from(program.timeout)).sum();
    let _turn = lock_merges(&app.home, project, into, Duration::from_secs(seconds))?;
    let is_pushed = aim.push && git.has_remote()?;
    if is_pushed {
        app.progress.step(&format!("fetching {into} from {REMOTE}"));
        if let Some(warning) = git.fetch(&[into, &branch])? {
            return Err(Error::new(ErrorKind::Environment, warning)
                .help("nothing was merged, since it could not be pushed: mend that, then merge again"));
        }
    }
    if wish.into.is_some() {
        git.check_branch_exists(into).map_err(|error| {
            error.help(format!("name a branch that is here or on {REMOTE}, or make it: `git branch {into}`"))
        })?;
    }
    let plan = plan(app, &git, locked.task(), locked.history(), wish, &aim, false)?;
    // After a merge that was not pushed, or was killed, there is nothing new.
    if !plan.is_new && locked.history().branch.merge.is_none() && !wish.force {
        return Err(nothing_to_merge(&branch, into));
    }
    // Also one that was begun: it may have been forced, or be older than the gate.
    if plan.is_new {
        hooks::merge_result::check(app, locked, project, &plan.commit, programs)?;
    }
    app.progress.step(&format!("merging {branch} into {into}"));
    let strategy = event::Strategy::from(plan.strategy.as_str());
    if !plan.is_begun {
        git.keep_planned(&plan.commit, &locked.task().id)?;
        let begun = Event::MergeStarted {
            into: into.clone(),
            commit: plan.commit.clone(),
            from: plan.from.clone(),
            onto: Some(plan.onto.clone()),
            source: Some(plan.source.clone()),
            strategy: Some(strategy.clone()),
        };
        locked.append(begun, Set::new())?;
    }
    if !wish.remote_only {
        fault::step("merge", into);
        git.merge(&plan, into).map_err(|error| in_the_way(error, locked.task(), is_pushed))?;
        git.drop_planned(&locked.task().id)?;
    }
    if is_pushed {
        app.progress.step(&format!("pushing {into}"));
        fault::step("push", into);
        match wish.remote_only {
            true => git.push_commit(&plan.commit, into).map_err(|error| {
                error.help("nothing is merged, here or there; mend the push and repeat this")
            })?,
            false => git.push(REMOTE, into).map_err(not_pushed)?,
        }
    }
    if wish.remote_only {
        git.drop_planned(&locked.task().id)?;
    }
    let merged = Event::TaskMerged {
        strategy,
        into: into.clone(),
        commit: Some(plan.commit.clone()),
        kept: wish.keep == Some(true),
    };
    Ok((Vec::from([merged]), is_pushed, Some(plan.commit), plan.strategy.as_str()))
}

/// The programs that gates ask about the result of the merge; none if a person forces it.
fn asked_of_result(
    machine: &'static Machine<'static>,
    turn: &LifeTurn<'static>,
    wish: MergeWish<'_>,
) -> Vec<Program<'static>> {
    let decision = turn.decision().filter(|_| !wish.force);
    let gates = decision.map_or(&[][..], |decision| machine.transition(decision.transition).gates);
    let on_merge = gates.iter().filter_map(|gate| match gate {
        Gate::OnMerge(program) => Some(*program),
        Gate::Section(_) | Gate::AnySection(_) | Gate::Command(_) | Gate::Checks | Gate::Children(_) => None,
    });
    on_merge.collect()
}

fn nothing_to_merge(branch: &str, into: &str) -> Error {
    let message = format!("nothing to merge: `{branch}` has no change that `{into}` has not");
    Error::new(ErrorKind::Refused, message)
        .help("if it was merged by hand, or nothing was to be done, `orange task merge --force` finishes the task; else `orange task cancel`")
}

/// The error of a target that cannot move here, with the remedy that leaves it.
fn in_the_way(error: Error, task: &WorkItem, is_pushed: bool) -> Error {
    if error.kind != ErrorKind::Refused || !is_pushed {
        return error;
    }
    let help = format!(
        "{}; or merge on the remote alone: `orange task merge {} --remote-only`",
        error.help, task.id
    );
    error.help(help)
}

fn not_pushed(error: Error) -> Error {
    error
        .help("the merge is done here and not pushed; the task stays as it is: mend the push and merge again")
}

fn mark_forced(event: &mut Event, from: &str) {
    if let Event::TaskMerged { strategy, into, commit, kept: false } = event {
        *event = Event::TaskForceMerged {
            from: from.to_owned(),
            strategy: std::mem::take(strategy),
            into: std::mem::take(into),
            commit: commit.take(),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_goes_on_if_a_person_or_the_project_says_so() {
        let none = MergeWish::default();
        let asked = |keep| MergeWish { keep: Some(keep), ..none };
        assert!(keeps(none, true, true));
        assert!(!keeps(none, false, true));
        assert!(!keeps(none, true, false), "an agent's merge finishes its task");
        assert!(!keeps(MergeWish { force: true, ..none }, true, true));
        assert!(!keeps(MergeWish { is_for_parent: true, ..none }, true, true));
        assert!(keeps(asked(true), false, true));
        assert!(!keeps(asked(false), true, true));
    }
}
