//! Assesses what an agent is doing: values in, values out.

use std::time::Duration;

use crate::store::Seat;
use crate::store::activity::{Activity, ActivityNote, NoteKind, ReportedDoing};
use orange_api::{AgentState, Asked, Assessment};

/// After so long without a report and without a change on its screen, an agent is called quiet.
const QUIET: Duration = Duration::from_secs(120);

/// A tool may be silent for longer: builds and tests are.
const QUIET_IN_TOOL: Duration = Duration::from_secs(600);

/// The time that a harness may take until it reports its start.
const BEGINNING: Duration = Duration::from_secs(30);

/// Facts about a living agent.
#[derive(Clone, Debug)]
pub struct AgentFacts<'f> {
    /// The reports of its harness, without requests for which nobody waits.
    pub activity: &'f Activity,
    /// True if its harness reports at all.
    pub reports: bool,
    /// The time since its start.
    pub age: Option<Duration>,
    /// The time since its last report.
    pub heard: Option<Duration>,
    /// The time since its screen changed.
    pub still: Option<Duration>,
    pub wants: Wants,
}

/// Result that the status of a task wants from an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Wants {
    /// Nothing: another agent works in this status.
    Nothing { status: String },
    /// A turn, without a gate.
    #[default]
    Turn,
    /// An artifact that is missing.
    Artifact {
        /// Description of the missing artifact.
        missing: String,
    },
    /// A request for this status, since everything else is done.
    Request { status: String },
}

impl AgentFacts<'_> {
    /// True if the assessment depends on the time for which its screen has not changed.
    pub fn depends_on_screen(&self) -> bool {
        match self.activity.doing {
            ReportedDoing::Unknown => self.age.is_some_and(|age| age >= BEGINNING) && !self.reports,
            ReportedDoing::Thinking | ReportedDoing::Tool { .. } => {
                self.heard.is_some_and(|time| time >= QUIET)
            }
            ReportedDoing::Started
            | ReportedDoing::Idle
            | ReportedDoing::Failed { .. }
            | ReportedDoing::Limit(_)
            | ReportedDoing::Ended => false,
        }
    }

    /// Assesses the facts.
    pub fn assess(&self) -> Assessment {
        let assessment = self.by_reports();
        match refused(self.activity) {
            Some(refused) => Assessment { reason: format!("{}; {refused}", assessment.reason), ..assessment },
            None => assessment,
        }
    }

    fn by_reports(&self) -> Assessment {
        if let Some(asked) = self.activity.asked.first() {
            return Assessment {
                request: asked.request.clone(),
                since: Some(asked.time.clone()),
                asked: Some(what_is_asked(asked)),
                ..self.say(AgentState::Waiting, question(asked))
            };
        }
        match &self.activity.doing {
            ReportedDoing::Unknown => self.unheard(),
            ReportedDoing::Started => self.begun(),
            ReportedDoing::Thinking => self.working("it thinks".to_owned(), QUIET),
            ReportedDoing::Tool { tool, text } => self.working(format!("{tool}: {text}"), QUIET_IN_TOOL),
            ReportedDoing::Idle => self.at_its_prompt(),
            ReportedDoing::Failed { text } => {
                self.say(AgentState::Waiting, format!("its turn ended with an error: {text}"))
            }
            ReportedDoing::Limit(limit) => {
                Assessment { until: limit.until.clone(), ..self.say(AgentState::Limit, limit.text.clone()) }
            }
            ReportedDoing::Ended => {
                self.say(AgentState::Ended, "its conversation is over, and its program still runs".to_owned())
            }
        }
    }

    fn say(&self, state: AgentState, reason: String) -> Assessment {
        let since = Some(self.activity.since.clone()).filter(|since| !since.is_empty());
        Assessment { state, reason, lasts: self.heard, since, until: None, request: None, asked: None }
    }

    fn quiet(&self, reason: String) -> Assessment {
        Assessment { lasts: self.still, ..self.say(AgentState::Quiet, reason) }
    }

    /// It reported work, which a screen without changes makes doubtful after a while.
    fn working(&self, reason: String, longest: Duration) -> Assessment {
        let is_longer = |time: Option<Duration>| time.is_some_and(|time| time >= longest);
        if is_longer(self.heard) && is_longer(self.still) {
            return self.quiet(format!("{reason}, and its screen does not change: it may hang"));
        }
        self.say(AgentState::Busy, reason)
    }

    fn begun(&self) -> Assessment {
        // After the clock was set back the time of the report is unknown, and the age takes its place.
        if self.heard.or(self.age).is_some_and(|time| time >= BEGINNING) {
            return self.say(AgentState::Waiting, "it has begun and has no prompt".to_owned());
        }
        self.say(AgentState::Busy, "it has just begun".to_owned())
    }

    fn unheard(&self) -> Assessment {
        let said = |state, reason: &str| Assessment { lasts: self.age, ..self.say(state, reason.to_owned()) };
        let is_young = self.age.is_none_or(|age| age < BEGINNING);
        match self.still {
            _ if is_young => said(AgentState::Busy, "it has just begun"),
            _ if self.reports => {
                said(AgentState::Quiet, "it has reported nothing since it began: it may show a dialog")
            }
            Some(still) if still >= QUIET => {
                self.quiet("its screen does not change: it may wait for somebody".to_owned())
            }
            Some(_) => said(AgentState::Busy, "its screen changes; its harness does not report what it does"),
            None => said(AgentState::Unknown, "its harness does not report what it does"),
        }
    }

    fn at_its_prompt(&self) -> Assessment {
        match &self.wants {
            Wants::Nothing { status } => {
                self.say(AgentState::Idle, format!("it is at its prompt: the task is {status}"))
            }
            Wants::Turn => self.say(AgentState::Waiting, "it is at its prompt".to_owned()),
            Wants::Artifact { missing } => {
                self.say(AgentState::Waiting, format!("it is at its prompt, and {missing}"))
            }
            Wants::Request { status } => self.say(
                AgentState::Waiting,
                format!("it is at its prompt, has written what {status} needs, and has not asked for it"),
            ),
        }
    }
}

/// The hosts that its wall has refused, if there are any.
fn refused(activity: &Activity) -> Option<String> {
    const SHOWN: usize = 3;
    let mut hosts: Vec<(&String, &u64)> = activity.refused.iter().collect();
    hosts.sort_by_key(|(host, count)| (std::cmp::Reverse(**count), *host));
    let more = hosts.len().saturating_sub(SHOWN);
    let hosts = hosts.iter().take(SHOWN).map(|(host, count)| match count {
        1 => (*host).clone(),
        count => format!("{host} ({count} times)"),
    });
    let named = hosts.collect::<Vec<_>>().join(", ");
    match (named.is_empty(), more) {
        (true, _) => None,
        (false, 0) => Some(format!("its wall refuses {named}")),
        (false, more) => Some(format!("its wall refuses {named} and {more} more")),
    }
}

fn what_is_asked(note: &ActivityNote) -> Asked {
    let ActivityNote { tool, text, kind, is_whole, .. } = note.clone();
    Asked { tool, text, is_whole, is_question: kind == NoteKind::Question, is_answered: false }
}

fn question(asked: &ActivityNote) -> String {
    let text = asked.line();
    match (asked.kind, &asked.tool) {
        (NoteKind::Question, _) => format!("it asks: {text}"),
        (_, Some(tool)) => format!("it asks whether it may use {tool}: {text}"),
        (_, None) => format!("it asks for a permission: {text}"),
    }
}

/// Role of an agent, in words: `worker`, `reviewer security`, or at a step of a mission `step check, reviewer`.
pub fn works_as(seat: &Seat, step: Option<&str>, role: Option<&str>) -> String {
    let Some(step) = step else { return seat.to_string() };
    // Where several work at once, its seat also says at which item.
    let step = seat.name.as_deref().unwrap_or(step);
    // Everybody has the role `any`.
    let role = role.filter(|role| *role != "any").map(|role| format!(", {role}"));
    format!("step {step}{}", role.unwrap_or_default())
}

/// A duration as people say it: `5 s`, `12 min`, `3 h`, `2 d`.
pub fn words(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..100 => format!("{seconds} s"),
        seconds @ 100..6000 => format!("{} min", seconds / 60),
        seconds @ 6000..172_800 => format!("{} h", seconds / 3600),
        seconds => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::activity::ReportedLimit;

    const HOUR: Duration = Duration::from_secs(3600);

    #[derive(Clone, Default)]
    struct GivenFacts {
        doing: ReportedDoing,
        asked: Option<(NoteKind, &'static str)>,
        reports: bool,
        age: Option<Duration>,
        heard: Option<Duration>,
        still: Option<Duration>,
        wants: Wants,
    }

    #[track_caller]
    fn check(known: GivenFacts, state: AgentState, reason: &str) {
        let note = |(kind, text): (NoteKind, &str)| ActivityNote {
            tool: Some("Bash".to_owned()),
            text: Some(text.to_owned()),
            request: Some("r1".to_owned()),
            ..ActivityNote::now(1, kind)
        };
        let asked = known.asked.map(note).into_iter().collect();
        let activity = Activity { doing: known.doing, asked, ..Activity::default() };
        let GivenFacts { reports, age, heard, still, wants, .. } = known;
        let found = AgentFacts { activity: &activity, reports, age, heard, still, wants }.assess();
        assert_eq!((found.state, found.reason.as_str()), (state, reason));
    }

    fn long(doing: ReportedDoing) -> GivenFacts {
        GivenFacts {
            doing,
            reports: true,
            age: Some(HOUR),
            heard: Some(HOUR),
            still: Some(HOUR),
            ..GivenFacts::default()
        }
    }

    fn tool() -> ReportedDoing {
        ReportedDoing::Tool { tool: "Bash".to_owned(), text: "sleep 100000".to_owned() }
    }

    #[test]
    fn a_request_comes_before_everything_else() {
        let asked = Some((NoteKind::Permission, "rm -r x"));
        let reason = "it asks whether it may use Bash: rm -r x";
        check(GivenFacts { asked, ..long(tool()) }, AgentState::Waiting, reason);
        check(
            GivenFacts { asked: Some((NoteKind::Question, "Which?")), ..long(tool()) },
            AgentState::Waiting,
            "it asks: Which?",
        );
    }

    #[test]
    fn a_silent_tool_is_busy_until_its_screen_stands_still() {
        let reason = "Bash: sleep 100000";
        check(GivenFacts { still: None, ..long(tool()) }, AgentState::Busy, reason);
        check(GivenFacts { still: Some(Duration::ZERO), ..long(tool()) }, AgentState::Busy, reason);
        check(GivenFacts { heard: Some(Duration::ZERO), ..long(tool()) }, AgentState::Busy, reason);
        let guess = "Bash: sleep 100000, and its screen does not change: it may hang";
        check(long(tool()), AgentState::Quiet, guess);
        let thinks = "it thinks, and its screen does not change: it may hang";
        check(long(ReportedDoing::Thinking), AgentState::Quiet, thinks);
    }

    #[test]
    fn an_idle_agent_is_judged_by_what_its_status_asks_for() {
        let wants = |wants| GivenFacts { wants, ..long(ReportedDoing::Idle) };
        let nothing = Wants::Nothing { status: "agent-review".to_owned() };
        check(wants(nothing), AgentState::Idle, "it is at its prompt: the task is agent-review");
        check(wants(Wants::Turn), AgentState::Waiting, "it is at its prompt");
        let missing = Wants::Artifact { missing: "`## Handoff` is missing from TASK.md".to_owned() };
        check(
            wants(missing),
            AgentState::Waiting,
            "it is at its prompt, and `## Handoff` is missing from TASK.md",
        );
        let request = Wants::Request { status: "agent-review".to_owned() };
        let reason = "it is at its prompt, has written what agent-review needs, and has not asked for it";
        check(wants(request), AgentState::Waiting, reason);
    }

    #[test]
    fn limits_errors_and_ends_are_reported() {
        let limit =
            ReportedDoing::Limit(ReportedLimit { until: Some("2026".to_owned()), text: "429".to_owned() });
        check(long(limit), AgentState::Limit, "429");
        let failed = ReportedDoing::Failed { text: "not logged in".to_owned() };
        check(long(failed), AgentState::Waiting, "its turn ended with an error: not logged in");
        check(
            long(ReportedDoing::Ended),
            AgentState::Ended,
            "its conversation is over, and its program still runs",
        );
        check(long(ReportedDoing::Started), AgentState::Waiting, "it has begun and has no prompt");
        let set_back = GivenFacts { heard: None, ..long(ReportedDoing::Started) };
        check(set_back, AgentState::Waiting, "it has begun and has no prompt");
    }

    #[test]
    fn an_agent_that_never_reports_is_guessed_at_by_its_screen() {
        let silent = GivenFacts { reports: false, ..long(ReportedDoing::Unknown) };
        check(silent.clone(), AgentState::Quiet, "its screen does not change: it may wait for somebody");
        let moving = GivenFacts { still: Some(Duration::ZERO), ..silent.clone() };
        check(moving, AgentState::Busy, "its screen changes; its harness does not report what it does");
        check(
            GivenFacts { still: None, ..silent },
            AgentState::Unknown,
            "its harness does not report what it does",
        );
        let dialog = "it has reported nothing since it began: it may show a dialog";
        check(long(ReportedDoing::Unknown), AgentState::Quiet, dialog);
        let young = GivenFacts { age: Some(Duration::ZERO), ..long(ReportedDoing::Unknown) };
        check(young, AgentState::Busy, "it has just begun");
    }

    #[test]
    fn nothing_is_said_without_a_reason() {
        let doings = [
            ReportedDoing::Unknown,
            ReportedDoing::Started,
            ReportedDoing::Thinking,
            tool(),
            ReportedDoing::Idle,
            ReportedDoing::Ended,
        ];
        let times = [None, Some(Duration::ZERO), Some(HOUR)];
        for doing in doings {
            for (age, heard, still) in
                times.iter().flat_map(|a| times.iter().flat_map(move |h| times.map(|s| (*a, *h, s))))
            {
                for reports in [false, true] {
                    let activity = Activity { doing: doing.clone(), ..Activity::default() };
                    let facts =
                        AgentFacts { activity: &activity, reports, age, heard, still, wants: Wants::Turn };
                    assert!(!facts.assess().reason.is_empty());
                }
            }
        }
    }

    #[test]
    fn durations_are_short() {
        let said = [5, 99, 100, 3600, 7200, 200_000].map(|seconds| words(Duration::from_secs(seconds)));
        assert_eq!(said, ["5 s", "99 s", "1 min", "60 min", "2 h", "2 d"]);
    }
}
