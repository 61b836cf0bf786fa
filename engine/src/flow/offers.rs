//! The actions of a need as answers: one line says the name, the label, the keys and the arguments of each.

use std::path::Path;

use orange_api::{ActionName, NeedAction, Shows};
use orange_core::need::{Obstacle, Offer, PersonAction};
use orange_core::plan::{APPROVE, REJECT};
use orange_core::{Machine, StateId, View};

use crate::drive::git::Strategy;
use crate::flow::refusal;
use crate::store::{WorkItem, WorkItemDir, WorkItemHistory, WorkItemKind};

/// The task or mission of the actions, with the facts that their words need.
#[derive(Clone, Copy)]
pub struct ActionSubject<'a> {
    pub dir: &'a WorkItemDir,
    pub task: &'a WorkItem,
    pub history: &'a WorkItemHistory,
    /// Its workflow and what that reads; `None` for missions, and for tasks whose workflow is gone.
    pub view: Option<(&'a Machine<'a>, &'a View<'a>)>,
    pub worktree: Option<&'a Path>,
    /// True if an agent is at work, which its restart would disturb.
    pub is_busy: bool,
}

/// The words of an action.
struct ActionWords {
    name: ActionName,
    label: String,
    keys: &'static [&'static str],
    /// The arguments behind `orange task` or `orange mission`.
    words: Vec<String>,
}

fn line<const N: usize>(
    name: ActionName,
    label: &str,
    keys: &'static [&'static str],
    words: [&str; N],
) -> ActionWords {
    ActionWords { name, label: label.to_owned(), keys, words: words.map(str::to_owned).to_vec() }
}

impl ActionSubject<'_> {
    /// The offer as an answer.
    pub fn answer(&self, offer: Offer<'_>) -> NeedAction {
        let Offer { action, obstacle } = offer;
        let ActionWords { name, label, keys, words } = self.line(action);
        let command = std::iter::once(self.group(action).to_owned()).chain(words).collect();
        NeedAction {
            name,
            command,
            label,
            keys: keys.iter().map(|key| (*key).to_owned()).collect(),
            to: target(action).map(str::to_owned),
            returns: matches!(action, PersonAction::Status { returns: true, .. }),
            text: matches!(action, PersonAction::Send { .. } | PersonAction::AddBudget),
            shows: shows(action),
            warning: self.warning(action),
            refusal: obstacle.map(|obstacle| self.refusal(obstacle)),
        }
    }

    fn line(&self, action: PersonAction<'_>) -> ActionWords {
        use ActionName as Name;
        let id = self.dir.id.as_str();
        match action {
            PersonAction::Allow { request } => {
                line(Name::Allow, "allow", &["a"], ["answer", request, "allow"])
            }
            PersonAction::Deny { request } => line(Name::Deny, "deny", &["d"], ["answer", request, "deny"]),
            PersonAction::Send { spawn: None } => line(Name::Send, "send", &["s"], ["send", id]),
            PersonAction::Send { spawn: Some(spawn) } => {
                line(Name::Send, "send", &["s"], ["send", id, "--spawn", &spawn.to_string()])
            }
            PersonAction::Attach => line(Name::Attach, "attach", &["Enter"], ["attach", id]),
            PersonAction::Logs => line(Name::Logs, "logs", &["l"], ["logs", id]),
            PersonAction::Spawn => line(Name::Spawn, "start", &["Enter"], ["spawn", id]),
            PersonAction::Respawn if self.is_busy => {
                line(Name::Respawn, "start again", &["r"], ["respawn", id])
            }
            PersonAction::Respawn => line(Name::Respawn, "start again", &["r", "Enter"], ["respawn", id]),
            PersonAction::Restart => line(Name::Restart, "restart", &["r"], ["restart", id]),
            PersonAction::RetryHooks => {
                line(Name::RetryHooks, "retry hooks", &["r"], ["update", id, "--retry-hooks"])
            }
            PersonAction::Seen => line(Name::Seen, "seen", &["a"], ["edit", id, "--seen"]),
            PersonAction::Merge { with_commit, by_force } => merge(id, with_commit, by_force),
            PersonAction::CreatePullRequest => line(Name::CreatePr, "create PR", &["p"], ["create-pr", id]),
            PersonAction::Open => line(Name::Open, "open PR", &["p"], ["open", id]),
            PersonAction::Refresh => line(Name::Refresh, "refresh PR", &["R"], ["refresh", id]),
            PersonAction::Status { to: state, name: to, returns } => {
                let (label, keys): (_, &'static [&'static str]) = match returns {
                    _ if self.is_detour(state) => (format!("to {to}"), &[]),
                    true => (format!("back to {to}"), &["r"]),
                    false => (format!("to {to}"), &[">"]),
                };
                line(Name::Status, &label, keys, ["update", id, "--status", to])
            }
            PersonAction::Resolve => {
                line(Name::Resolve, "let its agent resolve it", &["b"], ["sync", id, "--by-agent"])
            }
            PersonAction::AddBudget => {
                line(Name::AddBudget, "add to the budget", &["b"], ["budget", id, "--add"])
            }
            PersonAction::Continue { pause } => {
                line(Name::Continue, "continue", &["a"], ["continue", id, "--pause", &pause.to_string()])
            }
            PersonAction::Accept { pause } => {
                let words = ["continue", id, "--pause", &pause.to_string(), "--accept-failure"];
                line(Name::Accept, "accept the failure", &["A"], words)
            }
            PersonAction::AnswerAsk { step, answer, commit } => {
                let keys: &'static [&'static str] = match answer {
                    APPROVE => &["a"],
                    REJECT => &["d"],
                    _ => &[],
                };
                let mut line = line(Name::Answer, answer, keys, ["answer", id, step, answer]);
                line.words.extend(commit.into_iter().flat_map(|it| ["--commit".to_owned(), it.to_owned()]));
                line
            }
            PersonAction::Retry => line(Name::Retry, "retry", &["r"], ["retry", id]),
            PersonAction::Cancel => line(Name::Cancel, "cancel", &["x"], ["cancel", id, "--yes"]),
            PersonAction::Undo => line(Name::Undo, "undo the cancel", &["u"], ["undo", id]),
            PersonAction::Delete => line(Name::Delete, "delete", &["d"], ["delete", id, "--yes"]),
        }
    }

    /// The group of commands. Those for agents are commands of tasks, also for agents of missions.
    fn group(&self, action: PersonAction<'_>) -> &'static str {
        match (self.dir.kind, action) {
            (WorkItemKind::Task, _)
            | (
                WorkItemKind::Mission,
                PersonAction::Allow { .. } | PersonAction::Deny { .. } | PersonAction::Send { .. },
            ) => WorkItemKind::Task.word(),
            (WorkItemKind::Mission, _) => WorkItemKind::Mission.word(),
        }
    }

    /// True if a transition answers no need: it leads to the state of a command.
    fn is_detour(&self, to: StateId) -> bool {
        self.view.is_some_and(|(machine, _)| machine.is_detour(to))
    }

    /// Consequence that a person agrees to before the action is carried out.
    fn warning(&self, action: PersonAction<'_>) -> Option<String> {
        let words = match action {
            PersonAction::Cancel if self.is_busy => {
                "Its agent ends. Work that is not merged is kept in a backup.".to_owned()
            }
            PersonAction::Cancel => "Work that is not merged is kept in a backup.".to_owned(),
            PersonAction::Delete => "It goes to the trash. Its branch and its backups stay.".to_owned(),
            PersonAction::Merge { by_force: false, .. } => {
                "Its work goes into the default branch, and the task ends.".to_owned()
            }
            PersonAction::Merge { by_force: true, .. } => {
                format!("The workflow has no merge from {}.", self.task.status())
            }
            PersonAction::Respawn | PersonAction::Restart if self.is_busy => {
                "Its agent ends, and loses what it is doing.".to_owned()
            }
            PersonAction::Status { to, name, .. } => {
                let (machine, _) = self.view?;
                match (machine.commands.merge == Some(to), machine.state(to).terminal) {
                    (true, _) => format!("It ends as {name} without a merge. Its branch stays."),
                    (false, true) => format!("It ends as {name}."),
                    (false, false) => return None,
                }
            }
            PersonAction::Allow { .. }
            | PersonAction::Deny { .. }
            | PersonAction::Send { .. }
            | PersonAction::Attach
            | PersonAction::Logs
            | PersonAction::Spawn
            | PersonAction::Respawn
            | PersonAction::Restart
            | PersonAction::RetryHooks
            | PersonAction::Seen
            | PersonAction::CreatePullRequest
            | PersonAction::Open
            | PersonAction::Refresh
            | PersonAction::Resolve
            | PersonAction::AddBudget
            | PersonAction::Continue { .. }
            | PersonAction::Accept { .. }
            | PersonAction::AnswerAsk { .. }
            | PersonAction::Retry
            | PersonAction::Undo => return None,
        };
        Some(words)
    }

    /// Reason why it is refused now.
    fn refusal(&self, obstacle: Obstacle<'_>) -> String {
        match obstacle {
            Obstacle::Rejected(rejection) => match self.view {
                Some((machine, view)) => {
                    refusal::message(rejection, machine, view, self.history, self.worktree)
                }
                None => "the workflow refuses it".to_owned(),
            },
            Obstacle::HooksWait => refusal::hooks_wait(self.task, self.history).one_line(),
            Obstacle::NoWorktree => {
                "all worktrees are taken: `orange workspace list` shows by what".to_owned()
            }
            Obstacle::Asks => "its agent asks something, and a text would answer that".to_owned(),
            Obstacle::NoAgent => "no agent is alive to get a text".to_owned(),
            Obstacle::Unheard => "no agent reads a text now".to_owned(),
            Obstacle::OfMission => "agents of missions get no texts".to_owned(),
            Obstacle::Words(words) => words.to_owned(),
        }
    }
}

/// The name of the state to which a transition leads.
fn target(action: PersonAction<'_>) -> Option<&str> {
    let PersonAction::Status { name, .. } = action else { return None };
    Some(name)
}

/// A merge, with how it merges if that is not how it always does.
fn merge(id: &str, with_commit: bool, by_force: bool) -> ActionWords {
    let label = if by_force { "force merge" } else { "merge" };
    let mut line = line(ActionName::Merge, label, &["m"], ["merge", id]);
    if with_commit {
        let strategy = Strategy::Merge.as_str();
        line.label = format!("{label} (--strategy {strategy})");
        line.words.extend(["--strategy", strategy].map(str::to_owned));
    }
    if by_force {
        line.words.extend(["--force", "--yes"].map(str::to_owned));
    }
    line
}

/// Kind of output that an action has for the person.
fn shows(action: PersonAction<'_>) -> Option<Shows> {
    match action {
        PersonAction::Attach => Some(Shows::Session),
        PersonAction::Logs => Some(Shows::Text),
        PersonAction::Open => Some(Shows::Page),
        PersonAction::Allow { .. }
        | PersonAction::Deny { .. }
        | PersonAction::Send { .. }
        | PersonAction::Spawn
        | PersonAction::Respawn
        | PersonAction::Restart
        | PersonAction::RetryHooks
        | PersonAction::Seen
        | PersonAction::Merge { .. }
        | PersonAction::CreatePullRequest
        | PersonAction::Refresh
        | PersonAction::Status { .. }
        | PersonAction::Resolve
        | PersonAction::AddBudget
        | PersonAction::Continue { .. }
        | PersonAction::Accept { .. }
        | PersonAction::AnswerAsk { .. }
        | PersonAction::Retry
        | PersonAction::Cancel
        | PersonAction::Undo
        | PersonAction::Delete => None,
    }
}
