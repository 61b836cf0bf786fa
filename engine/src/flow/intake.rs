//! Judges the labelled issues of a forge: collects the facts for [`orange_core::intake`].

use orange_core::feedback::Authors;
use orange_core::intake::{
    Account, Blocker, IntakeAuthors, IntakeEnd, IntakeFacts, IntakeVerdict, IssueFacts, LabelEvent, Source,
};

use crate::Result;
use crate::app::App;
use crate::drive::forge::{Author, LabelledIssue};
use crate::flow::snapshot::status_of;
use crate::store::intake::{IntakeBook, IntakeEvent, TakenIssue};
use crate::store::settings::IntakeSettings;
use crate::store::{WorkItem, WorkItemKind, create, find};
use orange_system::{clock, fault};

/// Asks a forge whether an account may write to the repository.
pub type AskPermission<'a> = dyn FnMut(&str) -> Result<bool> + 'a;

/// A labelled issue and the decision about it.
#[derive(Clone, Debug)]
pub struct JudgedIssue {
    pub issue: LabelledIssue,
    pub verdict: IntakeVerdict,
    /// The source of its task; `None` without an event of the label.
    pub source: Option<String>,
    /// The tasks that block it.
    pub blocked_by: Vec<String>,
}

impl JudgedIssue {
    /// The account that added the label.
    pub fn labelled_by(&self) -> Option<&str> {
        self.issue.label.as_ref()?.by.as_ref().map(|by| by.login.as_str())
    }
}

/// Judges the issues of a repository for a project.
#[derive(Clone, Copy)]
pub struct IssueJudge<'a> {
    pub app: &'a App,
    /// The host and the path of the repository.
    pub repository: &'a str,
    /// Asks for permissions that change nothing but the reason, too.
    pub is_thorough: bool,
}

impl IssueJudge<'_> {
    /// The decision about an issue. `planned` are the labels and numbers of issues that were taken without a task, in a dry run.
    ///
    /// # Errors
    /// Those of the forge.
    pub fn judge(
        &self,
        book: &IntakeBook,
        settings: &IntakeSettings,
        issue: LabelledIssue,
        planned: &[(String, u64)],
        ask: &mut AskPermission<'_>,
    ) -> Result<JudgedIssue> {
        let number = issue.issue.number;
        let source = issue
            .label
            .as_ref()
            .map(|label| Source::Issue { repository: self.repository, number, event: &label.id }.to_string());
        let blocking: Vec<Option<String>> =
            issue.blockers.iter().map(|blocker| self.open_task(book, (*blocker)?)).collect();
        let blockers: Vec<Blocker> =
            blocking.iter().map(|task| Blocker { is_task: task.is_some() }).collect();
        let facts = self.facts(book, settings, number, source.as_deref(), planned);
        let verdict = self.verdict(settings, &issue, &facts, &blockers, ask)?;
        Ok(JudgedIssue { issue, verdict, source, blocked_by: blocking.into_iter().flatten().collect() })
    }

    fn verdict(
        &self,
        settings: &IntakeSettings,
        issue: &LabelledIssue,
        facts: &IntakeFacts,
        blockers: &[Blocker],
        ask: &mut AskPermission<'_>,
    ) -> Result<IntakeVerdict> {
        let by = issue.label.as_ref().and_then(|label| label.by.as_ref());
        let verdict = |may_label: bool, may_write: bool| {
            let label = issue.label.as_ref();
            let issue = IssueFacts {
                is_open: true,
                author: issue.author.as_ref().map(|author| account(author, may_write)),
                label: label
                    .map(|label| LabelEvent { by: by.map(|by| account(by, may_label)), at: label.at }),
                edited_at: issue.edited_at,
                blockers,
            };
            settings.rule().judge(&issue, facts)
        };
        let at_best = verdict(true, true);
        if !self.depends_on_permission(at_best) {
            return Ok(at_best);
        }
        let mut may_write = |rule: &Authors, author: Option<&Author>| match (rule, author) {
            (Authors::Write, Some(author)) => ask(&author.login),
            (Authors::Write | Authors::Logins(_), _) => Ok(false),
        };
        let may_label = may_write(&settings.labelled_by, by)?;
        let author_may = match &settings.authors {
            IntakeAuthors::Of(authors) if may_label || self.is_thorough => {
                may_write(authors, issue.author.as_ref())?
            }
            IntakeAuthors::Of(_) | IntakeAuthors::Anyone => false,
        };
        Ok(verdict(may_label, author_may))
    }

    /// True if permissions of people would change a verdict that all have when every one of them may write, or, where that is asked for, its
    /// reason.
    fn depends_on_permission(&self, verdict: IntakeVerdict) -> bool {
        match verdict {
            IntakeVerdict::Take | IntakeVerdict::Edited => true,
            IntakeVerdict::Blocked | IntakeVerdict::MaxOpen | IntakeVerdict::MaxPerDay => self.is_thorough,
            IntakeVerdict::Closed
            | IntakeVerdict::Known
            | IntakeVerdict::Quarantined
            | IntakeVerdict::NoLabelEvent
            | IntakeVerdict::LabelledBy
            | IntakeVerdict::Author => false,
        }
    }

    fn facts(
        &self,
        book: &IntakeBook,
        settings: &IntakeSettings,
        number: u64,
        source: Option<&str>,
        planned: &[(String, u64)],
    ) -> IntakeFacts {
        let today = today();
        let is_of_rule = |label: &str| label.eq_ignore_ascii_case(&settings.label);
        let of_rule = || book.taken.iter().filter(|it| it.task.is_some() && is_of_rule(&it.label));
        let new = planned.iter().filter(|(label, _)| is_of_rule(label)).count();
        let count = |known: usize| u32::try_from(known + new).unwrap_or(u32::MAX);
        IntakeFacts {
            is_known: source.and_then(|source| book.find(source)).is_some_and(|it| it.task.is_some()),
            has_open_task: self.open_task(book, number).is_some()
                || planned.iter().any(|(_, other)| *other == number),
            failures: book.failures(number, |taken| self.end(taken)),
            // An end on record is not looked at again: those of years may be there.
            open: count(of_rule().filter(|taken| taken.end.is_none() && self.is_open(taken)).count()),
            today: count(of_rule().filter(|taken| taken.at.get(..DATE) == Some(today.as_str())).count()),
        }
    }

    /// The id of the open task of an issue.
    pub fn open_task(&self, book: &IntakeBook, number: u64) -> Option<String> {
        let mut of_issue = book.taken.iter().filter(|taken| self.is_of(taken, number));
        of_issue.find(|taken| self.is_open(taken))?.task.clone()
    }

    fn is_of(&self, taken: &TakenIssue, wanted: u64) -> bool {
        matches!(
            Source::parse(&taken.source),
            Some(Source::Issue { repository, number, .. }) if repository == self.repository && number == wanted
        )
    }

    /// True if its task was made and has not ended.
    pub fn is_open(&self, taken: &TakenIssue) -> bool {
        taken.task.is_some() && self.end(taken).is_none()
    }

    /// The end of the task of an issue; `None` for an open one. A task that was deleted before it ended has failed.
    pub fn end(&self, taken: &TakenIssue) -> Option<IntakeEnd> {
        end(self.app, taken)
    }

    /// True if a forge need not be asked more about an issue, or about this event of its label.
    pub fn is_known(&self, book: &IntakeBook, number: u64, event: Option<&str>) -> bool {
        let source =
            event.map(|event| Source::Issue { repository: self.repository, number, event }.to_string());
        match source {
            Some(source) => book.find(&source).is_some_and(|it| it.task.is_some()),
            None => self.open_task(book, number).is_some(),
        }
    }
}

/// Length of the date in a time.
const DATE: usize = "2026-11-27".len();

fn today() -> String {
    clock::rfc3339(fault::now()).chars().take(DATE).collect()
}

fn account(author: &Author, may_write: bool) -> Account<'_> {
    Account { login: &author.login, is_bot: author.is_bot, may_write }
}

/// The task of an issue; `None` if it is gone, or in the trash.
pub fn task_of(app: &App, taken: &TakenIssue) -> Option<WorkItem> {
    let dir = find::by_id(&app.home, taken.task.as_deref()?).ok()?;
    WorkItem::read_last(&app.home, &dir, 0).ok().map(|(task, _)| task)
}

/// The end of the task of an issue; `None` for an open one, and for one that was not made.
pub fn end(app: &App, taken: &TakenIssue) -> Option<IntakeEnd> {
    let id = taken.task.as_deref()?;
    let (task, is_deleted) = match find::by_id(&app.home, id) {
        Ok(dir) => (WorkItem::read_last(&app.home, &dir, 0), false),
        Err(_) => match find::deleted(&app.home, WorkItemKind::Task, id) {
            Ok(dir) => (WorkItem::read_last(&app.home, &dir, 0), true),
            // What has become of it is on record, unless it was removed before that.
            Err(_) => return taken.end.or(Some(IntakeEnd::Failed)),
        },
    };
    // A task that cannot be read has not ended, as far as that is known.
    let Ok((task, _)) = task else { return taken.end };
    if !app.is_over(&task) {
        return is_deleted.then_some(IntakeEnd::Failed);
    }
    let machine = app.machine_of(&task.owned).ok()?;
    let is_cancelled = machine.commands.cancel == status_of(machine, &task).ok();
    Some(if is_cancelled { IntakeEnd::Failed } else { IntakeEnd::Done })
}

/// The events of tasks that were made by a process that was killed before it wrote that down.
///
/// # Errors
/// Those of reading tasks.
pub fn recovered(app: &App, project: &str, book: &IntakeBook) -> Result<Vec<IntakeEvent>> {
    let mut found = Vec::new();
    for taken in book.taken.iter().filter(|it| it.task.is_none() && it.error.is_none()) {
        if let Some(task) = create::of_source(&app.home, project, &taken.source)? {
            found.push(IntakeEvent::Taken { source: taken.source.clone(), task: task.id });
        }
    }
    Ok(found)
}
