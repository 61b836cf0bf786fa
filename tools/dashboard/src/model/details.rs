//! Details of the selected row.

use std::collections::{BTreeMap, BTreeSet};

use super::State;
use super::diff::TaskDiff;
use super::effect::{FollowedPane, Question, WatchedWorktree};
use super::row::{Row, RowKind};
use orange_api::{Error, Need, Next, ShownMission, ShownPane, ShownTask};

/// A part of what is shown about a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DetailsTab {
    /// Screen of its agent.
    #[default]
    Agent,
    Diff,
    /// Its text; of a mission, its plan.
    Text,
    /// Reason for its state, and the conditions of every transition.
    Why,
    History,
}

impl DetailsTab {
    /// All of them, in order.
    pub const ALL: [DetailsTab; 5] =
        [DetailsTab::Agent, DetailsTab::Diff, DetailsTab::Text, DetailsTab::Why, DetailsTab::History];

    pub fn name(self, kind: RowKind) -> &'static str {
        match self {
            DetailsTab::Agent => "agent",
            DetailsTab::Diff => "diff",
            DetailsTab::Text if kind == RowKind::Mission => "plan",
            DetailsTab::Text => "task",
            DetailsTab::Why => "why",
            DetailsTab::History => "history",
        }
    }

    /// The next one.
    pub fn next(self) -> DetailsTab {
        let number = DetailsTab::ALL.iter().position(|tab| *tab == self).unwrap_or_default();
        DetailsTab::ALL[(number + 1) % DetailsTab::ALL.len()]
    }
}

/// Known facts about the selected row.
#[derive(Clone, Debug, Default)]
pub struct Details {
    /// The id of the row.
    pub id: String,
    /// The part that is shown.
    pub tab: DetailsTab,
    /// True if the person has chosen the part for this row.
    pub is_chosen: bool,
    /// Number of lines that are scrolled away.
    pub scroll: usize,
    /// The statuses that it can go to.
    pub next: Option<Vec<Next>>,
    /// The task in full.
    pub task: Option<ShownTask>,
    /// The mission in full.
    pub mission: Option<ShownMission>,
    /// Screen of its agent.
    pub pane: Option<ShownPane<'static>>,
    pub diff: Option<TaskDiff>,
    /// Reasons why something about the row cannot be shown, by the source that has failed.
    pub failures: BTreeMap<DetailsSource, Error>,
    /// The pane that is followed.
    pub followed: Option<FollowedPane>,
    /// The worktree that is watched.
    pub watched: Option<WatchedWorktree>,
    /// The questions that need not be asked again until something changes.
    pub asked: BTreeSet<Question>,
    /// State of the row at the time of these questions.
    pub seen: Option<SeenRow>,
}

/// Source of a part of the row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DetailsSource {
    /// The pane that is followed.
    Pane,
    /// The answer to a question.
    Answer(Question),
}

/// Time of the last change of a row, its need, and the number of its agents.
pub type SeenRow = (String, Option<Need>, usize);

impl Details {
    /// Nothing but the row is known.
    pub fn of(row: &Row) -> Details {
        let seen = Some((row.updated_at.clone(), row.need.clone(), row.agents.len()));
        Details { id: row.id.clone(), seen, ..Details::default() }
    }

    /// Reason why the shown part of the row cannot be shown: failures of other parts are not its own.
    pub fn failure(&self, kind: RowKind) -> Option<&Error> {
        let id = self.id.clone();
        let needed = match (self.tab, kind) {
            (DetailsTab::Agent, RowKind::Task) => vec![DetailsSource::Pane],
            (DetailsTab::Agent, RowKind::Mission) => {
                vec![DetailsSource::Pane, DetailsSource::Answer(Question::Mission(id))]
            }
            (DetailsTab::Diff, _) => vec![DetailsSource::Answer(Question::Diff(id))],
            (DetailsTab::Why, RowKind::Task) => vec![DetailsSource::Answer(Question::Next(id))],
            (DetailsTab::Text | DetailsTab::History, RowKind::Task) => {
                vec![DetailsSource::Answer(Question::Task(id))]
            }
            (DetailsTab::Text | DetailsTab::Why | DetailsTab::History, RowKind::Mission) => {
                vec![DetailsSource::Answer(Question::Mission(id))]
            }
        };
        needed.iter().find_map(|source| self.failures.get(source))
    }
}

/// True if the pane shows the last screen of an agent that has ended.
pub fn is_last_screen(state: &State, row: &Row, pane: &ShownPane<'static>) -> bool {
    let mission = state.details.mission.as_ref().filter(|_| row.kind == RowKind::Mission);
    let (agents, session) = match mission {
        Some(mission) => (&mission.agents, mission.session.as_str()),
        None => (&row.agents, row.session.as_str()),
    };
    let is_listed = agents.iter().any(|agent| agent.spawn == pane.spawn);
    !pane.alive || session != "active" || !(is_listed || agents.is_empty())
}

/// The part that a row opens on when this one was chosen: work that is ready for a person has changes to look at, and no agent.
pub fn opened(chosen: DetailsTab, row: &Row) -> DetailsTab {
    let kind = row.need.as_ref().map(|need| need.kind.as_str());
    let is_ready = matches!(kind, Some("review-ready" | "conflict" | "checks-red"));
    if chosen == DetailsTab::Agent && is_ready { DetailsTab::Diff } else { chosen }
}

/// The questions whose answers the shown part needs.
pub fn questions(state: &State, row: &Row) -> Vec<Question> {
    let id = row.id.clone();
    if row.broken.is_some() {
        return Vec::new();
    }
    let mut questions = Vec::new();
    if !state.catalog.workflows.contains_key(&row.workflow) && !row.workflow.is_empty() {
        questions.push(Question::Workflow(row.workflow.clone()));
    }
    match (row.kind, state.details.tab) {
        (RowKind::Task, tab) => {
            // The task says all that can be done, and its verdict comes before the changes.
            questions.extend([Question::Next(id.clone()), Question::Task(id.clone())]);
            if tab == DetailsTab::Diff {
                questions.push(Question::Diff(id));
            }
        }
        (RowKind::Mission, tab) => {
            questions.push(Question::Mission(id.clone()));
            if tab == DetailsTab::Diff {
                questions.push(Question::Diff(id));
            }
        }
    }
    questions
}

/// The names of the tabs with their numbers, each with the column where it begins. Where there is little room, one column is between two.
pub fn tabs(kind: RowKind, width: usize) -> Vec<(usize, DetailsTab, String)> {
    // A number, a space and the name, with a column on both sides.
    let gap = if DetailsTab::ALL.iter().map(|tab| tab.name(kind).len() + 4).sum::<usize>() <= width {
        2
    } else {
        1
    };
    let mut at = 1;
    let place = |(number, tab): (usize, &DetailsTab)| {
        let text = format!("{} {}", number + 1, tab.name(kind));
        let begins = at;
        at += text.len() + gap;
        (begins, *tab, text)
    };
    DetailsTab::ALL.iter().enumerate().map(place).collect()
}

/// The tab at this column.
pub fn tab_at(state: &State, column: usize) -> Option<DetailsTab> {
    let kind = state.selected()?.kind;
    let is_there =
        |(begins, _, text): &(usize, DetailsTab, String)| (*begins..begins + text.len()).contains(&column);
    let width = usize::from(super::areas::of(state).tabs.width);
    tabs(kind, width).into_iter().find(is_there).map(|(_, tab, _)| tab)
}
