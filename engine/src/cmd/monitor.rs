//! `orange monitor`: looks after agents whose wrapper could not report their end, and after unfinished transitions.

use std::time::Duration;

use serde_json::{Value, json};

use crate::Result;
use crate::app::App;
use crate::cmd::answer::Answer;
use crate::cmd::args::MonitorArgs;
use crate::flow::monitor::{Look, look};
use crate::flow::polls::Polls;

/// Looks once, or again and again until it is interrupted; `tell` gets what each look found.
pub fn run(app: &App, args: &MonitorArgs, tell: impl Fn(&Answer) -> Result<()>) -> Result<Answer> {
    let shortest = app.machines.usable()?.iter().map(|machine| machine.poll_interval).min();
    let interval = Duration::from_secs(args.interval.or(shortest).unwrap_or(30).into());
    let mut polls = Polls::default();
    loop {
        app.machines.look_again();
        let found = look(app, &mut polls).map(|look| answer(&look));
        if args.once {
            return found;
        }
        // What fails at one look may be well at the next.
        let found = found.unwrap_or_else(|error| {
            let error = error.told();
            Answer::new(json!({ "error": error }), format!("error: {error}"))
        });
        if !found.text.is_empty() {
            tell(&found)?;
        }
        std::thread::sleep(interval);
    }
}

fn answer(look: &Look) -> Answer {
    let Look { watched, events, errors } = look;
    let pairs = |pairs: &[(String, String)], key: &str| -> Vec<Value> {
        pairs.iter().map(|(id, text)| json!({ "id": id, key: text })).collect()
    };
    let lines = events.iter().map(|(id, story)| format!("{id}: {story}"));
    let lines = lines.chain(errors.iter().map(|(id, error)| format!("{id}: error: {error}")));
    let text = lines.collect::<Vec<_>>().join("\n");
    let json =
        json!({ "watched": watched, "events": pairs(events, "outcome"), "errors": pairs(errors, "error") });
    Answer::new(json, text)
}
