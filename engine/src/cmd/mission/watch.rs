//! `orange mission watch`: what happens to missions, as it happens.

use crate::Result;
use crate::app::App;
use crate::cmd::answer::CommandAnswer;
use crate::cmd::args::MissionName;
use crate::cmd::mission::named_or_here;
use crate::cmd::task::watch::{self, Out};
use crate::store::WorkItemKind;

/// Prints each event of one mission until that is over, or of all missions until it is interrupted or the output is closed.
pub fn run(app: &App, mission: &MissionName, out: Out<'_>) -> Result<CommandAnswer> {
    match &mission.name {
        Some(_) => watch::one(app, &named_or_here(app, mission)?, out)?,
        None => watch::all(app, WorkItemKind::Mission, out)?,
    }
    Ok(CommandAnswer::default())
}
