//! `orange monitor`: handles ends of agents that no wrapper has reported, and unfinished transitions.

use std::borrow::Cow;
use std::cell::Cell;
use std::time::Duration;

use orange_core::notify::CRASH_LASTS;

use crate::Result;
use crate::app::App;
use crate::cmd::answer::CommandAnswer;
use crate::cmd::args::MonitorArgs;
use crate::cmd::screen;
use crate::flow::monitor::{MonitorRound, look};
use crate::flow::notify::notifier::DeliveryReport;
use crate::flow::notify::{Notifier, PhoneReplies, codes};
use crate::flow::only_one::{OnlyMonitor, become_it, try_for_messages};
use crate::flow::polls::Polls;
use crate::store::{WorkItem, WorkItemKind, list};
use orange_api::{MonitorEvent, MonitorFailure, MonitorLook, Success};

/// The shortest time between two looks where messages are due sooner than the next one.
const SHORTEST: Duration = Duration::from_secs(1);

/// Looks once, or repeatedly until it is interrupted or nobody can read what it prints; `tell` gets the result of each look.
pub fn run(
    app: &App,
    args: &MonitorArgs,
    tell: impl Fn(&CommandAnswer) -> Result<()>,
) -> Result<CommandAnswer> {
    let shortest = app.machines.usable()?.iter().map(|machine| machine.poll_interval).min();
    let interval = Duration::from_secs(args.interval.or(shortest).unwrap_or(30).into());
    // A single look sends messages if no monitor does, and looks in any case.
    let only = if args.once { try_for_messages(app)? } else { alone(app, &tell)? };
    if only.is_none() && !args.once {
        return Ok(CommandAnswer::default());
    }
    let (mut polls, mut notifier) = (Polls::default(), Notifier::default());
    let mut phone = PhoneReplies::default();
    loop {
        app.machines.look_again();
        let mut pause = interval;
        let found = look(app, &mut polls).and_then(|mut look| {
            if only.is_some() {
                answers(app, &mut phone, args.once, &mut look, &mut pause);
                notify(app, &mut notifier, args.once, &mut look, &mut pause);
            }
            answer(app, &look)
        });
        if args.once {
            return found;
        }
        // An error at one look may be over at the next.
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                let error = error.for_person();
                CommandAnswer::of(
                    &MonitorLook::NotLooked { error: Cow::Borrowed(&error) },
                    format!("error: {error}"),
                )?
            }
        };
        if !found.text.is_empty() {
            tell(&found)?;
        }
        if !screen::rest(pause) {
            return Ok(CommandAnswer::default());
        }
    }
}

/// Carries out the answers that have come from phones. While one may come, the next look is soon.
fn answers(app: &App, phone: &mut PhoneReplies, waits: bool, look: &mut MonitorRound, pause: &mut Duration) {
    match phone.round(app, waits) {
        Ok((reports, may_come)) => {
            if may_come {
                *pause = codes::PAUSE.min(*pause);
            }
            add(look, reports);
        }
        Err(error) => look.errors.push(("notify".to_owned(), error.for_person().to_string())),
    }
}

/// Begins to send the messages that are due, and reports what came of earlier ones; a single look waits for its own, and until a
/// crash has lasted.
fn notify(app: &App, notifier: &mut Notifier, waits: bool, look: &mut MonitorRound, pause: &mut Duration) {
    let mut round = notifier.round(app);
    if waits
        && let Ok(Some(again)) = round
        && again <= CRASH_LASTS
    {
        std::thread::sleep(again);
        round = notifier.round(app);
    }
    match round {
        Ok(again) => *pause = again.map_or(*pause, |again| again.max(SHORTEST).min(*pause)),
        Err(error) => look.errors.push(("notify".to_owned(), error.for_person().to_string())),
    }
    if waits {
        notifier.finish();
    }
    add(look, notifier.reports());
}

/// Adds results to those of the look.
fn add(look: &mut MonitorRound, reports: Vec<DeliveryReport>) {
    for (channel, outcome) in reports {
        let name = format!("notify {channel}");
        match outcome {
            Ok(story) => look.events.push((name, story)),
            Err(error) => look.errors.push((name, error.for_person().to_string())),
        }
    }
}

/// Waits until no other monitor works; gives up when nobody can read what this one prints.
fn alone(app: &App, tell: &impl Fn(&CommandAnswer) -> Result<()>) -> Result<Option<OnlyMonitor>> {
    let has_waited = Cell::new(false);
    let only = become_it(app, screen::rest, |holder| {
        has_waited.set(true);
        let who = holder.as_ref().map_or("another process", |holder| holder.description.as_str());
        let text = format!("{who} is the monitor; this one stands by and works after its end");
        let look = MonitorLook::StandsBy {
            stands_by_for: holder.as_ref().map(|holder| holder.pid),
            since: holder.as_ref().map(|holder| holder.since.as_str()).map(Into::into),
        };
        tell(&CommandAnswer::of(&look, text)?)
    })?;
    if has_waited.get() && only.is_some() {
        let text = "the other monitor has ended; this one works now";
        tell(&CommandAnswer::of(&MonitorLook::TookOver { took_over: Success }, text)?)?;
    }
    Ok(only)
}

fn answer(app: &App, look: &MonitorRound) -> Result<CommandAnswer> {
    let MonitorRound { watched, events, errors } = look;
    let lines = events.iter().map(|(id, story)| format!("{}: {story}", name(app, id)));
    let lines = lines.chain(errors.iter().map(|(id, error)| format!("{}: error: {error}", name(app, id))));
    let text = lines.collect::<Vec<_>>().join("\n");
    let events =
        events.iter().map(|(id, outcome)| MonitorEvent { id: id.into(), outcome: outcome.into() }).collect();
    let errors =
        errors.iter().map(|(id, error)| MonitorFailure { id: id.into(), error: error.into() }).collect();
    CommandAnswer::of(&MonitorLook::Looked { watched: *watched, events, errors }, text)
}

/// The branch of a task or mission, by which people know it; of anything else, what it is called.
fn name(app: &App, id: &str) -> String {
    let dir = list::with_id(&app.home, &WorkItemKind::ALL, None, id).ok().and_then(|mut dirs| dirs.pop());
    let task = dir.and_then(|dir| WorkItem::read_last(&app.home, &dir, 0).ok());
    task.map_or_else(|| id.to_owned(), |(task, _)| format!("{}/{}", task.project, task.branch))
}
