//! State of the dashboard, as values: [`update`](update::update) takes a state and an event, and returns the next state and the
//! effects to carry out.

mod act;
pub mod areas;
pub mod ask;
pub mod clock;
mod consent;
pub mod details;
pub mod diff;
pub mod effect;
pub mod form;
pub mod keys;
pub mod list;
pub mod offers;
pub mod plan;
mod press;
pub mod request;
pub mod row;
pub mod spent;
pub mod text_field;
pub mod update;
pub mod verbatim;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use ask::Mode;
use details::Details;
use diff::TaskDiff;
use effect::{Order, Question};
use form::NewWorkForm;
use list::ListView;
use orange_api::{Error, ListedHarness, ListedProject, ListedWorkflow, ShownWorkflow, Worktree};
use request::Sight;
use row::Row;
use spent::SpentToday;

/// Options of the dashboard's command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DashboardOptions {
    /// The only project whose tasks are shown.
    pub project: Option<String>,
    /// True if the tasks of every project are shown, also inside a repository.
    pub all_projects: bool,
    /// True if the dashboard ends when a session is attached.
    pub exit_on_attach: bool,
}

/// Everything that the screen shows.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Options of its command line.
    pub scope: DashboardOptions,
    /// The time, in milliseconds since 1970.
    pub now: i64,
    /// The size of the screen.
    pub columns: u16,
    /// The size of the screen.
    pub lines: u16,
    /// The rows of tasks, as the last answer has them.
    pub tasks: Vec<Row>,
    /// The rows of missions.
    pub missions: Vec<Row>,
    /// True if the tasks have been read once.
    pub is_loaded: bool,
    /// True if git has listed the changes of the tasks once.
    pub has_changes: bool,
    /// Reason for which the tasks cannot be listed.
    pub failure: Option<Error>,
    /// Selection, marks and filter.
    pub list: ListView,
    /// The part of rows that the person has chosen last.
    pub tab: details::DetailsTab,
    /// Details of the selected row.
    pub details: Details,
    /// Mode, which decides what the keys are for at the moment.
    pub mode: Mode,
    /// The order that runs on each row.
    pub running: BTreeMap<String, String>,
    /// The last order on each row that has ended since its list was read.
    pub carried: BTreeMap<String, Carried>,
    /// The orders that wait for the end of their grace.
    pub held: Vec<HeldOrder>,
    /// Reason why the last key has done nothing. It stands above every message until the next key.
    pub dropped_key: Option<String>,
    /// Messages that the person has not read yet, the newest last.
    pub messages: Vec<StatusMessage>,
    /// Data that many rows share.
    pub catalog: Catalog,
    /// The worktrees of all projects.
    pub worktrees: Vec<Worktree>,
    /// Known tokens of today.
    pub spent_today: SpentToday,
    /// The questions that have no answer yet, and whether each is to be asked again after it.
    pub asking: BTreeMap<Question, bool>,
    /// The last number of an order.
    pub orders: u64,
    /// Comments on the changes of rows that are not selected.
    pub drafts: BTreeMap<String, TaskDiff>,
    /// The form that was left with texts, while its order runs or after that has failed.
    pub form_aside: Option<Box<NewWorkForm>>,
    /// The texts whose orders run or have failed, by what they are about.
    pub unsent: BTreeMap<String, String>,
    /// Record of the rows and requests that the frames up to now have shown.
    pub sight: Sight,
    /// The cancelled task that `u` brings back.
    pub last_cancelled: Option<String>,
}

/// An order that can still be withdrawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldOrder {
    pub order: Order,
    /// Time at which it is carried out, in milliseconds since 1970.
    pub due: i64,
}

/// An order that is carried out, on a row that is still listed as it was before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    /// Label of the order.
    pub label: String,
    /// The list that shows what it has done.
    pub list: Question,
    /// True if the next list was asked for before the end of the order, so that it may not show it either.
    pub is_asked: bool,
}

/// Something that has happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusMessage {
    /// True for a failure.
    pub is_failure: bool,
    /// The event, in a line.
    pub text: String,
}

/// Data that many rows share: projects, workflows, harnesses.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// The projects.
    pub projects: Vec<ListedProject>,
    /// True if they have been read once.
    pub has_projects: bool,
    /// The workflows.
    pub names: Vec<ListedWorkflow<'static>>,
    /// Each workflow that was shown.
    pub workflows: BTreeMap<String, ShownWorkflow>,
    /// The harnesses.
    pub harnesses: Vec<ListedHarness>,
}

impl State {
    /// The state at the beginning.
    pub fn new(scope: DashboardOptions, columns: u16, lines: u16, now: i64) -> State {
        State { scope, columns, lines, now, ..State::default() }
    }

    /// Every row that is known.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.tasks.iter().chain(&self.missions)
    }

    /// The row with this id.
    pub fn row(&self, id: &str) -> Option<&Row> {
        self.rows().find(|row| row.id == id)
    }

    /// The order that a row waits for: it runs, or the list does not show yet what it has done.
    pub fn order_on(&self, id: &str) -> Option<&str> {
        let carried = || self.carried.get(id).map(|it| &it.label);
        self.running.get(id).or_else(carried).map(String::as_str)
    }

    /// The selected row.
    pub fn selected(&self) -> Option<&Row> {
        self.list.selected.as_deref().and_then(|id| self.row(id))
    }

    /// The rows that an action is about: the marked ones, or else the selected one.
    pub fn targets(&self) -> Vec<&Row> {
        let marked: Vec<&Row> =
            list::visible(self).into_iter().filter(|row| self.list.marked.contains(&row.id)).collect();
        if marked.is_empty() { self.selected().into_iter().collect() } else { marked }
    }

    /// Number of worktrees that the shown projects may have.
    pub fn slots(&self) -> u32 {
        let only = self.project();
        let is_shown = |project: &&ListedProject| only.is_none_or(|name| name == project.name);
        self.catalog.projects.iter().filter(is_shown).map(|project| project.pool_size).sum()
    }

    /// Number of these worktrees that are held.
    pub fn slots_used(&self) -> usize {
        let only = self.project();
        self.worktrees
            .iter()
            .filter(|it| it.task.is_some() && only.is_none_or(|name| name == it.project))
            .count()
    }

    /// The only project whose tasks are shown, if there is just one: `orange` lists those of the repository that it stands in.
    pub fn project(&self) -> Option<&str> {
        if let Some(name) = &self.scope.project {
            return Some(name);
        }
        let first = self.rows().next()?.project.as_str();
        (!self.scope.all_projects && self.rows().all(|row| row.project == first)).then_some(first)
    }

    /// The tokens of today: those of agents that have ended today, and of living ones.
    pub fn tokens(&self) -> u64 {
        self.spent_today.tokens()
    }

    /// The number of the message that is shown: the latest failure, or else the latest one.
    pub fn first_message(&self) -> Option<usize> {
        let failure = self.messages.iter().rposition(|message| message.is_failure);
        failure.or(self.messages.len().checked_sub(1))
    }

    /// True if a failure was not read yet.
    pub fn has_failed(&self) -> bool {
        self.messages.iter().any(|message| message.is_failure)
    }

    /// Adds a message. A success replaces the successes before it; failures stay until they are read.
    pub fn tell(&mut self, is_failure: bool, text: impl Into<String>) {
        const MOST: usize = 20;
        if !is_failure {
            self.messages.retain(|message| message.is_failure);
        }
        let message = StatusMessage { is_failure, text: text.into() };
        self.messages.retain(|other| *other != message);
        self.messages.push(message);
        let old = self.messages.len().saturating_sub(MOST);
        self.messages.drain(..old);
    }

    /// Forgets what no longer exists.
    fn forget_missing(&mut self) {
        let known: BTreeSet<String> = self.rows().map(|row| row.id.clone()).collect();
        self.list.marked.retain(|id| known.contains(id));
        self.unsent.retain(|id, _| known.contains(id));
    }
}
