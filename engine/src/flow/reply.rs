//! Keeps an answer to a thread of a pull request until the push that carries the fix.

use orange_api::{Feedback, Permission};
use orange_core::feedback::{LONGEST_ANSWER, Resolve};

use crate::app::App;
use crate::flow::lock_recovered;
use crate::store::effective::effective;
use crate::store::event::ThreadAnswer;
use crate::store::{Event, Set, WorkItemDir, feedback};
use crate::{Error, ErrorKind, Result};

/// The wishes of the caller.
#[derive(Clone, Copy, Debug)]
pub struct ReplyWish<'a> {
    /// The thread of the newest feedback.
    pub thread: &'a str,
    pub text: &'a str,
    /// Resolve the thread, too.
    pub resolve: bool,
}

/// Keeps the answer of an agent or a person to a thread; a push posts it.
///
/// # Errors
/// `refused` for a thread that the newest feedback does not have or that has an answer, for a text that is empty or too long, and for a
/// thread that the settings do not let agents resolve.
pub fn reply(app: &App, dir: &WorkItemDir, wish: ReplyWish<'_>) -> Result<ThreadAnswer> {
    let mut locked = lock_recovered(app, dir)?;
    app.check_caller(locked.task(), locked.history())?;
    let settings = effective(&app.home, &app.project_of(locked.task())?)?;
    let newest = feedback::newest(dir)?;
    let last = locked.history().branch.answered.get(wish.thread).copied();
    let round = check(wish, newest.as_ref(), last, settings.feedback.resolve.value)?;
    let ReplyWish { thread, text, resolve } = wish;
    let answer = ThreadAnswer { round, thread: thread.to_owned(), text: text.trim().to_owned(), resolve };
    locked.append(Event::FeedbackAnswered(answer.clone()), Set::new())?;
    Ok(answer)
}

/// The round that the answer is for. `last` is the round for which the thread was last answered.
fn check(wish: ReplyWish<'_>, newest: Option<&Feedback>, last: Option<u32>, may: Resolve) -> Result<u32> {
    let refused = |message: String, help: String| Err(Error::new(ErrorKind::Refused, message).help(help));
    let ReplyWish { thread, text, resolve } = wish;
    let shown = thread.escape_debug();
    let Some(newest) = newest else {
        return refused(
            "there is no feedback to answer".to_owned(),
            "`orange task feedback` shows it once there is some".to_owned(),
        );
    };
    let Some(found) = newest.threads.iter().find(|it| it.id == thread) else {
        let ids: Vec<&str> = newest.threads.iter().map(|it| it.id.as_str()).collect();
        let help = if ids.is_empty() {
            "it has no threads".to_owned()
        } else {
            format!("it has {}", ids.join(", "))
        };
        return refused(format!("the newest feedback has no thread `{shown}`"), help);
    };
    if last == Some(newest.number) {
        return refused(
            format!("thread `{shown}` has an answer already"),
            "one answer is posted for each thread and round; say more in the commit".to_owned(),
        );
    }
    if text.trim().is_empty() || text.len() > LONGEST_ANSWER {
        return refused(
            format!("an answer has 1 to {LONGEST_ANSWER} bytes, not {}", text.trim().len()),
            "say in a few sentences what was changed, or why nothing was".to_owned(),
        );
    }
    let is_of_bot = found.comments.first().is_some_and(|it| it.permission == Permission::Bot);
    if resolve && !may.admits(is_of_bot) {
        return refused(
            format!("thread `{shown}` is resolved by the person who opened it"),
            "leave out --resolve; `[feedback] resolve` of the project says which threads may be resolved"
                .to_owned(),
        );
    }
    Ok(newest.number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feedback(permission: &str) -> Feedback {
        let json = format!(
            r#"{{"number":2,"cause":"pr.threads","pull_request":null,"commit":"c","time":"t","threads":[{{"id":"T","path":null,"line":null,
            "comments":[{{"id":"C","login":"ada","permission":"{permission}","time":"t","text":"x"}}]}}]}}"#
        );
        serde_json::from_str(&json).unwrap()
    }

    #[track_caller]
    fn refuses(wish: ReplyWish<'_>, newest: Option<&Feedback>, last: Option<u32>, part: &str) {
        let error = check(wish, newest, last, Resolve::Never).unwrap_err();
        assert!(error.kind == ErrorKind::Refused && error.sentence().contains(part), "{error}");
    }

    #[test]
    fn one_answer_for_each_thread_and_round() {
        let wish = ReplyWish { thread: "T", text: "Done.", resolve: false };
        let newest = feedback("write");
        assert_eq!(check(wish, Some(&newest), None, Resolve::Never), Ok(2));
        assert_eq!(check(wish, Some(&newest), Some(1), Resolve::Never), Ok(2));
        refuses(wish, Some(&newest), Some(2), "has an answer already");
        refuses(ReplyWish { thread: "T\n2", ..wish }, Some(&newest), None, "no thread `T\\n2`: it has T");
        refuses(wish, None, None, "no feedback");
        refuses(ReplyWish { text: " \n", ..wish }, Some(&newest), None, "1 to 2048 bytes");
        let long = "x".repeat(LONGEST_ANSWER + 1);
        refuses(ReplyWish { text: &long, ..wish }, Some(&newest), None, "not 2049");
    }

    #[test]
    fn the_settings_say_which_threads_are_resolved() {
        let wish = ReplyWish { thread: "T", text: "Done.", resolve: true };
        for (permission, may, expect) in [
            ("write", Resolve::Never, false),
            ("bot", Resolve::Never, false),
            ("write", Resolve::Bots, false),
            ("bot", Resolve::Bots, true),
            ("write", Resolve::All, true),
        ] {
            assert_eq!(
                check(wish, Some(&feedback(permission)), None, may).is_ok(),
                expect,
                "{permission} {may:?}"
            );
        }
    }
}
