//! The form that starts a mission.

use maud::{Markup, html};
use orange_core::plan::Plan;

use super::forms::{self, Seal};
use super::{ConsolePage, NavigationTab, text};
use crate::host::Colony;
use crate::serve::without_secret;

/// Content of the form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filled {
    /// The colony, by its id.
    pub colony: String,
    /// The name of the workflow.
    pub workflow: String,
    /// Description of the work.
    pub prompt: String,
    pub branch: String,
    /// The execution.
    pub execution: String,
    /// The intervention.
    pub intervene: String,
}

pub struct StartPage<'s> {
    /// Every colony.
    pub colonies: &'s [Colony],
    /// Every workflow.
    pub plans: &'s [&'s Plan<'s>],
    pub filled: &'s Filled,
    /// Reason for the refusal, and the remedy.
    pub refused: Option<(&'s str, &'s str)>,
    /// The seal of the form.
    pub seal: Seal<'s>,
}

impl StartPage<'_> {
    pub fn page(&self) -> ConsolePage<'static> {
        let says = String::new();
        ConsolePage {
            title: "Start a mission",
            tab: NavigationTab::Start,
            live: None,
            says,
            content: self.content(),
        }
    }

    fn content(&self) -> Markup {
        let nothing = if self.colonies.is_empty() {
            Some("There is no colony yet. `orange-fleet colony create NAME --repository ADDRESS` makes one.")
        } else if self.plans.is_empty() {
            Some("There is no step workflow. `orange-fleet serve --prompts-path DIR` loads some.")
        } else {
            None
        };
        html! {
            h1 { "Start a mission" }
            @match nothing {
                Some(why) => { p.message { (why) } }
                None => { (self.form()) }
            }
        }
    }

    fn form(&self) -> Markup {
        let Filled { prompt, branch, execution, intervene, .. } = self.filled;
        html! {
            @if let Some((message, help)) = self.refused {
                div.message #refused role="alert" { p { strong dir="auto" { (text::line(message)) } } p { (help) } }
            }
            form.panel method="post" action="/console/missions" {
                (self.seal.fields())
                p.field {
                    label for="colony" { "Colony" }
                    select #colony name="colony" required {
                        @for it in self.colonies {
                            option value=(it.id) selected[it.id == self.filled.colony] { (text::line(&it.name)) " (" (text::line(&without_secret(&it.repository))) ")" }
                        }
                    }
                }
                p.field {
                    label for="workflow" { "Workflow" }
                    select #workflow name="workflow" required {
                        @for it in self.plans {
                            option value=(it.name) selected[it.name == self.filled.workflow] {
                                (it.name) @if !it.description.is_empty() { ": " (text::line(it.description)) }
                            }
                        }
                    }
                }
                p.field {
                    label for="prompt" { "What is to be done" }
                    // A browser drops the first line break of the field.
                    textarea #prompt name="prompt" required rows="8" dir="auto" aria-describedby="prompt-help" { "\n" (prompt) }
                }
                p.note #prompt-help { "At most 256 KiB. Its first line is what lists show." }
                p.field {
                    label for="branch" { "Branch (optional)" }
                    input #branch name="branch" value=(branch) maxlength="200" spellcheck="false" autocapitalize="off"
                        aria-describedby="branch-help";
                }
                p.note #branch-help { "Without one, the mission makes a branch of its own." }
                details #policy open[!(execution.is_empty() && intervene.is_empty())] {
                    summary { "When it pauses" }
                    (forms::policy("start", "as the workflow says", (execution, intervene)))
                }
                p { button type="submit" { "Start" } }
            }
        }
    }
}
