//! Plans as they are stored: once for each content, however many missions follow it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

use orange_api::stored_plan;
use orange_core::plan::Plan;
use sha2::{Digest, Sha256};

use super::UnreadableText;

/// A plan with the text that is stored.
#[derive(Clone, Debug)]
pub struct WrittenPlan {
    /// The hash of the text, by which missions name it.
    pub hash: String,
    pub text: String,
}

/// The plans that have been read, by hash: each takes memory once.
static KNOWN: Mutex<BTreeMap<String, &'static Plan<'static>>> = Mutex::new(BTreeMap::new());

/// The text of a plan. A later question for the plan of this hash gets this one.
///
/// # Errors
/// The plan cannot be written as text.
pub fn write(plan: &'static Plan<'static>) -> Result<WrittenPlan, UnreadableText> {
    let text = stored_plan::write(plan).map_err(|cause| UnreadableText::Broken(cause.to_string()))?;
    let text = String::from_utf8(text).map_err(|cause| UnreadableText::Broken(cause.to_string()))?;
    let hash = hash(text.as_bytes());
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).entry(hash.clone()).or_insert(plan);
    Ok(WrittenPlan { hash, text })
}

/// The plan of this hash, if it was read or written before.
pub fn known(hash: &str) -> Option<&'static Plan<'static>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get(hash).copied()
}

/// The plan of this text.
///
/// # Errors
/// The text is not a valid plan.
pub fn read(hash: &str, text: &str) -> Result<&'static Plan<'static>, UnreadableText> {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(plan) = known.get(hash) {
        return Ok(plan);
    }
    let plan = stored_plan::read(text.as_bytes()).map_err(UnreadableText::Broken)?;
    known.insert(hash.to_owned(), plan);
    Ok(plan)
}

/// The hash of bytes: 64 digits.
pub fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a string does not fail.
        write!(text, "{byte:02x}").unwrap_or_default();
        text
    })
}
