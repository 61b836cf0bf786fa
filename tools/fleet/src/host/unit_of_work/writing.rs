//! The writing side of a host: its thread, and how callers ask it.

use std::sync::{Arc, Weak};
use std::thread::JoinHandle;

use tokio::sync::{broadcast, mpsc, oneshot, watch};

use super::{Rows, UnitOfWork, WriterAnswer, WriterJob, WriterRequest, writer};
use crate::host::{
    ActorCall, ActorReply, Colony, Delivery, HostError, Later, Millis, NewColony, NewMission, OpenQuestion,
    TextOf, packed,
};

/// Number of calls that may wait before callers do.
const QUEUE: usize = 1024;

/// Number of deliveries that a receiver may be behind.
const DELIVERIES: usize = 4096;

/// The thread that writes, and what it says.
#[derive(Debug)]
pub struct WriterThread {
    jobs: Option<mpsc::Sender<WriterJob>>,
    thread: Option<JoinHandle<()>>,
    deliveries: broadcast::Sender<Delivery>,
    news: watch::Receiver<u64>,
    /// The thread has it, so that followers hear when that has ended.
    newest: Weak<watch::Sender<u64>>,
}

impl WriterThread {
    /// Begins to write to a store, which is opened by the thread that uses it.
    ///
    /// # Errors
    /// The store cannot be opened.
    pub fn start<R: Rows>(
        open: impl FnOnce() -> Result<R, HostError> + Send + 'static,
    ) -> Result<WriterThread, HostError> {
        let (jobs, queue) = mpsc::channel(QUEUE);
        let (deliveries, _) = broadcast::channel(DELIVERIES);
        let (newest, news) = watch::channel(0);
        let newest = Arc::new(newest);
        let (opened, is_open) = std::sync::mpsc::channel();
        let (instructions, publisher) = (deliveries.clone(), Arc::downgrade(&newest));
        let thread = std::thread::Builder::new()
            .name("fleet-writer".to_owned())
            .spawn(move || match open().and_then(UnitOfWork::new) {
                Ok(unit) => {
                    writer::publish(&newest, unit.newest());
                    opened.send(Ok(())).unwrap_or_default();
                    writer::run(unit, queue, &instructions, &newest);
                }
                Err(error) => opened.send(Err(error)).unwrap_or_default(),
            })
            .map_err(|cause| {
                HostError::Unavailable(format!("cannot start the thread that writes: {cause}"))
            })?;
        is_open.recv().map_err(|_| HostError::Stopping)??;
        Ok(WriterThread { jobs: Some(jobs), thread: Some(thread), deliveries, news, newest: publisher })
    }

    async fn ask(&self, request: WriterRequest) -> Result<WriterAnswer, HostError> {
        let (reply, answer) = oneshot::channel();
        let jobs = self.jobs.as_ref().ok_or(HostError::Stopping)?;
        jobs.send(WriterJob { request, reply }).await.map_err(|_| HostError::Stopping)?;
        answer.await.map_err(|_| HostError::Stopping)?
    }

    async fn outcome(&self, request: WriterRequest) -> Result<ActorReply, HostError> {
        match self.ask(request).await? {
            WriterAnswer::Reply(outcome) => Ok(outcome),
            WriterAnswer::Colony(_) | WriterAnswer::Forgotten { .. } | WriterAnswer::Done(_) => {
                Err(HostError::Stopping)
            }
        }
    }

    /// [`Host::create_colony`](crate::host::Host::create_colony).
    pub fn create_colony(&self, new: NewColony) -> Later<'_, Colony> {
        Box::pin(async {
            match self.ask(WriterRequest::Colony(new)).await? {
                WriterAnswer::Colony(colony) => Ok(colony),
                WriterAnswer::Reply(_) | WriterAnswer::Forgotten { .. } | WriterAnswer::Done(_) => {
                    Err(HostError::Stopping)
                }
            }
        })
    }

    /// [`Host::create_mission`](crate::host::Host::create_mission).
    pub fn create_mission(&self, new: NewMission) -> Later<'_, ActorReply> {
        Box::pin(self.outcome(WriterRequest::Mission(new)))
    }

    /// [`Host::apply`](crate::host::Host::apply).
    pub fn apply(&self, call: ActorCall) -> Later<'_, ActorReply> {
        Box::pin(self.outcome(WriterRequest::Call(Box::new(call))))
    }

    /// [`Host::keep_text`](crate::host::Host::keep_text).
    pub fn keep_text(&self, of: TextOf, text: String) -> Later<'_, bool> {
        Box::pin(async move {
            let packed = tokio::task::spawn_blocking(move || packed::pack(&text)).await;
            let packed = packed.map_err(|_| HostError::Stopping)??;
            match self.ask(WriterRequest::Text(Box::new((of, packed)))).await? {
                WriterAnswer::Done(is_there) => Ok(is_there),
                WriterAnswer::Reply(_) | WriterAnswer::Colony(_) | WriterAnswer::Forgotten { .. } => {
                    Err(HostError::Stopping)
                }
            }
        })
    }

    /// [`Host::remind`](crate::host::Host::remind).
    pub fn remind(&self, question: OpenQuestion) -> Later<'_, bool> {
        Box::pin(async {
            match self.ask(WriterRequest::Remind(question)).await? {
                WriterAnswer::Done(was_due) => Ok(was_due),
                WriterAnswer::Reply(_) | WriterAnswer::Colony(_) | WriterAnswer::Forgotten { .. } => {
                    Err(HostError::Stopping)
                }
            }
        })
    }

    /// [`Host::forget`](crate::host::Host::forget).
    pub fn forget(&self, ended_before: Millis) -> Later<'_, u64> {
        Box::pin(async move {
            let mut forgotten = 0;
            loop {
                // A chunk for each transaction, so that other calls come in between.
                match self.ask(WriterRequest::Forget(ended_before)).await? {
                    WriterAnswer::Forgotten { missions, is_done } => {
                        forgotten += missions;
                        if is_done {
                            return Ok(forgotten);
                        }
                    }
                    WriterAnswer::Reply(_) | WriterAnswer::Colony(_) | WriterAnswer::Done(_) => {
                        return Err(HostError::Stopping);
                    }
                }
            }
        })
    }

    /// Channel of the instructions to crabs.
    pub fn deliveries(&self) -> &broadcast::Sender<Delivery> {
        &self.deliveries
    }

    /// The number of the newest record, and the end of the thread.
    pub fn news(&self) -> watch::Receiver<u64> {
        self.news.clone()
    }

    /// Channel of the newest record's number.
    pub fn newest(&self) -> Weak<watch::Sender<u64>> {
        Weak::clone(&self.newest)
    }
}

impl Drop for WriterThread {
    /// Everything that was accepted is committed before the thread ends.
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap_or_default();
        }
    }
}
