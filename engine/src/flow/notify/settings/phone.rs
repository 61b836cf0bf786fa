//! The keys of a channel whose messages have buttons: the answers that they give, and the topic that gets them.

use std::time::Duration;

use orange_core::phone::PhoneAnswer;
use toml::de::DeValue;

use super::{ChannelResult, headers, one_of, url};
use crate::flow::notify::message::{self, MessageFormat};
use crate::store::suggest;
use crate::store::toml_text::in_order;

/// Time for which a code is valid without `expires`.
const EXPIRES: Duration = Duration::from_secs(30 * 60);

/// Answers with buttons of ntfy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phone {
    /// The answers that buttons may give.
    pub answers: Vec<PhoneAnswer>,
    /// Topic that gets the codes of buttons.
    pub reply: ReplyTopic,
    /// Time for which a code is valid.
    pub expires: Duration,
}

/// A topic of ntfy that a phone writes to and the monitor reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplyTopic {
    /// Address that ends in the topic.
    pub url: String,
    /// Headers with which the monitor reads it.
    pub headers: Vec<String>,
    /// Headers with which the phone writes to it. Messages contain them.
    pub phone: Vec<String>,
}

/// The values of these keys.
#[derive(Default)]
pub(super) struct PhoneDraft {
    answers: Option<Vec<PhoneAnswer>>,
    reply: Option<ReplyTopic>,
    expires: Option<Duration>,
    public: Option<bool>,
}

impl PhoneDraft {
    pub(super) fn set(&mut self, key: &str, value: &DeValue<'_>) -> ChannelResult<()> {
        match key {
            "answers" => self.answers = Some(answers(value)?),
            "reply" => self.reply = Some(reply(value)?),
            "expires" => self.expires = Some(expires(value)?),
            _ => self.public = Some(value.as_bool().ok_or("`public` is true or false")?),
        }
        Ok(())
    }

    /// The answers of a channel with this topic, if it takes any.
    pub(super) fn phone(
        self,
        shape: MessageFormat,
        url: &str,
        headers: &[String],
    ) -> ChannelResult<Option<Phone>> {
        let PhoneDraft { answers, reply, expires, public } = self;
        let has_more = reply.is_some() || expires.is_some() || public.is_some();
        let answers = answers.unwrap_or_default();
        if answers.is_empty() {
            let unused = "`reply`, `expires` and `public` need `answers`: [\"deny\", \"continue\"]";
            return if has_more { Err(unused.to_owned()) } else { Ok(None) };
        }
        if shape != MessageFormat::Ntfy {
            return Err("`answers` is a key of channels with `shape = \"ntfy\"`".to_owned());
        }
        let Some(reply) = reply else {
            return Err(
                "`answers` need a second topic for the replies: reply = { url = \"https://ntfy.example.org/secret\" }"
                    .to_owned(),
            );
        };
        if message::topic(&reply.url) == message::topic(url) {
            return Err("the `url` of `reply` is another topic than that of the channel".to_owned());
        }
        for (name, url, headers) in [("topic", url, headers), ("reply topic", &reply.url, &reply.headers)] {
            if !is_protected(url, headers) && public != Some(true) {
                return Err(format!(
                    "the {name} is open to others, who could answer in your place: protect it with an Authorization in \
                     `headers`, over https, or accept that with `public = true`"
                ));
            }
        }
        if public != Some(true) {
            check_sent(&reply, headers)?;
        }
        Ok(Some(Phone { answers, reply, expires: expires.unwrap_or(EXPIRES) }))
    }
}

/// Refuses a phone that gets the secret of another reader or writer, since each message contains its headers.
fn check_sent(reply: &ReplyTopic, headers: &[String]) -> ChannelResult<()> {
    let others: Vec<&str> = headers.iter().chain(&reply.headers).filter_map(|it| authorization(it)).collect();
    let mut sent = reply.phone.iter().filter_map(|it| authorization(it));
    if sent.any(|secret| others.contains(&secret)) {
        return Err("each message has the headers in `phone`: give them a token of their own, which may only write to the \
                    reply topic, or accept that with `public = true`"
            .to_owned());
    }
    Ok(())
}

/// True if reading this topic takes a secret that does not cross a network in the clear.
fn is_protected(url: &str, headers: &[String]) -> bool {
    headers.iter().any(|header| authorization(header).is_some())
        && (url.starts_with("https://") || is_loopback(url))
}

/// The secret in a header, if it has one.
fn authorization(header: &str) -> Option<&str> {
    let (name, value) = header.split_once(':')?;
    Some(value.trim()).filter(|value| name.eq_ignore_ascii_case("authorization") && !value.is_empty())
}

fn is_loopback(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("http://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    !authority.contains('@') && ["localhost", "127.0.0.1", "[::1]"].contains(&host)
}

fn answers(value: &DeValue<'_>) -> ChannelResult<Vec<PhoneAnswer>> {
    let known = PhoneAnswer::ALL.map(|answer| (answer.as_str(), answer));
    let items = value
        .as_array()
        .ok_or("`answers` is a list: [\"deny\", \"allow\", \"continue\", \"seen\", \"answer\"]")?;
    items.iter().map(|item| one_of("answers", item.get_ref(), &known)).collect()
}

fn reply(value: &DeValue<'_>) -> ChannelResult<ReplyTopic> {
    const KEYS: [&str; 3] = ["url", "headers", "phone"];
    let table =
        value.as_table().ok_or("`reply` is a table: { url = \"https://ntfy.example.org/secret\" }")?;
    let mut topic = ReplyTopic::default();
    for (key, value) in in_order(table) {
        let value = value.get_ref();
        match &**key.get_ref() {
            "url" => topic.url = url("url", value)?,
            "headers" => topic.headers = headers("headers", value)?,
            "phone" => topic.phone = headers("phone", value)?,
            other => {
                let help = suggest::help(other, &KEYS, "keys");
                return Err(format!("`{other}` is not a key of `reply`: {help}"));
            }
        }
    }
    let is_plain = !topic.url.contains(['?', '#']);
    match message::topic(&topic.url) {
        Some(_) if is_plain => Ok(topic),
        Some(_) | None => {
            Err("the `url` of `reply` ends in its topic: https://ntfy.example.org/secret".to_owned())
        }
    }
}

fn expires(value: &DeValue<'_>) -> ChannelResult<Duration> {
    const MOST: u64 = 24 * 3600;
    let time = value.as_str().and_then(|text| {
        let number = |unit| text.strip_suffix(unit)?.parse::<u32>().ok().map(u64::from);
        number("m").map(|minutes| minutes * 60).or_else(|| number("h").map(|hours| hours * 3600))
    });
    let found = time.filter(|seconds| (1..=MOST).contains(seconds)).map(Duration::from_secs);
    found.ok_or_else(|| "`expires` is a time from \"1m\" to \"24h\"".to_owned())
}

#[cfg(test)]
mod tests {
    use crate::flow::notify::settings::read;
    use crate::store::tests::home;
    use crate::{ErrorKind, Result};

    use super::*;

    const TOPIC: &str = "[p]\nvia = 'webhook'\nshape = 'ntfy'\nurl = 'https://n.example/a'\nheaders = ['Authorization: Bearer a']\n";
    const REPLY: &str = "reply = { url = 'https://n.example/b', headers = ['authorization: Bearer b'], phone = ['Authorization: Bearer w'] }\n";

    fn phone(text: &str) -> Result<Option<Phone>> {
        let (_folder, home) = home();
        home.prepare()?;
        std::fs::write(home.notify_toml(), text)
            .map_err(|cause| crate::Error::io("write", &home.notify_toml(), &cause))?;
        Ok(read(&home)?.first().and_then(|channel| channel.phone().cloned()))
    }

    #[track_caller]
    fn check_flaw(text: &str, part: &str) {
        let error = phone(text).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Corrupt);
        assert!(error.message.contains(part), "{error}");
    }

    #[test]
    fn a_channel_says_which_answers_it_takes() {
        assert_eq!(phone(TOPIC).unwrap(), None);
        assert_eq!(phone(&format!("{TOPIC}answers = []\n")).unwrap(), None);
        let found = phone(&format!("{TOPIC}{REPLY}answers = ['deny', 'seen']\nexpires = '2h'\n")).unwrap();
        let reply = ReplyTopic {
            url: "https://n.example/b".to_owned(),
            headers: vec!["authorization: Bearer b".to_owned()],
            phone: vec!["Authorization: Bearer w".to_owned()],
        };
        let answers = vec![PhoneAnswer::Deny, PhoneAnswer::Seen];
        assert_eq!(found, Some(Phone { answers, reply, expires: Duration::from_secs(7200) }));
        let found = phone(&format!("{TOPIC}{REPLY}answers = ['deny']\n")).unwrap();
        assert_eq!(found.map(|phone| phone.expires), Some(EXPIRES));
    }

    #[test]
    fn only_harmless_answers_are_allowed() {
        for other in ["merge", "cancel", "force", "send", ""] {
            check_flaw(&format!("{TOPIC}{REPLY}answers = ['{other}']\n"), "is not a value of `answers`");
        }
        check_flaw(&format!("{TOPIC}{REPLY}answers = 'deny'\n"), "is a list");
        check_flaw(&format!("{TOPIC}answers = ['deny']\n"), "second topic");
        check_flaw(&format!("{TOPIC}{REPLY}"), "need `answers`");
        check_flaw(&format!("{TOPIC}expires = '30m'\n"), "need `answers`");
        check_flaw(
            "[p]\nvia = 'webhook'\nurl = 'https://x'\nconsole = 'https://c'\n",
            "with `shape = \"ntfy\"`",
        );
        check_flaw(
            &format!("[p]\nvia = 'webhook'\nurl = 'https://x'\nanswers = ['deny']\n{REPLY}"),
            "with `shape = \"ntfy\"`",
        );
        check_flaw("[p]\nvia = 'desktop'\nanswers = ['deny']\n", "`via = \"webhook\"`");
        for expires in ["'0m'", "'25h'", "'30'", "'-1m'", "30", "'30s'"] {
            check_flaw(&format!("{TOPIC}{REPLY}answers = ['deny']\nexpires = {expires}\n"), "from \"1m\"");
        }
    }

    #[test]
    fn the_reply_topic_is_another_one() {
        let with = |reply: &str| format!("{TOPIC}answers = ['deny']\nreply = {reply}\n");
        check_flaw(
            &with("{ url = 'https://n.example/a/', headers = ['Authorization: b'] }"),
            "another topic",
        );
        for url in ["https://n.example", "https://n.example/b?auth=x", "https://n.example/b#c"] {
            check_flaw(&with(&format!("{{ url = '{url}' }}")), "ends in its topic");
        }
        check_flaw(&with("{ ulr = 'https://n.example/b' }"), "did you mean `url`?");
        check_flaw(&with("'https://n.example/b'"), "is a table");
        check_flaw(&with("{}"), "ends in its topic");
    }

    #[test]
    fn an_open_topic_needs_a_word_of_the_person() {
        let open = |url: &str, reply: &str, more: &str| {
            format!(
                "[p]\nvia = 'webhook'\nshape = 'ntfy'\nanswers = ['deny']\nurl = '{url}/a'\n{more}\nreply = {{ url = '{reply}/b', headers = ['Authorization: b'] }}\n"
            )
        };
        let own = "headers = ['Authorization: a']";
        let (https, http) = ("https://n.example", "http://n.example");
        assert!(phone(&open(https, https, own)).unwrap().is_some());
        assert!(phone(&open("http://127.0.0.1:80", "http://localhost:81", own)).unwrap().is_some());
        check_flaw(&open(https, https, ""), "the topic is open to others");
        check_flaw(&open(https, https, "headers = ['Authorization: ']"), "the topic is open to others");
        check_flaw(&open(http, https, own), "the topic is open to others");
        check_flaw(&open(https, http, own), "the reply topic is open to others");
        check_flaw(&open(https, "http://127.0.0.1.n.example", own), "the reply topic is open to others");
        check_flaw(&open(https, https, "public = false"), "`public = true`");
        assert!(phone(&open(http, http, "public = true")).unwrap().is_some());
        check_flaw(&open(https, "http://localhost:80@n.example", own), "the reply topic is open to others");
    }

    #[test]
    fn messages_contain_no_secret_that_reads() {
        for secret in ["a", "b"] {
            let reply = REPLY.replace("Bearer w", &format!("Bearer {secret}"));
            check_flaw(&format!("{TOPIC}{reply}answers = ['deny']\n"), "a token of their own");
            assert!(phone(&format!("{TOPIC}{reply}answers = ['deny']\npublic = true\n")).unwrap().is_some());
        }
    }
}
