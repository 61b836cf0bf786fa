//! Files that git converts at a checkout or when they are added: line ends, encodings, `$Id$`, filters. Git takes such a file for unchanged
//! though it has other bytes than a checkout would give, so the bytes themselves are compared.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use rustix::fs::OFlags;

use super::look::{CheckoutLook, Exactness, FoundFile, Tree};
use super::parse;
use super::scratch::{ScratchFolder, ScratchIndex};
use super::{Git, LONG, WHOLE};
use crate::{Error, ErrorKind, Result};
use orange_system::exec::ProgramCall;
use orange_system::files::real;
use orange_system::nofollow;

/// The attributes by which git converts.
const ATTRIBUTES: [&str; 5] = ["text", "eol", "ident", "filter", "working-tree-encoding"];

/// Bytes that are checked out at once to be compared.
const AT_ONCE: u64 = 64 * 1024 * 1024;

/// Bytes of two files that are compared at once.
const PART: u64 = 64 * 1024;

/// The tracked files of a checkout whose bytes were compared with those that a checkout of its commit would give.
#[derive(Debug, Default)]
pub(super) struct Compared {
    pub(super) like: BTreeSet<PathBuf>,
    pub(super) unlike: BTreeSet<PathBuf>,
}

/// The files that attributes or settings name for a conversion.
#[derive(Debug, Default)]
struct NamedFiles {
    /// Those of which a checkout may make other bytes.
    converted: BTreeSet<PathBuf>,
    /// Those with a filter that a checkout runs.
    filtered: BTreeSet<PathBuf>,
}

/// The commit of a checkout in an index of its own, whose attributes are those of the commit alone.
struct Committed<'g> {
    git: &'g Git,
    own: PathBuf,
    index: ScratchIndex,
    settings: Vec<String>,
}

impl Git {
    /// Compares the files of a checkout with those that a checkout of its commit would give. Those that nothing converts and that git
    /// takes for unchanged are only measured.
    pub(super) fn compared(
        &self,
        look: &CheckoutLook,
        commit: &str,
        exactness: Exactness,
    ) -> Result<Compared> {
        let object = |it: &FoundFile| look.committed.get(&it.path).filter(|object| object.is_file());
        let is_file = |it: &&FoundFile| !it.print.is_link && object(it).is_some();
        let files: Vec<&FoundFile> = look.walk.files.iter().filter(is_file).collect();
        if files.is_empty() {
            return Ok(Compared::default());
        }
        let committed = Committed::of(self, commit, exactness)?;
        let named = self.named(&committed, &files)?;
        let is_judged =
            |it: &&FoundFile| exactness == Exactness::WithFilters || !named.filtered.contains(&it.path);
        let (converted, plain): (Vec<&FoundFile>, Vec<&FoundFile>) =
            files.into_iter().filter(is_judged).partition(|it| named.converted.contains(&it.path));
        let same: Vec<&FoundFile> =
            plain.into_iter().filter(|it| !look.modified.contains(&it.path)).collect();
        let mut unlike = self.of_other_length(&same, &look.committed)?;
        for group in groups(&converted) {
            unlike.extend(committed.unlike(group)?);
        }
        let like = converted.into_iter().filter(|it| !unlike.contains(&it.path));
        let has_mode = |it: &&FoundFile| object(it).is_some_and(|object| object.mode == it.mode());
        Ok(Compared { like: like.filter(has_mode).map(|it| it.path.clone()).collect(), unlike })
    }

    /// Those of these files that are longer or shorter than git's content, which a checkout does not convert.
    fn of_other_length(&self, files: &[&FoundFile], tree: &Tree) -> Result<BTreeSet<PathBuf>> {
        let ids: String =
            files.iter().filter_map(|it| tree.get(&it.path)).map(|it| format!("{}\n", it.id)).collect();
        if ids.is_empty() {
            return Ok(BTreeSet::new());
        }
        let call = self.call().args(["cat-file", "--batch-check=%(objectsize)"]).input(ids.as_bytes());
        let printed = call.text()?;
        if printed.lines().count() != files.len() {
            return Err(Error::new(ErrorKind::Environment, "`git cat-file` has not measured every file"));
        }
        let pairs = files.iter().zip(printed.lines());
        let other = pairs.filter(|(it, length)| length.parse() != Ok(it.length()));
        Ok(other.map(|(it, _)| it.path.clone()).collect())
    }

    /// Those of these files that the attributes of the commit or those of the checkout name.
    fn named(&self, committed: &Committed<'_>, files: &[&FoundFile]) -> Result<NamedFiles> {
        let filters = self.filters_at_checkout()?;
        let by_settings = self.has_line_ends_by_settings()?;
        let mut named = NamedFiles::default();
        for call in [committed.call().args(["check-attr", "--cached"]), self.call().arg("check-attr")] {
            let listed =
                call.args(["-z", "--stdin"]).args(ATTRIBUTES).input(&lines(files)).run()?.checked()?;
            for (path, attribute, value) in parse::parse_attributes(&listed.stdout) {
                if attribute == "filter" && filters.contains(&value) {
                    named.filtered.insert(path.clone());
                }
                if may_convert(&attribute, &value, by_settings) {
                    named.converted.insert(path);
                }
            }
        }
        Ok(named)
    }

    /// The filters that a checkout runs.
    fn filters_at_checkout(&self) -> Result<BTreeSet<String>> {
        let settings = self.settings_of_filters()?.into_iter().filter(|(_, value)| !value.is_empty());
        let name = |key: &str| {
            let name = key.strip_prefix("filter.")?;
            name.strip_suffix(".smudge").or_else(|| name.strip_suffix(".process")).map(str::to_owned)
        };
        Ok(settings.filter_map(|(key, _)| name(&key)).collect())
    }

    /// True if settings alone make a checkout write CRLF.
    fn has_line_ends_by_settings(&self) -> Result<bool> {
        let automatic = self.setting("core.autocrlf")?.unwrap_or_default().to_lowercase();
        let end = self.setting("core.eol")?.unwrap_or_default().to_lowercase();
        Ok(!["", "false", "no", "off", "0", "input"].contains(&&*automatic) || end == "crlf")
    }

    /// Checks out again what a switch from this commit has left as the attributes of that commit made it.
    pub(super) fn convert_again(&self, before: &str) -> Result<()> {
        let look = self.look(&Tree::new(), Exactness::WithFilters)?;
        let left: Vec<&FoundFile> =
            look.walk.files.iter().filter(|it| look.unlike.contains(&it.path)).collect();
        let committed = Committed::of(self, before, Exactness::WithFilters)?;
        for group in groups(&left) {
            let others = committed.unlike(group)?;
            let stale: Vec<&FoundFile> =
                group.iter().copied().filter(|it| !others.contains(&it.path)).collect();
            for file in &stale {
                // Git leaves a file that it takes for unchanged.
                let place = real(&self.repo).join(&file.path);
                nofollow::remove(&place).map_err(|cause| Error::io("remove", &place, &cause))?;
            }
            let words = ["checkout-index", "--quiet", "-u", "-z", "--stdin"];
            self.patiently(|| self.call().bound(LONG).args(words).input(&lines(&stale)))?.checked()?;
        }
        Ok(())
    }
}

impl<'g> Committed<'g> {
    fn of(git: &'g Git, commit: &str, exactness: Exactness) -> Result<Committed<'g>> {
        let own = git.git_dir(&git.repo)?;
        let index = ScratchIndex::empty(&own.join("committed"))?;
        let settings = match exactness {
            Exactness::WithFilters => git.with_lenient_filters()?,
            Exactness::OfGit | Exactness::WithoutFilters => git.without_filters()?,
        };
        let committed = Committed { git, own, index, settings };
        committed.call().args(["read-tree", commit]).run()?.checked()?;
        Ok(committed)
    }

    fn call(&self) -> ProgramCall {
        let call = self.git.call().env("GIT_DIR", &self.own).env("GIT_INDEX_FILE", &self.index.path);
        call.bound(LONG).preset(&self.settings).preset(WHOLE)
    }

    /// Those of these files that a checkout makes otherwise.
    fn unlike(&self, files: &[&FoundFile]) -> Result<Vec<PathBuf>> {
        // In an empty folder, git reads the attributes of the commit.
        let folder = ScratchFolder::new(&self.own.join("checkout"))?;
        let call = self.call().env("GIT_WORK_TREE", &folder.path);
        // A file that cannot be checked out or read counts as one of other bytes, and is kept.
        call.args(["checkout-index", "--quiet", "-z", "--stdin"]).input(&lines(files)).run()?;
        let (here, there) = (real(&self.git.repo), real(&folder.path));
        let is_same = |file: &&&FoundFile| {
            let found = nofollow::open(&here.join(&file.path), OFlags::RDONLY);
            let wanted = nofollow::open(&there.join(&file.path), OFlags::RDONLY);
            found.and_then(|found| is_same(found, wanted?)).unwrap_or(false)
        };
        Ok(files.iter().filter(|file| !is_same(file)).map(|file| file.path.clone()).collect())
    }
}

/// True if an attribute of a file may make a checkout write other bytes than git has.
fn may_convert(attribute: &str, value: &str, by_settings: bool) -> bool {
    match attribute {
        "text" => by_settings && value != "unset",
        "eol" => value == "crlf",
        "ident" => value == "set",
        _ => !["unspecified", "unset"].contains(&value),
    }
}

/// The paths of these files, each with a zero byte after it.
fn lines(files: &[&FoundFile]) -> Vec<u8> {
    files.iter().flat_map(|file| [file.path.as_os_str().as_bytes(), &[0]].concat()).collect()
}

/// These files in groups that do not fill the disk.
fn groups<'f>(files: &'f [&'f FoundFile]) -> Vec<&'f [&'f FoundFile]> {
    let (mut groups, mut start, mut length) = (Vec::new(), 0, 0);
    for (at, file) in files.iter().enumerate() {
        length += file.length();
        if length >= AT_ONCE || at + 1 == files.len() {
            groups.push(&files[start..=at]);
            (start, length) = (at + 1, 0);
        }
    }
    groups
}

fn is_same(mut one: impl Read, mut other: impl Read) -> io::Result<bool> {
    loop {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        one.by_ref().take(PART).read_to_end(&mut left)?;
        other.by_ref().take(PART).read_to_end(&mut right)?;
        if left != right || left.is_empty() {
            return Ok(left == right);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_and_settings_say_what_a_checkout_converts() {
        for (attribute, value, by_settings, expect) in [
            ("text", "auto", false, false),
            ("text", "unspecified", true, true),
            ("text", "unset", true, false),
            ("eol", "crlf", false, true),
            ("eol", "lf", true, false),
            ("ident", "set", false, true),
            ("ident", "unspecified", false, false),
            ("filter", "lfs", false, true),
            ("filter", "unset", false, false),
            ("working-tree-encoding", "UTF-16", false, true),
        ] {
            assert_eq!(may_convert(attribute, value, by_settings), expect, "{attribute}={value}");
        }
    }

    #[test]
    fn long_and_short_files_are_compared_to_their_ends() {
        let part = usize::try_from(PART).unwrap();
        let long = vec![b'a'; part];
        let longer = vec![b'a'; part + 1];
        assert!(is_same(&long[..], &long[..]).unwrap() && is_same(&b""[..], &b""[..]).unwrap());
        assert!(!is_same(&long[..], &longer[..]).unwrap() && !is_same(&longer[..], &long[..]).unwrap());
        assert!(!is_same(&b"a\r\n"[..], &b"a\n"[..]).unwrap());
    }
}
