//! Texts that come as an argument or from standard input.

use std::borrow::Cow;
use std::io::Read;

use crate::{Error, ErrorKind, Result};

/// The text itself, or standard input where it is `-`. `what` names it in messages.
///
/// # Errors
/// `usage` when standard input cannot be read as UTF-8.
pub fn or_text<'a>(given: &'a str, what: &str) -> Result<Cow<'a, str>> {
    if given != "-" {
        return Ok(Cow::Borrowed(given));
    }
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|cause| {
        Error::new(ErrorKind::Usage, format!("cannot read {what} from standard input: {cause}"))
            .help("it must be UTF-8 text")
    })?;
    Ok(Cow::Owned(text))
}
