//! Foreign tasks: those that are made of issues, and what their agents make.

use orange_core::intake::Source;

use crate::Result;
use crate::app::App;
use crate::store::create::NewSource;
use crate::store::{WorkItem, WorkItemKind, list};

/// The source that a new task or mission has from the foreign task whose agent makes it: the same, so that its agents get no access to
/// a forge, either.
///
/// # Errors
/// Those of reading the asking agent's task.
pub fn inherited(app: &App) -> Result<Option<NewSource>> {
    let Some(id) = app.caller.task() else { return Ok(None) };
    let Some(dir) = list::with_id(&app.home, &WorkItemKind::ALL, None, id)?.pop() else { return Ok(None) };
    let (task, _) = WorkItem::read_last(&app.home, &dir, 0)?;
    let (is_foreign, owned) = (task.is_foreign(), task.owned);
    let source = owned.source.filter(|_| is_foreign);
    Ok(source.map(|source| NewSource { source, by: owned.source_by, is_held: false }))
}

/// Origin of a foreign task, such as `from #42 by ada`.
pub fn origin(task: &WorkItem) -> Option<String> {
    let Some(Source::Issue { number, .. }) = Source::parse(task.owned.source.as_deref()?) else {
        return None;
    };
    let by = task.owned.source_by.as_ref().map(|login| format!(" by {login}"));
    Some(format!("from #{number}{}", by.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Owned;

    #[test]
    fn an_origin_names_the_issue_and_the_person() {
        let origin_of = |source: &str, by: Option<&str>| {
            let owned = Owned {
                source: Some(source.to_owned()),
                source_by: by.map(str::to_owned),
                ..Owned::default()
            };
            origin(&WorkItem { owned, ..WorkItem::default() })
        };
        assert_eq!(origin_of("github.com/o/r#42@LE_x", Some("ada")).as_deref(), Some("from #42 by ada"));
        assert_eq!(origin_of("github.com/o/r#42@LE_x", None).as_deref(), Some("from #42"));
        assert_eq!(origin_of("triage@2026-11-27T07:00", None), None);
        assert_eq!(origin(&WorkItem::default()), None);
    }
}
