//! The text of a merge request on GitLab.

use serde::Deserialize;

use super::super::PullRequestText;
use super::answer::pr_state;
use super::{Glab, MergeRequestAddress, asked, encoded, place, unclear};
use crate::Result;

#[derive(Deserialize)]
struct Text {
    state: String,
    title: String,
    description: Option<String>,
}

impl Glab {
    /// The text of the merge request of this address.
    pub fn text(&self, url: &str) -> Result<PullRequestText> {
        let MergeRequestAddress { host, project, number } = place(url)?;
        let endpoint = format!("projects/{}/merge_requests/{number}", encoded(project));
        let answer = asked(self.call(&["api", &endpoint, "--hostname", host]))?;
        parse_text(&answer.stdout).ok_or_else(|| unclear(&answer))
    }
}

fn parse_text(json: &[u8]) -> Option<PullRequestText> {
    let Text { state, title, description } = serde_json::from_slice(json).ok()?;
    Some(PullRequestText { state: pr_state(&state)?, title, body: description.unwrap_or_default() })
}
