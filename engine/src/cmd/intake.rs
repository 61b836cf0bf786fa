//! `orange intake`: the labelled issues that became tasks, and the decisions about others.

use std::collections::BTreeMap;

use orange_core::intake::{IntakeEnd, IntakeVerdict};

use crate::app::App;
use crate::cmd::answer::{CommandAnswer, one_line, table};
use crate::cmd::args::IntakeArgs;
use crate::cmd::project;
use crate::flow::intake::{IssueJudge, JudgedIssue, end, recovered, task_of};
use crate::store::effective::effective;
use crate::store::intake::{IntakeBook, IntakeEvent, IntakeRecord, OpenBook, TakenIssue};
use crate::store::projects::Project;
use crate::store::settings::IntakeSettings;
use crate::{Error, ErrorKind, Result};
use orange_api::{Intake, IntakeIssue};

pub fn run(app: &App, args: &IntakeArgs) -> Result<CommandAnswer> {
    let project = project::named_or_here(app, args.project.as_deref())?;
    if args.action.is_some() {
        app.caller.check_person("take an issue again")?;
    }
    let settings = effective(&app.home, &project)?;
    let rules = &settings.intake.value;
    let retried = args.number.filter(|_| args.action.is_some());
    let book = match retried {
        Some(number) => retry(app, &project, number)?,
        None => IntakeBook::read(&app.home, &project.name)?,
    };
    let issues = match args.dry_run {
        true => asked(app, &project, rules, book.clone())?,
        false => waiting(&book),
    };
    let answer = Intake {
        project: project.name.clone(),
        labels: rules.iter().map(|rule| rule.label.clone()).collect(),
        warning: settings.trust.warning(&project.name),
        dry_run: args.dry_run,
        retried,
        issues,
        taken: book.taken.iter().map(|taken| shown(app, &book, taken)).collect(),
    };
    CommandAnswer::of(&answer, text(&answer))
}

/// Forgets the failures of an issue.
fn retry(app: &App, project: &Project, number: u64) -> Result<IntakeBook> {
    let mut open = OpenBook::wait(&app.home, &project.name)?;
    if !open.book.knows(number) {
        let message = format!("no issue {number} of {} was taken or waits for a person", project.name);
        return Err(Error::new(ErrorKind::NotFound, message).help("`orange intake` shows those that were"));
    }
    open.append(IntakeEvent::Retried { number })?;
    Ok(open.book)
}

/// The decision about each open issue with one of the labels, as the monitor would make it now.
fn asked(
    app: &App,
    project: &Project,
    rules: &[IntakeSettings],
    mut book: IntakeBook,
) -> Result<Vec<IntakeIssue>> {
    if rules.is_empty() {
        return Ok(Vec::new());
    }
    for event in recovered(app, &project.name, &book)? {
        book.add(IntakeRecord { at: String::new(), event });
    }
    let forge = app.forge_of(project)?;
    forge.check(app.path())?;
    let repository = forge.repository()?;
    let judge = IssueJudge { app, repository: &repository, is_thorough: true };
    let (mut planned, mut permissions) = (Vec::new(), BTreeMap::new());
    let mut ask = |login: &str| {
        if let Some(may_write) = permissions.get(login) {
            return Ok(*may_write);
        }
        let may_write = forge.permission_in(&repository, login)?.may_write();
        permissions.insert(login.to_owned(), may_write);
        Ok(may_write)
    };
    let mut issues = Vec::new();
    for rule in rules {
        app.progress.step(&format!("asking {} about issues with the label {}", forge.name(), rule.label));
        let is_known = |number, event: Option<&str>| judge.is_known(&book, number, event);
        for issue in forge.labelled(&repository, &rule.label, &is_known)?.issues {
            let judged = judge.judge(&book, rule, issue, &planned, &mut ask)?;
            if judged.verdict == IntakeVerdict::Take {
                planned.push((rule.label.clone(), judged.issue.issue.number));
            }
            issues.push(decided(rule, judged));
        }
    }
    Ok(issues)
}

fn decided(rule: &IntakeSettings, judged: JudgedIssue) -> IntakeIssue {
    let labelled_by = judged.labelled_by().map(str::to_owned);
    let issue = judged.issue.issue;
    IntakeIssue {
        number: issue.number,
        title: issue.title,
        url: issue.url,
        label: rule.label.clone(),
        labelled_by,
        decision: judged.verdict.as_str().to_owned(),
        rule: judged.verdict.rule().to_owned(),
        person: judged.verdict.needs_person(),
        blocked_by: judged.blocked_by,
    }
}

fn waiting(book: &IntakeBook) -> Vec<IntakeIssue> {
    let one = |waiting: &crate::store::intake::WaitingIssue| IntakeIssue {
        number: waiting.number,
        title: waiting.title.clone(),
        url: waiting.url.clone(),
        label: waiting.label.clone(),
        labelled_by: None,
        decision: waiting.verdict.clone(),
        rule: waiting.rule().to_owned(),
        person: true,
        blocked_by: Vec::new(),
    };
    book.waiting.values().map(one).collect()
}

fn shown(app: &App, book: &IntakeBook, taken: &TakenIssue) -> orange_api::TakenIssue {
    let task = task_of(app, taken);
    let (branch, status) = task.map(|task| (task.branch, task.owned.status)).unzip();
    let end = end(app, taken).or_else(|| taken.error.as_ref().map(|_| IntakeEnd::Failed));
    let state = match end {
        None | Some(IntakeEnd::Retried) => "open",
        Some(IntakeEnd::Done) => "done",
        Some(IntakeEnd::Failed) => "failed",
    };
    let number = taken.number();
    orange_api::TakenIssue {
        number,
        source: taken.source.clone(),
        label: taken.label.clone(),
        labelled_by: taken.by.clone(),
        at: taken.at.clone(),
        task: taken.task.clone(),
        branch,
        status,
        state: state.to_owned(),
        commented: taken.is_commented,
        closed: taken.is_closed,
        error: taken.error.clone(),
        failures: number.map_or(0, |number| book.failures(number, |taken| self::end(app, taken))),
    }
}

fn text(answer: &Intake) -> String {
    const WIDTH: usize = 50;
    let Intake { project, labels, warning, dry_run, retried, issues, taken } = answer;
    let mut parts = Vec::new();
    parts.extend(warning.clone());
    if labels.is_empty() {
        parts.push(format!(
            "no issue of {project} becomes a task: `[[intake]]` in its orange.toml names labels, once that file is trusted"
        ));
    }
    parts.extend(
        retried.map(|number| {
            format!("issue {number} is taken again by a label that is newer than its last task")
        }),
    );
    let number = |number: u64| format!("#{number}");
    if !issues.is_empty() {
        let row = |it: &IntakeIssue| {
            let by = it.labelled_by.as_deref().unwrap_or("-");
            [
                number(it.number),
                one_line(&it.title, WIDTH),
                it.label.clone(),
                by.to_owned(),
                it.decision.clone(),
                it.rule.clone(),
            ]
        };
        let rows: Vec<_> = issues.iter().map(row).collect();
        parts.push(table(["ISSUE", "TITLE", "LABEL", "BY", "DECISION", "RULE"], &rows));
    } else if *dry_run && !labels.is_empty() {
        parts.push(format!("no open issue has the label {}", labels.join(", or ")));
    }
    if !*dry_run && !taken.is_empty() {
        let row = |it: &orange_api::TakenIssue| {
            let of_task = || it.branch.clone().or_else(|| it.task.clone());
            [
                it.number.map_or_else(|| it.source.clone(), number),
                it.label.clone(),
                it.labelled_by.clone().unwrap_or_else(|| "-".to_owned()),
                it.at.clone(),
                it.state.clone(),
                of_task().unwrap_or_else(|| "-".to_owned()),
                one_line(it.error.as_deref().or(it.status.as_deref()).unwrap_or("-"), WIDTH),
            ]
        };
        let rows: Vec<_> = taken.iter().map(row).collect();
        parts.push(table(["ISSUE", "LABEL", "BY", "TAKEN", "STATE", "TASK", "STATUS"], &rows));
    } else if !*dry_run && issues.is_empty() && !labels.is_empty() && retried.is_none() {
        parts.push(
            "no issue was taken yet: `orange intake --dry-run` shows what the monitor would do".to_owned(),
        );
    }
    parts.join("\n\n")
}
