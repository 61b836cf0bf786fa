//! The modules of the engine have an order, and none names a later one.

use super::RuleBreach;
use super::sources::code_outside_tests;
use crate::workspace::TextFile;

/// From the lowest to the highest. Other modules may be used by all.
const ROOMS: &[&str] = &[
    "store", "caller", "machines", "drive", "app", "setup", "hooks", "relay", "flow", "doctor", "demo", "cmd",
];

/// Rooms below a room that it leaves to the one between them: a command calls `flow`, and only `flow` acts.
const LEFT_TO_OTHERS: &[(&str, &[&str])] = &[("cmd", &["drive", "hooks"])];

/// Every line of a room that names one above it, or one that it leaves to others.
pub(super) fn climbs(files: &[TextFile]) -> Vec<RuleBreach> {
    files.iter().flat_map(of_file).collect()
}

fn of_file(file: &TextFile) -> impl Iterator<Item = RuleBreach> {
    let own = ROOMS.iter().position(|room| is_in(file, room));
    let above = own.map_or(&[][..], |own| &ROOMS[own + 1..]);
    let left = LEFT_TO_OTHERS.iter().find(|(room, _)| is_in(file, room)).map_or(&[][..], |(_, left)| left);
    code_outside_tests(file).filter_map(move |(number, code)| {
        let room = named(code).find(|room| above.contains(room) || left.contains(room))?;
        let place = format!("{}:{number}", file.path);
        let (problem, remedy) = if left.contains(&room) {
            let problem = format!("names `{room}`, which it leaves to the rooms between them");
            (problem, "move the decision to `flow`, and call it")
        } else {
            let problem = format!("names `{room}`, which is a higher module");
            (problem, "move what both need to the lower of the two modules")
        };
        Some(RuleBreach::new(place, problem, remedy))
    })
}

fn is_in(file: &TextFile, room: &str) -> bool {
    let inside = file.path.strip_prefix("engine/src/").and_then(|path| path.strip_prefix(room));
    inside.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

/// The modules of this package that a line names: `a` and `b` in `use crate::{a::x, b}`.
fn named(code: &str) -> impl Iterator<Item = &str> {
    code.split("crate::").skip(1).flat_map(|path| {
        let count = if path.starts_with('{') { usize::MAX } else { 1 };
        let paths = path.trim_start_matches('{').split(", ").take(count);
        paths.filter_map(|path| path.split(|letter: char| !letter.is_alphanumeric()).next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, line: &str, expect: usize) {
        let file = TextFile { path: path.to_string(), text: format!("//! A.\n{line}\n") };
        assert_eq!(climbs(&[file]).len(), expect, "{line}");
    }

    #[test]
    fn a_room_names_those_below_it() {
        check("engine/src/hooks/other.rs", "use crate::flow::finish::finish;", 1);
        check("engine/src/hooks/other.rs", "use crate::{Error, cmd, store};", 1);
        check("engine/src/hooks/other.rs", "let it = crate::doctor::CHECKS;", 1);
        check("engine/src/hooks/other.rs", "use crate::{Error, store::LockedWorkItem};", 0);
        check("engine/src/hooks/other.rs", "// crate::flow does the rest", 0);
        check("engine/src/flow/finish.rs", "use crate::hooks::{self, cmd};", 0);
        check("engine/src/cmd/task/create.rs", "use crate::drive::git::Git;", 1);
        check("engine/src/cmd/task/create.rs", "use crate::{app::App, hooks::workspace};", 1);
        check("engine/src/relay/serve.rs", "use crate::flow::limit;", 1);
        check("engine/src/app.rs", "use crate::flow::TransitionResult;", 1);
        check("engine/src/files.rs", "use crate::flow::TransitionResult;", 0);
        check("engine/src/store/tests/editors.rs", "use crate::drive::testing;", 0);
        check("codegen/src/flow.rs", "use crate::cmd;", 0);
    }
}
