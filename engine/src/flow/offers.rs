//! The actions of a need as answers: one line says the name, the label, the keys and the arguments of each.

use std::path::Path;

use orange_api::{ActionName, NeedAction, Shows};
use orange_core::need::{Action, Obstacle, Offer};
use orange_core::{Machine, StateId, View};

use crate::drive::git::Strategy;
use crate::flow::refusal;
use crate::store::{DirKind, Task, TaskDir, TaskHistory};

/// The task or mission of the actions, with the facts that their words need.
#[derive(Clone, Copy)]
pub struct About<'a> {
    pub dir: &'a TaskDir,
    pub task: &'a Task,
    pub history: &'a TaskHistory,
    /// Its workflow and what that reads; `None` for missions, and for tasks whose workflow is gone.
    pub view: Option<(&'a Machine<'a>, &'a View<'a>)>,
    pub worktree: Option<&'a Path>,
    /// True if an agent is at work, which its restart would disturb.
    pub is_busy: bool,
}

/// The words of an action.
struct Line {
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
) -> Line {
    Line { name, label: label.to_owned(), keys, words: words.map(str::to_owned).to_vec() }
}

impl About<'_> {
    /// The offer as an answer.
    pub fn answer(&self, offer: Offer<'_>) -> NeedAction {
        let Offer { action, obstacle } = offer;
        let Line { name, label, keys, words } = self.line(action);
        let command = std::iter::once(self.group(action).to_owned()).chain(words).collect();
        NeedAction {
            name,
            command,
            label,
            keys: keys.iter().map(|key| (*key).to_owned()).collect(),
            to: target(action).map(str::to_owned),
            returns: matches!(action, Action::Status { returns: true, .. }),
            text: matches!(action, Action::Send { .. }),
            shows: shows(action),
            warning: self.warning(action),
            refusal: obstacle.map(|obstacle| self.refusal(obstacle)),
        }
    }

    fn line(&self, action: Action<'_>) -> Line {
        use ActionName as Name;
        let id = self.dir.id.as_str();
        match action {
            Action::Allow { request } => line(Name::Allow, "allow", &["a"], ["answer", request, "allow"]),
            Action::Deny { request } => line(Name::Deny, "deny", &["d"], ["answer", request, "deny"]),
            Action::Send { spawn: None } => line(Name::Send, "send", &["s"], ["send", id]),
            Action::Send { spawn: Some(spawn) } => {
                line(Name::Send, "send", &["s"], ["send", id, "--spawn", &spawn.to_string()])
            }
            Action::Attach => line(Name::Attach, "attach", &["Enter"], ["attach", id]),
            Action::Logs => line(Name::Logs, "logs", &["l"], ["logs", id]),
            Action::Spawn => line(Name::Spawn, "start", &["Enter"], ["spawn", id]),
            Action::Respawn if self.is_busy => line(Name::Respawn, "start again", &["r"], ["respawn", id]),
            Action::Respawn => line(Name::Respawn, "start again", &["r", "Enter"], ["respawn", id]),
            Action::Restart => line(Name::Restart, "restart", &["r"], ["restart", id]),
            Action::RetryHooks => {
                line(Name::RetryHooks, "retry hooks", &["r"], ["update", id, "--retry-hooks"])
            }
            Action::Seen => line(Name::Seen, "seen", &["a"], ["edit", id, "--seen"]),
            Action::Merge { with_commit, by_force } => merge(id, with_commit, by_force),
            Action::CreatePullRequest => line(Name::CreatePr, "create PR", &["p"], ["create-pr", id]),
            Action::Open => line(Name::Open, "open PR", &["p"], ["open", id]),
            Action::Refresh => line(Name::Refresh, "refresh PR", &["R"], ["refresh", id]),
            Action::Status { to: state, name: to, returns } => {
                let (label, keys): (_, &'static [&'static str]) = match returns {
                    _ if self.is_detour(state) => (format!("to {to}"), &[]),
                    true => (format!("back to {to}"), &["r"]),
                    false => (format!("to {to}"), &[">"]),
                };
                line(Name::Status, &label, keys, ["update", id, "--status", to])
            }
            Action::Continue { pause } => {
                line(Name::Continue, "continue", &["a"], ["continue", id, "--pause", &pause.to_string()])
            }
            Action::Accept { pause } => {
                let words = ["continue", id, "--pause", &pause.to_string(), "--accept-failure"];
                line(Name::Accept, "accept the failure", &["A"], words)
            }
            Action::Retry => line(Name::Retry, "retry", &["r"], ["retry", id]),
            Action::Cancel => line(Name::Cancel, "cancel", &["x"], ["cancel", id, "--yes"]),
            Action::Undo => line(Name::Undo, "undo the cancel", &["u"], ["undo", id]),
            Action::Delete => line(Name::Delete, "delete", &["d"], ["delete", id, "--yes"]),
        }
    }

    /// The group of commands. Those for agents are commands of tasks, also for agents of missions.
    fn group(&self, action: Action<'_>) -> &'static str {
        match (self.dir.kind, action) {
            (DirKind::Task, _)
            | (DirKind::Mission, Action::Allow { .. } | Action::Deny { .. } | Action::Send { .. }) => {
                DirKind::Task.word()
            }
            (DirKind::Mission, _) => DirKind::Mission.word(),
        }
    }

    /// True if a transition answers no need: it leads to the state of a command.
    fn is_detour(&self, to: StateId) -> bool {
        self.view.is_some_and(|(machine, _)| machine.is_detour(to))
    }

    /// Consequence that a person agrees to before the action is carried out.
    fn warning(&self, action: Action<'_>) -> Option<String> {
        let words = match action {
            Action::Cancel if self.is_busy => {
                "Its agent ends. Work that is not merged is kept in a backup.".to_owned()
            }
            Action::Cancel => "Work that is not merged is kept in a backup.".to_owned(),
            Action::Delete => "It goes to the trash. Its branch and its backups stay.".to_owned(),
            Action::Merge { by_force: false, .. } => {
                "Its work goes into the default branch, and the task ends.".to_owned()
            }
            Action::Merge { by_force: true, .. } => {
                format!("The workflow has no merge from {}.", self.task.status())
            }
            Action::Respawn | Action::Restart if self.is_busy => {
                "Its agent ends, and loses what it is doing.".to_owned()
            }
            Action::Status { to, name, .. } => {
                let (machine, _) = self.view?;
                match (machine.commands.merge == Some(to), machine.state(to).terminal) {
                    (true, _) => format!("It ends as {name} without a merge. Its branch stays."),
                    (false, true) => format!("It ends as {name}."),
                    (false, false) => return None,
                }
            }
            Action::Allow { .. }
            | Action::Deny { .. }
            | Action::Send { .. }
            | Action::Attach
            | Action::Logs
            | Action::Spawn
            | Action::Respawn
            | Action::Restart
            | Action::RetryHooks
            | Action::Seen
            | Action::CreatePullRequest
            | Action::Open
            | Action::Refresh
            | Action::Continue { .. }
            | Action::Accept { .. }
            | Action::Retry
            | Action::Undo => return None,
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
fn target(action: Action<'_>) -> Option<&str> {
    let Action::Status { name, .. } = action else { return None };
    Some(name)
}

/// A merge, with how it merges if that is not how it always does.
fn merge(id: &str, with_commit: bool, by_force: bool) -> Line {
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
fn shows(action: Action<'_>) -> Option<Shows> {
    match action {
        Action::Attach => Some(Shows::Session),
        Action::Logs => Some(Shows::Text),
        Action::Open => Some(Shows::Page),
        Action::Allow { .. }
        | Action::Deny { .. }
        | Action::Send { .. }
        | Action::Spawn
        | Action::Respawn
        | Action::Restart
        | Action::RetryHooks
        | Action::Seen
        | Action::Merge { .. }
        | Action::CreatePullRequest
        | Action::Refresh
        | Action::Status { .. }
        | Action::Continue { .. }
        | Action::Accept { .. }
        | Action::Retry
        | Action::Cancel
        | Action::Undo
        | Action::Delete => None,
    }
}
