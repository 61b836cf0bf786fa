//! Facts of a pull request for which watch rules wait, in our words.

/// A failed run of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedRun {
    /// The check, with its workflow.
    pub name: String,
    /// The name with what distinguishes the run from later ones of the check.
    pub run: String,
    /// The unit that the forge can run again, in its own words; `None` for a check of another program.
    pub again: Option<String>,
}

/// The merge of a pull request at a commit, as the forge foresees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeOutlook {
    /// The newest commit of its branch.
    pub commit: String,
    pub state: MergeState,
}

/// The answer of a forge that is asked for a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeState {
    /// It would merge now.
    Clean,
    Conflict,
    /// It refuses the merge for another reason: reviews, checks, rules, a draft.
    Blocked,
    /// It does not know yet, or says it in an unknown word.
    Unknown,
}

impl FailedRun {
    /// The units that the forge is to run again, each once; `None` if one of the failed checks cannot run again, which would then stay red.
    pub fn again(failed: &[FailedRun]) -> Option<Vec<&str>> {
        let mut again: Vec<&str> = failed.iter().map(|it| it.again.as_deref()).collect::<Option<_>>()?;
        again.sort_unstable();
        again.dedup();
        (!again.is_empty()).then_some(again)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(again: Option<&str>) -> FailedRun {
        FailedRun { name: "test".to_owned(), run: "test 1".to_owned(), again: again.map(str::to_owned) }
    }

    #[test]
    fn checks_run_again_only_if_all_failed_ones_can() {
        let jobs = [failed(Some("2")), failed(Some("1")), failed(Some("2"))];
        assert_eq!(FailedRun::again(&jobs), Some(vec!["1", "2"]));
        assert_eq!(FailedRun::again(&[failed(Some("1")), failed(None)]), None);
        assert_eq!(FailedRun::again(&[]), None);
    }
}
