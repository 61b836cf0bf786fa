//! Runs the failed checks of a commit again before a watch rule about them applies.

use orange_core::{LastRerun, RerunStep, WatchRule};
use orange_journal::history::RequestedRerun;

use crate::Result;
use crate::app::App;
use crate::drive::forge::{FailedRun, PullRequest};
use crate::flow::lock_recovered;
use crate::store::{Event, LockedWorkItem, Set, WorkItem, WorkItemDir, WorkItemHistory};
use orange_system::{clock, fault};

/// Next act for a rule whose checks may run again.
pub enum BeforeRule {
    /// The rule takes its transition.
    Take,
    /// The checks are about to run again.
    Wait,
    /// The forge was asked to run them again, in words.
    Asked(String),
}

/// The failed checks for which a rule applies.
pub struct ChecksInQuestion<'c> {
    pub pr: &'c PullRequest,
    /// The commit that they examine.
    pub commit: &'c str,
    /// True if the rule still applies to the locked task.
    pub still_applies: &'c dyn Fn(&LockedWorkItem) -> Result<bool>,
}

/// The step before the transition of a rule about failed checks of a commit. The request is journaled before the forge is asked, so that
/// a process that is killed between the two does not ask twice.
pub fn before(
    app: &App,
    dir: &WorkItemDir,
    history: &WorkItemHistory,
    rule: &WatchRule<'_>,
    ChecksInQuestion { pr, commit, still_applies }: ChecksInQuestion<'_>,
) -> Result<BeforeRule> {
    let last = history.branch.reruns.get(commit);
    if rule.rerun == 0 || last.is_some_and(|last| last.is_refused) {
        return Ok(BeforeRule::Take);
    }
    let (task, _) = WorkItem::read(&app.home, dir)?;
    let forge = app.forge_of(&app.project_of(&task)?)?;
    let found = forge.failed_runs(&pr.url, commit, rule.fact.is_of_required())?;
    let Some(again) = FailedRun::again(&found) else { return Ok(BeforeRule::Take) };
    let mut failed: Vec<String> = found.iter().map(|it| it.run.clone()).collect();
    failed.sort_unstable();
    let number = match RerunStep::of(rule.rerun, &failed, last.map(known)) {
        RerunStep::Take => return Ok(BeforeRule::Take),
        RerunStep::Wait => return Ok(BeforeRule::Wait),
        RerunStep::Ask { number } => number,
    };
    let mut locked = lock_recovered(app, dir)?;
    if !still_applies(&locked)? || locked.history().branch.reruns.get(commit) != last {
        return Ok(BeforeRule::Wait);
    }
    let most = u32::from(rule.rerun);
    let asked = Event::PrRerun { commit: commit.to_owned(), number, most, failed };
    fault::step("rerun", "checks");
    locked.append(asked, Set::new())?;
    drop(locked);
    fault::step("ask for a rerun", "checks");
    if let Err(error) = forge.rerun(&pr.url, &again) {
        refused(&mut lock_recovered(app, dir)?, commit, &error.message)?;
        return Err(error);
    }
    let names: Vec<&str> = found.iter().map(|it| it.name.as_str()).collect();
    Ok(BeforeRule::Asked(format!("its checks run again, {number} of {most}: {}", names.join(", "))))
}

fn refused(locked: &mut LockedWorkItem, commit: &str, error: &str) -> Result<()> {
    let refused = Event::PrNotRerun { commit: commit.to_owned(), error: error.to_owned() };
    locked.append(refused, Set::new()).map(drop)
}

fn known(last: &RequestedRerun) -> LastRerun<'_> {
    // A time that is not readable is long ago.
    let asked = clock::parse(&last.at);
    let since =
        asked.map_or(u64::MAX, |asked| fault::now().duration_since(asked).map_or(0, |since| since.as_secs()));
    LastRerun { number: last.number, failed: &last.failed, since, is_refused: last.is_refused }
}
