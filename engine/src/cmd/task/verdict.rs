//! `orange task verdict`

use orange_api::{Judged, Success};
use orange_core::Verdict;

use crate::Result;
use crate::app::App;
use crate::flow::verdict::verdict;
use crate::store::WorkItemDir;

/// Writes the verdict of the reviewer that asks.
pub fn run(app: &App, dir: &WorkItemDir, judged: Verdict, text: &str) -> Result<(Judged, String)> {
    let section = verdict(app, dir, judged, text)?;
    let said = format!(
        "wrote {judged} into `{section}`; ask for the status that fits, {} lists them",
        dir.command("next")
    );
    let judged =
        Judged { success: Success, id: dir.id.clone(), section, verdict: judged.as_str().to_owned() };
    Ok((judged, said))
}
