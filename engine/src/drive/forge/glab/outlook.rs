//! The merge of a merge request, as GitLab foresees it.

use serde::Deserialize;

use super::super::{MergeOutlook, MergeState};
use super::{Glab, MergeRequestAddress, encoded, place};
use crate::Result;

#[derive(Deserialize)]
struct ShownMerge {
    sha: Option<String>,
    detailed_merge_status: Option<String>,
    #[serde(default)]
    has_conflicts: bool,
}

impl Glab {
    /// The merge of a merge request, as GitLab foresees it.
    pub fn merge_outlook(&self, url: &str) -> Result<MergeOutlook> {
        let MergeRequestAddress { host, project, number } = place(url)?;
        let shown: ShownMerge =
            self.read(host, &format!("projects/{}/merge_requests/{number}", encoded(project)))?;
        let state = shown.state();
        Ok(MergeOutlook { commit: shown.sha.unwrap_or_default(), state })
    }
}

impl ShownMerge {
    fn state(&self) -> MergeState {
        match self.detailed_merge_status.as_deref() {
            _ if self.has_conflicts => MergeState::Conflict,
            Some("conflict" | "broken_status") => MergeState::Conflict,
            Some("mergeable") => MergeState::Clean,
            Some(
                "blocked_status"
                | "ci_must_pass"
                | "ci_still_running"
                | "commits_status"
                | "discussions_not_resolved"
                | "draft_status"
                | "external_status_checks"
                | "jira_association_missing"
                | "locked_lfs_files"
                | "locked_paths"
                | "merge_request_blocked"
                | "merge_time"
                | "need_rebase"
                | "not_approved"
                | "not_open"
                | "policies_denied"
                | "requested_changes"
                | "security_policy_violations"
                | "status_checks_must_pass"
                | "title_regex",
            ) => MergeState::Blocked,
            Some(_) | None => MergeState::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_word_is_never_clean() {
        for (word, has_conflicts, expect) in [
            (r#""mergeable""#, false, MergeState::Clean),
            (r#""mergeable""#, true, MergeState::Conflict),
            (r#""conflict""#, false, MergeState::Conflict),
            (r#""not_approved""#, false, MergeState::Blocked),
            (r#""draft_status""#, false, MergeState::Blocked),
            (r#""need_rebase""#, false, MergeState::Blocked),
            (r#""checking""#, false, MergeState::Unknown),
            (r#""unchecked""#, false, MergeState::Unknown),
            (r#""a_new_word""#, false, MergeState::Unknown),
            ("null", false, MergeState::Unknown),
        ] {
            let json =
                format!(r#"{{"sha":"8888","detailed_merge_status":{word},"has_conflicts":{has_conflicts}}}"#);
            let shown: ShownMerge = serde_json::from_str(&json).unwrap();
            assert_eq!(shown.state(), expect, "{word}");
        }
    }
}
