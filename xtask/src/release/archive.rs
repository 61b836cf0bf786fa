//! An archive of a release: its name, its members, and its bytes, which depend on nothing else.

use std::io::Write;

use flate2::{Compression, GzBuilder};
use sha2::{Digest, Sha256};
use tar::{Builder, EntryType, Header};

use crate::Result;

/// The file with the sum of every archive.
pub(super) const SUMS: &str = "SHA256SUMS";

/// One file of an archive.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ArchiveMember {
    /// Its path below the archive's folder, with `/`.
    pub(super) path: String,
    pub(super) is_program: bool,
    pub(super) bytes: Vec<u8>,
}

/// The name of the archive's only folder.
pub(super) fn folder(package: &str, version: &str, target: &str) -> String {
    format!("{package}-{version}-{target}")
}

/// The name of an archive. `install.sh`, the formula and `cargo binstall` ask for this name.
pub(super) fn name(package: &str, version: &str, target: &str) -> String {
    format!("{}.tar.gz", folder(package, version, target))
}

/// Packs members into a folder: sorted by path, owned by nobody in particular, and all written at one time, in seconds since 1970.
pub(super) fn packed(folder: &str, mut members: Vec<ArchiveMember>, time: u64) -> Result<Vec<u8>> {
    members.sort_by(|one, other| one.path.cmp(&other.path));
    let gzip = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    let mut tar = Builder::new(gzip);
    let failed = |error: std::io::Error| format!("{folder} cannot be packed: {error}");
    for member in members {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(if member.is_program { 0o755 } else { 0o644 });
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(time);
        header.set_size(member.bytes.len() as u64);
        let path = format!("{folder}/{}", member.path);
        tar.append_data(&mut header, path, member.bytes.as_slice()).map_err(failed)?;
    }
    let mut gzip = tar.into_inner().map_err(failed)?;
    gzip.flush().map_err(failed)?;
    gzip.finish().map_err(failed)
}

/// The sum of a file, in hexadecimal digits.
pub(super) fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The text of [`SUMS`] for files by name, as `sha256sum --check` reads it.
pub(super) fn sums(files: &[(String, Vec<u8>)]) -> String {
    let mut lines: Vec<_> = files.iter().map(|(name, bytes)| format!("{}  {name}\n", sum(bytes))).collect();
    lines.sort_by(|one, other| one[64..].cmp(&other[64..]));
    lines.concat()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;

    fn member(path: &str, is_program: bool, text: &str) -> ArchiveMember {
        ArchiveMember { path: path.to_owned(), is_program, bytes: text.as_bytes().to_vec() }
    }

    #[test]
    fn the_same_members_are_the_same_bytes_in_any_order() {
        let both = || [member("bin/orange", true, "program"), member("LICENSE", false, "words")];
        let [one, other] = both();
        let packed_in = |members| packed("orange-1", members, 1_700_000_000).unwrap();
        let bytes = packed_in(both().into_iter().collect());
        assert_eq!(bytes, packed_in(vec![other, one]));
    }

    #[test]
    fn members_have_fixed_owners_times_and_rights() {
        let long = format!("share/man/man1/{}.1", "page-".repeat(30));
        let members = vec![member("bin/orange", true, "program"), member(&long, false, "page")];
        let bytes = packed("orange-1", members, 7).unwrap();
        let mut tar = tar::Archive::new(GzDecoder::new(bytes.as_slice()));
        let mut found = Vec::new();
        for entry in tar.entries().unwrap() {
            let mut entry = entry.unwrap();
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            let header = entry.header();
            let owner = (header.uid().unwrap(), header.gid().unwrap(), header.mtime().unwrap());
            assert_eq!(owner, (0, 0, 7));
            found.push((entry.path().unwrap().display().to_string(), header.mode().unwrap(), text));
        }
        assert_eq!(
            found,
            [
                ("orange-1/bin/orange".to_owned(), 0o755, "program".to_owned()),
                (format!("orange-1/{long}"), 0o644, "page".to_owned()),
            ]
        );
    }

    #[test]
    fn sums_are_sorted_by_name() {
        let files = [("b.tar.gz".to_owned(), b"b".to_vec()), ("a.tar.gz".to_owned(), b"abc".to_vec())];
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let said = sums(&files);
        assert_eq!(said.lines().next(), Some(format!("{abc}  a.tar.gz").as_str()), "{said}");
        assert!(said.ends_with("  b.tar.gz\n"), "{said}");
    }
}
