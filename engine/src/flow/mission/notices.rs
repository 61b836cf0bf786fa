//! Messages at the boundaries of steps, in the journal and to the agent that has started the mission.

use super::view::standing;
use super::{LockedMission, Projection};
use crate::Result;
use crate::app::App;
use crate::flow::names::KnownNames;
use crate::hooks::agents;
use crate::store::event::{EndedAttempt, StepEnd};
use crate::store::lock::{self, LockRank};
use crate::store::{Event, LockedWorkItem, Record, Set, WorkItemDir, WorkItemHistory, find, work_item};
use orange_core::fnv1a;
use orange_core::mission::MissionStatus;

/// Sends what has happened since the last message, and journals it. Nobody waits for it: a message that cannot be delivered
/// is in the journal with the reason.
///
/// # Errors
/// Those of the store.
pub fn send(app: &App, dir: &WorkItemDir) -> Result<()> {
    send_by(app, dir, &|starter, spawn, mark, text| deliver(app, starter, spawn, mark, text))
}

/// Delivers a text with a mark to this agent of the task with this id.
type Deliver<'d> = &'d dyn Fn(&str, u32, &str, &str) -> Result<()>;

/// One process at a time: what another one is about to deliver is in no journal yet, and would be sent again.
pub(super) fn send_by(app: &App, dir: &WorkItemDir, deliver: Deliver<'_>) -> Result<()> {
    let path = dir.path.join(".notices.lock");
    let _turn =
        lock::acquire(&app.home, &path, LockRank::Notices, &format!("the messages of {}", dir.shown()))?;
    let history = work_item::read_journal(dir)?.history();
    let projection = Projection::of(dir, &history)?;
    let Some((through, text)) = news(&projection, dir, &history) else { return Ok(()) };
    let text = KnownNames::of(app).in_text(&text).into_owned();
    let (to, undelivered) = match projection.starter.as_ref().filter(|_| projection.notices) {
        Some((starter, spawn)) => {
            let mark = format!("{}.{through}", fnv1a(dir.id.bytes()));
            let why = deliver(starter, *spawn, &mark, &text).err().map(|error| error.one_line());
            (Some(starter.clone()), why)
        }
        None => (None, None),
    };
    let mut mission = LockedMission::lock(app, dir)?;
    if noticed(mission.locked.history()) >= through {
        return Ok(());
    }
    mission.locked.append(Event::MissionNotice { through, text, to, undelivered }, Set::new())
}

/// Pastes a message into the window of the agent that has started the mission. The mission is not locked meanwhile: a process
/// locks one task at a time.
fn deliver(app: &App, starter: &str, spawn: u32, mark: &str, text: &str) -> Result<()> {
    let locked = LockedWorkItem::lock(&app.home, &find::by_id(&app.home, starter)?)?;
    agents::say(app, &locked, spawn, mark, text)
}

/// The number of the last event about which there was a message.
fn noticed(history: &WorkItemHistory) -> u64 {
    history.mission.noticed
}

/// Events since the last message, in words, with the number of the last event.
fn news(projection: &Projection, dir: &WorkItemDir, history: &WorkItemHistory) -> Option<(u64, String)> {
    let new: Vec<&Record> =
        history.mission.records.iter().filter(|record| record.seq > noticed(history)).collect();
    let lines: Vec<String> = new.iter().filter_map(|record| line(projection, dir, history, record)).collect();
    let through = new.last()?.seq;
    let (name, news, next) =
        (&projection.plan.name, lines.join("\n"), next(projection.mission.status, &dir.id));
    (!lines.is_empty()).then(|| (through, format!("Mission {} ({name}):\n{news}\n{next}", dir.id)))
}

/// Commands with which the session that has started the mission looks into it.
fn next(status: MissionStatus, id: &str) -> String {
    let attach = match status {
        MissionStatus::Pending | MissionStatus::Running => {
            format!("`orange mission attach {id}` opens the agent that works. ")
        }
        MissionStatus::Paused
        | MissionStatus::Completed
        | MissionStatus::Failed
        | MissionStatus::Cancelled => String::new(),
    };
    format!(
        "{attach}`orange mission show {id}` shows everything, and `orange dashboard` all tasks and missions."
    )
}

fn line(
    projection: &Projection,
    dir: &WorkItemDir,
    history: &WorkItemHistory,
    record: &Record,
) -> Option<String> {
    let id = &dir.id;
    if let Event::StepStarted { step, attempt, .. } = &record.event {
        let named = projection.named_attempt(step, *attempt);
        return Some(format!(
            "Step {named} has started, attempt {attempt}. `orange mission logs {id} {step}` shows its agent."
        ));
    }
    if let Event::StepAsked { step, attempt, .. } = &record.event {
        let asked = projection
            .asks(dir, history)
            .into_iter()
            .find(|it| it.step == *step && it.attempt == *attempt)?;
        let offers: Vec<String> = asked.offers.iter().map(|offer| format!("  {offer}")).collect();
        return Some(format!("{}\n{}", asked.what, offers.join("\n")));
    }
    if let Event::StepEnded(ended) = &record.event {
        return Some(ended_line(projection, id, history, ended));
    }
    if let Event::MissionPaused { number, .. } = &record.event {
        let asked = projection.pauses(id).into_iter().find(|pause| pause.number == *number)?;
        let offers: Vec<String> = asked.offers.iter().map(|offer| format!("  {offer}")).collect();
        return Some(format!("It is paused (pause {number}): {}\n{}", asked.what, offers.join("\n")));
    }
    if !matches!(record.event, Event::MissionEnded { .. }) {
        return None;
    }
    let next: String = projection.commands(id).iter().map(|command| format!("\n  {command}")).collect();
    Some(format!("It is {}.{next}", standing(projection.plan, projection)))
}

fn ended_line(projection: &Projection, id: &str, history: &WorkItemHistory, ended: &EndedAttempt) -> String {
    let EndedAttempt { step, attempt, end, result, warning, reason, by, .. } = ended;
    let took = projection.duration_ms(step, *attempt, history).map(|it| format!(" after {} s", it / 1000));
    let took = took.unwrap_or_default();
    let how = match end {
        StepEnd::Completed => {
            let result = result.as_ref().map(|word| format!(": {word}")).unwrap_or_default();
            let warning = warning.as_ref().map(|text| format!(". Warning: {text}")).unwrap_or_default();
            format!("is complete{took}{result}{warning}")
        }
        StepEnd::Failed => format!("has failed{took}: {}", reason.as_deref().unwrap_or_default()),
        StepEnd::Lost => format!("lost its agent{took}, which ended without a word"),
        StepEnd::Answered => {
            let (word, by) = (result.as_deref().unwrap_or_default(), by.as_deref().unwrap_or_default());
            return format!("Step {step} is answered{took}: {word}, by {by}.");
        }
        StepEnd::Expired => return format!("Step {step} was not answered in time."),
        StepEnd::Other(word) => format!("has ended{took}: {word}"),
    };
    let named = projection.named_attempt(step, *attempt);
    format!("Step {named} {how}. `orange mission logs {id} {step}` shows what it did.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_offers_the_agent_while_the_mission_runs() {
        for status in [MissionStatus::Pending, MissionStatus::Running] {
            assert!(next(status, "m1").starts_with("`orange mission attach m1` opens"), "{status:?}");
        }
        for status in [MissionStatus::Paused, MissionStatus::Completed, MissionStatus::Failed] {
            let next = next(status, "m1");
            assert!(
                next.starts_with("`orange mission show m1`") && next.contains("`orange dashboard`"),
                "{next}"
            );
        }
    }
}
