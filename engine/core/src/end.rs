//! How an agent ended, and which ends an exit rule is for.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// How an agent ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct End<'e> {
    /// Its exit status, when it ended by itself.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// The last lines of its pane; empty when nobody could read them.
    pub output: &'e str,
    /// Whether another agent of the task is alive.
    pub is_beside: bool,
    /// Its number, for people; 0 where it has none.
    pub spawn: u32,
    /// How its end is known: `exited with 3`; may be empty.
    pub how: &'e str,
    /// Whether it was never started: who was to start it has died.
    pub never_began: bool,
    /// What it could not continue, in words, where it was started to continue a conversation.
    pub lost: Option<&'e str>,
    /// The limit of its provider that it has met.
    pub limit: Option<Limit>,
    /// Whether the task waits already to have it started again.
    pub is_awaited: bool,
    /// For how many seconds the task had been in its state.
    pub lasted: u32,
}

/// A limit of an agent's provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limit {
    /// The seconds until it is over, where its harness says so.
    pub left: Option<u32>,
}

/// The ends that an exit rule is for. Where a part is empty, it is for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending<'a> {
    /// It exited with one of these, or was ended by one of `signals`.
    pub codes: &'a [i32],
    /// It was ended by one of these, or exited with one of `codes`.
    pub signals: &'a [i32],
    /// This stands in its last lines, in whatever case of the letters A to Z and however it is broken into lines.
    pub output: Option<&'a str>,
    /// Its task had been in its state for at least so many seconds.
    pub after: Option<u32>,
}

impl End<'_> {
    /// An end of which nothing is known.
    pub const PLAIN: End<'static> = End {
        code: None,
        signal: None,
        output: "",
        is_beside: false,
        spawn: 0,
        how: "",
        never_began: false,
        lost: None,
        limit: None,
        is_awaited: false,
        lasted: 0,
    };

    /// After "the agent ended": ` (exited with 3)`.
    pub(crate) fn how(&self) -> String {
        if self.how.is_empty() { String::new() } else { format!(" ({})", self.how) }
    }
}

impl Ending<'_> {
    /// Every end.
    pub const ANY: Ending<'static> = Ending { codes: &[], signals: &[], output: None, after: None };

    /// Whether this end is one of them.
    pub fn fits(&self, end: &End<'_>) -> bool {
        let is_any = self.codes.is_empty() && self.signals.is_empty();
        let is_one = end.code.is_some_and(|code| self.codes.contains(&code))
            || end.signal.is_some_and(|signal| self.signals.contains(&signal));
        let is_said = self.output.is_none_or(|text| normal(end.output).contains(&normal(text)));
        let is_over = self.after.is_none_or(|after| end.lasted >= after);
        (is_any || is_one) && is_said && is_over
    }
}

/// One space between words, and no capitals.
fn normal(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").to_ascii_lowercase()
}

/// After "the agent ended": `with exit status 75 and "rate limit" in its last lines`.
impl fmt::Display for Ending<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = "";
        for (what, numbers) in [("with exit status", self.codes), ("by signal", self.signals)] {
            for (at, number) in numbers.iter().enumerate() {
                let what = if at == 0 { what } else { "or" };
                write!(f, "{before}{what} {number}")?;
                before = " ";
            }
            before = if before.is_empty() { "" } else { " or " };
        }
        let with = if before.is_empty() { "with" } else { " and" };
        self.output.map_or(Ok(()), |text| write!(f, "{with} \"{text}\" in its last lines"))?;
        self.after.map_or(Ok(()), |seconds| {
            let (number, unit) = match seconds {
                _ if seconds.is_multiple_of(3600) => (seconds / 3600, "h"),
                _ if seconds.is_multiple_of(60) => (seconds / 60, "min"),
                _ => (seconds, "s"),
            };
            write!(f, "{before}after {number} {unit}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    const PLAIN: End<'_> = End::PLAIN;
    const LIMITED: Ending<'_> = Ending { output: Some("rate limit"), ..Ending::ANY };

    #[track_caller]
    fn says(output: &str, expect: bool) {
        assert_eq!(LIMITED.fits(&End { output, ..PLAIN }), expect, "{output:?}");
    }

    #[test]
    fn text_is_found_however_it_is_written() {
        says("Error: Rate limit reached", true);
        says("RATE LIMIT", true);
        says("you have hit the rate\n   limit of today", true);
        says("rate\tlimit", true);
        says("rate-limit", false);
        says("a rate of limits", false);
        says("", false);
    }

    #[test]
    fn numbers_are_alternatives_and_the_text_comes_on_top() {
        let ending = Ending { codes: &[75, 76], signals: &[9], ..Ending::ANY };
        for (code, signal, expect) in
            [(Some(75), None, true), (Some(76), None, true), (Some(0), None, false), (None, Some(9), true)]
        {
            assert_eq!(
                ending.fits(&End { code, signal, output: "x", ..PLAIN }),
                expect,
                "{code:?} {signal:?}"
            );
        }
        assert!(!ending.fits(&PLAIN));
        let both = Ending { output: Some("limit"), ..ending };
        assert!(!both.fits(&End { code: Some(75), ..PLAIN }));
        assert!(!both.fits(&End { output: "limit", ..PLAIN }));
        assert!(both.fits(&End { code: Some(75), output: "limit", ..PLAIN }));
    }

    #[test]
    fn they_are_told() {
        let all = Ending { codes: &[75, 76], signals: &[9], ..LIMITED };
        let told = "with exit status 75 or 76 or by signal 9 and \"rate limit\" in its last lines";
        assert_eq!(all.to_string(), told);
        assert_eq!(LIMITED.to_string(), "with \"rate limit\" in its last lines");
        assert_eq!(Ending { codes: &[], output: None, ..all }.to_string(), "by signal 9");
        assert_eq!(Ending { after: Some(7200), ..Ending::ANY }.to_string(), "after 2 h");
        assert_eq!(Ending { after: Some(90), ..Ending::ANY }.to_string(), "after 90 s");
    }

    #[test]
    fn a_timeout_holds_from_its_second_on() {
        let timeout = Ending { after: Some(60), ..Ending::ANY };
        let holds = [0, 59, 60, u32::MAX].map(|lasted| timeout.fits(&End { lasted, ..PLAIN }));
        assert_eq!(holds, [false, false, true, true]);
    }
}
