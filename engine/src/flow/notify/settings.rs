//! `notify.toml`: the channels of a person, a table for each.

mod phone;

use std::io;
use std::time::Duration;

use orange_core::need::NeedKind;
use orange_core::notify::{ChannelRules, Quiet};
use toml::de::{DeTable, DeValue};

pub use self::phone::Phone;
use self::phone::PhoneDraft;
#[cfg(test)]
pub use self::phone::ReplyTopic;
use super::message::{self, MessageFormat};
use crate::store::toml_text::{TomlText, in_order};
use crate::store::{Home, suggest};
use crate::{Error, ErrorKind, Result};
use orange_system::nofollow;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Its name, which the person chooses.
    pub name: String,
    /// Rules for the needs that it is sent, and for the time.
    pub rules: ChannelRules,
    /// Limit for the delivery of a message.
    pub timeout: Duration,
    pub via: Via,
}

/// Transport of messages to a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Via {
    /// The terminal of the monitor, and those that show sessions of agents.
    Terminal {
        style: TerminalSequence,
        /// True if terminals that show sessions of agents get it, too.
        attached: bool,
    },
    /// `notify-send`, and on macOS `osascript`.
    Desktop,
    Command {
        /// Its name and its arguments, with fields in them.
        argv: Vec<String>,
    },
    /// A server, through `curl`.
    Webhook {
        url: String,
        shape: MessageFormat,
        /// More headers.
        headers: Vec<String>,
        /// Address of the console, which a button of ntfy shows.
        console: Option<String>,
        /// Answers with buttons of ntfy.
        phone: Option<Phone>,
    },
}

/// Control sequence that is written to a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalSequence {
    Bell,
    /// The sequence of iTerm2, also of Windows Terminal and WezTerm.
    Osc9,
    /// The sequence of kitty.
    Osc99,
    /// The sequence of urxvt, also of foot and Ghostty.
    Osc777,
}

/// The names of the keys, each with the kind of channel that has it; every kind has those without.
const KEYS: [(&str, Option<&str>); 17] = [
    ("via", None),
    ("needs", None),
    ("quiet", None),
    ("urgent", None),
    ("digest", None),
    ("timeout", None),
    ("style", Some("terminal")),
    ("attached", Some("terminal")),
    ("argv", Some("command")),
    ("url", Some("webhook")),
    ("shape", Some("webhook")),
    ("headers", Some("webhook")),
    ("console", Some("webhook")),
    ("answers", Some("webhook")),
    ("reply", Some("webhook")),
    ("expires", Some("webhook")),
    ("public", Some("webhook")),
];

const VIAS: [(&str, &str); 4] =
    [("terminal", "terminal"), ("desktop", "desktop"), ("command", "command"), ("webhook", "webhook")];

const STYLES: [(&str, TerminalSequence); 4] = [
    ("bell", TerminalSequence::Bell),
    ("osc9", TerminalSequence::Osc9),
    ("osc99", TerminalSequence::Osc99),
    ("osc777", TerminalSequence::Osc777),
];

const SHAPES: [(&str, MessageFormat); 3] =
    [("json", MessageFormat::Json), ("slack", MessageFormat::Slack), ("ntfy", MessageFormat::Ntfy)];

impl Channel {
    /// The answers that it may give, if it may give any.
    pub fn phone(&self) -> Option<&Phone> {
        match &self.via {
            Via::Webhook { phone, .. } => phone.as_ref(),
            Via::Terminal { .. } | Via::Desktop | Via::Command { .. } => None,
        }
    }
}

impl Via {
    /// The word for it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Via::Terminal { .. } => "terminal",
            Via::Desktop => "desktop",
            Via::Command { .. } => "command",
            Via::Webhook { .. } => "webhook",
        }
    }
}

/// Quiet hours as the file has them.
pub fn words(quiet: Quiet) -> String {
    let time = |minute: u16| format!("{:02}:{:02}", minute / 60, minute % 60);
    format!("{}-{}", time(quiet.from), time(quiet.until))
}

/// The channels, in the order of the file; none without a file.
///
/// # Errors
/// `corrupt` with the line; `environment` when it cannot be read.
pub fn read(home: &Home) -> Result<Vec<Channel>> {
    let path = home.notify_toml();
    let bytes = match nofollow::read_linked(&path, nofollow::LONGEST) {
        Ok(bytes) => bytes,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(cause) => return Err(Error::io("read", &path, &cause)),
    };
    let text = TomlText::new(&path, &bytes)?;
    let tables = text.table()?;
    in_order(tables.get_ref())
        .into_iter()
        .map(|(name, value)| {
            let at = name.span().start;
            let Some(table) = value.get_ref().as_table() else {
                return Err(text.broken(at, "a key needs a table before it, such as `[phone]`"));
            };
            channel(&text, at, name.get_ref(), table)
        })
        .collect()
}

/// The channel of this name.
///
/// # Errors
/// `not_found` with the names; those of [`read`].
pub fn named(home: &Home, name: &str) -> Result<Channel> {
    let channels = read(home)?;
    channels.iter().find(|channel| channel.name == name).cloned().ok_or_else(|| {
        let names: Vec<&str> = channels.iter().map(|channel| channel.name.as_str()).collect();
        Error::new(ErrorKind::NotFound, format!("there is no channel `{name}`")).help(format!(
            "{}; {} has them",
            suggest::help(name, &names, "channels"),
            home.notify_toml().display()
        ))
    })
}

fn channel(text: &TomlText<'_>, at: usize, name: &str, table: &DeTable<'_>) -> Result<Channel> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    if name.is_empty() || !name.chars().all(is_plain) || name.starts_with('-') {
        return Err(text.broken(at, "a channel's name has letters, digits, `_` and `-`"));
    }
    let Some(via) = table.iter().find(|(key, _)| **key.get_ref() == *"via") else {
        return Err(text
            .broken(at, "a channel says its `via`: \"terminal\", \"desktop\", \"command\" or \"webhook\""));
    };
    let via = one_of("via", via.1.get_ref(), &VIAS).map_err(|flaw| text.broken(via.0.span().start, &flaw))?;
    let mut draft = ChannelDraft::default();
    for (key, value) in in_order(table) {
        draft
            .set(via, key.get_ref(), value.get_ref())
            .map_err(|flaw| text.broken(key.span().start, &flaw))?;
    }
    draft.channel(name, via).map_err(|flaw| text.broken(at, &flaw))
}

/// The values of a table.
#[derive(Default)]
struct ChannelDraft {
    needs: Option<Vec<NeedKind>>,
    quiet: Option<Quiet>,
    urgent: Vec<NeedKind>,
    digest: Option<u32>,
    timeout: Option<u32>,
    style: Option<TerminalSequence>,
    attached: Option<bool>,
    argv: Vec<String>,
    url: String,
    shape: Option<MessageFormat>,
    headers: Vec<String>,
    console: Option<String>,
    phone: PhoneDraft,
}

/// The value, or why it is invalid.
type ChannelResult<T> = std::result::Result<T, String>;

impl ChannelDraft {
    fn set(&mut self, via: &str, key: &str, value: &DeValue<'_>) -> ChannelResult<()> {
        let Some((_, owner)) = KEYS.iter().find(|(name, _)| *name == key) else {
            let names: Vec<&str> = KEYS.iter().map(|(name, _)| *name).collect();
            return Err(format!("`{key}` is not a key of a channel: {}", suggest::help(key, &names, "keys")));
        };
        if let Some(owner) = owner.filter(|owner| *owner != via) {
            return Err(format!("`{key}` is a key of channels with `via = \"{owner}\"`"));
        }
        match key {
            "needs" => self.needs = Some(kinds(key, value)?),
            "quiet" => self.quiet = Some(quiet(value)?),
            "urgent" => self.urgent = kinds(key, value)?,
            "digest" => self.digest = Some(number(key, value, 1, 1440, "minutes")?),
            "timeout" => self.timeout = Some(number(key, value, 1, 300, "seconds")?),
            "style" => self.style = Some(one_of(key, value, &STYLES)?),
            "attached" => {
                self.attached = Some(value.as_bool().ok_or("`attached` is true or false")?);
            }
            "argv" => self.argv = argv(value)?,
            "url" => self.url = url(key, value)?,
            "shape" => self.shape = Some(one_of(key, value, &SHAPES)?),
            "headers" => self.headers = headers(key, value)?,
            "console" => self.console = Some(url(key, value)?),
            "answers" | "reply" | "expires" | "public" => self.phone.set(key, value)?,
            _ => {}
        }
        Ok(())
    }

    fn channel(self, name: &str, via: &str) -> ChannelResult<Channel> {
        const TIMEOUT: u32 = 10;
        let via = match via {
            "terminal" => Via::Terminal {
                style: self.style.unwrap_or(TerminalSequence::Bell),
                attached: self.attached.unwrap_or(true),
            },
            "command" if self.argv.is_empty() => {
                return Err("a command has its `argv`: [\"program\", \"{title}\"]".to_owned());
            }
            "command" => Via::Command { argv: self.argv },
            "webhook" if self.url.is_empty() => return Err("a webhook has its `url`".to_owned()),
            "webhook" => {
                let shape = self.shape.unwrap_or(MessageFormat::Json);
                if shape == MessageFormat::Ntfy && message::topic(&self.url).is_none() {
                    return Err("the `url` of ntfy ends in its topic: https://ntfy.sh/my-topic".to_owned());
                }
                if shape != MessageFormat::Ntfy && self.console.is_some() {
                    return Err("`console` is a key of channels with `shape = \"ntfy\"`".to_owned());
                }
                let phone = self.phone.phone(shape, &self.url, &self.headers)?;
                Via::Webhook { url: self.url, shape, headers: self.headers, console: self.console, phone }
            }
            _ => Via::Desktop,
        };
        let persons = || NeedKind::ALL.into_iter().filter(|kind| kind.needs_person()).collect();
        let rules = ChannelRules {
            kinds: self.needs.unwrap_or_else(persons),
            quiet: self.quiet,
            urgent: self.urgent,
            digest: self.digest,
        };
        let timeout = Duration::from_secs(self.timeout.unwrap_or(TIMEOUT).into());
        Ok(Channel { name: name.to_owned(), rules, timeout, via })
    }
}

fn one_of<T: Copy>(key: &str, value: &DeValue<'_>, known: &[(&str, T)]) -> ChannelResult<T> {
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    let Some(word) = value.as_str() else {
        return Err(format!("`{key}` is one of these, in quotes: {}", names.join(", ")));
    };
    let found = known.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
    found.ok_or_else(|| {
        format!("`{word}` is not a value of `{key}`: {}", suggest::help(word, &names, "values"))
    })
}

fn strings(value: &DeValue<'_>) -> Option<Vec<String>> {
    let is_fit = |text: &&str| !text.contains('\0');
    value.as_array()?.iter().map(|it| it.get_ref().as_str().filter(is_fit).map(str::to_owned)).collect()
}

fn kinds(key: &str, value: &DeValue<'_>) -> ChannelResult<Vec<NeedKind>> {
    let persons = NeedKind::ALL.into_iter().filter(|kind| kind.needs_person());
    let known: Vec<(&str, NeedKind)> = persons.map(|kind| (kind.as_str(), kind)).collect();
    let items = value.as_array().ok_or_else(|| format!("`{key}` is a list of needs: [\"permission\"]"))?;
    items.iter().map(|item| one_of(key, item.get_ref(), &known)).collect()
}

fn quiet(value: &DeValue<'_>) -> ChannelResult<Quiet> {
    let minute = |text: &str| {
        let (hour, minute) = text.trim().split_once(':')?;
        let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
        (hour < 24 && minute < 60).then_some(hour * 60 + minute)
    };
    let times = value.as_str().and_then(|text| text.split_once('-'));
    let found = times.and_then(|(from, until)| Some(Quiet { from: minute(from)?, until: minute(until)? }));
    found.ok_or_else(|| "`quiet` is two local times: \"22:00-07:00\"".to_owned())
}

fn number(key: &str, value: &DeValue<'_>, least: u32, most: u32, what: &str) -> ChannelResult<u32> {
    let found = value.as_integer().filter(|it| it.radix() == 10).and_then(|it| it.as_str().parse().ok());
    let found = found.filter(|number| (least..=most).contains(number));
    found.ok_or_else(|| format!("`{key}` is a number of {what} from {least} to {most}"))
}

fn argv(value: &DeValue<'_>) -> ChannelResult<Vec<String>> {
    let words = strings(value).filter(|words| words.first().is_some_and(|program| !program.is_empty()));
    let words =
        words.ok_or("`argv` is a program and its arguments, in quotes: [\"program\", \"{title}\"]")?;
    let flaw = words.iter().find_map(|word| message::flaw(word));
    flaw.map_or(Ok(words), Err)
}

fn url(key: &str, value: &DeValue<'_>) -> ChannelResult<String> {
    let is_fit = |url: &&str| {
        let is_known = url.starts_with("http://") || url.starts_with("https://");
        is_known && !url.chars().any(|letter| letter.is_control() || letter.is_whitespace())
    };
    let found = value.as_str().filter(is_fit).map(str::to_owned);
    found.ok_or_else(|| format!("`{key}` begins with https:// or http:// and has no blanks"))
}

fn headers(key: &str, value: &DeValue<'_>) -> ChannelResult<Vec<String>> {
    let is_fit = |header: &String| {
        header.split_once(':').is_some_and(|(name, _)| !name.is_empty() && !name.contains(' '))
            && !header.chars().any(char::is_control)
            && !header.starts_with('@')
    };
    let found = strings(value).filter(|headers| headers.iter().all(is_fit));
    found.ok_or_else(|| format!("`{key}` is a list: [\"Authorization: Bearer …\"]"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::home;

    fn channels(text: &str) -> Result<Vec<Channel>> {
        let (_folder, home) = home();
        home.prepare().unwrap();
        std::fs::write(home.notify_toml(), text).unwrap();
        read(&home)
    }

    #[track_caller]
    fn check_flaw(text: &str, line: usize, part: &str) {
        let error = channels(text).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Corrupt);
        assert!(error.message.contains(&format!("notify.toml:{line}: ")), "{error}");
        assert!(error.message.contains(part), "{error}");
    }

    #[test]
    fn a_file_has_channels() {
        let found = channels(
            "[desk]\nvia = 'desktop'\n[phone]\nvia = 'webhook'\nurl = 'https://ntfy.sh/me'\nshape = 'ntfy'\n\
             needs = ['permission', 'question']\nquiet = '22:00-07:30'\nurgent = ['permission']\ndigest = 15\n\
             timeout = 3\nheaders = ['Authorization: Bearer x']\n[log]\nvia = 'command'\nargv = ['log', '{why}']\n\
             [here]\nvia = 'terminal'\nstyle = 'osc9'\nattached = false\n",
        )
        .unwrap();
        let names: Vec<&str> = found.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["desk", "phone", "log", "here"]);
        assert_eq!((found[0].rules.kinds.len(), found[0].timeout), (11, Duration::from_secs(10)));
        let phone = &found[1];
        assert_eq!(phone.rules.kinds, [NeedKind::Permission, NeedKind::Question]);
        assert_eq!(phone.rules.quiet, Some(Quiet { from: 22 * 60, until: 7 * 60 + 30 }));
        assert_eq!((phone.rules.digest, phone.timeout), (Some(15), Duration::from_secs(3)));
        assert_eq!(found[3].via, Via::Terminal { style: TerminalSequence::Osc9, attached: false });
        assert_eq!(channels("").unwrap(), []);
    }

    #[test]
    fn a_wrong_file_is_reported_with_its_line() {
        check_flaw("[a]\n", 1, "says its `via`");
        check_flaw("via = 'desktop'\n", 1, "table before it");
        check_flaw("[a]\nvia = 'desktp'\n", 2, "did you mean `desktop`?");
        check_flaw("[a]\nvia = 'desktop'\nurgnt = []\n", 3, "did you mean `urgent`?");
        check_flaw("[a]\nvia = 'desktop'\n\nurl = 'https://x'\n", 4, "`via = \"webhook\"`");
        check_flaw("[a]\nvia = 'desktop'\nneeds = ['permision']\n", 3, "did you mean `permission`?");
        check_flaw("[a]\nvia = 'desktop'\nneeds = ['working']\n", 3, "`working` is not a value");
        for quiet in ["'22-7'", "'24:00-07:00'", "22", "'22:00'", "'22:60-07:00'"] {
            check_flaw(&format!("[a]\nvia = 'desktop'\nquiet = {quiet}\n"), 3, "22:00-07:00");
        }
        check_flaw("[a]\nvia = 'desktop'\ndigest = 0\n", 3, "minutes from 1 to 1440");
        check_flaw("[a]\nvia = 'desktop'\ntimeout = 'x'\n", 3, "seconds from 1 to 300");
        check_flaw("[a]\nvia = 'command'\n", 1, "has its `argv`");
        check_flaw("[a]\nvia = 'command'\nargv = ['x', '{wy}']\n", 3, "did you mean `why`?");
        check_flaw("[a]\nvia = 'command'\nargv = ['x', '{']\n", 3, "{{");
        check_flaw("[a]\nvia = 'webhook'\n", 1, "has its `url`");
        check_flaw("[a]\nvia = 'webhook'\nurl = 'file:///etc/passwd'\n", 3, "https://");
        check_flaw("[a]\nvia = 'webhook'\nurl = 'https://ntfy.sh/'\nshape = 'ntfy'\n", 1, "topic");
        check_flaw("[a]\nvia = 'webhook'\nurl = 'https://x'\nheaders = [\"a: b\\nurl = c\"]\n", 4, "list");
        check_flaw("[a]\nvia = 'webhook'\nurl = 'https://x'\nheaders = ['@/etc/passwd']\n", 4, "list");
        check_flaw("[a]\nvia 'x'\n", 2, "expected");
        check_flaw("['a b']\nvia = 'desktop'\n", 1, "name");
    }
}
