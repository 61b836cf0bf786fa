//! Parsers of git's output.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A version of git.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GitVersion {
    /// Major version: 2 of 2.39.5.
    pub major: u32,
    /// Minor version: 39 of 2.39.5.
    pub minor: u32,
}

/// One worktree of a repository; the main checkout is the first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedWorktree {
    pub path: PathBuf,
    /// Its commit; `None` on a branch without commits, and for a bare repository.
    pub head: Option<String>,
    /// Its branch, without `refs/heads/`; `None` if it is detached.
    pub branch: Option<String>,
    /// True for a bare repository, without files.
    pub bare: bool,
}

/// A ref, and where it is checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ref {
    pub(super) name: String,
    pub(super) commit: String,
    pub(super) worktree: Option<PathBuf>,
}

/// The format that [`parse_refs`] reads.
pub(super) const REF_FORMAT: &str = "--format=%(refname)%00%(objectname)%00%(worktreepath)";

pub(super) fn parse_refs(printed: &[u8]) -> Vec<Ref> {
    printed.split(|&byte| byte == b'\n').filter_map(parse_ref).collect()
}

fn parse_ref(line: &[u8]) -> Option<Ref> {
    let mut fields = line.split(|&byte| byte == 0);
    let name = text(fields.next()?);
    let commit = text(fields.next()?);
    let worktree = fields.next().filter(|path| !path.is_empty()).map(path);
    Some(Ref { name, commit, worktree })
}

/// The worktrees in the output of `git worktree list --porcelain -z`.
pub(super) fn parse_worktrees(printed: &[u8]) -> Vec<ListedWorktree> {
    let mut worktrees: Vec<ListedWorktree> = Vec::new();
    for line in printed.split(|&byte| byte == 0) {
        if let Some(folder) = line.strip_prefix(b"worktree ") {
            worktrees.push(ListedWorktree { path: path(folder), ..ListedWorktree::default() });
        } else if let Some(worktree) = worktrees.last_mut() {
            if let Some(commit) = line.strip_prefix(b"HEAD ") {
                worktree.head = Some(text(commit)).filter(|commit| commit.bytes().any(|digit| digit != b'0'));
            } else if let Some(branch) = line.strip_prefix(b"branch refs/heads/") {
                worktree.branch = Some(text(branch));
            } else if line == b"bare" {
                worktree.bare = true;
            }
        }
    }
    worktrees
}

/// One changed or untracked file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// The two letters of `git status --porcelain`.
    pub code: String,
    /// The file, from the top of the worktree.
    pub path: PathBuf,
}

/// The changes in the output of `git status --porcelain -z`.
pub(super) fn parse_status(printed: &[u8]) -> Vec<ChangedFile> {
    let mut fields = printed.split(|&byte| byte == 0);
    let mut changes = Vec::new();
    while let Some(field) = fields.next() {
        let Some((code, file)) = field.split_at_checked(3) else { continue };
        let code = text(&code[..2]);
        if code.contains(['R', 'C']) {
            // The old name of a renamed file is the next field.
            fields.next();
        }
        changes.push(ChangedFile { code, path: path(file) });
    }
    changes
}

/// Git's object at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GitObject {
    pub(super) mode: String,
    pub(super) id: String,
}

impl GitObject {
    /// True if it is a repository of its own, such as a submodule.
    pub(super) fn is_repository(&self) -> bool {
        self.mode == "160000"
    }

    /// True if it is a regular file.
    pub(super) fn is_file(&self) -> bool {
        self.mode.starts_with("100")
    }

    /// The object that stands for no file, in the hash format of this one.
    pub(super) fn none_beside(&self) -> GitObject {
        GitObject { mode: "0".to_owned(), id: "0".repeat(self.id.len()) }
    }
}

/// A file in an index, or one side of its conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IndexEntry {
    tag: u8,
    mode: String,
    object: String,
    stage: u8,
    /// The file, from the top of the worktree.
    pub(super) path: PathBuf,
}

impl IndexEntry {
    /// True if it is a repository of its own, such as a submodule.
    pub(super) fn is_repository(&self) -> bool {
        self.mode == "160000"
    }

    pub(super) fn object(&self) -> GitObject {
        GitObject { mode: self.mode.clone(), id: self.object.clone() }
    }

    /// True if it is one side of a conflict.
    pub(super) fn is_conflict(&self) -> bool {
        self.stage != b'0'
    }

    /// True if its flags make git ignore changes of this file.
    pub(super) fn is_hidden(&self) -> bool {
        self.tag.is_ascii_lowercase() || self.tag == b'S'
    }
}

/// The entries in the output of `git ls-files -v --stage -z`.
pub(super) fn parse_entries(printed: &[u8]) -> Vec<IndexEntry> {
    printed.split(|&byte| byte == 0).filter_map(parse_entry).collect()
}

/// `H 100644 <object> 0<tab>path`.
fn parse_entry(line: &[u8]) -> Option<IndexEntry> {
    let tab = line.iter().position(|&byte| byte == b'\t')?;
    let mut fields = line[..tab].split(|&byte| byte == b' ');
    let tag = *fields.next()?.first()?;
    let mode = text(fields.next()?);
    let object = text(fields.next()?);
    let stage = *fields.next()?.first()?;
    Some(IndexEntry { tag, mode, object, stage, path: path(&line[tab + 1..]) })
}

/// The entries in the output of `git ls-tree -r -z`, each `<mode> <type> <object><tab>path`.
pub(super) fn parse_tree(printed: &[u8]) -> BTreeMap<PathBuf, GitObject> {
    let entry = |line: &[u8]| {
        let tab = line.iter().position(|&byte| byte == b'\t')?;
        let about = text(&line[..tab]);
        let mut fields = about.split(' ');
        let mode = fields.next()?.to_owned();
        let id = fields.nth(1)?.to_owned();
        Some((path(&line[tab + 1..]), GitObject { mode, id }))
    };
    printed.split(|&byte| byte == 0).filter_map(entry).collect()
}

/// Paths that end with zero bytes; folders without the last slash.
pub(super) fn parse_paths(printed: &[u8]) -> BTreeSet<PathBuf> {
    let paths = printed.split(|&byte| byte == 0).filter(|line| !line.is_empty());
    paths.map(|line| path(line.strip_suffix(b"/").unwrap_or(line))).collect()
}

/// The paths, attributes and values in the output of `git check-attr -z`.
pub(super) fn parse_attributes(printed: &[u8]) -> Vec<(PathBuf, String, String)> {
    let fields: Vec<&[u8]> = printed.split(|&byte| byte == 0).collect();
    let each = fields.chunks_exact(3);
    each.map(|field| (path(field[0]), text(field[1]), text(field[2]))).collect()
}

/// A path as a line, quoted for git.
pub(in crate::drive) fn quoted(path: &Path) -> Vec<u8> {
    let quote = |byte: &u8| match byte {
        b'"' | b'\\' => vec![b'\\', *byte],
        b'\n' => b"\\n".to_vec(),
        byte => vec![*byte],
    };
    let inside: Vec<u8> = path.as_os_str().as_bytes().iter().flat_map(quote).collect();
    [b"\"", &inside[..], b"\"\n"].concat()
}

/// The paths of lines that [`quoted`] has made.
pub(super) fn unquoted(lines: &[u8]) -> BTreeSet<PathBuf> {
    let inside = |line: &[u8]| Some(line.strip_prefix(b"\"")?.strip_suffix(b"\"")?.to_vec());
    let plain = |line: Vec<u8>| {
        let (mut bytes, mut rest) = (Vec::new(), line.into_iter());
        while let Some(byte) = rest.next() {
            let escaped = if byte == b'\\' { rest.next() } else { None };
            bytes.push(match escaped {
                Some(b'n') => b'\n',
                Some(other) => other,
                None => byte,
            });
        }
        path(&bytes)
    };
    lines.split(|&byte| byte == b'\n').filter_map(inside).map(plain).collect()
}

/// A line for `git update-index --index-info -z` that sets a path.
pub(super) fn info(path: &Path, object: &GitObject) -> Vec<u8> {
    [format!("{} {} 0\t", object.mode, object.id).as_bytes(), path.as_os_str().as_bytes(), &[0]].concat()
}

/// The paths of these entries, each with a zero byte after it.
pub(super) fn lines(entries: &[&IndexEntry]) -> Vec<u8> {
    let mut paths: Vec<&[u8]> = entries.iter().map(|entry| entry.path.as_os_str().as_bytes()).collect();
    paths.dedup();
    paths.into_iter().flat_map(|path| [path, &[0]].concat()).collect()
}

/// The input of `git update-index --index-info -z` that makes each side of a conflict a file: `a~ours`.
pub(super) fn sides(conflicts: &[&IndexEntry]) -> Vec<u8> {
    let mut lines = Vec::new();
    for IndexEntry { mode, object, stage, path, .. } in conflicts {
        let side = match stage {
            b'1' => "base",
            b'2' => "ours",
            _ => "theirs",
        };
        let path = path.as_os_str().as_bytes();
        let none = "0".repeat(object.len());
        lines.extend([format!("0 {none} 0\t").as_bytes(), path, &[0]].concat());
        lines.extend([format!("{mode} {object} 0\t").as_bytes(), path, b"~", side.as_bytes(), &[0]].concat());
    }
    lines
}

/// The version in the output of `git version`.
pub(super) fn parse_version(printed: &str) -> Option<GitVersion> {
    let mut numbers = printed.trim().strip_prefix("git version ")?.split(['.', ' ', '-']);
    Some(GitVersion { major: numbers.next()?.parse().ok()?, minor: numbers.next()?.parse().ok()? })
}

/// True if this complaint means that another git process held a lock, or had half created a worktree.
pub(super) fn says_busy(complaint: &str) -> bool {
    complaint.contains("could not lock config file")
        || (complaint.contains(".lock") && complaint.contains("File exists"))
        || (complaint.contains("failed to read") && complaint.contains("/commondir"))
}

/// True if this complaint means that an index is broken.
pub(super) fn says_broken_index(complaint: &str) -> bool {
    complaint.contains("index file corrupt") || complaint.contains("index file smaller than expected")
}

/// The lock file that this complaint names.
pub(super) fn lock_in(complaint: &str) -> Option<PathBuf> {
    let between = |before: &str, behind: &str| {
        let (_, rest) = complaint.split_once(before)?;
        rest.split_once(behind).map(|(name, _)| name.to_owned())
    };
    let of_config = || between("could not lock config file ", ": File exists").map(|name| name + ".lock");
    between("Unable to create '", "': File exists").or_else(of_config).map(PathBuf::from)
}

/// True if this complaint of a fetch means that another process updated the branch meanwhile; the last pattern is that of git 2.50
/// and newer.
pub(super) fn says_moved(complaint: &str) -> bool {
    (complaint.contains("cannot lock ref") && complaint.contains("but expected"))
        || complaint.contains("incorrect old value provided")
}

impl fmt::Display for GitVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub(super) fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_version(printed: &str, expect: Option<(u32, u32)>) {
        assert_eq!(parse_version(printed), expect.map(|(major, minor)| GitVersion { major, minor }));
    }

    #[test]
    fn versions() {
        check_version("git version 2.47.3\n", Some((2, 47)));
        check_version("git version 2.39.5 (Apple Git-154)", Some((2, 39)));
        check_version("git version 2.50.0-rc1", Some((2, 50)));
        check_version("git version 3.0", Some((3, 0)));
        check_version("gitea 1.2", None);
    }

    #[test]
    fn worktrees() {
        let printed = b"worktree /home/a b\0HEAD 86df\0branch refs/heads/main\0\0\
                        worktree /home/pool/p--1\0HEAD 0a1b\0detached\0locked why\0\0\
                        worktree /home/pool/new\0HEAD 0000\0branch refs/heads/x/y\0prunable gone\0\0";
        let [main, pooled, unborn] = parse_worktrees(printed).try_into().unwrap();
        assert_eq!((main.path, main.branch), (PathBuf::from("/home/a b"), Some("main".into())));
        assert_eq!((pooled.head.as_deref(), pooled.branch, pooled.bare), (Some("0a1b"), None, false));
        assert_eq!((unborn.head, unborn.branch.as_deref()), (None, Some("x/y")));
        assert!(parse_worktrees(b"worktree /srv/p.git\0bare\0\0")[0].bare);
    }

    #[test]
    fn refs() {
        let refs = parse_refs(b"refs/heads/a\x0001\0/home/w\nrefs/remotes/origin/a\x0002\0\n");
        let [local, remote] = refs.try_into().unwrap();
        assert_eq!((local.name.as_str(), local.worktree), ("refs/heads/a", Some("/home/w".into())));
        assert_eq!((remote.commit.as_str(), remote.worktree), ("02", None));
    }

    #[test]
    fn status() {
        let changes = parse_status(b" M a b\0R  new\0old\0?? nested/\0UU c\0");
        let seen: Vec<_> =
            changes.iter().map(|change| (change.code.as_str(), change.path.to_str().unwrap())).collect();
        assert_eq!(seen, [(" M", "a b"), ("R ", "new"), ("??", "nested/"), ("UU", "c")]);
        assert_eq!(parse_status(b""), []);
    }

    #[test]
    fn entries() {
        let printed =
            b"H 100644 0a1b 0\ta\tb\0h 160000 0a1b 0\tsub\0M 100644 0a1b 2\tc\0M 100644 0a1b 3\tc\0";
        let entries = parse_entries(printed);
        let [plain, module, ours, theirs] = &entries[..] else { panic!("{entries:?}") };
        assert_eq!(
            (plain.path.to_str(), plain.is_conflict(), plain.is_repository()),
            (Some("a\tb"), false, false)
        );
        assert!(module.is_repository() && module.is_hidden() && !plain.is_hidden());
        assert!(ours.is_conflict() && theirs.is_conflict());
        assert_eq!(lines(&[plain, ours, theirs]), b"a\tb\0c\0");
        assert_eq!(sides(&[theirs]), b"0 0000 0\tc\x00100644 0a1b 0\tc~theirs\0");
    }

    #[test]
    fn trees_and_paths() {
        let tree = parse_tree(b"100644 blob 0a1b\ta\tb\x00160000 commit 0c\tsub\0");
        let object = &tree[Path::new("a\tb")];
        assert_eq!((object.mode.as_str(), object.id.as_str(), tree.len()), ("100644", "0a1b", 2));
        assert_eq!(info(Path::new("x"), &object.none_beside()), b"0 0000 0\tx\0");
        let paths = parse_paths(b"build/\0a b\0");
        assert!(paths.contains(Path::new("build")) && paths.contains(Path::new("a b")) && paths.len() == 2);
        let odd = Path::new("a\"\\\nb");
        assert_eq!(quoted(odd), b"\"a\\\"\\\\\\nb\"\n");
        let lines = [b"a heading\n\n".to_vec(), quoted(odd), quoted(Path::new("\\n"))].concat();
        assert_eq!(unquoted(&lines), BTreeSet::from([odd.to_owned(), PathBuf::from("\\n")]));
        let attributes = parse_attributes(b"a b\0eol\0crlf\0a b\0ident\0unspecified\0");
        assert_eq!(attributes[0], (PathBuf::from("a b"), "eol".to_owned(), "crlf".to_owned()));
        assert_eq!(attributes.len(), 2);
    }

    #[test]
    fn other_git_processes() {
        assert!(says_busy("fatal: Unable to create '/r/.git/index.lock': File exists."));
        assert!(says_busy("error: could not lock config file .git/config: File exists"));
        assert!(says_busy("fatal: failed to read .git/worktrees/p--4/commondir: Success"));
        assert!(!says_busy("fatal: not a git repository"));
        let lock = |complaint| lock_in(complaint).map(|lock| lock.display().to_string());
        let named =
            lock("fatal: cannot lock ref 'x': Unable to create '/r/a b/x.lock': File exists.\n\nAnother");
        assert_eq!(named.as_deref(), Some("/r/a b/x.lock"));
        let named = lock("error: could not lock config file .git/config: File exists");
        assert_eq!(named.as_deref(), Some(".git/config.lock"));
        assert_eq!(lock("fatal: failed to read '/r/worktrees/w/commondir'"), None);
        let moved = "error: cannot lock ref 'refs/remotes/origin/a': is at 0a1b but expected 0a1c";
        let newer = "error: fetching ref refs/remotes/origin/a failed: incorrect old value provided";
        assert!(says_moved(moved) && says_moved(newer) && !says_busy(moved));
        assert!(!says_moved(
            "fatal: cannot lock ref 'HEAD': Unable to create '/r/.git/HEAD.lock': File exists."
        ));
    }
}
