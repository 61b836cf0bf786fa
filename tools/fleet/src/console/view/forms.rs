//! Parts of forms.

use maud::{Markup, html};
use orange_core::plan::{Execution, Intervene};

use super::words;

/// Seal of a form, which makes it work once, and only for this person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seal<'s> {
    /// Against other sites.
    pub csrf: &'s str,
    /// Against a double click: the same key is the same call.
    pub key: String,
}

impl Seal<'_> {
    /// The hidden fields.
    pub fn fields(&self) -> Markup {
        html! { (hidden("csrf", self.csrf)) (hidden("key", &self.key)) }
    }
}

/// A field that nobody sees.
pub fn hidden(name: &str, value: &str) -> Markup {
    html! { input type="hidden" name=(name) value=(value); }
}

/// Two menus for when a mission pauses. The first entry of each changes nothing.
pub fn policy(prefix: &str, unchanged: &str, chosen: (&str, &str)) -> Markup {
    let executions = Execution::ALL.map(|it| (it.as_str(), words::execution(it)));
    let intervenes = Intervene::ALL.map(|it| (it.as_str(), words::intervene(it)));
    html! {
        (menu(&format!("{prefix}-execution"), "execution", "Execution", unchanged, &executions, chosen.0))
        (menu(&format!("{prefix}-intervene"), "intervene", "Intervene", unchanged, &intervenes, chosen.1))
    }
}

/// A menu whose first entry has no value.
pub fn menu(
    id: &str,
    name: &str,
    label: &str,
    first: &str,
    entries: &[(&str, &str)],
    chosen: &str,
) -> Markup {
    html! {
        p.field {
            label for=(id) { (label) }
            select id=(id) name=(name) {
                option value="" { (first) }
                @for (value, text) in entries {
                    option value=(value) selected[*value == chosen] { (text) }
                }
            }
        }
    }
}
