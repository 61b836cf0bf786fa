//! `orange monitor`: handles ends of agents that no wrapper has reported, and unfinished transitions.

use std::time::Duration;

use crate::Result;
use crate::answer::{Failed, Happened, MonitorLook};
use crate::app::App;
use crate::cmd::answer::Answer;
use crate::cmd::args::MonitorArgs;
use crate::flow::monitor::{Look, look};
use crate::flow::polls::Polls;

/// Looks once, or repeatedly until it is interrupted; `tell` gets the result of each look.
pub fn run(app: &App, args: &MonitorArgs, tell: impl Fn(&Answer) -> Result<()>) -> Result<Answer> {
    let shortest = app.machines.usable()?.iter().map(|machine| machine.poll_interval).min();
    let interval = Duration::from_secs(args.interval.or(shortest).unwrap_or(30).into());
    let mut polls = Polls::default();
    loop {
        app.machines.look_again();
        let found = look(app, &mut polls).and_then(|look| answer(&look));
        if args.once {
            return found;
        }
        // An error at one look may be over at the next.
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                let error = error.for_person();
                Answer::of(&MonitorLook::NotLooked { error: &error }, format!("error: {error}"))?
            }
        };
        if !found.text.is_empty() {
            tell(&found)?;
        }
        std::thread::sleep(interval);
    }
}

fn answer(look: &Look) -> Result<Answer> {
    let Look { watched, events, errors } = look;
    let lines = events.iter().map(|(id, story)| format!("{id}: {story}"));
    let lines = lines.chain(errors.iter().map(|(id, error)| format!("{id}: error: {error}")));
    let text = lines.collect::<Vec<_>>().join("\n");
    let events = events.iter().map(|(id, outcome)| Happened { id, outcome }).collect();
    let errors = errors.iter().map(|(id, error)| Failed { id, error }).collect();
    Answer::of(&MonitorLook::Looked { watched: *watched, events, errors }, text)
}
