//! The checks of a pull request, as gh lists them under `statusCheckRollup`: every run, superseded ones, too.

use std::time::SystemTime;

use serde::Deserialize;

use orange_journal::event::Checks;

use orange_system::clock;

/// An entry of the list: a run of a check has a name, a status and, at its end, a conclusion; a commit status has a context and a
/// state.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct CheckEntry {
    name: Option<String>,
    workflow_name: Option<String>,
    context: Option<String>,
    conclusion: Option<String>,
    state: Option<String>,
    started_at: Option<String>,
    completed_at: Option<String>,
    created_at: Option<String>,
    details_url: Option<String>,
    target_url: Option<String>,
}

/// A check that has failed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Failed<'a> {
    pub(super) name: &'a str,
    pub(super) workflow: Option<&'a str>,
    pub(super) conclusion: String,
    pub(super) url: Option<&'a str>,
    /// The time of its start or its end, as the forge writes it.
    pub(super) time: &'a str,
}

impl Failed<'_> {
    /// The check, with its workflow.
    pub(super) fn title(&self) -> String {
        self.workflow.map_or_else(|| self.name.to_owned(), |workflow| format!("{workflow} / {}", self.name))
    }
}

/// Check of an entry: a later run of it supersedes earlier ones.
#[derive(PartialEq, Eq)]
enum CheckKey<'a> {
    Run { workflow: &'a str, name: &'a str },
    Status { context: &'a str },
}

/// Start of an entry.
enum Began {
    At(SystemTime),
    /// It is in a queue.
    NotYet,
    Unknown,
}

/// The result of the newest run of each check: one that has failed decides, then one that has not ended. An unknown word
/// counts as a failure, and is returned.
pub(super) fn result(entries: &[CheckEntry]) -> (Checks, Option<String>) {
    let (mut all, mut unknown) = (Checks::None, None);
    for entry in newest(entries) {
        let one = entry.result();
        if one.is_none() {
            unknown = Some(entry.word().to_owned());
        }
        all = worse(all, one.unwrap_or(Checks::Red));
    }
    (all, unknown)
}

/// True if the newest run of each check has ended.
pub(super) fn have_ended(entries: &[CheckEntry]) -> bool {
    newest(entries).all(|entry| entry.result() != Some(Checks::Pending))
}

/// The failed ones among the newest run of each check, in the order of the list. An unknown word counts as a failure.
pub(super) fn failed(entries: &[CheckEntry]) -> impl Iterator<Item = Failed<'_>> {
    let failed = newest(entries).filter(|entry| match entry.result() {
        Some(Checks::Red | Checks::Other(_)) | None => true,
        Some(Checks::Green | Checks::Pending | Checks::None) => false,
    });
    failed.map(|entry| Failed {
        name: present(&entry.context).or(present(&entry.name)).unwrap_or("without a name"),
        workflow: present(&entry.workflow_name),
        conclusion: entry.word().to_ascii_lowercase(),
        url: present(&entry.details_url).or(present(&entry.target_url)),
        time: entry.times().find_map(present).unwrap_or_default(),
    })
}

fn newest(entries: &[CheckEntry]) -> impl Iterator<Item = &CheckEntry> {
    entries.iter().filter(|entry| !entries.iter().any(|other| other.supersedes(entry)))
}

fn worse(one: Checks, other: Checks) -> Checks {
    match (one, other) {
        (Checks::Red | Checks::Other(_), _) | (_, Checks::Red | Checks::Other(_)) => Checks::Red,
        (Checks::Pending, _) | (_, Checks::Pending) => Checks::Pending,
        (Checks::Green, _) | (_, Checks::Green) => Checks::Green,
        (Checks::None, Checks::None) => Checks::None,
    }
}

impl CheckEntry {
    /// Sets the name of its workflow.
    pub(super) fn of_workflow(self, workflow_name: Option<String>) -> CheckEntry {
        CheckEntry { workflow_name, ..self }
    }

    fn times(&self) -> impl Iterator<Item = &Option<String>> {
        [&self.started_at, &self.created_at, &self.completed_at].into_iter()
    }

    /// True if this is a later run of the same check. Of two whose order is unclear, neither is.
    fn supersedes(&self, earlier: &CheckEntry) -> bool {
        let is_same = self.check().is_some_and(|check| earlier.check() == Some(check));
        is_same
            && match (self.began(), earlier.began()) {
                (Began::At(this), Began::At(earlier)) => this > earlier,
                (Began::NotYet, Began::At(_)) => true,
                (Began::At(_) | Began::NotYet, Began::NotYet)
                | (Began::Unknown, _)
                | (Began::At(_) | Began::NotYet, Began::Unknown) => false,
            }
    }

    fn check(&self) -> Option<CheckKey<'_>> {
        if let Some(context) = present(&self.context) {
            return Some(CheckKey::Status { context });
        }
        let workflow = present(&self.workflow_name).unwrap_or_default();
        present(&self.name).map(|name| CheckKey::Run { workflow, name })
    }

    fn began(&self) -> Began {
        // A time that is not set is one of the year 1, which is not read.
        match self.times().flatten().find_map(|time| clock::parse(time)) {
            Some(time) => Began::At(time),
            None if self.result() == Some(Checks::Pending) => Began::NotYet,
            None => Began::Unknown,
        }
    }

    /// `None` for a word that is not known.
    fn result(&self) -> Option<Checks> {
        match self.word() {
            "SUCCESS" | "NEUTRAL" | "SKIPPED" => Some(Checks::Green),
            "" | "PENDING" | "EXPECTED" => Some(Checks::Pending),
            "FAILURE" | "ERROR" | "CANCELLED" | "TIMED_OUT" | "ACTION_REQUIRED" | "STARTUP_FAILURE"
            | "STALE" => Some(Checks::Red),
            _ => None,
        }
    }

    fn word(&self) -> &str {
        present(&self.conclusion).or(present(&self.state)).unwrap_or_default()
    }
}

/// gh writes what is not there as nothing or as an empty text.
fn present(text: &Option<String>) -> Option<&str> {
    text.as_deref().filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run as `gh pr view --json statusCheckRollup` writes it; without a conclusion it has not ended.
    fn run(workflow: &str, name: &str, started: &str, conclusion: &str) -> String {
        let (status, completed) = match conclusion {
            "" => ("IN_PROGRESS", "0001-01-01T00:00:00Z"),
            _ => ("COMPLETED", "2026-11-20T12:00:00Z"),
        };
        format!(
            r#"{{"__typename":"CheckRun","completedAt":"{completed}","conclusion":"{conclusion}",
            "detailsUrl":"https://github.com/toys/toy/actions/runs/1/job/2","name":"{name}","startedAt":"{started}",
            "status":"{status}","workflowName":"{workflow}"}}"#
        )
    }

    fn status(context: &str, time: &str, state: &str) -> String {
        format!(
            r#"{{"__typename":"StatusContext","context":"{context}",{time}"state":"{state}",
            "targetUrl":"https://ci.example.org/7"}}"#
        )
    }

    /// The order of the list means nothing.
    #[track_caller]
    fn check(entries: &[&str], expect: Checks) {
        let backwards: Vec<&str> = entries.iter().rev().copied().collect();
        for entries in [entries, &backwards] {
            let json = format!("[{}]", entries.join(","));
            let entries: Vec<CheckEntry> = serde_json::from_str(&json).unwrap();
            assert_eq!(result(&entries).0, expect, "{json}");
        }
    }

    const EARLY: &str = "2026-11-20T10:00:00Z";
    const LATE: &str = "2026-11-20T10:07:31Z";
    const NEVER: &str = "0001-01-01T00:00:00Z";

    #[test]
    fn checks_are_green_once_all_have_succeeded() {
        let green = run("CI", "test", EARLY, "SUCCESS");
        check(&[], Checks::None);
        check(&[&green], Checks::Green);
        check(&[&green, &run("CI", "docs", EARLY, "SKIPPED"), &status("ci", "", "SUCCESS")], Checks::Green);
        check(&[&green, &run("CI", "docs", EARLY, "")], Checks::Pending);
        check(&[&green, &status("ci", "", "EXPECTED")], Checks::Pending);
        check(&[&run("CI", "a", EARLY, ""), &run("CI", "b", EARLY, "TIMED_OUT"), &green], Checks::Red);
        check(&[&status("ci", "", "ERROR")], Checks::Red);
        check(&[&run("CI", "test", EARLY, "A_NEW_WORD")], Checks::Red);
    }

    #[test]
    fn an_unknown_word_is_returned_beside_the_result() {
        let entry = |conclusion: &str| -> CheckEntry {
            serde_json::from_str(&run("CI", conclusion, EARLY, conclusion)).unwrap()
        };
        let found = result(&[entry("SUCCESS"), entry("A_NEW_WORD")]);
        assert_eq!(found, (Checks::Red, Some("A_NEW_WORD".to_owned())));
        assert_eq!(result(&[entry("SUCCESS"), entry("STALE")]), (Checks::Red, None));
    }

    #[test]
    fn the_newest_run_of_a_check_counts() {
        for superseded in ["CANCELLED", "FAILURE", "TIMED_OUT", "STALE"] {
            let old = run("CI", "test", EARLY, superseded);
            check(&[&old, &run("CI", "test", LATE, "SUCCESS")], Checks::Green);
            check(&[&old, &run("CI", "test", LATE, "")], Checks::Pending);
            check(&[&old, &run("CI", "test", NEVER, "")], Checks::Pending);
        }
        let old = run("CI", "test", EARLY, "SUCCESS");
        check(&[&old, &run("CI", "test", LATE, "CANCELLED")], Checks::Red);
        check(&[&old, &run("CI", "test", LATE, "FAILURE")], Checks::Red);
        check(&[&old, &run("CI", "test", LATE, "")], Checks::Pending);
    }

    #[test]
    fn the_newest_failed_runs_have_an_address() {
        let json = [
            run("CI", "test", EARLY, "FAILURE"),
            run("CI", "docs", EARLY, "SUCCESS"),
            run("CI", "test", LATE, "TIMED_OUT"),
            status("ci/build", "", "ERROR"),
            run("", "lint", EARLY, "A_NEW_WORD"),
            run("", "slow", EARLY, ""),
        ];
        let entries: Vec<CheckEntry> = serde_json::from_str(&format!("[{}]", json.join(","))).unwrap();
        let job = Some("https://github.com/toys/toy/actions/runs/1/job/2");
        let expect = [
            ("test", Some("CI"), "timed_out", job),
            ("ci/build", None, "error", Some("https://ci.example.org/7")),
            ("lint", None, "a_new_word", job),
        ];
        let found: Vec<Failed<'_>> = failed(&entries).collect();
        let found: Vec<_> =
            found.iter().map(|it| (it.name, it.workflow, it.conclusion.as_str(), it.url)).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn of_three_runs_the_last_one_counts() {
        let first = run("CI", "test", "2026-11-20T09:00:00Z", "FAILURE");
        let second = run("CI", "test", EARLY, "CANCELLED");
        check(&[&first, &second, &run("CI", "test", LATE, "SUCCESS")], Checks::Green);
        check(&[&first, &run("CI", "test", LATE, "CANCELLED"), &second], Checks::Red);
    }

    #[test]
    fn another_workflow_or_name_is_another_check() {
        let cancelled = run("CI", "test", EARLY, "CANCELLED");
        check(&[&cancelled, &run("Nightly", "test", LATE, "SUCCESS")], Checks::Red);
        check(&[&cancelled, &run("CI", "test (macos)", LATE, "SUCCESS")], Checks::Red);
        check(&[&cancelled, &run("", "test", LATE, "SUCCESS")], Checks::Red);
        // Apps that are not a workflow of the repository have no workflow's name.
        check(&[&run("", "lint", EARLY, "FAILURE"), &run("", "lint", LATE, "SUCCESS")], Checks::Green);
        check(
            &[&cancelled, &status("test", r#""startedAt":"2026-11-20T11:00:00Z","#, "SUCCESS")],
            Checks::Red,
        );
    }

    #[test]
    fn runs_whose_order_is_unclear_all_count() {
        let cancelled = run("CI", "test", EARLY, "CANCELLED");
        check(&[&cancelled, &run("CI", "test", EARLY, "SUCCESS")], Checks::Red);
        let without_times =
            r#"{"name":"test","workflowName":"CI","status":"COMPLETED","conclusion":"SUCCESS"}"#;
        check(&[&cancelled, without_times], Checks::Red);
        check(&[r#"{"conclusion":"FAILURE"}"#, r#"{"conclusion":"SUCCESS"}"#], Checks::Red);
    }

    #[test]
    fn a_run_that_never_started_began_when_it_ended() {
        let cancelled = r#"{"__typename":"CheckRun","completedAt":"2026-11-20T10:01:00Z","conclusion":"CANCELLED",
            "name":"test","startedAt":null,"status":"COMPLETED","workflowName":"CI"}"#;
        check(&[cancelled, &run("CI", "test", LATE, "SUCCESS")], Checks::Green);
        check(&[cancelled, &run("CI", "test", EARLY, "SUCCESS")], Checks::Red);
    }

    #[test]
    fn the_newest_status_of_a_context_counts() {
        for key in ["startedAt", "createdAt"] {
            let at = |time: &str, state: &str| status("ci/build", &format!(r#""{key}":"{time}","#), state);
            check(&[&at(EARLY, "FAILURE"), &at(LATE, "SUCCESS")], Checks::Green);
            check(&[&at(EARLY, "FAILURE"), &at(LATE, "PENDING")], Checks::Pending);
            check(&[&at(EARLY, "SUCCESS"), &at(LATE, "ERROR")], Checks::Red);
        }
    }
}
