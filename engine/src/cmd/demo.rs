//! `orange demo`: a whole life of a task, to watch.

use std::io::{IsTerminal, stdin, stdout};

use crate::Result;
use crate::app::App;
use crate::cmd::answer::CommandAnswer;
use crate::cmd::args::DemoArgs;
use crate::demo::{self, Audience};
use orange_api::{Demo, Success};

/// Plays it. What happens is printed meanwhile, unless a program reads the answer.
pub fn run(
    app: &App,
    args: &DemoArgs,
    as_json: bool,
    tell: &dyn Fn(&CommandAnswer) -> Result<bool>,
) -> Result<CommandAnswer> {
    if args.sweep {
        demo::sweep(&|root| tell(&CommandAnswer::text(root.display().to_string())).map(drop))?;
        return Ok(CommandAnswer::text(""));
    }
    let say = |text: &str| if as_json { Ok(()) } else { tell(&CommandAnswer::text(text)).map(drop) };
    let is_at_terminal = !as_json && stdin().is_terminal() && stdout().is_terminal();
    let played = demo::play(app, Audience { say: &say, is_at_terminal }, args.keep)?;
    let answer = Demo { success: Success, statuses: played.statuses, folder: played.folder };
    CommandAnswer::of(&answer, "")
}
