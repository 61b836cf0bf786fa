//! `orange uninstall`: shows what an installation has put on this machine, and removes it if a person agrees.

use crate::Result;
use crate::app::App;
use crate::cmd::answer::CommandAnswer;
use crate::cmd::args::UninstallArgs;
use crate::flow::uninstall::{Installation, check, look, remove};
use orange_api::{InstalledPart, KeptPart, Uninstall};

/// Shows the parts, or removes them.
pub fn run(app: &App, args: &UninstallArgs) -> Result<CommandAnswer> {
    check(app)?;
    let found = look(app)?;
    if args.yes {
        remove(app, &found)?;
    }
    let Installation { files, kept } = found;
    let removed = if args.yes { "removed" } else { "would remove" };
    let mut lines: Vec<String> = files
        .iter()
        .map(|file| match file.kind {
            "consent" => {
                let what = if args.yes { "took back" } else { "would take back" };
                format!(
                    "{what:<15}  consent      {} (what `orange setup` has set there)",
                    file.path.display()
                )
            }
            kind => format!("{removed:<15}  {kind:<11}  {}", file.path.display()),
        })
        .collect();
    lines.extend(
        kept.iter().map(|kept| {
            format!("stays            {}\n                 by hand: {}", kept.what, kept.by_hand)
        }),
    );
    if !args.yes && !files.is_empty() {
        lines.push("nothing was changed: `orange uninstall --yes` removes what is named".to_owned());
    }
    if files.is_empty() {
        lines.push("there is nothing to remove".to_owned());
    }
    let part = |file: crate::flow::uninstall::InstalledFile| InstalledPart {
        kind: file.kind.to_owned(),
        path: file.path.display().to_string(),
    };
    let answer = Uninstall {
        removed: args.yes,
        parts: files.into_iter().map(part).collect(),
        kept: kept.into_iter().map(|kept| KeptPart { what: kept.what, by_hand: kept.by_hand }).collect(),
    };
    CommandAnswer::of(&answer, lines.join("\n"))
}
