//! GitLab's answers about merge requests and issues, in our words.

use orange_journal::event::Checks;
use orange_system::clock;
use serde::Deserialize;

use super::super::{CheckedCommit, Issue, PrState, PullRequest, open_or_first};

/// A merge request, as a list or an answer about a single one has it.
#[derive(Deserialize)]
struct MergeRequest {
    web_url: String,
    state: String,
    /// The newest commit of its branch.
    sha: Option<String>,
    merge_commit_sha: Option<String>,
    squash_commit_sha: Option<String>,
    merged_at: Option<String>,
    source_project_id: Option<u64>,
    target_project_id: Option<u64>,
    detailed_merge_status: Option<String>,
    /// Absent in lists.
    head_pipeline: Option<Pipeline>,
}

#[derive(Deserialize)]
struct Pipeline {
    status: String,
    sha: String,
    #[serde(rename = "ref", default)]
    reference: String,
}

#[derive(Deserialize)]
struct ListedIssue {
    iid: u64,
    title: String,
    description: Option<String>,
    web_url: String,
}

/// The merge request of an answer about a single one, with its checks.
pub(super) fn view(json: &[u8]) -> Option<PullRequest> {
    let listed: MergeRequest = serde_json::from_slice(json).ok()?;
    let checks = listed.checks();
    Some(PullRequest { checks, ..listed.read()? })
}

/// The merge request of an answer that may lack its pipeline.
pub(super) fn list_entry(json: &[u8]) -> Option<PullRequest> {
    serde_json::from_slice::<MergeRequest>(json).ok()?.read()
}

/// Merge requests of forks are ignored: other people's branches can have the same name.
pub(super) fn list(json: &[u8]) -> Option<Option<PullRequest>> {
    let all: Vec<MergeRequest> = serde_json::from_slice(json).ok()?;
    let own = all.into_iter().filter(|one| one.source_project_id == one.target_project_id);
    Some(open_or_first(own.map(MergeRequest::read).collect::<Option<_>>()?))
}

pub(super) fn issue(json: &[u8]) -> Option<Issue> {
    let ListedIssue { iid, title, description, web_url } = serde_json::from_slice(json).ok()?;
    Some(Issue { number: iid, title, body: description.unwrap_or_default(), url: web_url })
}

/// The state of this word. A merge request is locked while GitLab merges it.
pub(super) fn pr_state(word: &str) -> Option<PrState> {
    match word {
        "opened" | "locked" => Some(PrState::Open),
        "merged" => Some(PrState::Merged),
        "closed" => Some(PrState::Closed),
        _ => None,
    }
}

/// The result that a pipeline's word means; `None` for one that is not known. A pipeline that was skipped has examined nothing, and one
/// that is `manual` waits for a person.
pub(super) fn checks_of(word: &str) -> Option<Checks> {
    match word {
        "success" => Some(Checks::Green),
        "skipped" => Some(Checks::None),
        "failed" | "canceled" => Some(Checks::Red),
        "created"
        | "waiting_for_resource"
        | "waiting_for_callback"
        | "preparing"
        | "pending"
        | "running"
        | "canceling"
        | "manual"
        | "scheduled" => Some(Checks::Pending),
        _ => None,
    }
}

impl MergeRequest {
    /// In our words, without checks; `None` if the word of its state is unknown.
    fn read(self) -> Option<PullRequest> {
        let state = pr_state(&self.state)?;
        let MergeRequest { web_url, sha, merge_commit_sha, squash_commit_sha, merged_at, .. } = self;
        let commit = match state {
            // A fast-forward makes no commit of its own.
            PrState::Merged => merge_commit_sha.or(squash_commit_sha).or(sha),
            PrState::Open | PrState::Closed => None,
        };
        let merged_at = merged_at.and_then(|at| clock::parse(&at)).map(clock::rfc3339);
        Some(PullRequest { url: web_url, state, commit, merged_at, checks: None })
    }

    fn checks(&self) -> Option<CheckedCommit> {
        let commit = self.sha.clone()?;
        let Some(pipeline) = &self.head_pipeline else {
            return Some(CheckedCommit { commit, state: Checks::None, have_ended: true, unknown: None });
        };
        let known = checks_of(&pipeline.status);
        let unknown = known.is_none().then(|| pipeline.status.clone());
        let mut state = known.unwrap_or(Checks::Red);
        if state == Checks::Green && !self.is_about(pipeline, &commit) {
            state = Checks::Pending;
        }
        let have_ended = state != Checks::Pending;
        Some(CheckedCommit { commit, state, have_ended, unknown })
    }

    /// True if the pipeline has examined this commit. One of the merged result has examined a commit that GitLab has made of it; after a
    /// push it is that of the earlier commit until the merge status says that it is done with the new one.
    fn is_about(&self, pipeline: &Pipeline, commit: &str) -> bool {
        let reference = pipeline.reference.strip_prefix("refs/merge-requests/");
        let is_of_result = reference.is_some_and(|rest| !rest.ends_with("/head"));
        let is_unsure = matches!(
            self.detailed_merge_status.as_deref(),
            None | Some("unchecked" | "checking" | "preparing" | "ci_still_running" | "ci_must_pass")
        );
        pipeline.sha == commit || is_of_result && !is_unsure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An answer of `GET /projects/:id/merge_requests/:merge_request_iid`, shortened, as documented for GitLab 18.
    const VIEW: &str = include_str!("merge_request.json");

    const COMMIT: &str = "8888888888888888888888888888888888888888";

    fn with(changes: &[(&str, &str)]) -> String {
        changes.iter().fold(VIEW.to_owned(), |json, (from, to)| {
            assert!(json.contains(from), "{from}");
            json.replacen(from, to, 1)
        })
    }

    #[track_caller]
    fn check_checks(changes: &[(&str, &str)], expect: Checks) {
        let checks = view(with(changes).as_bytes()).and_then(|read| read.checks);
        assert_eq!(checks.map(|it| (it.commit, it.state)), Some((COMMIT.to_owned(), expect)));
    }

    #[test]
    fn a_view_has_its_state_and_the_result_of_its_pipeline() {
        let expect = PullRequest {
            url: "https://gitlab.com/toys/parts/toy/-/merge_requests/7".to_owned(),
            state: PrState::Open,
            commit: None,
            merged_at: None,
            checks: Some(CheckedCommit {
                commit: COMMIT.to_owned(),
                state: Checks::Green,
                have_ended: true,
                unknown: None,
            }),
        };
        assert_eq!(view(VIEW.as_bytes()), Some(expect));
    }

    #[test]
    fn each_state_has_its_word() {
        for (word, expect) in [
            ("opened", Some(PrState::Open)),
            ("locked", Some(PrState::Open)),
            ("closed", Some(PrState::Closed)),
            ("merged", Some(PrState::Merged)),
            ("MERGED", None),
            ("archived", None),
            ("", None),
        ] {
            let json = with(&[("\"state\": \"opened\"", &format!("\"state\": \"{word}\""))]);
            assert_eq!(view(json.as_bytes()).map(|read| read.state), expect, "{word}");
        }
    }

    #[test]
    fn only_a_pipeline_that_has_succeeded_is_green() {
        let words = [
            "created",
            "waiting_for_resource",
            "waiting_for_callback",
            "preparing",
            "pending",
            "running",
            "canceling",
            "manual",
            "scheduled",
        ];
        for word in words {
            check_checks(&[("\"success\"", &format!("\"{word}\""))], Checks::Pending);
        }
        for word in ["failed", "canceled"] {
            check_checks(&[("\"success\"", &format!("\"{word}\""))], Checks::Red);
        }
        check_checks(&[("\"success\"", "\"skipped\"")], Checks::None);
        check_checks(&[], Checks::Green);
    }

    #[test]
    fn an_unknown_word_of_a_pipeline_is_no_success_and_is_kept() {
        for word in ["SUCCESS", "passed", "succeeded", ""] {
            let json = with(&[("\"success\"", &format!("\"{word}\""))]);
            let checks = view(json.as_bytes()).and_then(|read| read.checks);
            let found = checks.map(|it| (it.state, it.unknown));
            assert_eq!(found, Some((Checks::Red, Some(word.to_owned()))), "{word}");
        }
    }

    #[test]
    fn without_a_pipeline_there_are_no_checks() {
        let start = VIEW.find("\"head_pipeline\"").unwrap();
        let without = format!("{} \"head_pipeline\": null}}", &VIEW[..start]);
        let checks = view(without.as_bytes()).and_then(|read| read.checks).unwrap();
        assert_eq!((checks.commit.as_str(), checks.state), (COMMIT, Checks::None));
    }

    #[test]
    fn success_of_another_commit_is_not_that_of_this_one() {
        let other = (
            "\"sha\": \"8888888888888888888888888888888888888888\", \"status\"",
            "\"sha\": \"77\", \"status\"",
        );
        check_checks(&[other], Checks::Pending);
        check_checks(&[other, ("\"success\"", "\"failed\"")], Checks::Red);
        let result = ("\"ref\": \"fix\"", "\"ref\": \"refs/merge-requests/7/merge\"");
        check_checks(&[other, result], Checks::Green);
        check_checks(
            &[other, ("\"ref\": \"fix\"", "\"ref\": \"refs/merge-requests/7/head\"")],
            Checks::Pending,
        );
        for word in ["checking", "ci_still_running", "ci_must_pass", "unchecked", "preparing"] {
            let status = ("\"mergeable\"", &*format!("\"{word}\""));
            check_checks(&[other, result, status], Checks::Pending);
            check_checks(&[status], Checks::Green);
        }
    }

    #[test]
    fn a_merge_has_its_commit_and_its_time_in_utc() {
        let merged = with(&[
            ("\"state\": \"opened\"", "\"state\": \"merged\""),
            ("\"merged_at\": null", "\"merged_at\": \"2026-11-22T11:00:00.500+01:00\""),
            ("\"squash_commit_sha\": null", "\"squash_commit_sha\": \"5a\""),
        ]);
        let read = view(merged.as_bytes()).unwrap();
        assert_eq!(read.merged_at.as_deref(), Some("2026-11-22T10:00:00.500Z"));
        assert_eq!(read.commit.as_deref(), Some("5a"));
        let with_commit = merged.replacen("\"merge_commit_sha\": null", "\"merge_commit_sha\": \"3c\"", 1);
        assert_eq!(view(with_commit.as_bytes()).unwrap().commit.as_deref(), Some("3c"));
        let forward = merged.replacen("\"5a\"", "null", 1);
        assert_eq!(view(forward.as_bytes()).unwrap().commit.as_deref(), Some(COMMIT));
    }

    #[test]
    fn the_open_merge_request_of_a_branch_counts_then_the_newest() {
        let fork = with(&[("\"source_project_id\": 2", "\"source_project_id\": 3")]);
        let [closed, merged] = ["closed", "merged"]
            .map(|word| with(&[("\"state\": \"opened\"", &format!("\"state\": \"{word}\""))]));
        let check = |all: &[&str], expect: Option<PrState>| {
            let json = format!("[{}]", all.join(","));
            assert_eq!(list(json.as_bytes()).map(|it| it.map(|it| it.state)), Some(expect));
        };
        check(&[], None);
        check(&[&closed, VIEW], Some(PrState::Open));
        check(&[&merged, &closed], Some(PrState::Merged));
        check(&[&fork], None);
    }

    #[test]
    fn half_an_answer_or_another_one_is_not_read() {
        for json in [&VIEW[..VIEW.len() / 2], "", "{}", "[]", "<html>", "{\"message\":\"404 Not found\"}"] {
            assert_eq!(view(json.as_bytes()), None, "{json}");
        }
        for json in [&format!("[{VIEW}")[..], "", "{}", "[{}]", "null"] {
            assert_eq!(list(json.as_bytes()), None, "{json}");
        }
    }

    #[test]
    fn an_issue_may_have_no_text() {
        let json = r#"{"id": 76, "iid": 42, "project_id": 2, "title": "Log in", "description": null,
            "state": "opened", "web_url": "https://gitlab.com/toys/parts/toy/-/issues/42"}"#;
        let url = "https://gitlab.com/toys/parts/toy/-/issues/42".to_owned();
        let expect = Issue { number: 42, title: "Log in".to_owned(), body: String::new(), url };
        assert_eq!(issue(json.as_bytes()), Some(expect.clone()));
        let text = json.replacen("null", "\"One\"", 1);
        assert_eq!(issue(text.as_bytes()), Some(Issue { body: "One".to_owned(), ..expect }));
        assert_eq!(issue(b"{}"), None);
    }
}
