//! `orange notify`: the channels for messages about what needs a person.

use crate::app::App;
use crate::cmd::answer::{CommandAnswer, one_line, table};
use crate::cmd::args::NotifyCommand;
use crate::flow::notify::settings::{self, named, words};
use crate::flow::notify::{Channel, NeedMessage, SentMessages, codes, replies, send};
use crate::{Error, ErrorKind, Result};
use orange_api::{ChannelFailure, ListedChannel, RevokedCodes, TestedChannel};
use orange_core::phone::CodeBook;

pub fn run(app: &App, command: &NotifyCommand) -> Result<CommandAnswer> {
    match command {
        NotifyCommand::List => list(app),
        NotifyCommand::Revoke { channel } => revoke(app, channel),
        NotifyCommand::Test { channel } => test(app, channel.as_deref()),
    }
}

fn list(app: &App) -> Result<CommandAnswer> {
    let (sent, mut book) = (SentMessages::read(&app.home)?, codes::read(&app.home)?);
    book.end_late(codes::seconds());
    let rows: Vec<ListedChannel> =
        settings::read(&app.home)?.iter().map(|channel| row(channel, &sent, &book)).collect();
    if rows.is_empty() {
        return CommandAnswer::of(&rows, nothing(app));
    }
    let cells: Vec<_> = rows.iter().map(cells).collect();
    CommandAnswer::of(&rows, table(["CHANNEL", "VIA", "NEEDS", "QUIET", "DIGEST", "ANSWERS", "LAST"], &cells))
}

fn nothing(app: &App) -> String {
    format!(
        "no channel yet: {} has a table for each, such as\n\n[desk]\nvia = \"desktop\"\n\n`orange notify test` then sends a message.",
        app.home.notify_toml().display()
    )
}

fn row(channel: &Channel, sent: &SentMessages, book: &CodeBook) -> ListedChannel {
    let Channel { name, rules, timeout, via } = channel;
    let to = sent.channels.get(name).cloned().unwrap_or_default();
    ListedChannel {
        name: name.clone(),
        via: via.as_str().into(),
        needs: rules.kinds.iter().map(|kind| kind.as_str().to_owned()).collect(),
        quiet: rules.quiet.map(words),
        urgent: rules.urgent.iter().map(|kind| kind.as_str().to_owned()).collect(),
        digest: rules.digest,
        timeout: timeout.as_secs(),
        taken_at: to.taken_at,
        failure: to.failure.map(|it| ChannelFailure { at: it.at, error: it.error }),
        untaken: to.facts.values().filter(|fact| !fact.done).count(),
        answers: channel.phone().map_or_else(Vec::new, |phone| {
            phone.answers.iter().map(|answer| answer.as_str().to_owned()).collect()
        }),
        open_codes: book.open(name),
        closed_until: codes::closed_until(book, name),
    }
}

fn cells(row: &ListedChannel) -> [String; 7] {
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let last = match (&row.failure, &row.taken_at) {
        (Some(failure), _) => format!("failed at {}: {}", failure.at, failure.error),
        (None, Some(at)) => format!("taken at {at}"),
        (None, None) => "no message yet".to_owned(),
    };
    [
        row.name.clone(),
        row.via.to_owned(),
        one_line(&row.needs.join(" "), 40),
        or_none(row.quiet.clone()),
        or_none(row.digest.map(|minutes| format!("{minutes} min"))),
        match &row.closed_until {
            Some(until) => format!("closed until {until}"),
            None => or_none(Some(row.answers.join(" ")).filter(|answers| !answers.is_empty())),
        },
        one_line(&last, 100),
    ]
}

fn revoke(app: &App, name: &str) -> Result<CommandAnswer> {
    app.caller.check_person("revoke the buttons of a channel")?;
    let count = codes::revoke(&app.home, name)?;
    if count == 0 {
        // What a person revokes in a hurry may have a wrong name.
        named(&app.home, name)?;
    }
    let text = format!("{count} codes of {name} have no effect any more");
    CommandAnswer::of(&RevokedCodes { channel: name.to_owned(), codes: count }, text)
}

fn test(app: &App, name: Option<&str>) -> Result<CommandAnswer> {
    let channels = match name {
        Some(name) => vec![named(&app.home, name)?],
        None => settings::read(&app.home)?,
    };
    if channels.is_empty() {
        return Err(Error::new(ErrorKind::NotFound, "there is no channel").help(nothing(app)));
    }
    let tested: Vec<TestedChannel> = channels.iter().map(|channel| try_out(app, channel)).collect();
    let lines = tested.iter().map(|it| {
        let failed = if it.success { "" } else { "failed: " };
        format!("{}: {failed}{}", it.channel, it.outcome)
    });
    let answer = CommandAnswer::of(&tested, lines.collect::<Vec<_>>().join("\n"))?;
    let has_failed = tested.iter().any(|it| !it.success);
    Ok(if has_failed { answer.wrong(ErrorKind::Environment) } else { answer })
}

fn try_out(app: &App, channel: &Channel) -> TestedChannel {
    let mut message = NeedMessage::test();
    message.buttons.extend(codes::view(channel));
    let outcome = send(&app.tmux, channel, &message).and_then(|sent| match channel.phone() {
        Some(phone) => replies::read_topic(phone, None, channel.timeout)
            .map(|_| format!("{sent}, and its replies can be read")),
        None => Ok(sent),
    });
    let (success, outcome) = match outcome {
        Ok(outcome) => (true, outcome),
        Err(error) => (false, error.one_line()),
    };
    TestedChannel { channel: channel.name.clone(), success, outcome }
}
