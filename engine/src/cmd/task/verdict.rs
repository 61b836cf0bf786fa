//! `orange task verdict`

use orange_api::{Judged, Success};

use crate::Result;
use crate::app::App;
use crate::flow::verdict::verdict;
use crate::store::WorkItemDir;

/// Writes the verdict of the reviewer that asks.
pub fn run(app: &App, dir: &WorkItemDir, judged: &str, text: &str) -> Result<(Judged, String)> {
    let (section, verdict) = verdict(app, dir, judged, text)?;
    let said = format!(
        "wrote {verdict} into `{section}`; ask for the status that fits, {} lists them",
        dir.command("next")
    );
    Ok((Judged { success: Success, id: dir.id.clone(), section, verdict }, said))
}
