//! `orange install`: writes the skill for agents to where each coding agent looks for skills.

use crate::Result;
use crate::app::App;
use crate::cmd::answer::CommandAnswer;
use crate::cmd::args::InstallArgs;
use crate::cmd::skill;
use crate::setup::skill::write;
use orange_api::{Install, SkillFile, Success};

/// Writes the skill for the named harness, or for every harness whose program is on `PATH`; or only prints it.
pub fn run(app: &App, args: &InstallArgs) -> Result<CommandAnswer> {
    let text = skill::text(&app.machines.usable()?);
    if args.print {
        let printed = text.trim_end().to_owned();
        return CommandAnswer::of(&Install::Printed { skill: text }, printed);
    }
    app.caller.check_person("install the skill for coding agents")?;
    let written = write(app, args.harness.as_deref(), &text)?;
    let written = written.into_iter().map(|(harness, file, change)| SkillFile {
        harness: harness.into(),
        file: file.display().to_string(),
        change: change.word().into(),
    });
    let files: Vec<_> = written.collect();
    let lines: Vec<_> = files.iter().map(|it| format!("{} {}", it.change, it.file)).collect();
    CommandAnswer::of(&Install::Written { success: Success, files }, lines.join("\n"))
}
