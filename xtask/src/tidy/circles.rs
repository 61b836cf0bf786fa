//! No modules of a crate name each other in a circle. A module and those inside of it may: they are one thing.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::RuleBreach;
use super::sources::code_outside_tests;
use crate::workspace::TextFile;

/// The crates that are examined, and how far down: deeper modules count as the one that they are in.
const CRATES: &[(&str, usize)] = &[
    ("codegen/src", usize::MAX),
    ("analysis/src", 1),
    ("engine/api/src", usize::MAX),
    ("engine/journal/src", usize::MAX),
    ("engine/system/src", usize::MAX),
    ("engine/src", usize::MAX),
];

/// The names of a module from the root of its crate, or of an item in it.
type Path = Vec<String>;

/// Every circle, at the first of its modules.
pub(super) fn circles(files: &[TextFile]) -> Vec<RuleBreach> {
    CRATES.iter().flat_map(|(root, depth)| of_crate(root, *depth, files)).collect()
}

fn of_crate(root: &str, depth: usize, files: &[TextFile]) -> Vec<RuleBreach> {
    let modules: BTreeMap<Path, &TextFile> =
        files.iter().filter_map(|file| Some((module(root, file)?, file))).collect();
    let arrows = arrows(&modules, depth);
    let mut seen = BTreeSet::new();
    let mut findings = Vec::new();
    for (start, file) in &modules {
        let Some(circle) = back_to(start, &arrows) else { continue };
        if circle.iter().all(|module| seen.insert(module.clone())) {
            let names: Vec<_> = circle.iter().chain([start]).map(|module| module.join("::")).collect();
            let problem = format!("is in a circle of modules: {}", names.join(" → "));
            let remedy = "move what both need into a module that names neither of them";
            findings.push(RuleBreach::new(&file.path, problem, remedy));
        }
    }
    findings
}

/// The module of a file, if it is one of this crate and not of its tests.
fn module(root: &str, file: &TextFile) -> Option<Path> {
    let inside = file.path.strip_prefix(root)?.strip_prefix('/')?.strip_suffix(".rs")?;
    let mut path: Path = inside.split('/').map(str::to_owned).collect();
    if path.iter().any(|name| name == "tests") {
        return None;
    }
    path.pop_if(|last| ["mod", "lib", "main"].contains(&last.as_str()));
    Some(path)
}

/// Modules that each module names, beside those that it is in.
fn arrows(modules: &BTreeMap<Path, &TextFile>, depth: usize) -> BTreeMap<Path, BTreeSet<Path>> {
    let mut exported = BTreeMap::new();
    let mut named: Vec<(&Path, Path)> = Vec::new();
    for (module, file) in modules {
        let code: Vec<_> = code_outside_tests(file).map(|(_, line)| line.trim()).collect();
        let code = code.join(" ");
        for (path, is_public) in uses(&code) {
            let Some(path) = absolute(path, module, modules) else { continue };
            if let Some(name) = path.last().filter(|_| is_public) {
                exported.insert([module.as_slice(), std::slice::from_ref(name)].concat(), path.clone());
            }
            named.push((module, path));
        }
        named.extend(mentioned(&code).map(|path| (module, path)));
    }
    let mut arrows: BTreeMap<Path, BTreeSet<Path>> = BTreeMap::new();
    for (module, path) in named {
        let Some(to) = resolved(path, &exported, modules) else { continue };
        let cut = |path: &Path| path[..path.len().min(depth)].to_vec();
        let (from, to) = (cut(module), cut(&to));
        if !from.starts_with(&to) {
            arrows.entry(from).or_default().insert(to);
        }
    }
    arrows
}

/// The paths that `use` brings in, and whether it is public.
fn uses(code: &str) -> Vec<(Path, bool)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("use ") {
        let before = code[..at].trim_end();
        let is_public =
            before.ends_with("pub") || before.ends_with("pub(crate)") || before.ends_with("pub(super)");
        if is_public || before.is_empty() || before.ends_with([';', '}', '{', ']']) {
            let tree = code[at + "use ".len()..].split(';').next().unwrap_or_default();
            expand(&[], tree, &mut |path| found.push((path, is_public)));
        }
    }
    found
}

/// Calls `tell` with each path of a tree: `a::{b, c::d}` has `a::b` and `a::c::d`.
fn expand(above: &[String], tree: &str, tell: &mut impl FnMut(Path)) {
    let (mut depth, mut begin) = (0, 0);
    let ends = tree.char_indices().chain([(tree.len(), ',')]);
    for (at, letter) in ends {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                one(above, tree[begin..at].trim(), tell);
                begin = at + 1;
            }
            _ => {}
        }
    }
}

fn one(above: &[String], branch: &str, tell: &mut impl FnMut(Path)) {
    let (path, below) = match branch.split_once('{') {
        Some((path, below)) => (path, below.trim_end().strip_suffix('}')),
        None => (branch.split(" as ").next().unwrap_or_default(), None),
    };
    let names = path.split("::").map(str::trim).filter(|name| !name.is_empty());
    let names = names.filter(|name| *name != "self" || above.is_empty()).map(str::to_owned);
    let path: Path = above.iter().cloned().chain(names).collect();
    match below {
        Some(below) => expand(&path, below, tell),
        None if path.is_empty() => {}
        None => tell(path),
    }
}

/// The paths in the code that begin with `crate::`.
fn mentioned(code: &str) -> impl Iterator<Item = Path> {
    let is_path = |letter: char| letter.is_alphanumeric() || "_:".contains(letter);
    code.split("crate::").skip(1).map(move |text| {
        let path = text.split(|letter| !is_path(letter)).next().unwrap_or_default();
        path.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect()
    })
}

/// The path from the root of the crate; `None` for one of another crate.
fn absolute(mut path: Path, module: &Path, modules: &BTreeMap<Path, &TextFile>) -> Option<Path> {
    let mut from = module.clone();
    match path.first()?.as_str() {
        "crate" => return Some(path.split_off(1)),
        "self" => path = path.split_off(1),
        "super" => {
            let count = path.iter().take_while(|name| *name == "super").count();
            from.truncate(from.len().saturating_sub(count));
            path = path.split_off(count);
        }
        name => {
            let child = [module.as_slice(), &[name.to_owned()]].concat();
            modules.contains_key(&child).then_some(())?;
        }
    }
    from.extend(path);
    Some(from)
}

/// The module that has what this path names, wherever it is exported from.
fn resolved(
    mut path: Path,
    exported: &BTreeMap<Path, Path>,
    modules: &BTreeMap<Path, &TextFile>,
) -> Option<Path> {
    const LONGEST_CHAIN: usize = 8;
    for _ in 0..LONGEST_CHAIN {
        let from = (1..=path.len()).rev().map(|length| path[..length].to_vec());
        let mut hit = from.filter(|from| !modules.contains_key(from)).filter_map(|from| {
            let to = exported.get(&from).filter(|to| **to != from)?;
            Some([to.as_slice(), &path[from.len()..]].concat())
        });
        let Some(next) = hit.next() else { break };
        drop(hit);
        path = next;
    }
    let mut ancestors = (1..=path.len()).rev().map(|length| path[..length].to_vec());
    ancestors.find(|ancestor| modules.contains_key(ancestor))
}

/// The shortest walk along the arrows from a module back to it.
fn back_to(start: &Path, arrows: &BTreeMap<Path, BTreeSet<Path>>) -> Option<Vec<Path>> {
    let mut reached = BTreeSet::new();
    let mut walks = VecDeque::from([vec![start.clone()]]);
    while let Some(walk) = walks.pop_front() {
        for to in walk.last().and_then(|last| arrows.get(last)).into_iter().flatten() {
            if to == start {
                return Some(walk);
            }
            if reached.insert(to) {
                walks.push_back([walk.as_slice(), std::slice::from_ref(to)].concat());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(files: &[(&str, &str)], expect: &[&str]) {
        let file = |(path, text): &(&str, &str)| TextFile {
            path: format!("engine/src/{path}"),
            text: format!("//! A.\n{text}\n"),
        };
        let files: Vec<_> = files.iter().map(file).collect();
        let found: Vec<_> = circles(&files).into_iter().map(|finding| finding.problem).collect();
        let expect: Vec<_> =
            expect.iter().map(|circle| format!("is in a circle of modules: {circle}")).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn modules_that_name_each_other_are_refused() {
        let agents = ("hooks/agents.rs", "use crate::hooks::{trace, workspace};");
        check(&[agents, ("hooks/workspace.rs", "use crate::store::Pool;")], &[]);
        let circle = ["hooks::agents → hooks::workspace → hooks::agents"];
        check(&[agents, ("hooks/workspace.rs", "use crate::hooks::agents;")], &circle);
        check(&[agents, ("hooks/workspace.rs", "use super::agents::{self, start};")], &circle);
        check(&[agents, ("hooks/workspace.rs", "fn f() { crate::hooks::agents::start() }")], &circle);
        check(&[agents, ("hooks/workspace.rs", "// crate::hooks::agents names this one")], &[]);
        check(&[agents, ("hooks/workspace.rs", "#[cfg(test)]\nuse super::agents;")], &[]);
    }

    #[test]
    fn a_circle_is_found_through_others() {
        let files = [
            ("flow/mod.rs", "mod a;\nmod b;\npub use a::act;\npub use b::{self as other, Bound};"),
            (
                "flow/a.rs",
                "use crate::{\n    Result,\n    store::{self, flow::{d}, Pool},\n    flow::{c::{Goal, Look}, e},\n};",
            ),
            ("flow/c.rs", "use crate::flow::Bound;"),
            ("flow/b.rs", "use crate::flow::act;"),
        ];
        check(&files, &["flow::a → flow::c → flow::b → flow::a"]);
        check(&files[..3], &[]);
    }

    #[test]
    fn a_module_and_those_inside_of_it_are_one_thing() {
        check(&[("flow/mod.rs", "mod a;\nuse self::a::act;"), ("flow/a.rs", "use super::Goal;")], &[]);
        check(&[("flow.rs", "mod a;\nuse a::act;"), ("flow/a.rs", "use crate::flow::Goal;")], &[]);
    }
}
