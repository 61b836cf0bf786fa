//! The refs of a private repository, read as data: an agent may write whatever it likes there, and no git looks at it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

use crate::{Error, ErrorKind, Result};
use orange_api::Unfit;
use orange_system::nofollow;

/// The longest file with one ref.
const LONGEST_REF: u64 = 4096;

/// The longest `packed-refs`.
pub(super) const LONGEST_PACKED: u64 = 256 * 1024 * 1024;

/// The most folders in which refs are looked for, one within the other.
const DEEPEST: usize = 32;

/// Refs that belong to one worktree, or whose meaning is in a reflog that others do not have.
const OWN: [&str; 4] = ["refs/bisect/", "refs/worktree/", "refs/rewritten/", "refs/stash"];

/// Object of a ref.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RefValue {
    pub(super) object: String,
    /// The object that an annotated tag names.
    pub(super) peeled: Option<String>,
}

/// Refs by their full names.
pub(super) type Refs = BTreeMap<String, RefValue>;

impl RefValue {
    fn of(object: &str) -> RefValue {
        RefValue { object: object.to_owned(), peeled: None }
    }
}

/// The format of `git for-each-ref` that [`listed`] reads.
pub(super) const FORMAT: &str = "--format=%(refname)%00%(objectname)%00%(*objectname)%00%(symref)";

/// The refs that a private repository has from the project's, and the symbolic ones, each with its target.
pub(super) fn listed(printed: &[u8]) -> (Refs, Vec<(String, String)>) {
    let (mut refs, mut symbolic) = (Refs::new(), Vec::new());
    for line in String::from_utf8_lossy(printed).lines() {
        let fields: Vec<&str> = line.split('\0').collect();
        let [name, object, peeled, target] = fields[..] else { continue };
        if OWN.iter().any(|own| name.starts_with(own)) || !is_name(name) {
            continue;
        }
        if is_name(target) {
            symbolic.push((name.to_owned(), target.to_owned()));
        } else if is_object(object) {
            let peeled = is_object(peeled).then(|| peeled.to_owned());
            refs.insert(name.to_owned(), RefValue { object: object.to_owned(), peeled });
        }
    }
    (refs, symbolic)
}

/// The text of a `packed-refs`.
pub(super) fn packed(refs: &Refs) -> String {
    let mut text = "# pack-refs with: peeled fully-peeled sorted \n".to_owned();
    for (name, value) in refs {
        // Writing into a text does not fail.
        writeln!(text, "{} {name}", value.object).unwrap_or_default();
        if let Some(peeled) = &value.peeled {
            writeln!(text, "^{peeled}").unwrap_or_default();
        }
    }
    text
}

/// The refs of a text of `packed-refs`. Lines of another form are passed over.
pub(super) fn unpacked(text: &str) -> Refs {
    let mut refs = Refs::new();
    let mut last: Option<String> = None;
    for line in text.lines() {
        if let Some(peeled) = line.strip_prefix('^') {
            if let Some(value) = last.as_ref().and_then(|name| refs.get_mut(name)) {
                value.peeled = is_object(peeled).then(|| peeled.to_owned());
            }
            continue;
        }
        last = None;
        let Some((object, name)) = line.split_once(' ') else { continue };
        if is_object(object) && is_name(name) {
            refs.insert(name.to_owned(), RefValue::of(object));
            last = Some(name.to_owned());
        }
    }
    refs
}

/// Object of one ref of a repository; `None` if it has none there.
///
/// # Errors
/// `corrupt` where the file of the ref is a link or has another text: git would follow it elsewhere.
pub(super) fn one(folder: &Path, name: &str) -> Result<Option<String>> {
    let path = folder.join(name);
    match nofollow::read(&path, LONGEST_REF) {
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes).trim_end().to_owned();
            if is_object(&text) { Ok(Some(text)) } else { Err(unreadable(&path, "it has no object's name")) }
        }
        Err(cause) if is_missing(&cause) => Ok(read_packed(folder)?.remove(name).map(|value| value.object)),
        Err(cause) => Err(unreadable(&path, &cause.to_string())),
    }
}

/// All refs of a repository whose files are plain.
pub(super) fn all(folder: &Path) -> Result<Refs> {
    let mut refs = read_packed(folder)?;
    let mut folders = vec![(folder.join("refs"), "refs".to_owned(), 0)];
    while let Some((folder, name, depth)) = folders.pop() {
        let entries = nofollow::entries(&folder).map_err(|cause| unreadable(&folder, &cause.to_string()))?;
        for entry in entries {
            let Ok(own) = entry.file_name().into_string() else { continue };
            let name = format!("{name}/{own}");
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && depth < DEEPEST => folders.push((entry.path(), name, depth + 1)),
                Ok(kind) if kind.is_file() && is_name(&name) => {
                    let bytes = match nofollow::read(&entry.path(), LONGEST_REF) {
                        Ok(bytes) => bytes,
                        // It was deleted, or packed, meanwhile; or git has no ref of this form.
                        Err(cause) if is_missing(&cause) || Unfit::of(&cause).is_some() => continue,
                        // Without it, the next repository would lack a branch of the agent.
                        Err(cause) => return Err(unreadable(&entry.path(), &cause.to_string())),
                    };
                    let text = String::from_utf8_lossy(&bytes).trim_end().to_owned();
                    if is_object(&text) {
                        refs.insert(name, RefValue::of(&text));
                    }
                }
                Ok(kind) if kind.is_dir() => {
                    return Err(unreadable(&entry.path(), "folders of refs are too deep"));
                }
                Ok(_) => {}
                Err(cause) => return Err(unreadable(&entry.path(), &cause.to_string())),
            }
        }
    }
    Ok(refs)
}

/// The refs for the next agent: those of the project as they are now, with what the last agent has made or moved. `given` are those
/// with which that agent began.
pub(super) fn carried(given: &Refs, private: Refs, now: Refs, branch: &str) -> Refs {
    let mut refs = now;
    for (name, value) in private {
        let is_its_own = given.get(&name).is_none_or(|before| before.object != value.object);
        // The task's branch is the project's, which has got its commits.
        if is_its_own && name != branch && !name.starts_with("refs/remotes/") && !meets(&refs, &name) {
            refs.insert(name, value);
        }
    }
    refs
}

/// True if git cannot have a ref of this name beside those: `a` and `a/b` are a file and a folder.
fn meets(refs: &Refs, name: &str) -> bool {
    let below = format!("{name}/");
    let is_below = refs.range(below.clone()..).next().is_some_and(|(other, _)| other.starts_with(&below));
    is_below || name.match_indices('/').any(|(at, _)| refs.contains_key(&name[..at]))
}

fn read_packed(folder: &Path) -> Result<Refs> {
    let path = folder.join("packed-refs");
    match nofollow::read(&path, LONGEST_PACKED) {
        Ok(bytes) => Ok(unpacked(&String::from_utf8_lossy(&bytes))),
        Err(cause) if is_missing(&cause) => Ok(Refs::new()),
        Err(cause) => Err(unreadable(&path, &cause.to_string())),
    }
}

/// The error of a private repository that an agent has made unreadable.
pub(super) fn unreadable(path: &Path, why: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("{} cannot be taken over: {why}", path.display())).help(
        "an agent works in that repository, and nothing of the project's depends on it; look at it by hand, or move it away \
         to give the next agent a new one",
    )
}

fn is_missing(cause: &io::Error) -> bool {
    matches!(cause.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// A full name of an object, SHA-1 or SHA-256.
pub(super) fn is_object(text: &str) -> bool {
    matches!(text.len(), 40 | 64)
        && text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'))
}

/// The name of a ref that is a path below `refs`, as git lets it be one.
pub(super) fn is_name(name: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && !part.ends_with('.')
            && !part.contains("..")
            && Path::new(part).extension().is_none_or(|end| end != "lock")
    };
    let is_odd = |letter: char| letter.is_control() || " ~^:?*[\\".contains(letter);
    name.strip_prefix("refs/").is_some_and(|rest| rest.split('/').all(is_part)) && !name.contains(is_odd)
}

/// The path of a branch's ref.
pub(super) fn of_branch(branch: &str) -> String {
    format!("refs/heads/{branch}")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    const A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const B: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

    fn refs(of: &[(&str, &str)]) -> Refs {
        of.iter().map(|(name, object)| ((*name).to_owned(), RefValue::of(object))).collect()
    }

    #[test]
    fn refs_are_packed_with_what_tags_name() {
        let printed = format!(
            "refs/heads/main\0{A}\0\0\nrefs/remotes/origin/HEAD\0{A}\0\0refs/remotes/origin/main\n\
             refs/stash\0{A}\0\0\nrefs/bisect/bad\0{A}\0\0\nrefs/tags/v1\0{A}\0{B}\0\nodd\n"
        );
        let (found, symbolic) = listed(printed.as_bytes());
        let text = packed(&found);
        let expect = format!(
            "# pack-refs with: peeled fully-peeled sorted \n{A} refs/heads/main\n{A} refs/tags/v1\n^{B}\n"
        );
        assert_eq!(text, expect);
        assert_eq!(unpacked(&text), found);
        let head = ("refs/remotes/origin/HEAD".to_owned(), "refs/remotes/origin/main".to_owned());
        assert_eq!(symbolic, [head]);
    }

    #[test]
    fn names_that_lead_elsewhere_are_none() {
        for name in ["refs/heads/fix/login", "refs/tags/v1.0", "refs/heads/a.b"] {
            assert!(is_name(name), "{name}");
        }
        let odd = [
            "",
            "HEAD",
            "refs/",
            "refs/heads/../x",
            "refs/heads//x",
            "refs/heads/.x",
            "refs/heads/x.lock",
            "refs/heads/a b",
            "refs/heads/a\n",
            "/refs/heads/x",
            "refs/heads/x.",
            "refs/heads/a:b",
        ];
        for name in odd {
            assert!(!is_name(name), "{name}");
        }
        for text in ["", "abc", &A.to_uppercase(), &format!("{A}\n"), &A.replace('a', "g")] {
            assert!(!is_object(text), "{text}");
        }
    }

    #[test]
    fn no_link_and_no_other_text_is_a_ref() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let heads = root.join("refs/heads");
        fs::create_dir_all(&heads).unwrap();
        fs::write(root.join("elsewhere"), A).unwrap();
        fs::write(heads.join("good"), format!("{A}\n")).unwrap();
        symlink(root.join("elsewhere"), heads.join("link")).unwrap();
        symlink(&root, heads.join("folder")).unwrap();
        fs::write(heads.join("symbolic"), "ref: refs/heads/good\n").unwrap();
        fs::write(heads.join("long"), vec![b'a'; 5000]).unwrap();
        fs::write(root.join("packed-refs"), format!("{B} refs/heads/packed\n{B} refs/heads/good\n")).unwrap();
        assert_eq!(one(&root, "refs/heads/good").unwrap().as_deref(), Some(A));
        assert_eq!(one(&root, "refs/heads/packed").unwrap().as_deref(), Some(B));
        assert_eq!(one(&root, "refs/heads/none").unwrap(), None);
        for name in ["link", "folder/elsewhere", "symbolic", "long"] {
            let found = one(&root, &of_branch(name));
            assert_eq!(found.unwrap_err().kind, ErrorKind::Corrupt, "{name}");
        }
        assert_eq!(all(&root).unwrap(), refs(&[("refs/heads/good", A), ("refs/heads/packed", B)]));
    }

    #[test]
    fn the_next_agent_has_what_the_last_one_made() {
        let given = refs(&[("refs/heads/main", A), ("refs/heads/task", A), ("refs/heads/gone", A)]);
        let private = refs(&[
            ("refs/heads/gone", A),
            ("refs/heads/main", A),
            ("refs/heads/own", B),
            ("refs/heads/task", B),
            ("refs/heads/new/below", B),
            ("refs/remotes/origin/x", B),
            ("refs/stash", B),
        ]);
        let now = refs(&[("refs/heads/main", B), ("refs/heads/new", A), ("refs/heads/task", A)]);
        let expect = refs(&[
            ("refs/heads/main", B),
            ("refs/heads/new", A),
            ("refs/heads/own", B),
            ("refs/heads/task", A),
            ("refs/stash", B),
        ]);
        assert_eq!(carried(&given, private, now, "refs/heads/task"), expect);
    }
}
