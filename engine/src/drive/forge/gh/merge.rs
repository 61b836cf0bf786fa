//! Merges of pull requests by GitHub: by its asynchronous interface, or by `gh pr merge` where a server lacks that.

use orange_core::forge::AllowedMerges;
use orange_core::merge::Strategy;
use serde::{Deserialize, Serialize};

use super::super::{ForgeMerge, ForgeMergeState, MergeRules, PrState, PullRequestText};
use super::graphql::{json, of_repository};
use super::{Gh, PullRequestAddress, asked, check_url, checked, place, pr_state, unclear};
use crate::Result;

/// The version of the interface that has asynchronous merges.
const VERSION: &str = "X-GitHub-Api-Version: 2026-03-10";

/// The fields of a pull request that a server without queues lacks.
const QUEUE: &str = "isMergeQueueEnabled isInMergeQueue";

#[derive(Deserialize)]
struct Text {
    state: String,
    title: String,
    body: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Repository {
    viewer_default_merge_method: String,
    merge_commit_allowed: bool,
    squash_merge_allowed: bool,
    rebase_merge_allowed: bool,
    pull_request: Option<QueuedPullRequest>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct QueuedPullRequest {
    #[serde(default)]
    is_merge_queue_enabled: bool,
    #[serde(default)]
    is_in_merge_queue: bool,
}

#[derive(Serialize)]
struct MergeQuestion<'a> {
    sha: &'a str,
    merge_action: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    merge_method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit_title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit_message: Option<&'a str>,
}

#[derive(Deserialize)]
struct MergeAnswer {
    status: String,
    details: MergeDetails,
}

#[derive(Default, Deserialize)]
struct MergeDetails {
    message: Option<String>,
    uuid: Option<String>,
    sha: Option<String>,
    expected_head_sha: Option<String>,
}

impl Gh {
    /// The text of the pull request of this address.
    pub fn text(&self, url: &str) -> Result<PullRequestText> {
        check_url(url)?;
        let answer = asked(self.call(&["pr", "view", url, "--json", "state,title,body"]))?;
        parse_text(&answer.stdout).ok_or_else(|| unclear(&answer))
    }

    /// The rules of the repository for merges of this pull request.
    pub fn merge_rules(&self, url: &str) -> Result<MergeRules> {
        let ask = |more: &str| {
            let query = format!(
                "query($owner: String!, $name: String!, $number: Int!) {{ repository(owner: $owner, name: $name) {{ \
                 viewerDefaultMergeMethod mergeCommitAllowed squashMergeAllowed rebaseMergeAllowed \
                 pullRequest(number: $number) {{ number {more} }} }} }}"
            );
            self.graphql_about(url, &query)?.run()
        };
        let mut answer = ask(QUEUE)?;
        if !answer.success() && answer.complaint().contains("isMergeQueueEnabled") {
            answer = ask("")?;
        }
        let answer = checked(answer)?;
        parse_rules(&answer.stdout).ok_or_else(|| unclear(&answer))
    }

    /// Asks GitHub to merge. Repeating it does no harm: of a merge that is under way it gets the name.
    pub fn merge(&self, merge: &ForgeMerge<'_>) -> Result<ForgeMergeState> {
        let (endpoint, host) = endpoint(merge.url)?;
        let parts = merge.message_parts();
        let question = json(&MergeQuestion {
            sha: merge.commit,
            merge_action: "default",
            merge_method: merge.strategy.map(Strategy::as_str),
            commit_title: parts.map(|(title, _)| title),
            commit_message: parts.map(|(_, rest)| rest),
        })?;
        let call =
            ["api", &endpoint, "--method", "PUT", "--hostname", host, "--header", VERSION, "--input", "-"];
        let answer = self.call(&call).input(&question).run()?;
        let complaint = answer.complaint();
        if complaint.contains("HTTP 404") {
            return self.merge_at_once(merge, parts);
        }
        if let Some(state) = parse_merge(&answer.stdout, merge.commit) {
            return Ok(state);
        }
        if ["HTTP 405", "HTTP 409", "HTTP 422"].iter().any(|status| complaint.contains(status)) {
            return Ok(ForgeMergeState::Refused(complaint));
        }
        Err(unclear(&checked(answer)?))
    }

    /// The state of a merge of this name; `None` if GitHub does not know it any more.
    pub fn merge_state(&self, url: &str, id: &str, commit: &str) -> Result<Option<ForgeMergeState>> {
        let (endpoint, host) = endpoint(url)?;
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return Ok(None);
        }
        let endpoint = format!("{endpoint}/{id}");
        let answer = self.call(&["api", &endpoint, "--hostname", host, "--header", VERSION]).run()?;
        if answer.complaint().contains("HTTP 404") {
            return Ok(None);
        }
        let answer = checked(answer)?;
        parse_merge(&answer.stdout, commit).map(Some).ok_or_else(|| unclear(&answer))
    }

    /// Merges by `gh pr merge`, on a server without asynchronous merges.
    fn merge_at_once(&self, merge: &ForgeMerge<'_>, parts: Option<(&str, &str)>) -> Result<ForgeMergeState> {
        let head = format!("--match-head-commit={}", merge.commit);
        let call = self.call(&["pr", "merge", merge.url, &head]);
        let call = match merge.strategy {
            Some(strategy) => call.arg(format!("--{}", strategy.as_str())),
            None => call,
        };
        let call = match parts {
            Some((title, rest)) => {
                // An empty input has no pipe.
                call.arg(format!("--subject={title}"))
                    .arg("--body-file=-")
                    .input(format!("{rest}\n").as_bytes())
            }
            None => call,
        };
        asked(call)?;
        let found = self.view(merge.url)?;
        Ok(match found.state {
            PrState::Merged => ForgeMergeState::Merged(found.commit),
            PrState::Open => ForgeMergeState::Queued,
            PrState::Closed => ForgeMergeState::Refused("the pull request is closed".to_owned()),
        })
    }
}

fn endpoint(url: &str) -> Result<(String, &str)> {
    let PullRequestAddress { host, owner, name, number } = place(url)?;
    Ok((format!("repos/{owner}/{name}/pulls/{number}/merge-async"), host))
}

fn parse_text(json: &[u8]) -> Option<PullRequestText> {
    let Text { state, title, body } = serde_json::from_slice(json).ok()?;
    Some(PullRequestText { state: pr_state(&state)?, title, body })
}

fn parse_rules(json: &[u8]) -> Option<MergeRules> {
    let repository = of_repository::<Repository>(json)?;
    let usual = match repository.viewer_default_merge_method.as_str() {
        "MERGE" => Some(Strategy::Merge),
        "SQUASH" => Some(Strategy::Squash),
        "REBASE" => Some(Strategy::Rebase),
        _ => None,
    };
    let queue = repository.pull_request?;
    Some(MergeRules {
        allowed: AllowedMerges {
            usual,
            fast_forward: false,
            merge: repository.merge_commit_allowed,
            squash: repository.squash_merge_allowed,
            rebase: repository.rebase_merge_allowed,
        },
        has_queue: queue.is_merge_queue_enabled,
        is_queued: queue.is_in_merge_queue,
    })
}

/// The state of a merge of this commit; `None` for an answer of another kind, and for one with a word that is not known.
fn parse_merge(json: &[u8], commit: &str) -> Option<ForgeMergeState> {
    let MergeAnswer { status, details } = serde_json::from_slice(json).ok()?;
    let MergeDetails { message, uuid, sha, expected_head_sha } = details;
    match status.as_str() {
        "merged" => Some(ForgeMergeState::Merged(sha)),
        "enqueued" => Some(ForgeMergeState::Queued),
        "failed" => Some(ForgeMergeState::Refused(message.unwrap_or_else(|| "without a reason".to_owned()))),
        "pending" => match expected_head_sha.filter(|other| other != commit) {
            Some(other) => {
                let why = format!("a merge of another commit is under way: `{}`", other.escape_debug());
                Some(ForgeMergeState::Refused(why))
            }
            None => uuid.map(ForgeMergeState::Pending),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An answer as GitHub documents it.
    fn answer(status: &str, details: &str) -> String {
        format!(r#"{{"status":"{status}","details":{{"message":"As it is.",{details}"x":null}}}}"#)
    }

    #[track_caller]
    fn check(json: &str, expect: Option<ForgeMergeState>) {
        assert_eq!(parse_merge(json.as_bytes(), "6dcb09b5"), expect, "{json}");
    }

    #[test]
    fn a_merge_has_one_of_four_states() {
        let pending = r#""uuid":"630b9d5e","merge_method":"squash","expected_head_sha":"6dcb09b5","#;
        check(&answer("pending", pending), Some(ForgeMergeState::Pending("630b9d5e".to_owned())));
        check(
            &answer("merged", r#""sha":"c0ffee","#),
            Some(ForgeMergeState::Merged(Some("c0ffee".to_owned()))),
        );
        check(&answer("merged", ""), Some(ForgeMergeState::Merged(None)));
        check(&answer("enqueued", ""), Some(ForgeMergeState::Queued));
        check(&answer("failed", ""), Some(ForgeMergeState::Refused("As it is.".to_owned())));
    }

    #[test]
    fn a_merge_of_another_commit_is_not_taken_for_this_one() {
        let state = parse_merge(
            answer("pending", r#""uuid":"1","expected_head_sha":"0ther","#).as_bytes(),
            "6dcb09b5",
        );
        assert!(
            matches!(&state, Some(ForgeMergeState::Refused(why)) if why.contains("`0ther`")),
            "{state:?}"
        );
    }

    #[test]
    fn a_faulty_answer_is_no_merge() {
        for json in [
            r#"{"message":"Not Found","documentation_url":"https://docs.github.com/rest","status":"404"}"#,
            r#"{"message":"API rate limit exceeded for user ID 1.","status":"403"}"#,
            r#"{"status":"done","details":{}}"#,
            r#"{"status":"pending","details":{"message":"Without a name."}}"#,
            r#"{"status":"merged","deta"#,
            "<html><title>502 Bad Gateway</title></html>",
            "",
        ] {
            check(json, None);
        }
    }

    #[test]
    fn the_rules_of_a_repository_are_its_methods_and_its_queue() {
        let of = |usual: &str, queue: &str| {
            let json = format!(
                r#"{{"data":{{"repository":{{"viewerDefaultMergeMethod":"{usual}","mergeCommitAllowed":false,
                "squashMergeAllowed":true,"rebaseMergeAllowed":true,"pullRequest":{{"number":7{queue}}}}}}}}}"#
            );
            parse_rules(json.as_bytes())
        };
        let allowed = AllowedMerges {
            usual: Some(Strategy::Squash),
            squash: true,
            rebase: true,
            ..AllowedMerges::default()
        };
        let queue = r#","isMergeQueueEnabled":true,"isInMergeQueue":true"#;
        let rules = MergeRules { allowed, has_queue: true, is_queued: true };
        assert_eq!(of("SQUASH", queue), Some(rules));
        let unknown = AllowedMerges { usual: None, ..allowed };
        assert_eq!(of("OCTOPUS", ""), Some(MergeRules { allowed: unknown, ..MergeRules::default() }));
        for json in
            [r#"{"data":{"repository":null}}"#, r#"{"errors":[{"type":"RATE_LIMITED"}]}"#, "{\"data\":{"]
        {
            assert_eq!(parse_rules(json.as_bytes()), None, "{json}");
        }
    }

    #[test]
    fn a_question_without_a_strategy_leaves_it_to_the_queue() {
        let question = MergeQuestion {
            sha: "c",
            merge_action: "default",
            merge_method: None,
            commit_title: None,
            commit_message: None,
        };
        let json = json(&question).map(|it| String::from_utf8_lossy(&it).into_owned());
        assert_eq!(json.as_deref().ok(), Some(r#"{"sha":"c","merge_action":"default"}"#));
    }

    #[test]
    fn a_text_has_title_and_body() {
        let json = br###"{"body":"Why.\r\n","state":"OPEN","title":"Mend it"}"###;
        let text = PullRequestText { state: PrState::Open, title: "Mend it".into(), body: "Why.\r\n".into() };
        assert_eq!(parse_text(json), Some(text));
        assert_eq!(parse_text(br#"{"state":"ODD","title":"","body":""}"#), None);
        assert_eq!(parse_text(br#"{"state":"OPEN","title""#), None);
    }
}
