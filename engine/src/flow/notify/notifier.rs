//! Sends what is due, each channel in a thread of its own, so that no receiver delays the monitor or another receiver.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use orange_core::need::NeedKind;
use orange_core::notify::{Clock, NeedFact};
use orange_core::phone::PhoneCommand;

use super::codes::{self, CLOSED, LEAKED, seconds};
use super::message::{NeedItem, NeedMessage};
use super::seen::{self, SeenNeed};
use super::send;
use super::sent::SentMessages;
use super::settings::{self, Channel};
use crate::Result;
use crate::app::App;
use crate::drive::tmux::Tmux;
use crate::store::intake::WaitingIssue;
use crate::store::{Home, projects};
use orange_system::exec::ProgramCall;
use orange_system::{clock, fault};

/// Seconds until the replies to buttons are looked for.
const REPLIES: u64 = codes::PAUSE.as_secs();

/// The messages of one monitor.
#[derive(Debug)]
pub struct Notifier {
    shared: Option<Arc<NotifierState>>,
    running: BTreeMap<String, JoinHandle<()>>,
    /// Since when each fact of now has been seen.
    since: BTreeMap<String, Instant>,
    reports: (Sender<DeliveryReport>, Receiver<DeliveryReport>),
    failed: Option<String>,
}

/// Result of a message: the channel, and a description of the delivery or the error.
pub type DeliveryReport = (String, Result<String>);

/// State that the threads share.
#[derive(Debug)]
struct NotifierState {
    home: Home,
    tmux: Tmux,
    sent: Mutex<SentMessages>,
}

impl Default for Notifier {
    fn default() -> Notifier {
        Notifier {
            shared: None,
            running: BTreeMap::new(),
            since: BTreeMap::new(),
            reports: channel(),
            failed: None,
        }
    }
}

impl Notifier {
    /// Begins to send what is due now. Returns after what time there may be more.
    ///
    /// # Errors
    /// Those of the settings and of the store; the same one is returned once.
    pub fn round(&mut self, app: &App) -> Result<Option<Duration>> {
        match self.begin(app) {
            Ok(again) => {
                self.failed = None;
                Ok(again)
            }
            Err(error) => {
                let text = error.one_line();
                let is_known = self.failed.replace(text.clone()) == Some(text);
                if is_known { Ok(None) } else { Err(error) }
            }
        }
    }

    fn begin(&mut self, app: &App) -> Result<Option<Duration>> {
        let channels = settings::read(&app.home)?;
        if channels.is_empty() {
            return Ok(None);
        }
        let mut seen: Vec<MessageSubject> =
            seen::all(app)?.into_iter().map(|it| MessageSubject::Need(Box::new(it))).collect();
        seen.extend(MessageSubject::issues(app)?);
        let shared = self.shared(app)?;
        let lasted = self.lasted(&seen);
        self.running.retain(|_, thread| !thread.is_finished());
        let clock = clock_for(&channels);
        shared.forget(&channels, &seen, clock.now)?;
        shared.end_codes(&seen, clock.now)?;
        let closed = codes::closed(&app.home)?;
        let mut again: Option<u64> = None;
        for channel in channels {
            if self.running.contains_key(&channel.name) {
                continue;
            }
            let due = shared.due(&channel, &seen, &lasted, clock);
            again = [again, due.again].into_iter().flatten().min();
            let notices = shared.notices(&channel, &closed, clock.now);
            let needs = due.messages.iter().map(|places| Batch::of(&channel, &seen, places));
            let batches: Vec<Batch> = notices.into_iter().chain(needs).collect();
            if batches.is_empty() {
                continue;
            }
            if batches.iter().any(|batch| !batch.offers.is_empty()) {
                again = Some(again.map_or(REPLIES, |again| again.min(REPLIES)));
            }
            let (shared, reports) = (Arc::clone(&shared), self.reports.0.clone());
            let name = channel.name.clone();
            let thread = std::thread::spawn(move || shared.send(&channel, &batches, &reports));
            self.running.insert(name, thread);
        }
        Ok(again.map(Duration::from_secs))
    }

    /// For how long each fact has been seen.
    fn lasted(&mut self, seen: &[MessageSubject]) -> Vec<Duration> {
        let now = Instant::now();
        let marks: Vec<String> = seen.iter().map(MessageSubject::mark).collect();
        self.since.retain(|mark, _| marks.contains(mark));
        let since = marks.into_iter().map(|mark| *self.since.entry(mark).or_insert(now));
        since.map(|since| now.duration_since(since)).collect()
    }

    /// Results of messages since the last call.
    pub fn reports(&self) -> Vec<DeliveryReport> {
        self.reports.1.try_iter().collect()
    }

    /// Waits until every message has been taken, has failed, or took too long.
    pub fn finish(&mut self) {
        for (_, thread) in std::mem::take(&mut self.running) {
            // A thread that has panicked sends no more.
            thread.join().unwrap_or_default();
        }
    }

    fn shared(&mut self, app: &App) -> Result<Arc<NotifierState>> {
        if let Some(shared) = &self.shared {
            return Ok(Arc::clone(shared));
        }
        let sent = Mutex::new(SentMessages::read(&app.home)?);
        let shared = Arc::new(NotifierState { home: app.home.clone(), tmux: app.tmux.clone(), sent });
        self.shared = Some(Arc::clone(&shared));
        Ok(shared)
    }
}

/// Something that a person gets a message about.
enum MessageSubject {
    Need(Box<SeenNeed>),
    /// A labelled issue that waits for a person.
    Issue {
        project: String,
        issue: WaitingIssue,
    },
}

impl MessageSubject {
    /// The issues of all projects. `orange doctor` reports a file that cannot be read.
    fn issues(app: &App) -> Result<impl Iterator<Item = MessageSubject>> {
        let waiting = WaitingIssue::of_projects(&projects::read(&app.home)?, &app.home, None);
        Ok(waiting.into_iter().flatten().map(|(project, issue)| MessageSubject::Issue { project, issue }))
    }

    /// Its identity in messages.
    fn mark(&self) -> String {
        match self {
            MessageSubject::Need(seen) => seen.mark(),
            MessageSubject::Issue { project, issue } => {
                let source = issue.source.as_deref().unwrap_or_default();
                format!("issue {project} {} {} {source}", issue.number, issue.verdict)
            }
        }
    }

    fn kind(&self) -> NeedKind {
        match self {
            MessageSubject::Need(seen) => seen.need.kind,
            MessageSubject::Issue { .. } => NeedKind::Stuck,
        }
    }

    fn item(&self) -> NeedItem {
        match self {
            MessageSubject::Need(seen) => NeedItem::of(seen),
            MessageSubject::Issue { project, issue } => NeedItem::of_issue(project, issue),
        }
    }

    fn need(&self) -> Option<&SeenNeed> {
        match self {
            MessageSubject::Need(seen) => Some(seen),
            MessageSubject::Issue { .. } => None,
        }
    }
}

/// One message and the facts that it is about.
struct Batch {
    message: NeedMessage,
    facts: Vec<String>,
    /// Commands of its buttons.
    offers: Vec<PhoneCommand>,
}

impl Batch {
    fn of(channel: &Channel, seen: &[MessageSubject], places: &[usize]) -> Batch {
        let seen: Vec<&MessageSubject> = places.iter().filter_map(|place| seen.get(*place)).collect();
        let mut message = NeedMessage::about(seen.iter().map(|it| it.item()).collect());
        let needs: Option<Vec<&SeenNeed>> = seen.iter().map(|it| it.need()).collect();
        let offers = needs.map_or_else(Vec::new, |needs| codes::offers(channel, &needs, &mut message));
        Batch { facts: seen.iter().map(|it| it.mark()).collect(), message, offers }
    }

    /// The message that a channel takes no answers until this time.
    fn closed(name: &str, until: u64) -> Batch {
        let title = format!("orange: answers of {name} are closed");
        let text = format!("{CLOSED} · {LEAKED}");
        let message = NeedMessage { title, text, ..NeedMessage::default() };
        Batch { message, facts: vec![format!("answers {name} {until}")], offers: Vec::new() }
    }
}

impl NotifierState {
    fn sent(&self) -> MutexGuard<'_, SentMessages> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn due(
        &self,
        channel: &Channel,
        seen: &[MessageSubject],
        lasted: &[Duration],
        clock: Clock,
    ) -> orange_core::notify::Due {
        let sent = self.sent();
        let noted: Vec<_> = seen.iter().map(|it| sent.noted(&channel.name, &it.mark())).collect();
        let facts = seen.iter().zip(&noted).zip(lasted).map(|((seen, noted), lasted)| NeedFact {
            kind: seen.kind(),
            lasted: *lasted,
            noted: noted.as_ref(),
        });
        let last = sent.channels.get(&channel.name).and_then(|sent| sent.last);
        channel.rules.due(&facts.collect::<Vec<_>>(), last, clock)
    }

    /// The messages about channels that take no answers. A person gets them on every channel, also in quiet hours.
    fn notices(&self, channel: &Channel, closed: &[(String, u64)], now: u64) -> Vec<Batch> {
        let sent = self.sent();
        let is_due = |batch: &Batch| {
            let noted = batch.facts.first().and_then(|fact| sent.noted(&channel.name, fact));
            noted.is_none_or(|noted| noted.waits(now) == Some(0))
        };
        closed.iter().map(|(name, until)| Batch::closed(name, *until)).filter(is_due).collect()
    }

    fn forget(&self, channels: &[Channel], seen: &[MessageSubject], now: u64) -> Result<()> {
        let names: BTreeSet<&str> = channels.iter().map(|channel| channel.name.as_str()).collect();
        let facts: BTreeSet<String> = seen.iter().map(MessageSubject::mark).collect();
        let mut sent = self.sent();
        let before = sent.clone();
        sent.forget(&names, &facts, now);
        if *sent == before { Ok(()) } else { sent.write(&self.home) }
    }

    /// Ends the codes of buttons whose needs are over.
    fn end_codes(&self, seen: &[MessageSubject], now: u64) -> Result<()> {
        if !self.home.answers_json().exists() {
            return Ok(());
        }
        let needs: BTreeSet<String> = seen.iter().map(MessageSubject::mark).collect();
        codes::change(&self.home, |book| book.tidy(&needs, now))
    }

    /// Sends these messages, one after the other, up to the first that the channel does not take: the others are due at the next
    /// round.
    fn send(&self, channel: &Channel, batches: &[Batch], reports: &Sender<DeliveryReport>) {
        for batch in batches {
            let outcome = self.send_one(channel, batch);
            match &outcome {
                Ok(how) => log::info!(target: "notify", "{}: {}: {how}", channel.name, batch.message.title),
                Err(error) => {
                    log::warn!(target: "notify", "{}: {}: {}", channel.name, batch.message.title, error.one_line());
                }
            }
            let is_over = outcome.is_err();
            // The monitor may have ended meanwhile.
            reports.send((channel.name.clone(), outcome)).unwrap_or_default();
            if is_over {
                return;
            }
        }
    }

    fn send_one(&self, channel: &Channel, batch: &Batch) -> Result<String> {
        self.note(|sent| sent.begin(&channel.name, &batch.facts, seconds()))?;
        fault::step("notify", &channel.name);
        let mut message = batch.message.clone();
        let need = batch.facts.first().map(String::as_str).unwrap_or_default();
        // A message without buttons is better than none.
        let buttons = codes::add_buttons(&self.home, channel, need, &batch.offers, &mut message);
        let outcome = send(&self.tmux, channel, &message).map(|how| match &buttons {
            Ok(()) => how,
            Err(error) => format!("{how}, without buttons: {}", error.one_line()),
        });
        let failure = outcome.as_ref().err().map(|error| error.one_line());
        self.note(|sent| sent.end(&channel.name, &batch.facts, clock::now(), failure))?;
        outcome.map(|how| format!("{}: {how}", batch.message.title))
    }

    fn note(&self, change: impl FnOnce(&mut SentMessages)) -> Result<()> {
        let mut sent = self.sent();
        change(&mut sent);
        sent.write(&self.home)
    }
}

/// The time. Only the system knows the time zone, and it is asked only if an hour may be quiet.
fn clock_for(channels: &[Channel]) -> Clock {
    let is_asked = channels.iter().any(|channel| channel.rules.quiet.is_some());
    Clock { now: seconds(), minute: is_asked.then(local_minute).flatten() }
}

fn local_minute() -> Option<u16> {
    let shown = ProgramCall::new("date").arg("+%H:%M").bound(Duration::from_secs(5)).text().ok()?;
    let (hour, minute) = shown.trim().split_once(':')?;
    Some(hour.parse::<u16>().ok()? * 60 + minute.parse::<u16>().ok()?)
}
