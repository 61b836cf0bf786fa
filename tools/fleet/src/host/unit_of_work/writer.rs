//! The thread that writes: all calls that wait become one transaction.

use tokio::sync::mpsc::Receiver;
use tokio::sync::{broadcast, oneshot, watch};

use super::{Failed, Rows, UnitOfWork};
use crate::fault;
use crate::host::packed::Packed;
use crate::host::{
    ActorCall, ActorReply, Colony, Delivery, Event, HostError, Millis, NewColony, NewMission, OpenQuestion,
    TextOf,
};

/// The most calls in one transaction.
const GROUP: usize = 512;

/// A call with its caller.
pub struct WriterJob {
    pub request: WriterRequest,
    /// Channel to the caller that waits for the answer.
    pub reply: oneshot::Sender<Result<WriterAnswer, HostError>>,
}

/// Request to the thread.
#[derive(Clone, Debug)]
pub enum WriterRequest {
    /// An event for an actor.
    Call(Box<ActorCall>),
    /// A mission to make.
    Mission(NewMission),
    /// A colony to make.
    Colony(NewColony),
    /// A chunk of what ended before this time is to be removed.
    Forget(Millis),
    /// A text of an attempt to keep.
    Text(Box<(TextOf, Packed)>),
    /// A question of a step about which something may be due.
    Remind(OpenQuestion),
}

/// Answer of the thread.
#[derive(Debug)]
pub enum WriterAnswer {
    /// To an event, or to the making of a mission.
    Reply(ActorReply),
    Colony(Colony),
    /// Number of missions that were removed, and whether those were all.
    Forgotten {
        missions: u64,
        /// Nothing more is to be removed.
        is_done: bool,
    },
    /// True if it was done: there is an attempt that has the text, or something was due about the question.
    Done(bool),
}

impl WriterRequest {
    /// Idempotency key.
    pub(super) fn key(&self) -> Option<&str> {
        match self {
            WriterRequest::Call(call) => call.key.as_deref(),
            WriterRequest::Mission(new) => new.key.as_deref(),
            WriterRequest::Colony(_)
            | WriterRequest::Forget(_)
            | WriterRequest::Text(_)
            | WriterRequest::Remind(_) => None,
        }
    }

    /// The mission that it needs.
    pub(super) fn mission(&self) -> Option<&str> {
        let call = match self {
            WriterRequest::Call(call) => call,
            WriterRequest::Remind(question) => return Some(&question.mission),
            WriterRequest::Mission(_)
            | WriterRequest::Colony(_)
            | WriterRequest::Forget(_)
            | WriterRequest::Text(_) => return None,
        };
        match &call.event {
            Event::Mission { id, .. } => Some(id),
            Event::Scheduler { .. } => None,
        }
    }
}

/// Works until nobody can ask any more.
pub(super) fn run<R: Rows>(
    mut unit: UnitOfWork<R>,
    mut queue: Receiver<WriterJob>,
    deliveries: &broadcast::Sender<Delivery>,
    news: &watch::Sender<u64>,
) {
    // A mission that an older program had set aside is taken up again. Without the store, that waits for the next start.
    unit.transaction(std::iter::empty(), UnitOfWork::take_up).unwrap_or_default();
    while let Some(first) = queue.blocking_recv() {
        let mut group = vec![first];
        while group.len() < GROUP
            && let Ok(job) = queue.try_recv()
        {
            group.push(job);
        }
        let answered = answers(&mut unit, group);
        fault::point("before-deliver");
        for delivery in unit.deliveries() {
            // Nobody may be there to hear it: crabs that come ask for it.
            deliveries.send(delivery).map(drop).unwrap_or_default();
        }
        publish(news, unit.newest());
        fault::point("before-answer");
        for (reply, answer) in answered {
            // A caller that has gone away asks again with its key.
            reply.send(answer).unwrap_or_default();
        }
    }
}

/// Says which record is the newest, unless a newer one is known.
pub fn publish(news: &watch::Sender<u64>, newest: u64) {
    news.send_if_modified(|known| std::mem::replace(known, newest.max(*known)) < newest);
}

type AnsweredCallers =
    Vec<(oneshot::Sender<Result<WriterAnswer, HostError>>, Result<WriterAnswer, HostError>)>;

/// Has every call of a group happen. One that fails is answered, and the others happen again without it, so that it leaves nothing.
pub fn answers<R: Rows>(unit: &mut UnitOfWork<R>, mut group: Vec<WriterJob>) -> AnsweredCallers {
    let mut answered = Vec::with_capacity(group.len());
    while !group.is_empty() {
        let mut current = None;
        let result = unit.transaction(group.iter().map(|it| &it.request), |unit| {
            let mut answers = Vec::with_capacity(group.len());
            for (index, job) in group.iter().enumerate() {
                current = Some(index);
                answers.push(unit.handle(job.request.clone())?);
            }
            current = None;
            Ok(answers)
        });
        match (result, current) {
            (Ok(answers), _) => {
                answered.extend(group.drain(..).map(|job| job.reply).zip(answers));
            }
            (Err(Failed::Call(error)), Some(index)) => {
                answered.push((group.remove(index).reply, Err(error)));
            }
            // The store takes what they have written together for damaged: each happens alone, and the one that it is about fails.
            (Err(Failed::Call(_)), None) if group.len() > 1 => {
                answered.extend(group.drain(..).flat_map(|job| answers(unit, vec![job])));
            }
            (Err(failed), _) => {
                let error = failed.into_error();
                answered.extend(group.drain(..).map(|job| (job.reply, Err(error.clone()))));
            }
        }
    }
    answered
}
