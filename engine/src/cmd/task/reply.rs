//! `orange task reply`

use orange_api::{Replied, Success};

use crate::Result;
use crate::app::App;
use crate::flow::reply::{ReplyWish, reply};
use crate::store::WorkItemDir;

/// Keeps an answer to a thread of the pull request.
pub fn run(app: &App, dir: &WorkItemDir, wish: ReplyWish<'_>) -> Result<(Replied, String)> {
    let answer = reply(app, dir, wish)?;
    let text = format!("kept the answer to {}; the next push of the branch posts it", answer.thread);
    let replied = Replied {
        success: Success,
        id: dir.id.clone(),
        round: answer.round,
        thread: answer.thread,
        resolve: answer.resolve,
    };
    Ok((replied, text))
}
