//! The rows of the list: what `orange task list` and `orange mission list` answer, in one form.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::clock;
use orange_api::{
    Agent, ChangeSize, ListedMission, ListedTask, Need, PullRequestFacts, SessionState, Spending,
};
use orange_core::need::NeedKind;
use orange_journal::event::Actor;

/// RowKind of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowKind {
    #[default]
    Task,
    Mission,
}

/// The part of the list that has the row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowGroup {
    /// It needs a person.
    NeedsYou,
    /// It goes on by itself.
    #[default]
    Running,
    /// It waits for its start.
    Queued,
    Over,
}

/// A task or a mission.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    pub kind: RowKind,
    pub id: String,
    pub project: String,
    pub branch: String,
    pub status: String,
    /// The workflow it follows.
    pub workflow: String,
    /// The work to be done, in a line.
    pub summary: String,
    /// The harness of its workers.
    pub harness: String,
    /// Its worktree.
    pub workspace: Option<String>,
    /// The state of its session.
    pub session: SessionState,
    /// Its living agents.
    pub agents: Vec<Agent>,
    /// The tokens of its agents.
    pub tokens: Option<u64>,
    /// The tokens of each of them, by number.
    pub spent: BTreeMap<u32, u64>,
    /// Fact that a person should look at.
    pub attention: Option<String>,
    /// The rounds of review.
    pub round: u32,
    /// The step of a mission.
    pub step: Option<String>,
    /// Time of its last change.
    pub updated_at: String,
    pub need: Option<Need>,
    /// The size of its work.
    pub changes: Option<ChangeSize>,
    /// Its pull request.
    pub pr: Option<PullRequestFacts>,
    /// The branch that is checked out instead of its own.
    pub other_branch: Option<String>,
    /// Reason for which it cannot be read.
    pub broken: Option<String>,
}

impl Row {
    /// The row of a task.
    pub fn of_task(listed: ListedTask<'static>) -> Row {
        match listed {
            ListedTask::Unreadable { id, project, error } => {
                Row::of_broken(RowKind::Task, id.into_owned(), project.into_owned(), &error.message)
            }
            ListedTask::Readable(it) => Row {
                kind: RowKind::Task,
                id: it.id.into_owned(),
                project: it.project.into_owned(),
                branch: it.branch.into_owned(),
                status: it.status.into_owned(),
                workflow: it.workflow.into_owned(),
                summary: it.summary.into_owned(),
                harness: it.harness.into_owned(),
                workspace: it.workspace.map(Cow::into_owned),
                session: it.session,
                agents: it.agents,
                tokens: it.spent.as_ref().and_then(|spent| spent.tokens),
                spent: it.spent.map(by_agent).unwrap_or_default(),
                attention: it.attention.map(Cow::into_owned),
                round: it.review_round,
                step: None,
                updated_at: it.updated_at.into_owned(),
                need: it.need,
                changes: it.changes.flatten(),
                pr: it.pr.flatten(),
                other_branch: it.other_branch.flatten(),
                broken: None,
            },
        }
    }

    /// The row of a mission.
    pub fn of_mission(listed: ListedMission) -> Row {
        match listed {
            ListedMission::Unreadable { id, project, branch: _, error } => {
                Row::of_broken(RowKind::Mission, id, project, &error.message)
            }
            ListedMission::Readable(it) => Row {
                kind: RowKind::Mission,
                id: it.id,
                project: it.project,
                branch: it.branch,
                status: it.status.as_str().to_owned(),
                workflow: it.workflow,
                summary: it.summary,
                attention: it.attention,
                step: it.step,
                updated_at: it.updated_at,
                need: it.need,
                ..Row::default()
            },
        }
    }

    fn of_broken(kind: RowKind, id: String, project: String, message: &str) -> Row {
        Row { kind, branch: id.clone(), id, project, broken: Some(message.to_owned()), ..Row::default() }
    }

    /// The part of the list that has it. A task that cannot be read needs a person.
    pub fn group(&self) -> RowGroup {
        match &self.need {
            _ if self.broken.is_some() => RowGroup::NeedsYou,
            None => RowGroup::Over,
            Some(need) if need.is_over() => RowGroup::Over,
            Some(need) if need.person => RowGroup::NeedsYou,
            Some(need) if need.kind == NeedKind::Queued => RowGroup::Queued,
            Some(_) => RowGroup::Running,
        }
    }

    /// A character that says what it needs.
    pub fn icon(&self) -> &'static str {
        let Some(need) = &self.need else { return if self.broken.is_some() { "✗" } else { "○" } };
        match need.kind {
            NeedKind::Permission => "!",
            NeedKind::Question | NeedKind::IdleWithoutArtifact => "?",
            NeedKind::ReviewReady => "✓",
            NeedKind::Budget => "$",
            NeedKind::Paused => "‖",
            NeedKind::Crashed
            | NeedKind::Stuck
            | NeedKind::Conflict
            | NeedKind::ChecksRed
            | NeedKind::HookFailed => "✗",
            NeedKind::Limit => "◷",
            NeedKind::Queued => "·",
            NeedKind::Over => "○",
            NeedKind::Working if self.agents.iter().any(|agent| agent.actor == Actor::Reviewer) => "◐",
            NeedKind::Working => "●",
        }
    }

    /// Text about its need, in a few words.
    pub fn about(&self, now: i64) -> Cow<'_, str> {
        if let Some(error) = &self.broken {
            return Cow::Borrowed(error);
        }
        let Some(need) = &self.need else { return Cow::Borrowed(&self.status) };
        let argument = need.argument.as_deref().map(first_line);
        match need.kind {
            NeedKind::Permission => {
                argument.or(need.tool.as_deref()).map_or(Cow::Borrowed(need.why.as_str()), Cow::Borrowed)
            }
            NeedKind::ReviewReady => Cow::Owned(self.review(need)),
            NeedKind::Limit => {
                let until = need.until.as_deref().and_then(|until| clock::until(until, now));
                Cow::Owned(until.map_or_else(|| "limit".to_owned(), |span| format!("limit, {span} left")))
            }
            NeedKind::Working => Cow::Owned(self.working()),
            NeedKind::Over => Cow::Borrowed(&self.status),
            NeedKind::Question
            | NeedKind::IdleWithoutArtifact
            | NeedKind::Crashed
            | NeedKind::Stuck
            | NeedKind::Budget
            | NeedKind::Paused
            | NeedKind::Conflict
            | NeedKind::ChecksRed
            | NeedKind::HookFailed
            | NeedKind::Queued => Cow::Borrowed(first_line(&need.why)),
        }
    }

    fn review(&self, need: &Need) -> String {
        let verdict = need.verdict.as_ref().map(|verdict| format!("review {verdict}"));
        let size = need.change.or(self.changes).map(|it| format!("+{} −{}", it.added, it.removed));
        let checks =
            self.pr.as_ref().and_then(|pr| pr.checks.as_deref()).map(|checks| format!("CI {}", mark(checks)));
        let parts: Vec<String> = [verdict, size, checks].into_iter().flatten().collect();
        if parts.is_empty() { self.status.clone() } else { parts.join(" ") }
    }

    fn working(&self) -> String {
        let status = self.step.as_deref().unwrap_or(&self.status);
        let round = if self.round > 0 { format!(" {}", self.round) } else { String::new() };
        let tokens = self.tokens.map(|count| format!("  {} tok", clock::tokens(count))).unwrap_or_default();
        format!("{status}{round}{tokens}")
    }

    /// Start of its need; time of its last change if that is not known.
    pub fn since(&self) -> &str {
        let need = self.need.as_ref().filter(|need| !need.is_over());
        need.and_then(|need| need.since.as_deref()).unwrap_or(&self.updated_at)
    }

    /// True if a search has found it.
    pub fn matches(&self, search: &str) -> bool {
        let search = search.to_lowercase();
        let need = self.need.as_ref().map(|need| need.kind.as_str()).unwrap_or_default();
        // An id is found by its beginning, as everywhere; what else it contains is chance.
        let is_id = !search.is_empty() && self.id.starts_with(&search);
        let texts = [&*self.branch, &self.summary, &self.project, &self.status, need];
        is_id || texts.iter().any(|text| text.to_lowercase().contains(&search))
    }
}

/// A mark for the state of checks.
pub fn mark(checks: &str) -> &'static str {
    match checks {
        "pass" | "passed" | "passing" | "success" | "green" => "✓",
        "fail" | "failed" | "failing" | "failure" | "red" => "✗",
        _ => "…",
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Tokens of each agent, by number.
fn by_agent(spent: Spending) -> BTreeMap<u32, u64> {
    spent.agents.into_iter().filter_map(|agent| Some((agent.spawn, agent.tokens?))).collect()
}
