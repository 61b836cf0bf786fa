//! The list of missions: a filter, a search, and pages.

use maud::{Markup, html};
use orange_core::mission::MissionStatus;

use super::{ConsolePage, NavigationTab, badge, forms, text, time, words};
use crate::host::{Colony, MissionListRow};

/// Query of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MissionsQuery {
    pub status: Option<String>,
    /// One colony, by its id.
    pub colony: Option<String>,
    pub text: Option<String>,
    /// Only with a question of a step that waits for an answer.
    pub asks: bool,
    /// The mission after which this page begins.
    pub before: Option<String>,
}

pub struct MissionsPage {
    pub asked: MissionsQuery,
    /// Missions that were found, the newest first.
    pub rows: Vec<MissionListRow>,
    /// True if there are more.
    pub has_more: bool,
    /// Every colony.
    pub colonies: Vec<Colony>,
    /// Number of missions of each status.
    pub counts: Vec<(String, u64)>,
}

impl MissionsPage {
    pub fn page(&self) -> ConsolePage<'static> {
        let says = match self.rows.first() {
            Some(row) => format!("The newest mission is {}.", row.status),
            None => "No mission is listed.".to_owned(),
        };
        // Older pages stay as they are while somebody reads them.
        let live = self.asked.before.is_none().then_some("");
        ConsolePage { title: "Missions", tab: NavigationTab::Missions, live, says, content: self.content() }
    }

    fn content(&self) -> Markup {
        html! {
            h1 { "Missions" }
            (self.filter())
            @if self.rows.is_empty() {
                p.empty { "No mission is like that. " a href="/console/start" { "Start one" } "." }
            } @else {
                (self.table())
            }
            (self.pages())
        }
    }

    fn filter(&self) -> Markup {
        let count = |status: &str| self.counts.iter().find(|it| it.0 == status).map_or(0, |it| it.1);
        let statuses =
            MissionStatus::ALL.map(|it| (it.as_str(), format!("{} ({})", it.as_str(), count(it.as_str()))));
        let statuses: Vec<(&str, &str)> =
            statuses.iter().map(|(value, text)| (*value, text.as_str())).collect();
        let colonies: Vec<(&str, &str)> =
            self.colonies.iter().map(|it| (it.id.as_str(), it.name.as_str())).collect();
        let chosen = |it: &Option<String>| it.clone().unwrap_or_default();
        html! {
            form.filter method="get" action="/console/missions" role="search" aria-label="Missions" {
                (forms::menu("status", "status", "Status", "any", &statuses, &chosen(&self.asked.status)))
                (forms::menu("colony", "colony", "Colony", "any", &colonies, &chosen(&self.asked.colony)))
                p.field {
                    label for="q" { "Text" }
                    input #q type="search" name="q" value=(chosen(&self.asked.text)) maxlength="200"
                        placeholder="prompt, branch or workflow" dir="auto";
                }
                p.field { button type="submit" { "Show" } }
            }
        }
    }

    fn table(&self) -> Markup {
        html! {
            table.list #missions role="table" {
                caption.unseen { "Missions, the newest first" }
                thead role="rowgroup" {
                    tr role="row" {
                        @for name in ["Mission", "Status", "Step", "Workflow", "Colony", "Changed"] {
                            th role="columnheader" scope="col" { (name) }
                        }
                    }
                }
                tbody role="rowgroup" { @for row in &self.rows { (self.row(row)) } }
            }
        }
    }

    fn row(&self, row: &MissionListRow) -> Markup {
        let colony = self.colonies.iter().find(|it| it.id == row.colony).map_or(&row.colony, |it| &it.name);
        html! {
            tr role="row" id={ "m-" (row.id) } {
                th role="rowheader" scope="row" {
                    a href={ "/console/missions/" (row.id) } dir="auto" { (text::line(&row.summary)) }
                    " " span.sub { bdi { (text::line(&row.branch)) } }
                }
                td role="cell" {
                    (badge(words::tone_of(&row.status), &row.status))
                    @if let Some(pause) = row.pause { span.sub { " pause " (pause) } }
                    @if !row.asks.is_empty() { span.sub { " asks: " (text::line(&row.asks.join(", "))) } }
                }
                td.nil[row.step.is_none()] role="cell" { (row.step.as_deref().unwrap_or("–")) }
                td role="cell" { (text::line(&row.workflow)) }
                td role="cell" { (text::line(colony)) }
                td role="cell" { (time::at(row.updated)) }
            }
        }
    }

    fn pages(&self) -> Markup {
        let last = self.rows.last().filter(|_| self.has_more);
        html! {
            @if self.asked.before.is_some() || last.is_some() {
                nav.pages aria-label="Pages" {
                    @if self.asked.before.is_some() {
                        a.button.plain href=(self.asked.address(None)) rel="first" { "Newest" }
                    }
                    @if let Some(last) = last {
                        a.button.plain href=(self.asked.address(Some(&last.id))) rel="next" { "Older" }
                    }
                }
            }
        }
    }
}

impl MissionsQuery {
    /// The address of the list that begins after a mission.
    pub fn address(&self, before: Option<&str>) -> String {
        let fields = [
            ("status", self.status.as_deref()),
            ("colony", self.colony.as_deref()),
            ("q", self.text.as_deref()),
            ("asks", self.asks.then_some("true")),
            ("before", before),
        ];
        let query: Vec<String> = fields
            .iter()
            .filter_map(|(name, value)| Some(format!("{name}={}", encoded((*value)?))))
            .collect();
        if query.is_empty() {
            "/console/missions".to_owned()
        } else {
            format!("/console/missions?{}", query.join("&"))
        }
    }
}

/// A value in a query.
pub fn encoded(value: &str) -> String {
    let mut out = String::new();
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}
