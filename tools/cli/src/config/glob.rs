//! Patterns for paths: `*` and `?` within one name, `**` for any number of folders.

/// A pattern for paths below one folder.
#[derive(Debug)]
pub(crate) struct Glob {
    names: Vec<String>,
}

impl Glob {
    /// Reads a pattern; `Err` has its error.
    pub(crate) fn new(pattern: &str) -> Result<Self, &'static str> {
        let names: Vec<String> =
            pattern.split('/').filter(|it| !it.is_empty() && *it != ".").map(str::to_owned).collect();
        if pattern.starts_with('/') || names.iter().any(|it| it == "..") {
            return Err("a pattern is for paths below the folder of this file");
        }
        if names.is_empty() {
            return Err("this pattern is empty");
        }
        Ok(Self { names })
    }

    /// True if a path with `/` between its names fits, or lies in a folder that does.
    pub(crate) fn fits(&self, path: &str) -> bool {
        let path: Vec<&str> = path.split('/').collect();
        // The lengths, in names, of the beginnings of the path that the pattern so far matches.
        let mut reached = vec![false; path.len() + 1];
        reached[0] = true;
        for name in &self.names {
            if name == "**" {
                let first = reached.iter().position(|it| *it).unwrap_or(reached.len());
                reached[first..].fill(true);
            } else {
                for at in (0..path.len()).rev() {
                    reached[at + 1] = reached[at] && name_fits(name, path[at]);
                }
                reached[0] = false;
            }
        }
        reached.iter().any(|it| *it)
    }
}

/// `*` matches any characters, `?` one.
fn name_fits(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut in_name) = (0, 0);
    let mut star = None;
    while in_name < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, in_name));
                at += 1;
            }
            Some(it) if *it == '?' || *it == name[in_name] => {
                at += 1;
                in_name += 1;
            }
            Some(_) | None => {
                // The last star matches one character more.
                let Some((star_at, taken)) = star else { return false };
                star = Some((star_at, taken + 1));
                at = star_at + 1;
                in_name = taken + 1;
            }
        }
    }
    pattern[at..].iter().all(|it| *it == '*')
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests may fail where they stand")]

    use super::*;

    #[track_caller]
    fn check(pattern: &str, path: &str, expect: bool) {
        assert_eq!(Glob::new(pattern).unwrap().fits(path), expect, "{pattern} {path}");
    }

    #[test]
    fn names() {
        check("a.yml", "a.yml", true);
        check("./a.yml", "a.yml", true);
        check("a.yml", "b/a.yml", false);
        check("*.yml", "a.yml", true);
        check("*.yml", "a.toml", false);
        check("*.yml", "b/a.yml", false);
        check("a*b*c", "a1b2b3c", true);
        check("a*b*c", "a1b2b3", false);
        check("?.yml", "é.yml", true);
        check("?.yml", "ab.yml", false);
    }

    #[test]
    fn folders() {
        check("drafts", "drafts/a/b.yml", true);
        check("drafts/", "drafts/a.yml", true);
        check("drafts/*.yml", "drafts/a.yml", true);
        check("drafts/*.yml", "drafts/a/b.yml", false);
        check("drafts/**", "drafts/a/b.yml", true);
        check("drafts/**", "other/a.yml", false);
        check("**/a.yml", "a.yml", true);
        check("**/a.yml", "x/y/a.yml", true);
        check("**/old/**/*.yml", "x/old/y/z/a.yml", true);
        check("**/old/**/*.yml", "x/new/a.yml", false);
        check("drafts", "a/drafts/b.yml", false);
    }

    #[test]
    fn no_pattern_takes_long() {
        check(&"*a".repeat(1_000), &"a".repeat(2_000), true);
        check(&"**/".repeat(1_000), &"a/".repeat(2_000), true);
    }

    #[test]
    fn patterns_that_lead_elsewhere() {
        for pattern in ["/a.yml", "../a.yml", "a/../../b.yml", "", "."] {
            assert!(Glob::new(pattern).is_err(), "{pattern}");
        }
    }
}
