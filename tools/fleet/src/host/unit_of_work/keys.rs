//! Calls that are remembered by their keys, so that the same one is answered as the first time.

use sha2::{Digest, Sha256};

use super::{AnsweredCall, CallRow, Failed, Rows, UnitOfWork};
use crate::actors::Cascade;
use crate::host::{ActorCall, ActorReply, HostError};
use crate::model;

impl<R: Rows> UnitOfWork<R> {
    /// One call: remembered, or happening now.
    pub(super) fn call(&mut self, call: ActorCall) -> Result<Result<ActorReply, HostError>, Failed> {
        let Some(key) = call.key.clone() else { return self.run(Cascade::new(call)) };
        let asked = model::write(&call.event);
        self.once(&key, &asked, |unit| unit.run(Cascade::new(call)))
    }

    /// Acts, unless something was asked with this key before.
    ///
    /// An unknown mission may be there next time, and a failure of the store is not an answer: neither is remembered.
    pub(super) fn once(
        &mut self,
        key: &str,
        asked: &str,
        act: impl FnOnce(&mut UnitOfWork<R>) -> Result<Result<ActorReply, HostError>, Failed>,
    ) -> Result<Result<ActorReply, HostError>, Failed> {
        let hash = Sha256::digest(asked.as_bytes());
        if let Some(AnsweredCall { hash: known, outcome }) = self.calls.get(key) {
            if *known != hash.as_slice() {
                return Ok(Ok(ActorReply::Conflict));
            }
            let read = model::read(outcome);
            return Ok(read.map_err(|cause| HostError::Corrupt(format!("the answer to {key}: {cause}"))));
        }
        let answer = act(self)?;
        match &answer {
            Ok(ActorReply::NotFound) | Err(_) => {}
            Ok(outcome) => {
                let (hash, outcome) = (hash.to_vec(), model::write(outcome));
                let answered = AnsweredCall { hash: hash.clone(), outcome: outcome.clone() };
                self.calls.insert(key.to_owned(), answered);
                self.writes.calls.push(CallRow { key: key.to_owned(), hash, outcome });
            }
        }
        Ok(answer)
    }
}
