//! The message of a merge that is the text of the task's pull request.

use crate::Result;
use crate::app::App;
use crate::drive::forge::{ForgeKind, PrState, PullRequestText};
use crate::hooks;
use crate::store::WorkItem;

/// A message for the commit of a merge, as far as the forge has one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct GivenMessage {
    pub text: Option<String>,
    /// Reason for which there is none.
    pub hint: Option<String>,
}

/// The text of the open pull request of a task. `is_asked` is true if the forge has said before that there is none.
pub(super) fn of_pull_request(app: &App, task: &WorkItem, is_asked: bool) -> Result<GivenMessage> {
    if is_asked {
        return Ok(given(&task.branch, ForgeKind::default(), None));
    }
    let forge = app.forge_of(&app.project_of(task)?)?;
    let ask = || {
        let url = match &task.pr_url {
            Some(url) => Some(url.clone()),
            None => hooks::pull_request::find(app, &forge, task)?.map(|pr| pr.url),
        };
        url.map(|url| forge.text(&url).map(|text| (url, text))).transpose()
    };
    app.progress.step(&format!("asking {} for the text of the pull request", forge.name()));
    let found = ask().map_err(|error| {
        let help = format!("{}; or give the message: --message TEXT", error.help);
        error.help(help)
    })?;
    Ok(given(&task.branch, forge.kind(), found))
}

fn given(branch: &str, kind: ForgeKind, found: Option<(String, PullRequestText)>) -> GivenMessage {
    match found {
        Some((url, text)) if text.state == PrState::Open => {
            GivenMessage { text: Some(message(kind, &url, &text)), hint: None }
        }
        Some(_) | None => {
            let hint = format!("no pull request of {branch} is open: the message is that of `summary`");
            GivenMessage { text: None, hint: Some(hint) }
        }
    }
}

/// Title, number and text, as one message.
pub(super) fn message(kind: ForgeKind, url: &str, text: &PullRequestText) -> String {
    let number = url.rsplit('/').next().unwrap_or_default();
    let mark = match kind {
        ForgeKind::GitHub => '#',
        ForgeKind::GitLab => '!',
    };
    let title = text.title.trim();
    let body = text.body.replace("\r\n", "\n");
    format!("{title} ({mark}{number})\n\n{}", body.trim()).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://github.com/toys/toy/pull/7";

    fn text(state: PrState, body: &str) -> Option<(String, PullRequestText)> {
        let title = " Mend it ".to_owned();
        Some((URL.to_owned(), PullRequestText { state, title, body: body.to_owned() }))
    }

    #[test]
    fn a_message_has_title_number_and_text() {
        let of = |kind, body| given("fix", kind, text(PrState::Open, body)).text;
        let expect = "Mend it (#7)\n\nSince *Monday*.\n\n- tested";
        assert_eq!(of(ForgeKind::GitHub, "Since *Monday*.\r\n\r\n- tested\r\n").as_deref(), Some(expect));
        assert_eq!(of(ForgeKind::GitLab, "").as_deref(), Some("Mend it (!7)"));
    }

    #[test]
    fn without_an_open_pull_request_it_says_so() {
        for found in [None, text(PrState::Merged, "x"), text(PrState::Closed, "x")] {
            let GivenMessage { text, hint } = given("fix", ForgeKind::GitHub, found);
            assert_eq!(text, None);
            assert!(hint.is_some_and(|hint| hint.contains("no pull request of fix")));
        }
    }
}
