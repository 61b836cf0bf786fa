//! Answers to threads of a pull request, posted after a push.

use crate::Result;
use crate::app::App;
use crate::drive::forge::{Discussion, Forge};
use crate::store::event::{PostedAnswer, ThreadAnswer};
use crate::store::{Event, LockedWorkItem, Set};
use orange_core::feedback::{answer_body, mark};

/// The next step of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NextStep {
    Post,
    /// It is there: a process that was killed has posted it.
    Keep,
    /// The thread is resolved or gone.
    Skip,
}

/// Posts the answers that wait for this push. A failure is put into the task's attention, and the next push tries again.
pub fn post(app: &App, locked: &mut LockedWorkItem) -> Result<()> {
    match post_all(app, locked) {
        Ok(()) => Ok(()),
        Err(error) => locked.call_attention(&format!(
            "answers to comments are not posted, and the next push tries again: {}",
            error.one_line()
        )),
    }
}

fn post_all(app: &App, locked: &mut LockedWorkItem) -> Result<()> {
    let answers = locked.history().branch.answers.clone();
    let Some(url) = locked.task().pr_url.clone().filter(|_| !answers.is_empty()) else { return Ok(()) };
    let forge = app.forge_of(&app.project_of(locked.task())?)?;
    forge.check(app.path())?;
    app.progress.step(&format!("answering comments on {}", forge.name()));
    let discussion = forge.discussion(&url)?;
    for answer in answers {
        let mark = mark(&locked.dir().id, answer.round, &answer.thread);
        let step = next_step(&discussion, &answer.thread, &mark);
        carry_out(&forge, &url, &answer, &mark, step)?;
        let ThreadAnswer { round, thread, .. } = answer;
        let is_posted = step != NextStep::Skip;
        let posted = PostedAnswer { round, thread, is_posted };
        locked.append(Event::FeedbackPosted(posted), Set::new())?;
    }
    Ok(())
}

fn carry_out(forge: &Forge, url: &str, answer: &ThreadAnswer, mark: &str, step: NextStep) -> Result<()> {
    match step {
        NextStep::Skip => return Ok(()),
        NextStep::Keep => {}
        NextStep::Post => forge.reply(url, &answer.thread, &answer_body(&answer.text, mark))?,
    }
    if answer.resolve { forge.resolve(url, &answer.thread) } else { Ok(()) }
}

fn next_step(discussion: &Discussion, thread: &str, mark: &str) -> NextStep {
    match discussion.threads.iter().find(|open| open.id == thread) {
        Some(open) => {
            let is_there =
                |it: &&crate::drive::forge::ForgeComment| it.author.is_self && it.text.contains(mark);
            if open.comments.iter().any(|it| is_there(&it)) { NextStep::Keep } else { NextStep::Post }
        }
        // It may be one of those that were not read.
        None if discussion.has_more => NextStep::Post,
        None => NextStep::Skip,
    }
}

#[cfg(test)]
mod tests {
    use orange_api::ReviewDecision;

    use super::*;
    use crate::drive::forge::{Author, ForgeComment, Mergeable, OpenThread};

    #[test]
    fn an_answer_is_posted_once() {
        let mark = mark("t1", 2, "T");
        let said = |text: &str, is_self: bool| ForgeComment {
            id: "C".to_owned(),
            author: Author { login: "ada".to_owned(), is_bot: false, is_self },
            time: "t".to_owned(),
            text: text.to_owned(),
        };
        let step = |comments: Vec<ForgeComment>, thread: &str, has_more: bool| {
            let open = OpenThread {
                id: "T".to_owned(),
                path: None,
                line: None,
                is_outdated: false,
                left_out: 0,
                comments,
            };
            let discussion = Discussion {
                commit: "c".to_owned(),
                review: ReviewDecision::None,
                mergeable: Mergeable::Unknown,
                threads: vec![open],
                comments: vec![],
                has_more,
            };
            next_step(&discussion, thread, &mark)
        };
        let answered = answer_body("Done.", &mark);
        assert_eq!(step(vec![said("Why?", false)], "T", false), NextStep::Post);
        assert_eq!(step(vec![said("Why?", false), said(&answered, true)], "T", false), NextStep::Keep);
        assert_eq!(
            step(vec![said(&answered, false)], "T", false),
            NextStep::Post,
            "anybody can write the mark"
        );
        assert_eq!(step(vec![], "T2", false), NextStep::Skip);
        assert_eq!(step(vec![], "T2", true), NextStep::Post);
        let earlier = answer_body("Done.", &super::mark("t1", 1, "T"));
        assert_eq!(step(vec![said(&earlier, true)], "T", false), NextStep::Post, "of another round");
    }
}
