//! The text of a pull request on GitHub.

use serde::Deserialize;

use super::super::PullRequestText;
use super::{Gh, asked, check_url, pr_state, unclear};
use crate::Result;

#[derive(Deserialize)]
struct Text {
    state: String,
    title: String,
    body: String,
}

impl Gh {
    /// The text of the pull request of this address.
    pub fn text(&self, url: &str) -> Result<PullRequestText> {
        check_url(url)?;
        let answer = asked(self.call(&["pr", "view", url, "--json", "state,title,body"]))?;
        parse_text(&answer.stdout).ok_or_else(|| unclear(&answer))
    }
}

fn parse_text(json: &[u8]) -> Option<PullRequestText> {
    let Text { state, title, body } = serde_json::from_slice(json).ok()?;
    Some(PullRequestText { state: pr_state(&state)?, title, body })
}
