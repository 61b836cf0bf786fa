//! The merge of a pull request, as GitHub foresees it.

use serde::Deserialize;

use super::super::{MergeOutlook, MergeState};
use super::{Gh, asked, check_url, unclear};
use crate::Result;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ShownMerge {
    head_ref_oid: String,
    mergeable: String,
    merge_state_status: String,
}

impl Gh {
    /// The merge of a pull request, as GitHub foresees it.
    pub fn merge_outlook(&self, url: &str) -> Result<MergeOutlook> {
        check_url(url)?;
        let fields = "headRefOid,mergeable,mergeStateStatus";
        let answer = asked(self.call(&["pr", "view", url, "--json", fields]))?;
        let shown: ShownMerge = serde_json::from_slice(&answer.stdout).map_err(|_| unclear(&answer))?;
        let state = merge_state(&shown.mergeable, &shown.merge_state_status);
        Ok(MergeOutlook { commit: shown.head_ref_oid, state })
    }
}

/// `UNSTABLE` is not clean: a check that is not required has failed or runs.
fn merge_state(mergeable: &str, status: &str) -> MergeState {
    match (mergeable, status) {
        ("CONFLICTING", _) | (_, "DIRTY") => MergeState::Conflict,
        ("MERGEABLE", "CLEAN" | "HAS_HOOKS") => MergeState::Clean,
        ("MERGEABLE", "BLOCKED" | "BEHIND" | "DRAFT") => MergeState::Blocked,
        _ => MergeState::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_word_is_never_clean() {
        for (mergeable, status, expect) in [
            ("MERGEABLE", "CLEAN", MergeState::Clean),
            ("MERGEABLE", "HAS_HOOKS", MergeState::Clean),
            ("MERGEABLE", "BLOCKED", MergeState::Blocked),
            ("MERGEABLE", "BEHIND", MergeState::Blocked),
            ("MERGEABLE", "DRAFT", MergeState::Blocked),
            ("MERGEABLE", "UNSTABLE", MergeState::Unknown),
            ("MERGEABLE", "A_NEW_WORD", MergeState::Unknown),
            ("CONFLICTING", "DIRTY", MergeState::Conflict),
            ("CONFLICTING", "UNKNOWN", MergeState::Conflict),
            ("UNKNOWN", "CLEAN", MergeState::Unknown),
            ("UNKNOWN", "UNKNOWN", MergeState::Unknown),
        ] {
            assert_eq!(merge_state(mergeable, status), expect, "{mergeable} {status}");
        }
    }
}
