//! `orange mission attach`

use crate::answer::{Attached, Success};
use crate::app::App;
use crate::cmd::answer::Answer;
use crate::flow::attach::{Left, attach, has_session};
use crate::store::{Task, TaskDir};
use crate::{Error, Kind, Result};

/// Shows the session of a mission on this terminal, from one agent to the next.
///
/// # Errors
/// `refused` when there is no session; `environment` without a terminal, or when tmux fails.
pub fn run(
    app: &App,
    dir: &TaskDir,
    as_json: bool,
    tell: &dyn Fn(&Answer) -> Result<bool>,
) -> Result<Answer> {
    let (task, _) = Task::read(&app.home, dir)?;
    if !has_session(app, dir)? {
        let message = format!("no agent of {} is there: the mission is {}", task.branch, task.status());
        return Err(Error::new(Kind::Refused, message)
            .help(format!("`orange mission show {}` shows what it waits for", dir.id)));
    }
    let say = |text: String| if as_json { Ok(()) } else { tell(&Answer::text(text)).map(drop) };
    let before =
        |task: &Task, keys: &str| say(format!("{} ({}): {keys} detaches", task.branch, task.status()));
    let ended = |task: &Task| say(format!("the session of {} has ended …", task.branch));
    let left = attach(app, dir, &before, &ended)?;
    let (task, _) = Task::read(&app.home, dir)?;
    let text = match left {
        Left::Switched => String::new(),
        Left::Detached => "the agent goes on".to_owned(),
        Left::Over => format!("the mission is {}; `orange mission show {}`", task.status(), dir.id),
    };
    Answer::of(&Attached { success: Success, id: dir.id.clone(), session: task.owned.tmux_session }, text)
}
