//! Ends of agents, and the ends that an exit rule matches.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::StateId;

/// End of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentEnd<'e> {
    /// Its exit status, when it ended by itself.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// The last lines of its pane; empty when they could not be read.
    pub output: &'e str,
    /// True if another agent of the task is alive.
    pub is_beside: bool,
    /// Its name, if it is a reviewer that has one.
    pub reviewer: Option<&'e str>,
    /// In how many seconds another agent of its task that has ended is to be started again, if one is.
    pub awaits_other: Option<u32>,
    /// Its number, for messages; 0 when it has none.
    pub spawn: u32,
    /// Evidence that Orange has of its end: `exited with 3`; may be empty.
    pub how: &'e str,
    /// True if it was never started, because the process that should start it died.
    pub never_began: bool,
    /// Reason for which it could not continue its conversation, when it should have.
    pub lost: Option<&'e str>,
    /// The limit of its provider that it met.
    pub limit: Option<Limit>,
    /// True if the task already waits to start it again.
    pub is_awaited: bool,
    /// Time that the task had been in its state, in seconds.
    pub lasted: u32,
    /// True if the budget of its state is used up.
    pub is_spent: bool,
    /// Times at which the task left the states in which it had been before; where these are not known, its present state counts
    /// alone.
    pub left: &'e [LeftState],
}

/// Time at which a task was last in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftState {
    /// The state; none for one that the machine lacks, and for the time before the task was created.
    pub state: Option<StateId>,
    /// Seconds since it left the state.
    pub ago: u32,
}

/// Limit for the time of a task within some states, counted from its arrival in one of them, until it leaves them all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline<'a> {
    /// States in which it counts.
    pub states: &'a [StateId],
    /// The seconds after which the time is over.
    pub after: u32,
}

/// A limit that the provider of an agent sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limit {
    /// The seconds until it ends, if the harness says so.
    pub left: Option<u32>,
}

/// The ends that an exit rule matches. A part that is empty matches every end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending<'a> {
    /// It exited with one of these, or was ended by one of `signals`.
    pub codes: &'a [i32],
    /// It was ended by one of these, or exited with one of `codes`.
    pub signals: &'a [i32],
    /// Its last lines contain this text; case of ASCII letters and line breaks do not count.
    pub output: Option<&'a str>,
    /// Its task had been in its state for at least this many seconds.
    pub after: Option<u32>,
}

impl AgentEnd<'_> {
    /// An end without any details.
    pub const PLAIN: AgentEnd<'static> = AgentEnd {
        code: None,
        signal: None,
        output: "",
        is_beside: false,
        reviewer: None,
        awaits_other: None,
        spawn: 0,
        how: "",
        never_began: false,
        lost: None,
        limit: None,
        is_awaited: false,
        lasted: 0,
        is_spent: false,
        left: &[],
    };

    /// A suffix for "the agent ended": ` (exited with 3)`.
    pub(crate) fn how(&self) -> String {
        if self.how.is_empty() { String::new() } else { format!(" ({})", self.how) }
    }
}

impl Ending<'_> {
    /// Matches every end.
    pub const ANY: Ending<'static> = Ending { codes: &[], signals: &[], output: None, after: None };

    /// True if the rule matches this end.
    pub fn fits(&self, end: &AgentEnd<'_>) -> bool {
        let is_any = self.codes.is_empty() && self.signals.is_empty();
        let is_one = end.code.is_some_and(|code| self.codes.contains(&code))
            || end.signal.is_some_and(|signal| self.signals.contains(&signal));
        let is_said = self.output.is_none_or(|text| normal(end.output).contains(&normal(text)));
        let is_over = self.after.is_none_or(|after| end.lasted >= after);
        (is_any || is_one) && is_said && is_over
    }
}

impl Deadline<'_> {
    /// Time that a task had been within the states, in seconds.
    pub fn lasted(&self, end: &AgentEnd<'_>) -> u32 {
        let is_other = |it: &&LeftState| it.state.is_none_or(|state| !self.states.contains(&state));
        let others = end.left.iter().filter(is_other).map(|it| it.ago);
        others.min().unwrap_or(end.lasted)
    }
}

/// A suffix for "the agent ended": `at the deadline of 4 h`.
impl fmt::Display for Deadline<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at the deadline of {}", Seconds(self.after))
    }
}

/// A time in the largest unit that needs no fraction.
struct Seconds(u32);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            it if it.is_multiple_of(3600) => write!(f, "{} h", it / 3600),
            it if it.is_multiple_of(60) => write!(f, "{} min", it / 60),
            it => write!(f, "{it} s"),
        }
    }
}

/// One space between words, in lower case.
fn normal(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").to_ascii_lowercase()
}

/// A suffix for "the agent ended": `with exit status 75 and "rate limit" in its last lines`.
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
        self.after.map_or(Ok(()), |seconds| write!(f, "{before}after {}", Seconds(seconds)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    const PLAIN: AgentEnd<'_> = AgentEnd::PLAIN;
    const LIMITED: Ending<'_> = Ending { output: Some("rate limit"), ..Ending::ANY };

    #[track_caller]
    fn says(output: &str, expect: bool) {
        assert_eq!(LIMITED.fits(&AgentEnd { output, ..PLAIN }), expect, "{output:?}");
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
                ending.fits(&AgentEnd { code, signal, output: "x", ..PLAIN }),
                expect,
                "{code:?} {signal:?}"
            );
        }
        assert!(!ending.fits(&PLAIN));
        let both = Ending { output: Some("limit"), ..ending };
        assert!(!both.fits(&AgentEnd { code: Some(75), ..PLAIN }));
        assert!(!both.fits(&AgentEnd { output: "limit", ..PLAIN }));
        assert!(both.fits(&AgentEnd { code: Some(75), output: "limit", ..PLAIN }));
    }

    #[test]
    fn they_are_described() {
        let all = Ending { codes: &[75, 76], signals: &[9], ..LIMITED };
        let text = "with exit status 75 or 76 or by signal 9 and \"rate limit\" in its last lines";
        assert_eq!(all.to_string(), text);
        assert_eq!(LIMITED.to_string(), "with \"rate limit\" in its last lines");
        assert_eq!(Ending { codes: &[], output: None, ..all }.to_string(), "by signal 9");
        assert_eq!(Ending { after: Some(7200), ..Ending::ANY }.to_string(), "after 2 h");
        assert_eq!(Ending { after: Some(90), ..Ending::ANY }.to_string(), "after 90 s");
    }

    #[test]
    fn a_timeout_holds_from_its_second_on() {
        let timeout = Ending { after: Some(60), ..Ending::ANY };
        let holds = [0, 59, 60, u32::MAX].map(|lasted| timeout.fits(&AgentEnd { lasted, ..PLAIN }));
        assert_eq!(holds, [false, false, true, true]);
    }

    #[test]
    fn a_deadline_counts_from_the_first_of_its_states() {
        let states = [StateId(1), StateId(2)];
        let deadline = Deadline { states: &states, after: 60 };
        let holds = |lasted, left: &[(Option<u16>, u32)]| {
            let left: Vec<LeftState> =
                left.iter().map(|(state, ago)| LeftState { state: state.map(StateId), ago: *ago }).collect();
            deadline.lasted(&AgentEnd { lasted, left: &left, ..PLAIN }) >= deadline.after
        };
        let created = (None, 900);
        assert!(!holds(10, &[created, (Some(0), 59), (Some(1), 10)]));
        assert!(holds(10, &[created, (Some(0), 60), (Some(1), 10)]));
        // It has been elsewhere in between.
        assert!(!holds(10, &[created, (Some(0), 800), (Some(1), 300), (Some(3), 20)]));
        assert!(holds(10, &[created, (Some(2), 20), (Some(1), 10)]));
        assert_eq!([59, 60].map(|lasted| holds(lasted, &[])), [false, true]);
        assert_eq!(Deadline { states: &[], after: 14_400 }.to_string(), "at the deadline of 4 h");
    }
}
