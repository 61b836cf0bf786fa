//! `cargo xtask demo`: whole lives of tasks in a scratch home, with real tmux, real git and a scripted agent.

mod fleet;
mod mission;
mod page;
mod story;

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::Args;
use orange_engine::demo_home::AGENT;

use self::page::DemoPage;
use self::story::Story;
use crate::Result;
use crate::scratch::ScratchHome;
use crate::workspace::{OwnRepository, typed};

/// Whole lives of tasks in a scratch home: real tmux, real git, a scripted agent.
#[derive(Args)]
pub(crate) struct Demo {
    /// Instead, a gateway with three crabs, and two missions at once, while a crab and the gateway are killed
    #[arg(long)]
    fleet: bool,
}

/// Plays every scene, and stops with the reason when one ends differently.
pub(crate) fn run(workspace: &OwnRepository, arguments: &Demo) -> Result<ExitCode> {
    if arguments.fleet {
        return fleet::run(workspace);
    }
    let page = DemoPage::new();
    let scratch = ScratchHome::new(&built(workspace, "orange")?, AGENT)?;
    page.text(
        "A scratch home, a toy repository with a bare origin, a tmux server of its own, and a script that is",
    );
    page.text("called `claude` and does what its prompt says. Everything else is the real thing.");
    let played = play(&scratch, &page);
    let swept = sweep(&scratch, &page);
    played.map_err(|reason| format!("{reason}{}", scratch.log()))?;
    swept?;
    scratch.remove()?;
    page.text("The scratch home is removed. Everything came out as this text says.");
    Ok(ExitCode::SUCCESS)
}

/// The program of this package, which has the same name.
fn built(workspace: &OwnRepository, package: &str) -> Result<PathBuf> {
    Ok(workspace.built(&["--package", package])?.join(package))
}

fn play(scratch: &ScratchHome, page: &DemoPage) -> Result<()> {
    let stories = [reviewed_twice(scratch, page)?, crashed_twice(scratch, page)?, one_worker(scratch, page)?];
    mission::answered_twice(scratch, page)?;
    mission::exhausted(scratch, page)?;
    for story in &stories {
        page.heading(&format!("The journal of {}", story.branch()));
        story.history()?;
    }
    Ok(())
}

fn reviewed_twice<'s>(scratch: &'s ScratchHome, page: &'s DemoPage) -> Result<Story<'s>> {
    page.heading("default: a worker, a reviewer, a person");
    page.text("The first worker is impatient and asks for a review before it has written anything.");
    let create = ["task", "create", "fix/login", "Mend the login form [agents: impatient]"];
    let mut story = Story::begin(scratch, page, &create)?;
    story.reaches("reviewing")?;
    page.text("The review has passed. A person looks at the branch and merges it.");
    story.orange(&["task", "merge", "fix/login", "--local"])?;
    story.reaches("done")?;
    story.went(&["pending", "working", "agent-review", "working", "agent-review", "reviewing", "done"])?;
    Ok(story)
}

fn crashed_twice<'s>(scratch: &'s ScratchHome, page: &'s DemoPage) -> Result<Story<'s>> {
    page.heading("default: an agent that dies");
    page.text("Both agents of this task end without a word. The second time, the engine escalates.");
    let create = ["task", "create", "fix/cache", "Mend the cache [agents: crash crash]"];
    let mut story = Story::begin(scratch, page, &create)?;
    story.crashes(1)?;
    story.orange(&["task", "respawn", "fix/cache"])?;
    story.crashes(2)?;
    story.reaches("stuck")?;
    page.text("It waits for a person, who gives up on it.");
    story.orange(&["task", "cancel", "fix/cache", "--yes"])?;
    story.reaches("cancelled")?;
    story.went(&["pending", "working", "stuck", "cancelled"])?;
    Ok(story)
}

fn one_worker<'s>(scratch: &'s ScratchHome, page: &'s DemoPage) -> Result<Story<'s>> {
    page.heading("persistent: one worker from the plan to the end, reviewers in a window beside it");
    let create = ["task", "create", "add/theme", "Add a dark theme", "--workflow", "persistent"];
    let mut story = Story::begin(scratch, page, &create)?;
    story.reaches("reviewing")?;
    page.text("The review has passed, and the same worker is still there. A person merges its branch.");
    story.orange(&["task", "merge", "add/theme", "--local", "--strategy", "merge"])?;
    story.reaches("done")?;
    let statuses =
        ["pending", "planning", "working", "agent-review", "working", "agent-review", "reviewing", "done"];
    story.went(&statuses)?;
    Ok(story)
}

/// Shows that no agent is left, and ends any that is.
fn sweep(scratch: &ScratchHome, page: &DemoPage) -> Result<()> {
    page.heading("Nobody is left");
    let list = || scratch.tmux(&["list-panes", "-a", "-F", "#{session_name}:#{window_name}"]);
    let left = said(list())?;
    page.command("tmux list-panes -a");
    page.text(&left.text);
    if !left.success {
        return Ok(());
    }
    said(scratch.tmux(&["kill-server"]))?;
    page.command("tmux kill-server; tmux list-panes -a");
    page.text(&said(list())?.text);
    Err(format!("agents were left in tmux: {}", left.text.replace('\n', ", ")))
}

struct DemoOutput {
    success: bool,
    text: String,
}

fn said(mut command: Command) -> Result<DemoOutput> {
    let output = command.output().map_err(|error| format!("`{}` cannot be run: {error}", typed(&command)))?;
    let text = [output.stdout, output.stderr].concat();
    Ok(DemoOutput {
        success: output.status.success(),
        text: String::from_utf8_lossy(&text).trim_end().to_owned(),
    })
}
