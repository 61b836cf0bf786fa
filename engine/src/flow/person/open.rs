//! Opens a task's pull request in the user's browser.

use crate::app::App;
use crate::drive::browser;
use crate::store::{WorkItem, WorkItemDir};
use crate::{Error, ErrorKind, Result};

/// An address, and the program that shows it.
#[derive(Debug)]
pub struct OpenedAddress {
    /// The address of the pull request.
    pub url: String,
    /// The program; `None` if there is none.
    pub browser: Option<String>,
}

/// Opens the pull request of a task.
///
/// # Errors
/// `refused` where it has none, or what stands in its place is not an address of a page.
pub fn open(app: &App, dir: &WorkItemDir) -> Result<OpenedAddress> {
    app.caller.check_person("open a browser")?;
    let (task, _) = WorkItem::read(&app.home, dir)?;
    let Some(url) = task.pr_url else {
        let message = format!("task {} has no pull request that is known", dir.id);
        return Err(Error::new(ErrorKind::Refused, message).help(format!(
            "`orange task create-pr {0}` opens one; `orange task refresh {0}` finds one that somebody else has opened",
            dir.id
        )));
    };
    // An agent can write the address.
    if !["https://", "http://"].iter().any(|scheme| url.starts_with(scheme)) || url.contains(char::is_control)
    {
        return Err(Error::new(
            ErrorKind::Refused,
            format!("`{}` is not an address of a page", url.escape_debug()),
        )
        .help("correct `pr_url` in the task's TASK.md"));
    }
    let around = app.around()?;
    let browser = browser::open(around.variable("BROWSER"), app.path(), &url);
    Ok(OpenedAddress { url, browser })
}
