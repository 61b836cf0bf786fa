//! Answers to threads of a merge request on GitLab.

use serde::Serialize;

use super::{Glab, MergeRequestAddress, asked, encoded, place, posted, without_quick_actions};
use crate::Result;

#[derive(Serialize)]
struct NewNote {
    body: String,
}

impl Glab {
    /// Adds a comment to a thread of a merge request.
    pub fn reply(&self, thread: &str, url: &str, text: &str) -> Result<()> {
        let endpoint = format!("{}/notes", endpoint(thread, url)?);
        let MergeRequestAddress { host, .. } = place(url)?;
        let call = self.call(&["api", &endpoint, "--hostname", host, "--method", "POST", "--input", "-"]);
        asked(posted(call, &NewNote { body: without_quick_actions(text) })?).map(drop)
    }

    /// Resolves a thread of a merge request.
    pub fn resolve(&self, thread: &str, url: &str) -> Result<()> {
        let endpoint = format!("{}?resolved=true", endpoint(thread, url)?);
        let MergeRequestAddress { host, .. } = place(url)?;
        asked(self.call(&["api", &endpoint, "--hostname", host, "--method", "PUT"])).map(drop)
    }
}

fn endpoint(thread: &str, url: &str) -> Result<String> {
    let MergeRequestAddress { project, number, .. } = place(url)?;
    Ok(format!("projects/{}/merge_requests/{number}/discussions/{}", encoded(project), encoded(thread)))
}
