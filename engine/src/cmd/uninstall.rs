//! `orange uninstall`: shows what an installation has put on this machine, and removes it if a person agrees.

use crate::Result;
use crate::app::App;
use crate::cmd::answer::CommandAnswer;
use crate::cmd::args::UninstallArgs;
use crate::flow::uninstall::{Installation, InstalledFile, check, look, remove};
use orange_api::{InstalledPart, KeptPart, Uninstall};

const MANUAL: &str = "manual";

/// Shows the parts, or removes them.
pub fn run(app: &App, args: &UninstallArgs) -> Result<CommandAnswer> {
    check(app)?;
    let found = look(app)?;
    if args.yes {
        remove(app, &found)?;
    }
    let Installation { files, kept } = found;
    let mut lines = lines_of(&files, args.yes);
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
    let part = |file: InstalledFile| InstalledPart {
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

/// A line for each file, and for all manual pages of a folder.
fn lines_of(files: &[InstalledFile], are_removed: bool) -> Vec<String> {
    let [removed, taken_back] =
        if are_removed { ["removed", "took back"] } else { ["would remove", "would take back"] };
    let of_one_folder = |one: &InstalledFile, other: &InstalledFile| {
        [one.kind, other.kind] == [MANUAL; 2] && one.path.parent() == other.path.parent()
    };
    let line = |group: &[InstalledFile]| {
        let [first, others @ ..] = group else { return String::new() };
        let path = first.path.display();
        match (first.kind, others) {
            ("consent", _) => {
                format!("{taken_back:<15}  consent      {path} (what `orange setup` has set there)")
            }
            (kind, []) => format!("{removed:<15}  {kind:<11}  {path}"),
            (kind, more) => format!("{removed:<15}  {kind:<11}  {path} and {} more beside it", more.len()),
        }
    };
    files.chunk_by(of_one_folder).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manual_pages_of_a_folder_take_one_line() {
        let file = |kind, path: &str| InstalledFile { kind, path: path.into() };
        let files = [
            file("program", "/bin/orange"),
            file(MANUAL, "/man/orange.1"),
            file(MANUAL, "/man/orange-task.1"),
            file(MANUAL, "/other/orange.1"),
            file("consent", "/home/claude.json"),
        ];
        assert_eq!(
            lines_of(&files, false),
            [
                "would remove     program      /bin/orange",
                "would remove     manual       /man/orange.1 and 1 more beside it",
                "would remove     manual       /other/orange.1",
                "would take back  consent      /home/claude.json (what `orange setup` has set there)",
            ]
        );
    }
}
