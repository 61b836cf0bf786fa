//! The objects of a private repository in a folder that no agent reaches: plain files with names of objects, and nothing else.

use std::fs::{self, DirEntry};
use std::io;
use std::path::Path;

use super::refs::unreadable;
use crate::{Error, Result};
use orange_system::files::remove_folder;
use orange_system::nofollow;

/// Links every object and every pack of one folder of objects into another one, which is new. Links, alternates and files of other
/// names stay behind, so that git, when it reads the new folder, reads objects alone. What vanishes meanwhile is left out.
pub(super) fn link(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).map_err(|cause| Error::io("create", to, &cause))?;
    for entry in listed(from)? {
        let Ok(name) = entry.file_name().into_string() else { continue };
        if is_hex(&name, &[2]) {
            link_files(&entry.path(), &to.join(&name), |file| is_hex(file, &[38, 62]))?;
        } else if name == "pack" {
            // A pack is of no use before its index is there.
            link_files(&entry.path(), &to.join(&name), |file| is_pack(file, "pack"))?;
            link_files(&entry.path(), &to.join(&name), |file| is_pack(file, "idx"))?;
        }
    }
    Ok(())
}

/// The bytes of the packs that git is writing into a folder of objects.
pub(super) fn unfinished_packs(objects: &Path) -> u64 {
    // A file that git has named meanwhile is not one of them.
    let entries = fs::read_dir(objects.join("pack")).into_iter().flatten().filter_map(io::Result::ok);
    let is_unfinished = |entry: &DirEntry| entry.file_name().as_encoded_bytes().starts_with(b"tmp_pack_");
    entries.filter(is_unfinished).filter_map(|entry| Some(entry.metadata().ok()?.len())).sum()
}

/// Removes a folder with everything in it, if it is there.
pub(super) fn clear(folder: &Path) -> Result<()> {
    match folder.symlink_metadata() {
        Ok(_) => remove_folder(folder).map_err(|cause| Error::io("remove", folder, &cause)),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(cause) => Err(Error::io("look at", folder, &cause)),
    }
}

fn link_files(from: &Path, to: &Path, is_wanted: impl Fn(&str) -> bool) -> Result<()> {
    for entry in listed(from)? {
        let Ok(name) = entry.file_name().into_string() else { continue };
        if !is_wanted(&name) {
            continue;
        }
        fs::create_dir_all(to).map_err(|cause| Error::io("create", to, &cause))?;
        let (from, target) = (entry.path(), to.join(&name));
        let linked = match nofollow::hard_link(&from, &target) {
            // Two file systems.
            Err(cause) if cause.kind() == io::ErrorKind::CrossesDevices => copy(&from, &target),
            linked => linked,
        };
        match linked {
            Ok(()) => {}
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => continue,
            Err(cause) => return Err(unreadable(&from, &cause.to_string())),
        }
        // A link to a link is one, too.
        if !target.symlink_metadata().is_ok_and(|found| found.is_file()) {
            fs::remove_file(&target).map_err(|cause| Error::io("remove", &target, &cause))?;
            return Err(unreadable(&from, "it is not a file"));
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = nofollow::open(from, rustix::fs::OFlags::RDONLY)?;
    let mut target = fs::File::create_new(to)?;
    io::copy(&mut source, &mut target).map(drop)
}

fn listed(folder: &Path) -> Result<Vec<DirEntry>> {
    nofollow::entries(folder).map_err(|cause| unreadable(folder, &cause.to_string()))
}

/// True for `pack-` with an object's name and this ending.
fn is_pack(name: &str, ending: &str) -> bool {
    let stem = name.strip_prefix("pack-").and_then(|rest| rest.strip_suffix(ending)?.strip_suffix('.'));
    stem.is_some_and(|stem| is_hex(stem, &[40, 64]))
}

fn is_hex(text: &str, lengths: &[usize]) -> bool {
    lengths.contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::ErrorKind;

    fn lab() -> (tempfile::TempDir, std::path::PathBuf) {
        let made = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(made.path()).unwrap();
        for folder in ["objects/aa", "objects/info", "objects/pack", "objects/zz"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        (made, root)
    }

    #[test]
    fn objects_are_linked_and_nothing_else() {
        let (_made, root) = lab();
        let (one, pack) = ("b".repeat(38), format!("pack-{}", "c".repeat(40)));
        let files = [
            format!("aa/{one}"),
            "aa/short".to_owned(),
            format!("zz/{one}"),
            "info/alternates".to_owned(),
            format!("pack/{pack}.pack"),
            format!("pack/{pack}.idx"),
            format!("pack/{pack}.keep"),
            "pack/multi-pack-index".to_owned(),
        ];
        for file in &files {
            fs::write(root.join("objects").join(file), "text").unwrap();
        }
        link(&root.join("objects"), &root.join("clean")).unwrap();
        let there = |file: &&String| root.join("clean").join(file).exists();
        let linked: Vec<_> = files.iter().filter(there).cloned().collect();
        assert_eq!(linked, [files[0].clone(), files[4].clone(), files[5].clone()]);
        clear(&root.join("clean")).unwrap();
        clear(&root.join("clean")).unwrap();
        assert!(!root.join("clean").exists());
    }

    #[test]
    fn a_link_is_never_an_object() {
        let (_made, root) = lab();
        fs::write(root.join("secret"), "text").unwrap();
        symlink(root.join("secret"), root.join("objects/aa").join("b".repeat(38))).unwrap();
        let failed = link(&root.join("objects"), &root.join("clean"));
        assert_eq!(failed.unwrap_err().kind, ErrorKind::Corrupt);
        assert_eq!(fs::read_dir(root.join("clean/aa")).unwrap().count(), 0);

        fs::remove_dir_all(root.join("objects/aa")).unwrap();
        symlink(root.join("objects/zz"), root.join("objects/aa")).unwrap();
        assert_eq!(link(&root.join("objects"), &root.join("clean")).unwrap_err().kind, ErrorKind::Corrupt);
    }
}
