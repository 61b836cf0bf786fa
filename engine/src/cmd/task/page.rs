//! `orange task open` and `orange task refresh`: the page of a task's pull request.

use crate::Result;
use crate::app::App;
use crate::cmd::answer::CommandAnswer;
use crate::flow::open;
use crate::flow::refresh::{self, PrChange, PrState};
use crate::store::{WorkItem, WorkItemDir};
use orange_api::{OpenedPage, Refreshed, Success};

/// Opens the pull request in the browser.
pub fn open(app: &App, dir: &WorkItemDir) -> Result<CommandAnswer> {
    let open::OpenedAddress { url, browser } = open::open(app, dir)?;
    let text = match &browser {
        Some(_) => url.clone(),
        None => format!("{url}\nno browser was found: set BROWSER to the name of one"),
    };
    CommandAnswer::of(&OpenedPage { success: Success, id: dir.id.clone(), url, browser }, text)
}

/// Asks the forge about the pull request.
pub fn refresh(app: &App, dir: &WorkItemDir) -> Result<(Refreshed, String)> {
    let refresh::RefreshResult { change, pr, story } = refresh::refresh(app, dir)?;
    let (task, _) = WorkItem::read_last(&app.home, dir, 0)?;
    let news = match change {
        PrChange::None => "none",
        PrChange::Linked => "linked",
        PrChange::Unchanged => "unchanged",
        PrChange::Checked => "checked",
        PrChange::Merged => "merged",
        PrChange::Closed => "closed",
    };
    let state = pr.as_ref().map(|pr| match pr.state {
        PrState::Open => "open",
        PrState::Merged => "merged",
        PrState::Closed => "closed",
    });
    let (pr_url, status) = (pr.map(|pr| pr.url), task.owned.status);
    let text = match (&story, &pr_url) {
        (Some(story), _) => story.clone(),
        (None, Some(url)) => format!("unchanged: {url} is {}", state.unwrap_or_default()),
        (None, None) => format!("{} has no pull request", task.branch),
    };
    let id = dir.id.clone();
    Ok((
        Refreshed {
            success: Success,
            id,
            news: news.into(),
            pr_url,
            state: state.map(Into::into),
            done: story,
            status,
        },
        text,
    ))
}
