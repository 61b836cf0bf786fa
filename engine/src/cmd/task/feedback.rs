//! `orange task feedback`

use orange_api::{Feedback, TaskFeedback};

use crate::app::App;
use crate::cmd::answer::CommandAnswer;
use crate::cmd::args::FeedbackArgs;
use crate::flow::feedback::collect;
use crate::store::{WorkItem, WorkItemDir, feedback};
use crate::{Error, ErrorKind, Result};

/// Shows the feedback of a round, or what the forge has now.
pub fn run(app: &App, dir: &WorkItemDir, args: &FeedbackArgs) -> Result<CommandAnswer> {
    let (round, asks) = (args.round, args.ask);
    // A deleted task, or one that was never there, is an error of its own.
    WorkItem::read_last(&app.home, dir, 0)?;
    let rounds = feedback::rounds(dir)?;
    let found = if asks {
        app.caller.check_person("ask the forge for feedback")?;
        let newest = rounds.last().copied().unwrap_or_default();
        Some(collect(app, dir, "asked", newest.saturating_add(1))?)
    } else {
        match round {
            Some(round) => feedback::read(dir, round)?,
            None => feedback::newest(dir)?,
        }
    };
    let found = found.ok_or_else(|| nothing(dir, round, &rounds))?;
    let text = format!("{}\n\n{}", Feedback::HEADING, found.whole().trim_end());
    CommandAnswer::of(&TaskFeedback { id: dir.id.clone(), is_kept: !asks, feedback: found }, text)
}

fn nothing(dir: &WorkItemDir, round: Option<u32>, rounds: &[u32]) -> Error {
    let help = match (round, rounds) {
        (Some(_), [first, .., last]) => format!("it has the rounds {first} to {last}"),
        (Some(_), [only]) => format!("it has round {only} alone"),
        (_, []) | (None, _) => format!("`{} --ask` shows what the forge has now", dir.command("feedback")),
    };
    let of = round.map(|round| format!(" of round {round}")).unwrap_or_default();
    Error::new(ErrorKind::NotFound, format!("{} has no feedback{of}", dir.shown())).help(help)
}
