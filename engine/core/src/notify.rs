//! Messages about needs: which of them go to which channel now, and when to look again.
//!
//! The caller has the needs of now, the rules of a channel, the time, and what it has noted about earlier messages.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use crate::foreign;
use crate::need::NeedKind;

/// Limit for the tries to send a message whose channel fails.
pub const MOST_TRIES: u8 = 5;

/// Time that a crash must last before there is a message about it: the process or person that looks after it may be about to do so.
pub const CRASH_LASTS: Duration = Duration::from_secs(2);

const MINUTES_OF_A_DAY: u16 = 24 * 60;

/// Rules of a channel: the messages that it is sent, and their times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelRules {
    /// The kinds of needs.
    pub kinds: Vec<NeedKind>,
    /// Hours without messages.
    pub quiet: Option<Quiet>,
    /// The kinds that it is sent in quiet hours, too.
    pub urgent: Vec<NeedKind>,
    /// The shortest time between two messages, in minutes; what comes in between is one message.
    pub digest: Option<u32>,
}

/// Hours of the day, in minutes from midnight. They go over midnight if they end before they begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quiet {
    /// Start of the hours.
    pub from: u16,
    /// End of the hours.
    pub until: u16,
}

/// A need of now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeedFact<'f> {
    /// Kind of the need.
    pub kind: NeedKind,
    /// For how long it has been seen.
    pub lasted: Duration,
    /// Record of earlier messages about the same fact.
    pub noted: Option<&'f Noted>,
}

/// Record of the messages about one fact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Noted {
    /// Number of tries to send it.
    pub tries: u8,
    /// Time of the last try, in seconds since 1970.
    pub at: u64,
    /// True if the channel has taken it.
    pub is_done: bool,
}

/// Time of day, for quiet hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// In seconds since 1970.
    pub now: u64,
    /// In minutes from midnight, local time. Without it, no hour is quiet.
    pub minute: Option<u16>,
}

/// Messages to send.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// The messages, each with the places of its needs.
    pub messages: Vec<Vec<usize>>,
    /// After how many seconds there may be more, if no need comes or goes.
    pub again: Option<u64>,
}

impl ChannelRules {
    /// The messages that this channel is sent now. `last` is when it was last sent one.
    pub fn due(&self, facts: &[NeedFact<'_>], last: Option<u64>, clock: Clock) -> Due {
        let mut due = Due::default();
        let mut ready = Vec::new();
        for (place, fact) in facts.iter().enumerate() {
            if !fact.kind.needs_person() || !self.kinds.contains(&fact.kind) {
                continue;
            }
            let quiet = if self.urgent.contains(&fact.kind) { 0 } else { self.quiet_for(clock) };
            let wait = fact.noted.map_or(Some(0), |noted| noted.waits(clock.now));
            match wait.map(|wait| wait.max(quiet).max(fact.unproven())) {
                None => {}
                Some(0) => ready.push(place),
                Some(wait) => due.later(wait),
            }
        }
        match self.digest {
            Some(_) if ready.is_empty() => {}
            Some(minutes) => match left(last, u64::from(minutes) * 60, clock.now) {
                0 => due.messages.push(ready),
                wait => due.later(wait),
            },
            None => due.messages.extend(ready.into_iter().map(|place| Vec::from([place]))),
        }
        due
    }

    /// For how many seconds it is quiet; 0 if it is not.
    fn quiet_for(&self, clock: Clock) -> u64 {
        let (Some(quiet), Some(minute)) = (self.quiet, clock.minute) else { return 0 };
        quiet.left(minute).map_or(0, |minutes| u64::from(minutes) * 60)
    }
}

impl NeedFact<'_> {
    /// Seconds that are left until it is believed.
    fn unproven(&self) -> u64 {
        let least = if self.kind == NeedKind::Crashed { CRASH_LASTS } else { Duration::ZERO };
        let left = least.saturating_sub(self.lasted);
        left.as_secs() + u64::from(left.subsec_nanos() > 0)
    }
}

impl Quiet {
    /// For how many minutes it is quiet at this minute of the day; `None` if it is not.
    fn left(self, minute: u16) -> Option<u16> {
        let Quiet { from, until } = self;
        let is_quiet = match from <= until {
            true => (from..until).contains(&minute),
            false => minute >= from || minute < until,
        };
        is_quiet.then(|| (until + MINUTES_OF_A_DAY - minute) % MINUTES_OF_A_DAY)
    }
}

impl Noted {
    /// Seconds that are left until the message is sent again; `None` if it is not.
    pub fn waits(&self, now: u64) -> Option<u64> {
        const FIRST_PAUSE: u64 = 30;
        if self.is_done || self.tries >= MOST_TRIES {
            return None;
        }
        let pause = FIRST_PAUSE * 4_u64.pow(u32::from(self.tries.saturating_sub(1)));
        Some(if self.tries == 0 { 0 } else { left(Some(self.at), pause, now) })
    }
}

impl Due {
    fn later(&mut self, wait: u64) {
        self.again = Some(self.again.map_or(wait, |again| again.min(wait)));
    }
}

/// Seconds that are left of this pause; 0 after the clock was set back.
fn left(since: Option<u64>, pause: u64, now: u64) -> u64 {
    let passed = since.and_then(|since| now.checked_sub(since));
    passed.map_or(0, |passed| pause.saturating_sub(passed))
}

/// A text on one line, without characters that a terminal obeys or that hide or turn others, cut to `width` characters.
pub fn plain(text: &str, width: usize) -> String {
    let words = text.split(|letter: char| letter.is_whitespace() || foreign::is_hidden(letter));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let flat = words.join(" ");
    if flat.chars().count() <= width {
        return flat;
    }
    flat.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    const NOW: u64 = 1_000_000;

    fn rules() -> ChannelRules {
        ChannelRules { kinds: NeedKind::ALL.to_vec(), quiet: None, urgent: Vec::new(), digest: None }
    }

    fn night() -> ChannelRules {
        ChannelRules { quiet: Some(Quiet { from: 22 * 60, until: 7 * 60 }), ..rules() }
    }

    fn fact(kind: NeedKind) -> NeedFact<'static> {
        NeedFact { kind, lasted: CRASH_LASTS, noted: None }
    }

    fn noted(tries: u8, ago: u64, is_done: bool) -> Noted {
        Noted { tries, at: NOW - ago, is_done }
    }

    fn at(minute: u16) -> Clock {
        Clock { now: NOW, minute: Some(minute) }
    }

    #[track_caller]
    fn check(due: &Due, messages: &[&[usize]], again: Option<u64>) {
        assert_eq!(due.messages, messages);
        assert_eq!(due.again, again);
    }

    #[test]
    fn each_need_of_a_person_is_one_message() {
        let facts = [
            fact(NeedKind::Permission),
            fact(NeedKind::Working),
            fact(NeedKind::Limit),
            fact(NeedKind::Stuck),
        ];
        check(&rules().due(&facts, None, at(0)), &[&[0], &[3]], None);
        let rules = ChannelRules { kinds: vec![NeedKind::Stuck, NeedKind::Working], ..rules() };
        check(&rules.due(&facts, Some(NOW), at(0)), &[&[3]], None);
        check(&rules.due(&[], None, at(0)), &[], None);
    }

    #[test]
    fn a_fact_is_sent_once() {
        let done = noted(1, 9999, true);
        let facts = [NeedFact { kind: NeedKind::Stuck, lasted: CRASH_LASTS, noted: Some(&done) }];
        check(&rules().due(&facts, None, at(0)), &[], None);
    }

    #[test]
    fn a_crash_is_sent_once_it_has_lasted() {
        let due = |kind, millis| {
            let lasted = Duration::from_millis(millis);
            rules().due(&[NeedFact { kind, lasted, noted: None }], None, at(0))
        };
        check(&due(NeedKind::Crashed, 0), &[], Some(2));
        check(&due(NeedKind::Crashed, 1), &[], Some(2));
        check(&due(NeedKind::Crashed, 1999), &[], Some(1));
        check(&due(NeedKind::Crashed, 2000), &[&[0]], None);
        check(&due(NeedKind::Permission, 0), &[&[0]], None);
        let facts = [NeedFact { kind: NeedKind::Crashed, lasted: Duration::ZERO, noted: None }];
        check(&night().due(&facts, None, at(7 * 60 - 1)), &[], Some(60));
    }

    #[test]
    fn a_failed_message_is_sent_again_ever_later_and_not_for_ever() {
        for (tries, pause) in [(1, 30), (2, 120), (3, 480), (4, 1920)] {
            let due = |ago| {
                let noted = noted(tries, ago, false);
                rules().due(
                    &[NeedFact { kind: NeedKind::Stuck, lasted: CRASH_LASTS, noted: Some(&noted) }],
                    None,
                    at(0),
                )
            };
            check(&due(pause - 1), &[], Some(1));
            check(&due(pause), &[&[0]], None);
        }
        let given_up = noted(MOST_TRIES, 999_999, false);
        let facts = [NeedFact { kind: NeedKind::Stuck, lasted: CRASH_LASTS, noted: Some(&given_up) }];
        check(&rules().due(&facts, None, at(0)), &[], None);
        // The clock was set back.
        let later = Noted { tries: 1, at: NOW + 5000, is_done: false };
        check(
            &rules().due(
                &[NeedFact { kind: NeedKind::Stuck, lasted: CRASH_LASTS, noted: Some(&later) }],
                None,
                at(0),
            ),
            &[&[0]],
            None,
        );
    }

    #[test]
    fn quiet_hours_hold_back_what_is_not_urgent() {
        let facts = [fact(NeedKind::Permission), fact(NeedKind::Stuck)];
        check(&night().due(&facts, None, at(22 * 60 - 1)), &[&[0], &[1]], None);
        check(&night().due(&facts, None, at(22 * 60)), &[], Some(9 * 3600));
        check(&night().due(&facts, None, at(0)), &[], Some(7 * 3600));
        check(&night().due(&facts, None, at(7 * 60 - 1)), &[], Some(60));
        check(&night().due(&facts, None, at(7 * 60)), &[&[0], &[1]], None);
        let urgent = ChannelRules { urgent: vec![NeedKind::Permission], ..night() };
        check(&urgent.due(&facts, None, at(60)), &[&[0]], Some(6 * 3600));
        let noon = ChannelRules { quiet: Some(Quiet { from: 12 * 60, until: 13 * 60 }), ..rules() };
        check(&noon.due(&facts, None, at(12 * 60)), &[], Some(3600));
        check(&noon.due(&facts, None, at(13 * 60)), &[&[0], &[1]], None);
        // Nobody knows the local time.
        check(&night().due(&facts, None, Clock { now: NOW, minute: None }), &[&[0], &[1]], None);
        let never = ChannelRules { quiet: Some(Quiet { from: 60, until: 60 }), ..rules() };
        check(&never.due(&facts, None, at(60)), &[&[0], &[1]], None);
    }

    #[test]
    fn a_digest_is_one_message_for_all_since_the_last() {
        let rules = ChannelRules { digest: Some(10), ..rules() };
        let facts = [fact(NeedKind::Permission), fact(NeedKind::Stuck), fact(NeedKind::Working)];
        check(&rules.due(&facts, None, at(0)), &[&[0, 1]], None);
        check(&rules.due(&facts, Some(NOW - 599), at(0)), &[], Some(1));
        check(&rules.due(&facts, Some(NOW - 600), at(0)), &[&[0, 1]], None);
        check(&rules.due(&facts, Some(NOW + 5), at(0)), &[&[0, 1]], None);
        check(&rules.due(&facts[2..], Some(NOW), at(0)), &[], None);
    }

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        assert_eq!(plain("a\x1b]0;x\x07b\u{9b}31mc\r\nd\te", 80), "a ]0;x b 31mc d e");
        assert_eq!(plain("\u{202e}evil\u{200b}\u{2066}x\u{e0041}\u{2028}y", 80), "evil x y");
        assert_eq!(plain("  日本  語 ", 80), "日本 語");
        assert_eq!(plain("abcdef", 4), "abc…");
        assert_eq!(plain("abcd", 4), "abcd");
        for text in ["\x1b\\", "\x07", "\x00", "\u{9c}", "\u{7f}"] {
            assert_eq!(plain(text, 9).trim_matches('\\'), "", "{text:?}");
        }
    }
}
