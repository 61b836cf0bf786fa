//! Merges of merge requests by GitLab.

use orange_core::forge::AllowedMerges;
use orange_core::merge::Strategy;
use serde::{Deserialize, Serialize};

use super::super::{ForgeMerge, ForgeMergeState, MergeRules, PrState, PullRequestText};
use super::answer::{self, pr_state};
use super::{Glab, MergeRequestAddress, asked, checked, encoded, place, posted, unclear};
use crate::{Error, ErrorKind, Result};

#[derive(Deserialize)]
struct Text {
    state: String,
    title: String,
    description: Option<String>,
}

/// The settings of a project. Older servers lack some of them.
#[derive(Deserialize)]
struct ProjectRules {
    merge_method: String,
    squash_option: Option<String>,
    #[serde(default)]
    merge_trains_enabled: bool,
}

#[derive(Serialize)]
struct MergeQuestion<'a> {
    sha: &'a str,
    squash: bool,
    auto_merge: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    squash_commit_message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    merge_commit_message: Option<&'a str>,
}

#[derive(Deserialize)]
struct Failure {
    message: String,
}

impl Glab {
    /// The text of the merge request of this address.
    pub fn text(&self, url: &str) -> Result<PullRequestText> {
        let (endpoint, host) = endpoint(url)?;
        let answer = asked(self.call(&["api", &endpoint, "--hostname", host]))?;
        parse_text(&answer.stdout).ok_or_else(|| unclear(&answer))
    }

    /// The rules of the project for merges.
    ///
    /// # Errors
    /// Also `refused` for a project that merges by trains alone.
    pub fn merge_rules(&self, url: &str) -> Result<MergeRules> {
        let MergeRequestAddress { host, project, number } = place(url)?;
        let endpoint = format!("projects/{}", encoded(project));
        let answer = asked(self.call(&["api", &endpoint, "--hostname", host]))?;
        let rules = parse_rules(&answer.stdout).ok_or_else(|| unclear(&answer))?;
        if rules.has_queue {
            let message = "the project merges by merge trains, which Orange does not start";
            return Err(Error::new(ErrorKind::Refused, message).help(format!(
                "start one: `glab mr merge {number} --auto-merge`; the task ends once that has merged"
            )));
        }
        Ok(rules)
    }

    /// Asks GitLab to merge, at once. GitLab refuses if the branch has another commit.
    pub fn merge(&self, merge: &ForgeMerge<'_>) -> Result<ForgeMergeState> {
        let (endpoint, host) = endpoint(merge.url)?;
        let squash = merge.strategy == Some(Strategy::Squash);
        let message = merge.message_parts().and(merge.message);
        let question = MergeQuestion {
            sha: merge.commit,
            squash,
            auto_merge: false,
            squash_commit_message: message.filter(|_| squash),
            merge_commit_message: message.filter(|_| !squash),
        };
        let endpoint = format!("{endpoint}/merge");
        let call = self.call(&["api", &endpoint, "--method", "PUT", "--hostname", host, "--input", "-"]);
        let answer = posted(call, &question)?.run()?;
        if let Some(why) = refusal(&answer.complaint(), &answer.stdout) {
            return Ok(ForgeMergeState::Refused(why));
        }
        let answer = checked(answer)?;
        parse_merge(&answer.stdout).ok_or_else(|| unclear(&answer))
    }
}

fn endpoint(url: &str) -> Result<(String, &str)> {
    let MergeRequestAddress { host, project, number } = place(url)?;
    Ok((format!("projects/{}/merge_requests/{number}", encoded(project)), host))
}

fn parse_text(json: &[u8]) -> Option<PullRequestText> {
    let Text { state, title, description } = serde_json::from_slice(json).ok()?;
    Some(PullRequestText { state: pr_state(&state)?, title, body: description.unwrap_or_default() })
}

fn parse_rules(json: &[u8]) -> Option<MergeRules> {
    let ProjectRules { merge_method, squash_option, merge_trains_enabled } =
        serde_json::from_slice(json).ok()?;
    let (is_usual, squash, is_free) = match squash_option.as_deref() {
        Some("always") => (true, true, false),
        Some("default_on") => (true, true, true),
        Some("never") => (false, false, true),
        Some(_) | None => (false, true, true),
    };
    // A project whose history is semi-linear has merge commits, too.
    let is_forward = merge_method == "ff";
    let unsquashed = if is_forward { Strategy::FastForward } else { Strategy::Merge };
    let usual = Some(if is_usual { Strategy::Squash } else { unsquashed });
    let allowed = AllowedMerges {
        usual,
        fast_forward: is_forward && is_free,
        merge: !is_forward && is_free,
        squash,
        rebase: false,
    };
    Some(MergeRules { allowed, has_queue: merge_trains_enabled, is_queued: false })
}

fn parse_merge(json: &[u8]) -> Option<ForgeMergeState> {
    let found = answer::list_entry(json)?;
    Some(match found.state {
        PrState::Merged => ForgeMergeState::Merged(found.commit),
        PrState::Open => ForgeMergeState::Queued,
        PrState::Closed => ForgeMergeState::Refused("the merge request is closed".to_owned()),
    })
}

/// Reason for which GitLab does not merge; `None` for a failure of another kind.
fn refusal(complaint: &str, json: &[u8]) -> Option<String> {
    let statuses = ["HTTP 405", "HTTP 406", "HTTP 409", "HTTP 422"];
    statuses.iter().any(|status| complaint.contains(status)).then(|| {
        let failure = serde_json::from_slice::<Failure>(json);
        failure.map_or_else(|_| complaint.to_owned(), |failure| failure.message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(method: &str, squash: &str, expect: (Strategy, [bool; 3])) {
        let json = format!(
            r#"{{"id":2,"merge_method":"{method}","squash_option":"{squash}","merge_trains_enabled":false}}"#
        );
        let allowed = parse_rules(json.as_bytes()).map(|rules| rules.allowed);
        let found = allowed.map(|it| (it.choose(Strategy::Auto), [it.fast_forward, it.merge, it.squash]));
        assert_eq!(found, Some((Some(expect.0), expect.1)), "{method} {squash}");
        assert_eq!(allowed.and_then(|it| it.choose(Strategy::Rebase)), None);
    }

    #[test]
    fn a_project_decides_between_merge_and_fast_forward() {
        check("merge", "default_off", (Strategy::Merge, [false, true, true]));
        check("rebase_merge", "never", (Strategy::Merge, [false, true, false]));
        check("ff", "default_off", (Strategy::FastForward, [true, false, true]));
        check("ff", "default_on", (Strategy::Squash, [true, false, true]));
        check("merge", "always", (Strategy::Squash, [false, false, true]));
        let old = parse_rules(br#"{"merge_method":"merge"}"#).map(|it| (it.allowed.squash, it.has_queue));
        assert_eq!(old, Some((true, false)));
        assert_eq!(parse_rules(br#"{"message":"404 Project Not Found"}"#), None);
        assert_eq!(parse_rules(br#"{"merge_method":"me"#), None);
    }

    #[test]
    fn a_merge_is_done_or_under_way_or_refused() {
        let of = |state: &str| {
            let json = format!(
                r#"{{"web_url":"https://gitlab.com/toys/toy/-/merge_requests/7","state":"{state}","merge_commit_sha":"c0ffee"}}"#
            );
            parse_merge(json.as_bytes())
        };
        assert_eq!(of("merged"), Some(ForgeMergeState::Merged(Some("c0ffee".to_owned()))));
        assert_eq!(of("locked"), Some(ForgeMergeState::Queued));
        assert!(matches!(of("closed"), Some(ForgeMergeState::Refused(_))));
        assert_eq!(of("odd"), None);
        assert_eq!(parse_merge(br#"{"web_url":"https://gi"#), None);
    }

    #[test]
    fn a_refusal_is_what_repeating_does_not_mend() {
        let json = br#"{"message":"405 Method Not Allowed"}"#;
        assert_eq!(refusal("glab: 405 (HTTP 405)", json).as_deref(), Some("405 Method Not Allowed"));
        assert_eq!(
            refusal("glab: SHA does not match (HTTP 409)", b"").as_deref(),
            Some("glab: SHA does not match (HTTP 409)")
        );
        for other in
            ["glab: Too Many Requests (HTTP 429)", "glab: Bad Gateway (HTTP 502)", "glab: (HTTP 401)"]
        {
            assert_eq!(refusal(other, json), None, "{other}");
        }
    }

    #[test]
    fn a_merge_request_without_a_description_has_a_text() {
        let text = |body: &str| {
            Some(PullRequestText { state: PrState::Open, title: "Mend it".into(), body: body.into() })
        };
        assert_eq!(parse_text(br#"{"state":"opened","title":"Mend it","description":null}"#), text(""));
        assert_eq!(parse_text(br#"{"state":"opened","title":"Mend it","description":"Why."}"#), text("Why."));
        assert_eq!(parse_text(br#"{"state":"opened"}"#), None);
    }
}
