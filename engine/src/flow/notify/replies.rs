//! Answers that come back from phones: reads the reply topics, each in a thread of its own, and carries out what their codes mean.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use orange_core::phone::{PhoneAnswer, PhoneCommand, Received, Reply, code_in};
use serde::Deserialize;

use super::codes::{self, CLOSED, LEAKED};
use super::notifier::DeliveryReport;
use super::settings::{self, Channel, Phone};
use crate::app::App;
use crate::caller::Caller;
use crate::drive::curl;
use crate::flow::asked::RequestAnswer;
use crate::flow::mission::answer::{PauseDecision, go_on};
use crate::flow::mission::answer_ask::{self, AskAnswer};
use crate::flow::person::{answer, edit};
use crate::store::event::Via;
use crate::store::{find, tokens};
use crate::{Error, ErrorKind, Result};
use orange_system::fault;

/// The longest part of a topic that is read at once, in bytes.
const MOST: usize = 1024 * 1024;

/// Time for which a look waits for servers. What they answer later is for the next look.
const PATIENCE: Duration = Duration::from_secs(2);

/// The shortest time between two reads of a topic, for the sake of its server.
const SHORTEST: Duration = Duration::from_secs(5);

/// The replies to one monitor.
#[derive(Debug)]
pub struct PhoneReplies {
    /// The channels whose topics are being read.
    running: BTreeSet<String>,
    /// The last reads.
    read_at: BTreeMap<String, Instant>,
    results: (Sender<TopicRead>, Receiver<TopicRead>),
    /// The last failure of each channel, which is reported once.
    failed: BTreeMap<String, String>,
    /// The last failure of a round, which is reported once.
    broken: Option<String>,
}

/// Result of a read.
#[derive(Debug)]
struct TopicRead {
    channel: String,
    topic: String,
    messages: Result<TopicMessages>,
}

/// The messages of a topic.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TopicMessages {
    /// Each with its id and its text.
    messages: Vec<(String, String)>,
    /// True if there are no more.
    is_all: bool,
}

/// A line of a topic, as ntfy writes it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TopicLine {
    id: String,
    event: String,
    message: String,
}

impl Default for PhoneReplies {
    fn default() -> PhoneReplies {
        PhoneReplies {
            running: BTreeSet::new(),
            read_at: BTreeMap::new(),
            results: channel(),
            failed: BTreeMap::new(),
            broken: None,
        }
    }
}

impl PhoneReplies {
    /// Reads the topics on which an answer may come, and carries out the answers. A single look waits for each server as long as its
    /// channel does. Returns the results, and true if an answer may still come.
    ///
    /// # Errors
    /// Those of the settings and of the list of codes; the same one is returned once.
    pub fn round(&mut self, app: &App, waits: bool) -> Result<(Vec<DeliveryReport>, bool)> {
        match self.look(app, waits) {
            Ok(found) => {
                self.broken = None;
                Ok(found)
            }
            Err(error) => {
                let text = error.one_line();
                let is_known = self.broken.replace(text.clone()) == Some(text);
                if is_known { Ok((Vec::new(), false)) } else { Err(error) }
            }
        }
    }

    fn look(&mut self, app: &App, waits: bool) -> Result<(Vec<DeliveryReport>, bool)> {
        // Answers are a person's, and so is the monitor that carries them out.
        if app.caller != Caller::Person || !app.home.answers_json().exists() {
            return Ok((Vec::new(), false));
        }
        let channels: Vec<Channel> =
            settings::read(&app.home)?.into_iter().filter(|channel| channel.phone().is_some()).collect();
        let mut reports = begin(app, &channels)?;
        let mut patience = PATIENCE;
        for (channel, phone) in channels.iter().filter_map(|channel| Some((channel, channel.phone()?))) {
            self.read(app, channel, phone)?;
            if waits && self.running.contains(&channel.name) {
                patience = patience.max(channel.timeout + PATIENCE);
            }
        }
        let deadline = Instant::now() + patience;
        while !self.running.is_empty() {
            match self.results.1.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(read) => reports.extend(self.take(app, read)?),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        let book = codes::read(&app.home)?;
        let may_come = channels.iter().any(|channel| book.waits(&channel.name));
        Ok((reports, may_come || !book.taken().is_empty()))
    }

    /// Begins to read the topic of a channel, if a code can be used there.
    fn read(&mut self, app: &App, channel: &Channel, phone: &Phone) -> Result<()> {
        let (name, topic) = (channel.name.clone(), topic_mark(phone));
        let is_recent = self.read_at.get(&name).is_some_and(|at| at.elapsed() < SHORTEST);
        if self.running.contains(&name) || is_recent {
            return Ok(());
        }
        let place = codes::change(&app.home, |book| {
            book.read_from(&name, &topic);
            let place = book.replies(&name).place.clone();
            book.waits(&name).then_some(place)
        })?;
        let Some(place) = place else { return Ok(()) };
        self.running.insert(name.clone());
        let (results, phone, timeout) = (self.results.0.clone(), phone.clone(), channel.timeout);
        std::thread::spawn(move || {
            let messages = read_topic(&phone, place.as_deref(), timeout);
            // The monitor may have ended meanwhile.
            results.send(TopicRead { channel: name, topic, messages }).unwrap_or_default();
        });
        Ok(())
    }

    /// Decides about the messages of a topic, and carries out what follows.
    fn take(&mut self, app: &App, read: TopicRead) -> Result<Vec<DeliveryReport>> {
        let TopicRead { channel, topic, messages } = read;
        self.running.remove(&channel);
        self.read_at.insert(channel.clone(), Instant::now());
        let messages = match messages {
            Ok(messages) => messages,
            Err(error) => {
                let text = error.one_line();
                let is_known = self.failed.insert(channel.clone(), text.clone()) == Some(text);
                return Ok(if is_known { Vec::new() } else { vec![(channel, Err(error))] });
            }
        };
        self.failed.remove(&channel);
        let now = codes::seconds();
        let (received, taken) = codes::change(&app.home, |book| {
            let mut received = Vec::new();
            // A person may have changed the topic meanwhile.
            if book.replies(&channel).topic == topic {
                for (id, text) in &messages.messages {
                    let hash = code_in(text).map(tokens::hash_of);
                    received.push(book.receive(&channel, Reply { id, hash: hash.as_deref() }, now));
                }
                if messages.is_all {
                    book.caught_up(&channel);
                }
            }
            (received, book.taken())
        })?;
        let mut reports: Vec<DeliveryReport> =
            failures(&received).into_iter().map(|failure| (channel.clone(), Err(failure))).collect();
        reports.extend(carry_out_all(app, taken)?);
        Ok(reports)
    }
}

/// Ends what is over, and carries out what a process before this one has taken.
fn begin(app: &App, channels: &[Channel]) -> Result<Vec<DeliveryReport>> {
    let allowed: BTreeMap<&str, &[PhoneAnswer]> = channels
        .iter()
        .filter_map(|channel| Some((channel.name.as_str(), &channel.phone()?.answers[..])))
        .collect();
    let taken = codes::change(&app.home, |book| {
        let now = codes::seconds();
        book.keep_allowed(&allowed, now);
        book.end_late(now);
        book.taken()
    })?;
    carry_out_all(app, taken)
}

/// Carries out the commands of codes that are taken, each given with the hash of its code. The engine refuses a second answer, so that a
/// repeat after a kill does nothing.
fn carry_out_all(app: &App, taken: Vec<(String, PhoneCommand)>) -> Result<Vec<DeliveryReport>> {
    let mut reports = Vec::new();
    for (hash, command) in taken {
        // A person may have revoked it while another one was carried out.
        if !codes::read(&app.home)?.taken().iter().any(|(known, _)| *known == hash) {
            continue;
        }
        fault::step("answer", "by phone");
        let outcome = carry_out(app, &command);
        fault::step("answered", "by phone");
        let is_final = match &outcome {
            Ok(_) => true,
            // It may be carried out at the next look.
            Err(error) => !matches!(error.kind, ErrorKind::Locked | ErrorKind::Environment),
        };
        if is_final {
            codes::change(&app.home, |book| book.finish(&hash, codes::seconds()))?;
        }
        match &outcome {
            Ok(story) => log::info!(target: "notify", "by phone: {story}"),
            Err(error) => log::warn!(target: "notify", "by phone: {}", error.one_line()),
        }
        reports.push(("answer".to_owned(), outcome));
    }
    Ok(reports)
}

/// Gives the answer in the name of the person, by the functions that the commands use.
fn carry_out(app: &App, command: &PhoneCommand) -> Result<String> {
    let answered = |request: &str, allow: bool| {
        let given = RequestAnswer { allow, message: None };
        let note = answer::answer(app, request, &given, Some(Via::Phone))?;
        let word = if allow { "may" } else { "may not" };
        let tool = note.tool.as_deref().unwrap_or("a tool");
        Ok(format!("agent {} {word} use {tool}: {}", note.spawn, note.line()))
    };
    match command {
        PhoneCommand::Allow { request } => answered(request, true),
        PhoneCommand::Deny { request } => answered(request, false),
        PhoneCommand::Continue { mission, pause } => {
            let dir = find::by_id(&app.home, mission)?;
            let wish = PauseDecision { pause: Some(*pause), is_from_phone: true, ..PauseDecision::default() };
            let done = go_on(app, &dir, wish)?;
            Ok(format!("pause {} of {mission} is answered: {}", done.pause, done.what))
        }
        PhoneCommand::Answer { mission, step, attempt, word } => {
            let dir = find::by_id(&app.home, mission)?;
            let (step, attempt) = (Some(step.as_str()), Some(*attempt));
            answer_ask::answer(app, &dir, &AskAnswer { step, word, comment: "", commit: None, attempt })
        }
        PhoneCommand::Seen { task, call } => {
            let dir = find::by_id(&app.home, task)?;
            let edits = edit::Edits { seen: true, seen_call: Some(call), ..edit::Edits::default() };
            edit::edit(app, &dir, edits).map(|_| format!("the call for attention of {task} is seen"))
        }
    }
}

/// The messages that a person should read of. Equal ones are one, so that a flood of them is short.
fn failures(received: &[Received]) -> Vec<Error> {
    let mut counted: Vec<(&Received, usize)> = Vec::new();
    for one in received.iter().filter(|one| words(one).is_some()) {
        match counted.iter_mut().find(|(known, _)| words(known) == words(one)) {
            Some((_, count)) => *count += 1,
            None => counted.push((one, 1)),
        }
    }
    let failure = |(received, count): (&Received, usize)| {
        let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
        let error = Error::new(ErrorKind::Refused, format!("{}{times}", words(received)?));
        Some(match received {
            Received::Wrong { closes: true } => error.help(LEAKED),
            Received::Wrong { closes: false }
            | Received::Take(_)
            | Received::Repeated
            | Received::NoCode
            | Received::OtherChannel
            | Received::Closed { .. }
            | Received::Dead(_) => error,
        })
    };
    counted.into_iter().filter_map(failure).collect()
}

/// The decision about a message, if a person should read of it.
fn words(received: &Received) -> Option<String> {
    match received {
        Received::Take(_) | Received::Repeated | Received::NoCode | Received::OtherChannel => None,
        Received::Closed { .. } => Some("an answer came while answers are closed".to_owned()),
        Received::Wrong { closes: false } => Some("a wrong code came".to_owned()),
        Received::Wrong { closes: true } => Some(CLOSED.to_owned()),
        Received::Dead(end) => Some(format!("a button has no effect any more: {}", end.words())),
    }
}

/// Reads what has come to a reply topic since a message, or everything that its server still has.
///
/// # Errors
/// `environment` when the server does not answer in time, or with another status than success.
pub fn read_topic(phone: &Phone, since: Option<&str>, timeout: Duration) -> Result<TopicMessages> {
    let since = since.unwrap_or("all");
    let url = format!("{}/json?poll=1&since={since}", phone.reply.url.trim_end_matches('/'));
    let bytes = curl::get(&url, &phone.reply.headers, MOST, timeout)?;
    Ok(parse(&bytes))
}

/// The messages in lines of JSON. Other events, and lines that are not events, are left out.
fn parse(bytes: &[u8]) -> TopicMessages {
    let is_id = |id: &str| {
        (1..=64).contains(&id.len()) && id.chars().all(|it| it.is_ascii_alphanumeric() || "_-".contains(it))
    };
    let lines = bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    let messages = lines.filter(|line: &TopicLine| line.event == "message" && is_id(&line.id));
    TopicMessages {
        messages: messages.map(|line| (line.id, line.message)).collect(),
        is_all: bytes.len() < MOST,
    }
}

/// A mark of the topic, by which the place in it is remembered. The address may be a secret.
fn topic_mark(phone: &Phone) -> String {
    tokens::hash_of(&phone.reply.url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_has_messages_and_other_events() {
        let topic = concat!(
            r#"{"id":"SLiKI64DOt","time":1635528757,"event":"open","topic":"t"}"#,
            "\n",
            r#"{"id":"hwQ2YpKdmg","time":1635528741,"expires":1635571941,"event":"message","topic":"t","message":"o1 x"}"#,
            "\n\nno json\n[]\n",
            r#"{"id":"a&b","event":"message","message":"an id that is none"}"#,
            "\n",
            r#"{"id":"DGUDShMCsc","event":"message","title":"a title alone"}"#,
            "\n",
            r#"{"id":"cut","event":"mess"#,
        );
        let messages = [("hwQ2YpKdmg", "o1 x"), ("DGUDShMCsc", "")];
        let messages = messages.map(|(id, text)| (id.to_owned(), text.to_owned())).to_vec();
        assert_eq!(parse(topic.as_bytes()), TopicMessages { messages, is_all: true });
        assert!(!parse(&vec![b'x'; MOST]).is_all);
        assert_eq!(parse(b""), TopicMessages { messages: Vec::new(), is_all: true });
    }

    #[test]
    fn a_flood_of_wrong_codes_is_one_line() {
        let wrong = || [Received::Wrong { closes: false }, Received::Repeated, Received::NoCode];
        let mut received: Vec<_> = std::iter::repeat_with(wrong).take(4).flatten().collect();
        received.push(Received::Wrong { closes: true });
        received.extend(vec![Received::Closed { until: 9 }; 300]);
        let said: Vec<_> = failures(&received).iter().map(|error| error.message.clone()).collect();
        let expect =
            ["a wrong code came (4 times)", CLOSED, "an answer came while answers are closed (300 times)"];
        assert_eq!(said, expect);
    }
}
