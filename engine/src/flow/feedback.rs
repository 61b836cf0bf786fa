//! Collects feedback on the pull request of a task: asks the forge, and leaves out what agents may not get.

use std::collections::{BTreeMap, BTreeSet};

use orange_api::{Comment, Conflict, CreatedTask, Feedback, Permission, ReviewDecision, Thread};
use orange_core::FactKind;
use orange_core::feedback::{Admission, AuthorRule, MARK};
use orange_system::clock;

use crate::app::App;
use crate::drive::forge::{Discussion, ForgeComment, Mergeable, OpenThread};
use crate::drive::git::Git;
use crate::flow::{changed, delegation};
use crate::store::effective::{Effective, effective};
use crate::store::projects::Project;
use crate::store::{WorkItem, WorkItemDir, feedback};
use crate::{Error, ErrorKind, Result};

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
            "children" => none,
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
        children: Vec::new(),
        others: 0,
        gaps: Vec::new(),
    };
    if parts.conflict {
        add_conflict(&mut found, &task, &project, &settings)?;
    }
    if cause == FactKind::Children.as_str() {
        found.children = delegation::children(app, &task)?.into_iter().map(CreatedTask::from).collect();
        return Ok(found);
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
        let permission = match self.rule.admission(&author.login, author.is_bot) {
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

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use orange_core::feedback::Authors;

    use super::*;
    use crate::drive::forge::Author;

    fn said(id: &str, login: &str, text: &str) -> ForgeComment {
        let is_bot = login.starts_with("bot-");
        let author = Author { login: login.to_owned(), is_bot, is_self: login == "me" };
        ForgeComment { id: id.to_owned(), author, time: "t".to_owned(), text: text.to_owned() }
    }

    fn thread(id: &str, comments: Vec<ForgeComment>) -> OpenThread {
        OpenThread { id: id.to_owned(), path: None, line: None, is_outdated: false, left_out: 0, comments }
    }

    fn empty() -> Feedback {
        let json = r#"{"number":1,"cause":"pr.threads","pull_request":null,"commit":"c","time":"t"}"#;
        serde_json::from_str(json).unwrap()
    }

    /// The feedback, and the accounts whose permission was asked for.
    fn heard(
        authors: &Authors,
        threads: Vec<OpenThread>,
        comments: Vec<ForgeComment>,
    ) -> (Feedback, Vec<String>) {
        let asked = RefCell::new(Vec::new());
        let ask = |login: &str| {
            asked.borrow_mut().push(login.to_owned());
            Ok(match login {
                "ada" | "me" => Permission::Write,
                "root" => Permission::Admin,
                _ => Permission::Read,
            })
        };
        let bots = ["bot-a".to_owned()];
        let discussion = Discussion {
            commit: "c".to_owned(),
            review: ReviewDecision::ChangesRequested,
            mergeable: Mergeable::Unknown,
            threads,
            comments,
            has_more: false,
        };
        let mut found = empty();
        let earlier = BTreeSet::from(["old".to_owned()]);
        Listener::new(AuthorRule { authors, bots: &bots }, &ask)
            .hear(discussion, &earlier, &mut found)
            .unwrap();
        (found, asked.into_inner())
    }

    fn ids(comments: &[Comment]) -> Vec<&str> {
        comments.iter().map(|it| it.id.as_str()).collect()
    }

    #[test]
    fn comments_of_others_are_only_counted() {
        let open = thread("T1", vec![said("1", "ada", "a"), said("2", "eve", "b"), said("3", "bot-b", "c")]);
        let foreign = thread("T2", vec![said("4", "eve", "d")]);
        let comments = vec![said("5", "bot-a", "e"), said("6", "eve", "f"), said("7", "root", "g")];
        let (found, asked) = heard(&Authors::Write, vec![open, foreign], comments);
        assert_eq!(found.threads.len(), 1);
        assert_eq!(ids(&found.threads[0].comments), ["1"]);
        assert_eq!(ids(&found.comments), ["5", "7"]);
        assert_eq!(found.comments[0].permission, Permission::Bot);
        assert_eq!((found.others, found.review), (4, ReviewDecision::ChangesRequested));
        assert_eq!(asked, ["ada", "eve", "root"], "each account once, and no bot");
    }

    #[test]
    fn named_people_need_no_permission_to_write() {
        let eve = Authors::Logins(vec!["eve".to_owned()]);
        let (found, _) = heard(&eve, vec![], vec![said("1", "ada", "a"), said("2", "eve", "b")]);
        assert_eq!(ids(&found.comments), ["2"]);
        assert_eq!((found.comments[0].permission, found.others), (Permission::Read, 1));
    }

    #[test]
    fn an_answered_thread_waits_for_people() {
        let answer = "Done. <!-- orange:t1:1:T1 -->";
        let answered = thread("T1", vec![said("1", "ada", "a"), said("2", "me", answer)]);
        let again = thread("T2", vec![said("3", "ada", "a"), said("4", "me", answer), said("5", "ada", "b")]);
        let forged = thread("T3", vec![said("6", "ada", "a"), said("7", "ada", answer)]);
        let (found, _) = heard(&Authors::Write, vec![answered, again, forged], vec![said("8", "me", answer)]);
        let threads: Vec<&str> = found.threads.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(threads, ["T2", "T3"]);
        assert_eq!(ids(&found.threads[0].comments), ["3", "4", "5"]);
        assert!(found.comments.is_empty());
    }

    #[test]
    fn a_comment_without_a_thread_is_given_once() {
        let comments = vec![said("old", "ada", "a"), said("new", "ada", "b"), said("own", "me", "c")];
        let (found, _) = heard(&Authors::Write, vec![], comments);
        assert_eq!(ids(&found.comments), ["new", "own"]);
    }

    #[test]
    fn long_comments_are_cut_and_that_is_said() {
        let long = "é".repeat(COMMENT_BYTES);
        let comments: Vec<ForgeComment> =
            (0..200).map(|number| said(&number.to_string(), "ada", &long)).collect();
        let (found, _) = heard(&Authors::Write, vec![], comments);
        let lengths: Vec<usize> = found.comments.iter().map(|it| it.text.len()).collect();
        assert_eq!((lengths[0], lengths.iter().sum::<usize>()), (COMMENT_BYTES, ALL_BYTES));
        assert_eq!(found.gaps.len(), 1);
    }

    #[test]
    fn a_cause_asks_for_its_own_facts() {
        let parts = |checks, talk, conflict| Parts { checks, talk, conflict };
        for (cause, expect) in [
            ("pr.checks", parts(true, false, false)),
            ("pr.threads", parts(false, true, false)),
            ("pr.review", parts(false, true, false)),
            ("pr.mergeable", parts(false, false, true)),
            ("base", parts(false, false, true)),
            ("asked", parts(true, true, true)),
        ] {
            assert_eq!(Parts::of(cause), expect, "{cause}");
        }
    }
}
