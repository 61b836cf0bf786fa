//! Patterns of paths with `*`, `?` and `{session}`, for the transcripts of a harness.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

const SESSION: &str = "{session}";

/// The matching paths, each with the value of `{session}` in its last part. A pattern begins with `/`, `~/` or `$NAME/`; if that
/// variable is not set, nothing matches.
pub fn expand(pattern: &str, env: &dyn Fn(&str) -> Option<OsString>) -> Vec<(PathBuf, String)> {
    let Some((first, rest)) = pattern.split_once('/') else { return Vec::new() };
    let base = match first.strip_prefix('$') {
        None if first.is_empty() => Some("/".into()),
        None if first == "~" => env("HOME"),
        None => None,
        Some(name) => env(name),
    };
    let base = base.map(PathBuf::from).filter(|base| base.is_absolute());
    let parts: Vec<&str> = rest.split('/').collect();
    let mut found = Vec::new();
    if let Some(base) = base {
        walk(&base, &parts, &mut found);
    }
    found
}

fn walk(folder: &Path, parts: &[&str], found: &mut Vec<(PathBuf, String)>) {
    let Some((part, rest)) = parts.split_first() else { return };
    let fits = |name: &str| capture(part, name).map(str::to_owned);
    if !part.contains(['*', '?', '{']) {
        return step(folder.join(part), rest, String::new(), found);
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if let Some(session) = entry.file_name().to_str().and_then(fits) {
            step(entry.path(), rest, session, found);
        }
    }
}

fn step(path: PathBuf, rest: &[&str], session: String, found: &mut Vec<(PathBuf, String)>) {
    if rest.is_empty() { found.push((path, session)) } else { walk(&path, rest, found) }
}

/// True if a name fits a pattern.
pub fn fits(pattern: &str, name: &str) -> bool {
    capture(pattern, name).is_some()
}

/// The value of `{session}` in a matching name.
fn capture<'n>(pattern: &str, name: &'n str) -> Option<&'n str> {
    if let Some(rest) = pattern.strip_prefix(SESSION) {
        let mut ends = (0..=name.len()).rev().filter(|end| name.is_char_boundary(*end));
        let end = ends.find(|end| capture(rest, &name[*end..]).is_some())?;
        return Some(&name[..end]);
    }
    let mut pattern = pattern.chars();
    match pattern.next() {
        None => name.is_empty().then_some(""),
        Some('*') => {
            let mut starts = (0..=name.len()).filter(|start| name.is_char_boundary(*start));
            starts.find_map(|start| capture(pattern.as_str(), &name[start..]))
        }
        Some(wanted) => {
            let mut letters = name.chars();
            let letter = letters.next()?;
            if wanted == '?' || wanted == letter { capture(pattern.as_str(), letters.as_str()) } else { None }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, name: &str, expect: Option<&str>) {
        assert_eq!(capture(pattern, name), expect);
    }

    #[test]
    fn a_name_gives_the_session() {
        check("{session}.jsonl", "1-2.jsonl", Some("1-2"));
        check("*_{session}.jsonl", "2026-11-22T13_ab-c.jsonl", Some("ab-c"));
        let codex = "rollout-????-??-??T??-??-??-{session}.jsonl";
        check(codex, "rollout-2026-11-22T13-40-17-01a2037c-7233.jsonl", Some("01a2037c-7233"));
        check(codex, "rollout-2026.jsonl", None);
        check("a*c", "abbc", Some(""));
        check("a*c", "abb", None);
        check("é?", "éé", Some(""));
    }

    #[test]
    fn paths_are_found_below_a_variable_or_the_home() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["p/one/a.jsonl", "p/two/b.jsonl", "p/two/c.txt"] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let env = |name: &str| (name == "HOME").then(|| folder.path().as_os_str().to_owned());
        let mut found = expand("~/p/*/{session}.jsonl", &env);
        found.sort();
        let expect = [("p/one/a.jsonl", "a"), ("p/two/b.jsonl", "b")];
        assert_eq!(found, expect.map(|(path, id)| (folder.path().join(path), id.to_owned())));
        assert_eq!(expand("$HOME/p/one/*", &env).len(), 1);
        for nothing in
            ["$OTHER/p/*/{session}.jsonl", "p/*/{session}.jsonl", "~", "", "~/p/*/d.jsonl/{session}"]
        {
            assert_eq!(expand(nothing, &env), [], "{nothing}");
        }
    }
}
