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

/// Time between two looks of the monitor while a code can be used.
pub const PAUSE: Duration = Duration::from_secs(10);

/// Message about the end of answers, for ten minutes, after five wrong codes.
pub const CLOSED: &str = "too many wrong codes came: answers are closed for ten minutes";

/// Advice for a person whose channel is closed.
pub const LEAKED: &str = "someone may know the reply topic: give `reply` another one in notify.toml";

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

/// The channels that take no answers, each with the end of that time, in seconds since 1970.
///
/// # Errors
/// Those of [`read`].
pub fn closed(home: &Home) -> Result<Vec<(String, u64)>> {
    let (book, now) = (read(home)?, seconds());
    Ok(book
        .channels
        .iter()
        .filter_map(|(name, replies)| Some((name.clone(), replies.closed(now)?)))
        .collect())
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
        question: seen.ask.as_ref().map(|ask| ask.question.as_str()),
        text: &text,
        is_digest: channel.rules.digest.is_some(),
        has_console: console(channel).is_some(),
    };
    let offered = buttons(&phone.answers, &shown);
    let mut offers: Vec<_> =
        commands.into_iter().filter(|command| offered.contains(&command.answer())).collect();
    // A question whose answers do not all have room has none here.
    if offers.len() > shown.room() {
        offers.retain(|command| command.answer() != PhoneAnswer::Answer);
    }
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
        ActionName::Answer => {
            let ask = seen.ask.as_ref()?;
            let word = ask.answers.iter().find(|answer| words.get(4) == Some(*answer))?.clone();
            let (mission, step, attempt) = (id.clone(), ask.step.clone(), ask.attempt);
            Some(PhoneCommand::Answer { mission, step, attempt, word })
        }
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
        label: offer.label().to_owned().into(),
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use orange_api::{MissionAsk, NeedAction};
    use orange_core::need::NeedKind;
    use orange_core::notify::ChannelRules;
    use orange_core::phone::{Received, Reply, code_in};

    use super::*;
    use crate::flow::notify::message::{MessageFormat, NeedItem, tests::seen};
    use crate::flow::notify::settings::ReplyTopic;
    use crate::store::tests::home;

    fn channel(digest: Option<u32>) -> Channel {
        let reply = ReplyTopic {
            url: "https://n.example/b/".to_owned(),
            headers: Vec::new(),
            phone: vec!["Authorization: Bearer w".to_owned()],
        };
        let phone = Phone { answers: PhoneAnswer::ALL.to_vec(), reply, expires: Duration::from_secs(1800) };
        Channel {
            name: "phone".to_owned(),
            rules: ChannelRules { kinds: Vec::new(), quiet: None, urgent: Vec::new(), digest },
            timeout: Duration::from_secs(1),
            via: Via::Webhook {
                url: "https://n.example/a".to_owned(),
                shape: MessageFormat::Ntfy,
                headers: Vec::new(),
                console: Some("https://c.example".to_owned()),
                phone: Some(phone),
            },
        }
    }

    fn action(name: ActionName, command: &[&str]) -> NeedAction {
        NeedAction {
            name,
            command: command.iter().map(|word| (*word).to_owned()).collect(),
            label: name.as_str().to_owned(),
            keys: Vec::new(),
            to: None,
            returns: false,
            text: false,
            shows: None,
            warning: None,
            refusal: None,
        }
    }

    /// An agent that asks for a permission.
    fn asking(argument: &str) -> SeenNeed {
        let mut asking = seen("fix", "Mend it", &format!("agent 1 asks whether it may use Bash: {argument}"));
        asking.need.kind = NeedKind::Permission;
        asking.need.argument = Some(argument.to_owned());
        asking.need.request = Some("t1.1.ab".to_owned());
        asking.need.actions =
            [ActionName::Allow, ActionName::Deny, ActionName::Cancel].map(|name| action(name, &[])).to_vec();
        asking.is_whole = true;
        asking
    }

    fn answers(channel: &Channel, seen: &[&SeenNeed]) -> (Vec<PhoneAnswer>, NeedMessage) {
        let mut message = NeedMessage::about(seen.iter().map(|it| NeedItem::of(it)).collect());
        let offers = offers(channel, seen, &mut message);
        (offers.iter().map(PhoneCommand::answer).collect(), message)
    }

    #[test]
    fn a_message_offers_what_it_shows() {
        let argument = "x".repeat(LONGEST_ARGUMENT);
        let (offered, message) = answers(&channel(None), &[&asking(&argument)]);
        assert_eq!(offered, [PhoneAnswer::Allow, PhoneAnswer::Deny]);
        assert!(message.text.contains(&argument) && message.text.ends_with(" · Mend it"), "{message:?}");
        let only_deny = |seen: &SeenNeed| assert_eq!(answers(&channel(None), &[seen]).0, [PhoneAnswer::Deny]);
        only_deny(&SeenNeed { is_whole: false, ..asking("ls") });
        only_deny(&asking(&format!("{argument}x")));
        only_deny(&asking("a\nb"));
        assert_eq!(answers(&channel(Some(10)), &[&asking("ls")]).0, []);
        assert_eq!(answers(&channel(None), &[&asking("ls"), &asking("ls")]).0, []);
        let mut closed = asking("ls");
        closed.need.request = None;
        assert_eq!(answers(&channel(None), &[&closed]).0, []);
    }

    #[test]
    fn a_pause_and_a_call_are_answered_by_what_they_are() {
        let mut paused = seen("fix", "", "pause 3");
        paused.need.actions =
            vec![action(ActionName::Continue, &["mission", "continue", "t1", "--pause", "3"])];
        let mut message = NeedMessage::about(vec![NeedItem::of(&paused)]);
        let command = PhoneCommand::Continue { mission: "t1".to_owned(), pause: 3 };
        assert_eq!(offers(&channel(None), &[&paused], &mut message), [command]);
        let mut called = SeenNeed { call: Some("push failed".to_owned()), ..seen("fix", "", "push failed") };
        called.need.actions = vec![action(ActionName::Seen, &[])];
        assert_eq!(answers(&channel(None), &[&called]).0, [PhoneAnswer::Seen]);
        called.need.actions[0].refusal = Some("not now".to_owned());
        assert_eq!(answers(&channel(None), &[&called]).0, []);
    }

    /// A step that asks for a word, and shows no changes.
    fn question(answers: &[&str]) -> SeenNeed {
        let mut asked = seen("fix", "", "step when asks ada: When?");
        let command = |word: &&str| action(ActionName::Answer, &["mission", "answer", "t1", "when", word]);
        asked.need.actions = answers.iter().map(command).collect();
        asked.ask = Some(MissionAsk {
            step: "when".to_owned(),
            attempt: 2,
            what: "step when asks ada: When?".to_owned(),
            question: "When?".to_owned(),
            context: None,
            shows_diff: false,
            answers: answers.iter().map(|it| (*it).to_owned()).collect(),
            who: Vec::new(),
            since: None,
            until: None,
            on_timeout: None,
            commit: None,
            offers: Vec::new(),
        });
        asked
    }

    #[test]
    fn a_question_has_a_button_for_each_answer() {
        let asked = question(&["now", "later"]);
        let mut message = NeedMessage::about(vec![NeedItem::of(&asked)]);
        let command = |word: &str| PhoneCommand::Answer {
            mission: "t1".to_owned(),
            step: "when".to_owned(),
            attempt: 2,
            word: word.to_owned(),
        };
        assert_eq!(offers(&channel(None), &[&asked], &mut message), [command("now"), command("later")]);
        assert_eq!(command("now").label(), "now");
        let many = question(&["now", "later", "never"]);
        assert_eq!(
            answers(&channel(None), &[&many]).0,
            [],
            "the third answer has no room beside the console"
        );
        assert_eq!(answers(&channel(None), &[&SeenNeed { ask: None, ..asked }]).0, []);
    }

    #[test]
    fn a_button_sends_a_code_that_only_its_hash_is_kept_of() {
        let (_folder, home) = home();
        let mut message = NeedMessage::test();
        let deny = PhoneCommand::Deny { request: "t1.1.ab".to_owned() };
        add_buttons(&home, &channel(None), "need", std::slice::from_ref(&deny), &mut message).unwrap();
        let [Button::Http { body, url, headers, .. }, Button::View { .. }] = &message.buttons[..] else {
            panic!("{:?}", message.buttons)
        };
        assert_eq!((url.as_str(), headers["Authorization"].as_str()), ("https://n.example/b", "Bearer w"));
        let (posted, address) = message.posted(MessageFormat::Ntfy, "https://n.example/a").unwrap();
        assert_eq!(address, "https://n.example");
        let view = r#"{"action":"view","label":"Open","url":"https://c.example"}"#;
        assert!(
            posted.contains(r#""actions":[{"action":"http","label":"Deny","method":"POST","#),
            "{posted}"
        );
        assert!(posted.contains(view) && !message.written().unwrap().contains("o1 "), "{posted}");

        let code = code_in(body).unwrap();
        let file = home.answers_json();
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(!std::fs::read_to_string(&file).unwrap().contains(code));
        let hash = tokens::hash_of(code);
        let mut book = read(&home).unwrap();
        let reply = Reply { id: "1", hash: Some(&hash) };
        assert_eq!(book.receive("phone", reply, seconds()), Received::Take(deny));
        assert_eq!((revoke(&home, "phone").unwrap(), revoke(&home, "phone").unwrap()), (1, 0));
        std::fs::write(&file, "{").unwrap();
        assert_eq!(read(&home).unwrap_err().kind, ErrorKind::Corrupt);
    }
}
