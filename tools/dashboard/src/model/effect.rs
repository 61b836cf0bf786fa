//! Effects that an update of the state asks of the shell, and the answers of the shell.

use crossterm::event::{KeyEvent, MouseEvent};

use super::DashboardOptions;
use super::row::RowKind;
use super::spent::EndedToday;
use orange_api::{
    ChangedMission, Created, Error, ListedHarness, ListedMission, ListedProject, ListedTask, ListedWorkflow,
    Next, OpenedPage, OpenedPullRequest, Refreshed, ShownMission, ShownPane, ShownTask, ShownWorkflow,
    TransitionResult, Update, Worktree,
};

/// Something that has happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// A key was pressed.
    Key(TypedKey),
    /// The mouse was used.
    Mouse(MouseEvent),
    /// A text was pasted.
    Paste(String),
    /// The screen has this size.
    Resize(u16, u16),
    /// Time has passed.
    Tick,
    /// Journals of tasks or missions have changed.
    Changed,
    /// The projects or the workflows of the person have changed.
    Settings,
    /// A file in the worktree of the selected row has changed.
    Edited,
    /// The agents that have ended, and the tokens that they had used.
    Tokens(EndedToday),
    /// A question has its answer.
    Answered(Question, Box<Result<QuestionAnswer, Error>>),
    /// An order has been carried out, or not.
    Carried(Order, Box<Result<Completion, Error>>),
    /// A session was attached, and is no longer.
    Attached(Result<(), Error>),
    /// The pane of a task shows something else.
    Pane(String, Box<ShownPane<'static>>),
    /// The pane of a task cannot be shown.
    NoPane(String, Error),
    /// Something that the person should know: whether it is a failure, and what.
    Said(bool, String),
    /// Text that a person has saved in an editor, or the reason why there is none.
    Written(Result<String, Error>),
    /// Something was copied, or why not.
    Copied(Result<String, String>),
    /// The process is to end.
    End,
}

/// A key, and what was on the screen when it was read.
#[derive(Clone, Copy, Debug)]
pub struct TypedKey {
    pub key: KeyEvent,
    /// Number of frames that were drawn before it was read.
    pub frames: u64,
    /// True if it follows another press of its key so fast that the key is held down.
    pub is_held: bool,
}

/// Something that the shell does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellEffect {
    /// Ask `orange` something.
    Ask(Question),
    /// Have `orange` do something.
    Carry(Order),
    /// Show a session on this terminal.
    Attach(Vec<String>),
    /// Print the answer of a command on this terminal.
    Print(Vec<String>),
    /// Follow the pane of one task, at this size, and no other.
    Follow(Option<FollowedPane>),
    /// Watch the files in this worktree, and no other.
    Watch(Option<WatchedWorktree>),
    /// Have the person write this text in an editor.
    Write(String),
    Copy(String),
    /// Stop the process, until it is continued.
    Suspend,
    Quit,
}

/// The worktree that is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedWorktree {
    /// Its name, or its folder.
    pub worktree: String,
    /// True if all of its files are watched, and not only the text of the task.
    pub is_whole: bool,
}

/// The pane that is followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowedPane {
    /// RowKind of the work that it belongs to.
    pub kind: RowKind,
    /// The task or mission.
    pub id: String,
    /// The columns that it can have.
    pub columns: u16,
    /// The lines that it can have.
    pub lines: u16,
    /// The living agents: after a hand-over, the pane of the next one is followed.
    pub agents: Vec<u32>,
}

/// A command of `orange` that changes something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    pub number: u64,
    /// The task or mission that it is about; empty for none.
    pub about: String,
    /// Action and its target, for people: `cancel login`.
    pub label: String,
    /// The consequence that the person agrees to first.
    pub warning: Option<String>,
    /// The words behind `orange`.
    pub words: Vec<String>,
    /// The standard input of the command.
    pub input: Option<String>,
    /// The order that follows when this one succeeds.
    pub then: Option<Box<Order>>,
}

/// The answer to an order, as far as the dashboard tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Completion {
    Created(Created),
    /// A new mission.
    Started(Box<ChangedMission>),
    /// A transition.
    Transitioned(TransitionResult),
    /// A pull request in the browser.
    Opened(OpenedPage),
    /// A new pull request, or the one that was open.
    PullRequest(OpenedPullRequest),
    /// A look at a pull request.
    Refreshed(Refreshed),
    /// Any other success.
    Done,
}

/// A command of `orange` that changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Question {
    /// The tasks, without asking git anything. It comes first, since processes of git take most of the time.
    First,
    /// The tasks, with what git says about merging their work.
    Tasks,
    /// The tasks, and the size of their work.
    Changes,
    /// The missions.
    Missions,
    /// The projects.
    Projects,
    /// The worktrees.
    Worktrees,
    /// The workflows.
    Workflows,
    /// The harnesses.
    Harnesses,
    Workflow(String),
    /// The statuses that a task can go to.
    Next(String),
    /// A task in full.
    Task(String),
    /// A mission in full.
    Mission(String),
    /// The changes of a task.
    Diff(String),
}

/// The answer to a question.
#[derive(Clone, Debug)]
pub enum QuestionAnswer {
    /// To [`Question::First`], [`Question::Tasks`] and [`Question::Changes`].
    Tasks(Vec<ListedTask<'static>>),
    /// To [`Question::Missions`].
    Missions(Vec<ListedMission>),
    /// To [`Question::Projects`].
    Projects(Vec<ListedProject>),
    /// To [`Question::Worktrees`].
    Worktrees(Vec<Worktree>),
    /// To [`Question::Workflows`].
    Workflows(Vec<ListedWorkflow<'static>>),
    /// To [`Question::Harnesses`].
    Harnesses(Vec<ListedHarness>),
    /// To [`Question::Workflow`].
    Workflow(Box<ShownWorkflow>),
    /// To [`Question::Next`].
    Next(Vec<Next>),
    /// To [`Question::Task`].
    Task(Box<ShownTask>),
    /// To [`Question::Mission`].
    Mission(Box<ShownMission>),
    /// To [`Question::Diff`].
    Diff(String),
}

impl Order {
    /// True if it can answer the need of a row. A look at a pull request answers nothing.
    pub fn is_answer(&self) -> bool {
        let words: Vec<&str> = self.words.iter().map(String::as_str).take(2).collect();
        !matches!(words[..], ["task", "open" | "refresh" | "create-pr"])
    }

    /// Reads the answer to it.
    pub fn parse(&self, answer: &[u8]) -> Result<Completion, serde_json::Error> {
        let words: Vec<&str> = self.words.iter().map(String::as_str).take(2).collect();
        Ok(match words[..] {
            ["task", "create"] => Completion::Created(serde_json::from_slice(answer)?),
            ["mission", "start"] => Completion::Started(serde_json::from_slice(answer)?),
            ["task", "open"] => Completion::Opened(serde_json::from_slice(answer)?),
            ["task", "create-pr"] => Completion::PullRequest(serde_json::from_slice(answer)?),
            ["task", "refresh"] => Completion::Refreshed(serde_json::from_slice(answer)?),
            ["task", "cancel" | "merge" | "spawn"] => {
                Completion::Transitioned(serde_json::from_slice(answer)?)
            }
            ["task", "update"] => match serde_json::from_slice(answer)? {
                Update::Status(change) => Completion::Transitioned(change.result),
                Update::Fields { .. } => Completion::Done,
            },
            _ => Completion::Done,
        })
    }

    /// The list that shows what it has done.
    pub fn list(&self) -> Question {
        if self.words.first().is_some_and(|word| word == "mission") {
            Question::Missions
        } else {
            Question::Tasks
        }
    }
}

impl Question {
    /// The words behind `orange`.
    pub fn words(&self, scope: &DashboardOptions) -> Vec<String> {
        let of_scope = |words: &[&str]| {
            let project = scope.project.iter().map(|name| format!("--project={name}"));
            let all = scope.all_projects.then(|| "--all-projects".to_owned());
            words.iter().map(|word| (*word).to_owned()).chain(project).chain(all).collect()
        };
        let about =
            |words: &[&str], id: &str| words.iter().copied().chain(["--", id]).map(str::to_owned).collect();
        match self {
            Question::First => of_scope(&["task", "list", "--all", "--without-git"]),
            Question::Tasks => of_scope(&["task", "list", "--all"]),
            Question::Changes => of_scope(&["task", "list", "--all", "--changes"]),
            Question::Missions => of_scope(&["mission", "list", "--all"]),
            Question::Projects => ["project", "list"].map(str::to_owned).to_vec(),
            Question::Worktrees => ["workspace", "list", "--all"].map(str::to_owned).to_vec(),
            Question::Workflows => ["workflow", "list"].map(str::to_owned).to_vec(),
            Question::Harnesses => ["harness", "list"].map(str::to_owned).to_vec(),
            Question::Workflow(name) => about(&["workflow", "show"], name),
            Question::Next(id) => about(&["task", "next"], id),
            Question::Task(id) => about(&["task", "show"], id),
            Question::Mission(id) => about(&["mission", "show"], id),
            Question::Diff(id) => about(&["task", "diff"], id),
        }
    }

    /// Reads the answer to it.
    pub fn parse(&self, answer: &[u8]) -> Result<QuestionAnswer, serde_json::Error> {
        Ok(match self {
            Question::First | Question::Tasks | Question::Changes => {
                QuestionAnswer::Tasks(serde_json::from_slice(answer)?)
            }
            Question::Missions => QuestionAnswer::Missions(serde_json::from_slice(answer)?),
            Question::Projects => QuestionAnswer::Projects(serde_json::from_slice(answer)?),
            Question::Worktrees => QuestionAnswer::Worktrees(serde_json::from_slice(answer)?),
            Question::Workflows => QuestionAnswer::Workflows(serde_json::from_slice(answer)?),
            Question::Harnesses => QuestionAnswer::Harnesses(serde_json::from_slice(answer)?),
            Question::Workflow(_) => QuestionAnswer::Workflow(serde_json::from_slice(answer)?),
            Question::Next(_) => QuestionAnswer::Next(serde_json::from_slice(answer)?),
            Question::Task(_) => QuestionAnswer::Task(serde_json::from_slice(answer)?),
            Question::Mission(_) => QuestionAnswer::Mission(serde_json::from_slice(answer)?),
            Question::Diff(_) => QuestionAnswer::Diff(String::from_utf8_lossy(answer).into_owned()),
        })
    }

    /// The row that it is about.
    pub fn row(&self) -> Option<&String> {
        match self {
            Question::Next(id) | Question::Task(id) | Question::Mission(id) | Question::Diff(id) => Some(id),
            Question::First
            | Question::Tasks
            | Question::Changes
            | Question::Missions
            | Question::Projects
            | Question::Worktrees
            | Question::Workflows
            | Question::Harnesses
            | Question::Workflow(_) => None,
        }
    }

    /// True if its answer takes several calls of git: questions about other rows do not wait for it.
    pub fn is_slow(&self) -> bool {
        matches!(self, Question::Task(_))
    }

    /// True if the text is wanted as it is, without `--json`.
    pub fn is_text(&self) -> bool {
        matches!(self, Question::Diff(_))
    }
}
