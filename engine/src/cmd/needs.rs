//! Needs in lists of tasks and missions: their texts and their order.

use std::time::SystemTime;

use orange_core::need::NeedKind;

use crate::Result;
use crate::app::App;
use crate::cmd::project;
use crate::flow::doing::words;
use crate::store::projects;
use orange_api::{ChangeSize, Need};
use orange_system::clock;

/// The one project whose tasks are listed: the named one, or unless `all` are wanted the one of the current folder.
pub fn project_of(app: &App, name: Option<&str>, all: bool) -> Result<Option<String>> {
    match name {
        Some(name) => project::named_or_here(app, Some(name)).map(|project| Some(project.name)),
        None if all => Ok(None),
        // Where no project is, or none can be read, all are listed.
        None => Ok(project::named_or_here(app, None).ok().map(|project| project.name)),
    }
}

/// True if there is not just one project, so that a project's name says something.
pub fn has_several(app: &App) -> bool {
    projects::read(&app.home).is_ok_and(|projects| projects.len() != 1)
}

/// The place in a list: the need, and since when it is there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NeedRank {
    need: usize,
    since: String,
}

impl NeedRank {
    /// The place of what cannot be read.
    pub const LAST: NeedRank = NeedRank { need: usize::MAX, since: String::new() };

    /// The place of something that needs this, or nothing.
    pub fn of(need: Option<&Need>) -> NeedRank {
        let place = |need: &Need| NeedKind::ALL.iter().position(|kind| *kind == need.kind);
        let since = need.and_then(|need| need.since.clone());
        NeedRank {
            need: need.and_then(place).unwrap_or(NeedKind::ALL.len()),
            since: since.unwrap_or_default(),
        }
    }
}

/// The rows by their ranks; equal ones stay in their order.
pub fn in_order<R>(mut rows: Vec<(NeedRank, R)>) -> Vec<R> {
    rows.sort_by(|(one, _), (other, _)| one.cmp(other));
    rows.into_iter().map(|(_, row)| row).collect()
}

/// Reason for the need, with the end of a wait and the size of work.
pub fn why(need: &Need) -> String {
    let until = need.until.as_ref().map(|until| format!("until {until}: ")).unwrap_or_default();
    let change = need.change.map(|ChangeSize { commits, files, added, removed }| {
        format!(", {commits} commits, {files} files, +{added} −{removed}")
    });
    format!("{until}{}{}", need.why, change.unwrap_or_default())
}

/// Age of the need.
pub fn age(need: &Need, now: SystemTime) -> String {
    let since = need.since.as_deref().and_then(clock::parse);
    since.map_or_else(|| "-".to_owned(), |since| words(now.duration_since(since).unwrap_or_default()))
}
