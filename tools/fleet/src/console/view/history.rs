//! Everything that has happened to a mission, a page at a time.

use maud::{Markup, html};

use super::{ConsolePage, NavigationTab, text, time, words};
use crate::host::{HistoryRecord, Millis, MissionListRow};

/// Number of records that a page shows.
pub const RECORDS: usize = 100;

/// Number of characters that a page shows of the facts of a record.
const FACTS: usize = 300;

/// A page of the history of a mission.
pub struct History<'h> {
    pub row: &'h MissionListRow,
    /// The records, the oldest first.
    pub records: &'h [HistoryRecord],
    /// True if there are more.
    pub has_more: bool,
    /// The crabs of the colony by id, with their names.
    pub crabs: &'h [(String, String)],
    pub now: Millis,
}

impl History<'_> {
    pub fn page(&self) -> ConsolePage<'_> {
        ConsolePage {
            title: "History",
            tab: NavigationTab::Elsewhere,
            live: (!self.has_more).then_some(self.row.id.as_str()),
            says: self.records.last().map(|it| it.kind.clone()).unwrap_or_default(),
            content: self.content(),
        }
    }

    fn content(&self) -> Markup {
        let address = format!("/console/missions/{}", self.row.id);
        html! {
            p.back { a href=(address) dir="auto" { "← " (text::line(&self.row.summary)) } }
            h1 { "History" }
            @if self.records.is_empty() { p.empty { "Nothing is recorded." } }
            @else {
                table.list role="table" {
                    caption.unseen { "Records, the oldest first" }
                    thead role="rowgroup" { tr role="row" {
                        th role="columnheader" scope="col" { "Number" }
                        th role="columnheader" scope="col" { "When" }
                        th role="columnheader" scope="col" { "What" }
                        th role="columnheader" scope="col" { "Facts" }
                    } }
                    tbody role="rowgroup" { @for record in self.records { (self.record(record)) } }
                }
            }
            @if let Some(last) = self.records.last().filter(|_| self.has_more) {
                p { a.button.plain href={ (address) "/history?after=" (last.seq) } { "Later" } }
            }
        }
    }

    fn record(&self, record: &HistoryRecord) -> Markup {
        let facts = facts(&record.data, self.crabs);
        let (shown, is_cut) = text::cut(&facts, FACTS);
        html! {
            tr role="row" id={ "r-" (record.seq) } {
                th role="rowheader" scope="row" { (record.seq) }
                td role="cell" { (time::at_and_ago(record.time, self.now)) }
                td role="cell" { (text::line(&record.kind)) }
                td.full.nil[facts.is_empty()] role="cell" dir="auto" { (text::visible(shown)) @if is_cut { "…" } }
            }
        }
    }
}

/// "step: plan, attempt: 1", with the names of crabs that are known.
fn facts(data: &serde_json::Value, crabs: &[(String, String)]) -> String {
    let shown = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Null
        | serde_json::Value::Bool(_)
        | serde_json::Value::Number(_)
        | serde_json::Value::Array(_)
        | serde_json::Value::Object(_) => value.to_string(),
    };
    let named = |id: String| crabs.iter().find(|it| it.0 == id).map_or(id, |it| it.1.clone());
    let fact = |name: &str, value: &serde_json::Value| match name {
        "crab" => format!("{name}: {}", named(shown(value))),
        "why" => format!("{name}: {}", failure(value).unwrap_or_else(|| shown(value))),
        _ => format!("{name}: {}", shown(value)),
    };
    match data.as_object() {
        Some(fields) => {
            let fields = fields.iter().filter(|it| !it.1.is_null());
            fields.map(|(name, value)| fact(name, value)).collect::<Vec<_>>().join(", ")
        }
        None => shown(data),
    }
}

/// Cause of a step's failure, in words; nothing for a cause that this version does not know.
fn failure(why: &serde_json::Value) -> Option<String> {
    let (cause, value) = why.as_object()?.iter().next()?;
    let times = || {
        value.as_u64().map(|it| words::counted(usize::try_from(it).unwrap_or(usize::MAX), "time", "times"))
    };
    let attempts = || {
        let most = value.as_u64().map(|it| usize::try_from(it).unwrap_or(usize::MAX))?;
        Some(words::counted(most, "attempt", "attempts"))
    };
    match cause.as_str() {
        "reported" => value.as_str().map(str::to_owned),
        "stuck" => Some(format!("its agents ended without a word, {} in a row", times()?)),
        "abandoned" => Some(format!("the crabs at work on it were lost, {} in a row", times()?)),
        "exhausted" => Some(format!("its loop is exhausted: it has completed {}", times()?)),
        "cap" => Some(format!("the mission has used its {}", attempts()?)),
        "because" => value.as_str().map(|step| format!("{step} failed")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_failure_has_words() {
        for (why, words) in [
            (json!({"reported": "no tests"}), "no tests"),
            (json!({"stuck": 2}), "its agents ended without a word, 2 times in a row"),
            (json!({"abandoned": 5}), "the crabs at work on it were lost, 5 times in a row"),
            (json!({"exhausted": 1}), "its loop is exhausted: it has completed 1 time"),
            (json!({"cap": 4}), "the mission has used its 4 attempts"),
            (json!({"because": "plan"}), "plan failed"),
            (json!({"tired": 3}), "{\"tired\":3}"),
            (json!("warning"), "warning"),
        ] {
            let data = json!({"step": "fix", "why": why});
            assert_eq!(facts(&data, &[]), format!("step: fix, why: {words}"));
        }
    }
}
