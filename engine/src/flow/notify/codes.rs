//! `answers.json`: the codes of buttons that were sent, by their hashes, and the places up to which replies are read.

use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

use orange_core::phone::{
    CodeBook, LONGEST_ARGUMENT, PhoneAnswer, PhoneCommand, ShownNeed, Validity, buttons, text_of,
};

use super::message::{Button, NeedMessage};
use super::seen::SeenNeed;
use super::settings::{Channel, Phone, Via};
use crate::store::lock::{self, LockRank};
use crate::store::{Home, secret, tokens};
use crate::{Error, ErrorKind, Result};
use orange_api::ActionName;
use orange_core::notify::plain;
use orange_system::files::if_found;
use orange_system::{atomic, clock, fault, nofollow};

/// Reads the file; empty without one.
///
/// # Errors
/// `corrupt`; `environment` when it cannot be read.
pub fn read(home: &Home) -> Result<CodeBook> {
    let path = home.answers_json();
    let bytes = if_found(&path, nofollow::read(&path, nofollow::LONGEST))?;
    bytes.map_or(Ok(CodeBook::default()), |bytes| {
        serde_json::from_slice(&bytes).map_err(|cause| {
            Error::new(ErrorKind::Corrupt, format!("cannot read {}: {cause}", path.display()))
                .help("remove it: then no button of an earlier message has an effect")
        })
    })
}

/// Changes the file, if the change is one. Several processes may do so.
///
/// # Errors
/// Those of [`read`] and of the lock.
pub fn change<T>(home: &Home, edit: impl FnOnce(&mut CodeBook) -> T) -> Result<T> {
    home.prepare()?;
    let path = home.answers_json();
    let _lock =
        lock::acquire(home, &path.with_file_name(".answers.lock"), LockRank::Projects, "the list of codes")?;
    let mut book = read(home)?;
    let before = book.clone();
    let result = edit(&mut book);
    if book != before {
        let text = serde_json::to_vec(&book).map_err(|cause| {
            Error::new(ErrorKind::Environment, format!("the codes cannot be written down: {cause}"))
        })?;
        fault::step("write", "codes");
        atomic::write(&path, &text)?;
    }
    Ok(result)
}

/// The time, in seconds since 1970.
pub fn seconds() -> u64 {
    fault::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// End of the time in which a channel takes no answers, RFC 3339 UTC.
pub fn closed_until(book: &CodeBook, channel: &str) -> Option<String> {
    let until = book.channels.get(channel)?.closed(seconds())?;
    Some(clock::rfc3339(UNIX_EPOCH + Duration::from_secs(until)))
}

/// Ends the codes of a channel, and returns the number of those that could have been used.
///
/// # Errors
/// Those of [`change`].
pub fn revoke(home: &Home, channel: &str) -> Result<usize> {
    change(home, |book| book.revoke(channel, seconds()))
}

/// The answers of a message to a channel about this need, each as the command that it gives. The message then shows what they
/// answer.
pub fn offers(channel: &Channel, seen: &[&SeenNeed], message: &mut NeedMessage) -> Vec<PhoneCommand> {
    let (Some(phone), [seen]) = (channel.phone(), seen) else { return Vec::new() };
    // More than the longest argument, and what is said around it.
    let why = plain(&seen.need.why, LONGEST_ARGUMENT + 250);
    let rest = message.needs.first().map(|item| item.summary.as_str()).filter(|summary| !summary.is_empty());
    let text = [Some(why.as_str()), rest].into_iter().flatten().collect::<Vec<_>>().join(" · ");
    let commands = commands(seen);
    let open: Vec<PhoneAnswer> = commands.iter().map(PhoneCommand::answer).collect();
    let shown = ShownNeed {
        open: &open,
        argument: seen.need.argument.as_deref().filter(|_| seen.is_whole),
        call: seen.call.as_deref(),
        text: &text,
        is_digest: channel.rules.digest.is_some(),
        has_console: console(channel).is_some(),
    };
    let offered = buttons(&phone.answers, &shown);
    let offers: Vec<_> = commands.into_iter().filter(|command| offered.contains(&command.answer())).collect();
    if !offers.is_empty() {
        message.text = text;
    }
    offers
}

/// The commands of the actions that the engine accepts now and that a button may give.
fn commands(seen: &SeenNeed) -> Vec<PhoneCommand> {
    let request = seen.need.request.clone();
    let id = &seen.dir.id;
    let command = |name: ActionName, words: &[String]| match name {
        ActionName::Allow => Some(PhoneCommand::Allow { request: request.clone()? }),
        ActionName::Deny => Some(PhoneCommand::Deny { request: request.clone()? }),
        ActionName::Continue => {
            let pause = words.iter().skip_while(|word| *word != "--pause").nth(1)?.parse().ok()?;
            Some(PhoneCommand::Continue { mission: id.clone(), pause })
        }
        ActionName::Seen => Some(PhoneCommand::Seen { task: id.clone(), call: seen.call.clone()? }),
        ActionName::Send
        | ActionName::Attach
        | ActionName::Logs
        | ActionName::Spawn
        | ActionName::Respawn
        | ActionName::Restart
        | ActionName::RetryHooks
        | ActionName::Merge
        | ActionName::CreatePr
        | ActionName::Open
        | ActionName::Refresh
        | ActionName::Status
        | ActionName::Resolve
        | ActionName::AddBudget
        | ActionName::Accept
        | ActionName::Retry
        | ActionName::Cancel
        | ActionName::Undo
        | ActionName::Delete => None,
    };
    let open = seen.need.actions.iter().filter(|action| action.is_open());
    open.filter_map(|action| command(action.name, &action.command)).collect()
}

/// Makes the codes of a message and adds its buttons. The codes are written down before the message is sent.
///
/// # Errors
/// Those of [`change`] and of the random numbers.
pub fn add_buttons(
    home: &Home,
    channel: &Channel,
    need: &str,
    offers: &[PhoneCommand],
    message: &mut NeedMessage,
) -> Result<()> {
    if let Some(phone) = channel.phone().filter(|_| !offers.is_empty()) {
        let codes = offers.iter().map(|_| secret::new()).collect::<Result<Vec<_>>>()?;
        let hashed: Vec<_> =
            codes.iter().map(|code| tokens::hash_of(code)).zip(offers.iter().cloned()).collect();
        let time = Validity { now: seconds(), lasts: phone.expires.as_secs() };
        let is_open = change(home, |book| {
            let is_open = book.replies(&channel.name).closed(time.now).is_none();
            if is_open {
                book.offer(&channel.name, need, hashed, time);
            }
            is_open
        })?;
        if is_open {
            message.buttons.extend(offers.iter().zip(&codes).map(|(offer, code)| button(phone, offer, code)));
        }
    }
    message.buttons.extend(view(channel));
    Ok(())
}

fn button(phone: &Phone, offer: &PhoneCommand, code: &str) -> Button {
    let headers = phone.reply.phone.iter().filter_map(|header| header.split_once(':'));
    let trimmed = |(name, value): (&str, &str)| (name.trim().to_owned(), value.trim().to_owned());
    Button::Http {
        label: offer.answer().label(),
        method: "POST",
        url: phone.reply.url.trim_end_matches('/').to_owned(),
        headers: headers.map(trimmed).collect::<BTreeMap<_, _>>(),
        body: text_of(code),
        clear: true,
    }
}

/// The button that opens the console.
pub fn view(channel: &Channel) -> Option<Button> {
    console(channel).map(|url| Button::View { label: "Open", url: url.to_owned() })
}

fn console(channel: &Channel) -> Option<&str> {
    match &channel.via {
        Via::Webhook { console, .. } => console.as_deref(),
        Via::Terminal { .. } | Via::Desktop | Via::Command { .. } => None,
    }
}
