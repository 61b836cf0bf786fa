//! A problem of the console, as a page: what has happened, and what to do next.

use maud::{Markup, html};

/// Something that the console cannot do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The status of the answer.
    pub status: u16,
    /// Heading that says what has happened.
    pub title: String,
    /// Description of the problem in a sentence or two.
    pub message: String,
    /// Advice on the next action.
    pub help: String,
    /// Link to go on with: an address in the console, and its text.
    pub next: (String, String),
}

impl Problem {
    /// The content of its page.
    pub fn content(&self) -> Markup {
        html! {
            h1 { (self.title) }
            p.message role="alert" dir="auto" { (super::text::visible(&self.message)) }
            p { (self.help) }
            p { a.button href=(self.next.0) { (self.next.1) } }
        }
    }
}
