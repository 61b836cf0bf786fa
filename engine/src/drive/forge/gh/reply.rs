//! Answers to threads of a pull request on GitHub.

use serde::{Deserialize, Serialize};

use super::graphql::data;
use super::{Gh, PullRequestAddress, asked, place, unclear};
use crate::Result;

const REPLY: &str = "mutation($thread: ID!, $body: String!) { addPullRequestReviewThreadReply(input: \
    {pullRequestReviewThreadId: $thread, body: $body}) { comment { id } } }";

const RESOLVE: &str =
    "mutation($thread: ID!) { resolveReviewThread(input: {threadId: $thread}) { thread { isResolved } } }";

#[derive(Serialize)]
struct Variables<'a> {
    thread: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<&'a str>,
}

/// A part of the answer is there for each mutation, and null if it has failed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Changed {
    add_pull_request_review_thread_reply: Option<serde::de::IgnoredAny>,
    resolve_review_thread: Option<serde::de::IgnoredAny>,
}

impl Gh {
    /// Adds a comment to a thread of a pull request.
    pub fn reply(&self, thread: &str, url: &str, body: &str) -> Result<()> {
        self.change(url, REPLY, &Variables { thread, body: Some(body) })
    }

    /// Resolves a thread of a pull request.
    pub fn resolve(&self, thread: &str, url: &str) -> Result<()> {
        self.change(url, RESOLVE, &Variables { thread, body: None })
    }

    fn change(&self, url: &str, mutation: &str, variables: &Variables<'_>) -> Result<()> {
        let PullRequestAddress { host, .. } = place(url)?;
        let answer = asked(self.graphql(host, mutation, variables)?)?;
        if is_changed(&answer.stdout) { Ok(()) } else { Err(unclear(&answer)) }
    }
}

fn is_changed(json: &[u8]) -> bool {
    data::<Changed>(json).is_some_and(|data| {
        data.add_pull_request_review_thread_reply.is_some() || data.resolve_review_thread.is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mutation_that_has_failed_changes_nothing() {
        assert!(is_changed(br#"{"data":{"addPullRequestReviewThreadReply":{"comment":{"id":"PRRC_1"}}}}"#));
        assert!(is_changed(br#"{"data":{"resolveReviewThread":{"thread":{"isResolved":true}}}}"#));
        for json in [
            r#"{"data":{"resolveReviewThread":null},"errors":[{"type":"FORBIDDEN"}]}"#,
            "{\"data\":",
            "",
            "{}",
        ] {
            assert!(!is_changed(json.as_bytes()), "{json}");
        }
    }
}
