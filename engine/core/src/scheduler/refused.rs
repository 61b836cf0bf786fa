//! Refusals in words.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;

use super::Refusal;

impl Refusal {
    /// Message of the refusal, in a sentence.
    pub fn words(&self) -> String {
        match self {
            Refusal::RoleTaken { role, holder } => {
                format!("role '{role}' is already taken in this colony by crab '{holder}'")
            }
            Refusal::NoRole => "a crab needs at least one role".to_owned(),
            Refusal::NoSuchCrab => "the colony has no such crab: it has to register first".to_owned(),
            Refusal::HasSwept => "there was another sweep meanwhile".to_owned(),
            Refusal::NoSuchLease => {
                "the crab has no lease for this attempt: it has ended, or another crab has the step"
                    .to_owned()
            }
        }
    }
}
