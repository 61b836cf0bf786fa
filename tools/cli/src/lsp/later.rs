//! Answers that take a while: a second thread computes them, one after the other, from the texts of the moment of the request.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crossbeam_channel::{Sender, unbounded};
use lsp_server::{ErrorCode, Message, RequestId, Response};
use serde::Serialize;

use super::requests::Refusal;

/// The computation of an answer. The flag says that nobody wants it any more.
pub(super) type Work<T> = Box<dyn FnOnce(&AtomicBool) -> Result<LateAnswer<T>, Refusal> + Send>;

/// An answer, and messages for the client that go before it.
pub(super) struct LateAnswer<T> {
    pub result: T,
    pub before: Vec<Message>,
}

/// The computation of the messages of an answer.
pub(super) type LateJob = Box<dyn FnOnce(&AtomicBool) -> Vec<Message> + Send>;

/// The thread that computes answers.
pub(super) struct LateAnswers {
    jobs: Sender<LateJob>,
    stop: Arc<AtomicBool>,
}

impl<T> From<T> for LateAnswer<T> {
    fn from(result: T) -> Self {
        Self { result, before: Vec::new() }
    }
}

/// The messages of the answer to this request.
pub(super) fn job<T: Serialize + 'static>(id: RequestId, work: Work<T>) -> LateJob {
    Box::new(move |stop| {
        let done = catch_unwind(AssertUnwindSafe(|| work(stop)));
        match done {
            Ok(Ok(LateAnswer { result, mut before })) => {
                before.push(Response::new_ok(id, result).into());
                before
            }
            Ok(Err(Refusal(why))) => vec![Response::new_err(id, ErrorCode::RequestFailed as i32, why).into()],
            Err(_) => vec![fault(id).into()],
        }
    })
}

/// The answer to a request in which the server has a fault.
pub(super) fn fault(id: RequestId) -> Response {
    Response::new_err(
        id,
        ErrorCode::InternalError as i32,
        "the server has a fault here; it goes on".to_owned(),
    )
}

impl LateAnswers {
    pub(super) fn start(client: Sender<Message>) -> Self {
        let (jobs, to_do) = unbounded::<LateJob>();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        // Without its thread these requests have no answer, and everything else goes on.
        let _ = thread::Builder::new().name("answers".to_owned()).spawn(move || {
            for job in to_do {
                for message in job(&stopped) {
                    // A client that does not listen any more has gone away.
                    let _ = client.send(message);
                }
            }
        });
        Self { jobs, stop }
    }

    pub(super) fn compute(&self, job: LateJob) {
        // The thread ends only with the server.
        let _ = self.jobs.send(job);
    }
}

impl Drop for LateAnswers {
    /// A server that ends waits for nothing.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_does_not_wait_and_a_fault_is_answered() {
        let (client, said) = unbounded();
        let (release, held) = unbounded::<()>();
        let answers = LateAnswers::start(client);
        let waiting: Work<u8> = Box::new(move |_| {
            held.recv().unwrap();
            Ok(LateAnswer::from(7))
        });
        answers.compute(job(1.into(), waiting));
        answers.compute(job::<u8>(2.into(), Box::new(|_| panic!("this panic is part of a test"))));
        assert!(said.is_empty());
        release.send(()).unwrap();
        let results = [said.recv().unwrap(), said.recv().unwrap()].map(|it| match it {
            Message::Response(it) => it.response_result.map_err(|it| it.message),
            Message::Request(_) | Message::Notification(_) => panic!("{it:?} answers nothing"),
        });
        assert_eq!(results[0], Ok(7.into()));
        assert_eq!(results[1], Err("the server has a fault here; it goes on".to_owned()));
    }
}
