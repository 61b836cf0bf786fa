//! Collects feedback on the pull request of a task: asks the forge, and leaves out what agents may not get.

use std::collections::{BTreeMap, BTreeSet};

use orange_api::{Comment, Conflict, Feedback, Permission, ReviewDecision, Thread};
use orange_core::feedback::{Admission, AuthorRule};
use orange_system::clock;

use crate::app::App;
use crate::drive::forge::{Discussion, ForgeComment, Mergeable, OpenThread};
use crate::drive::git::Git;
use crate::flow::changed;
use crate::store::effective::{Effective, effective};
use crate::store::projects::Project;
use crate::store::{WorkItem, WorkItemDir, feedback};
use crate::{Error, ErrorKind, Result};

/// The beginning of the mark in comments that Orange writes.
pub const MARK: &str = "<!-- orange:";

/// The most bytes of a comment that are kept.
const COMMENT_BYTES: usize = 16 << 10;
/// The most bytes of all comments of a round.
const ALL_BYTES: usize = 2 << 20;

/// The parts of feedback that a cause asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Parts {
    checks: bool,
    talk: bool,
    conflict: bool,
}

impl Parts {
    /// Each cause has the facts that it is about, so that rounds of one kind do not answer those of another. A word that is not known
    /// asks for everything.
    fn of(cause: &str) -> Parts {
        let none = Parts { checks: false, talk: false, conflict: false };
        match cause {
            "pr.checks" => Parts { checks: true, ..none },
            "pr.threads" | "pr.review" => Parts { talk: true, ..none },
            "pr.mergeable" | "base" => Parts { conflict: true, ..none },
            _ => Parts { checks: true, talk: true, conflict: true },
        }
    }
}

/// Collects the feedback of a round for a fact of this kind, and changes nothing. Comments without a thread that an earlier round has are
/// left out.
///
/// # Errors
/// `refused` for a task without a pull request, unless the cause is `base`, and if commits have come meanwhile; `environment` when the
/// forge or git fails.
pub fn collect(app: &App, dir: &WorkItemDir, cause: &str, number: u32) -> Result<Feedback> {
    let (task, _) = WorkItem::read(&app.home, dir)?;
    let project = app.project_of(&task)?;
    let settings = effective(&app.home, &project)?;
    let parts = Parts::of(cause);
    let mut found = Feedback {
        number,
        cause: cause.to_owned(),
        pull_request: task.pr_url.clone(),
        commit: String::new(),
        time: clock::now(),
        review: ReviewDecision::None,
        checks: Vec::new(),
        threads: Vec::new(),
        comments: Vec::new(),
        conflict: None,
        others: 0,
        gaps: Vec::new(),
    };
    if parts.conflict {
        add_conflict(&mut found, &task, &project, &settings)?;
    }
    if cause == "base" {
        return Ok(found);
    }
    let Some(url) = &task.pr_url else {
        return Err(Error::new(ErrorKind::Refused, format!("{} has no pull request", task.branch))
            .help(format!("`{}` finds one that was opened for it", dir.command("refresh"))));
    };
    let forge = app.forge_of(&project)?;
    forge.check(app.path())?;
    app.progress.step(&format!("asking {} about {url}", forge.name()));
    let discussion = forge.discussion(url)?;
    found.commit.clone_from(&discussion.commit);
    if parts.checks {
        found.checks = forge.failed_checks(url, &discussion.commit)?;
        if found.checks.is_empty() && !parts.talk {
            found.gaps.push("none of its checks has failed any more".to_owned());
        }
    }
    if parts.conflict && found.conflict.is_none() && discussion.mergeable == Mergeable::Conflict {
        let into = changed::merge_target(&task, &project, &settings.merge)?;
        found.conflict = Some(Conflict { into, files: Vec::new() });
    }
    if parts.talk {
        let earlier = earlier(dir, number)?;
        let authors = &settings.feedback.authors.value;
        let rule = AuthorRule { authors, bots: &settings.feedback.bots.value };
        let permission = |login: &str| forge.permission(url, login);
        Listener::new(rule, &permission).hear(discussion, &earlier, &mut found)?;
    }
    Ok(found)
}

fn add_conflict(
    found: &mut Feedback,
    task: &WorkItem,
    project: &Project,
    settings: &Effective,
) -> Result<()> {
    let into = changed::merge_target(task, project, &settings.merge)?;
    let (commit, files) = Git::at(&project.path).conflicts(&task.branch, &into)?;
    found.commit = commit;
    found.conflict = Some(Conflict { into, files }).filter(|conflict| !conflict.files.is_empty());
    Ok(())
}

/// The ids of the comments without a thread that earlier rounds have.
fn earlier(dir: &WorkItemDir, number: u32) -> Result<BTreeSet<String>> {
    let mut ids = BTreeSet::new();
    for round in feedback::rounds(dir)?.into_iter().filter(|round| *round < number) {
        let comments = feedback::read(dir, round)?.map(|found| found.comments).unwrap_or_default();
        ids.extend(comments.into_iter().map(|comment| comment.id));
    }
    Ok(ids)
}

/// The comments that agents get, of a discussion.
struct Listener<'a> {
    rule: AuthorRule<'a>,
    ask: &'a dyn Fn(&str) -> Result<Permission>,
    /// Permissions that were asked for.
    known: BTreeMap<String, Permission>,
    /// Bytes of comments that may still be kept.
    room: usize,
    others: u32,
    was_cut: bool,
}

impl<'a> Listener<'a> {
    fn new(rule: AuthorRule<'a>, ask: &'a dyn Fn(&str) -> Result<Permission>) -> Listener<'a> {
        Listener { rule, ask, known: BTreeMap::new(), room: ALL_BYTES, others: 0, was_cut: false }
    }

    fn hear(
        mut self,
        discussion: Discussion,
        earlier: &BTreeSet<String>,
        found: &mut Feedback,
    ) -> Result<()> {
        let Discussion { review, threads, comments, has_more, .. } = discussion;
        found.review = review;
        for thread in threads {
            found.threads.extend(self.thread(thread)?);
        }
        for comment in comments {
            if !is_answer(&comment)
                && !earlier.contains(&comment.id)
                && let Some(comment) = self.comment(comment)?
            {
                found.comments.push(comment);
            }
        }
        found.others = self.others;
        if has_more {
            found.gaps.push("the pull request has older threads or comments, which were not read".to_owned());
        }
        if self.was_cut {
            found.gaps.push("some long comments are cut".to_owned());
        }
        Ok(())
    }

    /// The thread with the comments that are given; `None` if there are none, or if an answer of Orange is the last one.
    fn thread(&mut self, thread: OpenThread) -> Result<Option<Thread>> {
        let OpenThread { id, path, line, is_outdated, left_out, comments: said } = thread;
        let mut comments = Vec::new();
        let mut waits = false;
        for comment in said {
            let is_answer = is_answer(&comment);
            if let Some(comment) = self.comment(comment)? {
                comments.push(comment);
                waits = !is_answer;
            }
        }
        Ok(waits.then_some(Thread { id, path, line, is_outdated, left_out, comments }))
    }

    /// The comment, if it is given.
    fn comment(&mut self, comment: ForgeComment) -> Result<Option<Comment>> {
        let ForgeComment { id, author, time, mut text } = comment;
        let permission = match self.rule.decide(&author.login, author.is_bot) {
            Admission::Given if author.is_bot => Some(Permission::Bot),
            Admission::Given => Some(self.permission(&author.login)?),
            Admission::IfWriter => Some(self.permission(&author.login)?).filter(|it| it.may_write()),
            Admission::Counted => None,
        };
        let Some(permission) = permission else {
            self.others = self.others.saturating_add(1);
            return Ok(None);
        };
        let most = self.room.min(COMMENT_BYTES);
        if text.len() > most {
            text.truncate(text.floor_char_boundary(most));
            self.was_cut = true;
        }
        self.room -= text.len();
        Ok(Some(Comment { id, login: author.login, permission, time, text }))
    }

    fn permission(&mut self, login: &str) -> Result<Permission> {
        if let Some(known) = self.known.get(login) {
            return Ok(*known);
        }
        let permission = (self.ask)(login)?;
        self.known.insert(login.to_owned(), permission);
        Ok(permission)
    }
}

/// True for an answer that Orange has posted with this account. The mark alone proves nothing: everybody can write it.
fn is_answer(comment: &ForgeComment) -> bool {
    comment.author.is_self && comment.text.contains(MARK)
}
