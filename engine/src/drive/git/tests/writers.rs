//! Somebody writes into a worktree while it is given back: whatever was written whole is somewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;

use super::*;
use orange_system::process;

/// Method by which a writer saves a file.
#[derive(Clone, Copy, Debug)]
enum Saves {
    /// Writes it where it is.
    InPlace,
    /// Writes another file and renames it, as editors do.
    Renamed,
    /// Appends a line.
    Appended,
}

/// As many as one writer saves: it is over soon enough for a test, and goes on longer than one look at a worktree takes.
const FILES: usize = 1500;

/// Writes files; gives every text that was written whole and that the same writer has not replaced since.
fn write_all(folder: &Path, who: usize, saves: Saves) -> Vec<(PathBuf, String)> {
    let mut written: Vec<(PathBuf, String)> = Vec::new();
    for count in 0..FILES {
        let name = match count % 4 {
            0 => format!("new-{who}-{count}"),
            1 => format!("dir-{who}/{}", count % 40),
            2 => format!("tracked-{who}"),
            _ => format!("deep-{who}/{}/file", count % 12),
        };
        let path = folder.join(&name);
        let text = format!("{who} {count}\n");
        let has_folder = path.parent().is_none_or(|parent| fs::create_dir_all(parent).is_ok());
        let saved = match saves {
            Saves::InPlace => fs::write(&path, &text),
            Saves::Renamed => {
                let new = folder.join(format!(".saving-{who}"));
                fs::write(&new, &text).and_then(|()| fs::rename(&new, &path))
            }
            Saves::Appended => {
                let file = fs::OpenOptions::new().create(true).append(true).open(&path);
                file.and_then(|mut file| file.write_all(text.as_bytes()))
            }
        };
        if has_folder && saved.is_ok() {
            written.push((path, text));
        }
    }
    // Of a file that was written again, only the last text has to be anywhere; of one that was appended to, all.
    let last: BTreeMap<_, _> = written.iter().cloned().collect();
    match saves {
        Saves::InPlace | Saves::Renamed => last.into_iter().collect(),
        Saves::Appended => written,
    }
}

#[test]
fn nothing_that_was_written_whole_is_lost() {
    let lab = RepositoryLab::new();
    for who in 0..3 {
        lab.commit(&lab.repo(), &format!("tracked-{who}"), "base\n");
    }
    lab.run(&lab.repo(), &["push", "--quiet", "origin", "main"]);
    lab.acquire(1, "fix").unwrap();
    let folder = lab.pooled(1);
    // The more there is to be kept, the longer others can write.
    fs::create_dir(folder.join("many")).unwrap();
    (0..300).for_each(|n| lab.write(&folder.join(format!("many/{n}")), &format!("{n}\n").repeat(500)));
    let written: Vec<(PathBuf, String)> = thread::scope(|scope| {
        let saves = [Saves::InPlace, Saves::Renamed, Saves::Appended].into_iter().enumerate();
        let folder = &folder;
        let writers: Vec<_> =
            saves.map(|(who, saves)| scope.spawn(move || write_all(folder, who, saves))).collect();
        while !folder.join("new-2-0").exists() {
            thread::yield_now();
        }
        if let Err(error) = lab.released(1) {
            assert!(error.message.contains("written"), "{error}");
            assert!(error.help.contains("workspace gc"), "{error}");
        }
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    // Now that nobody writes any more, it comes to rest.
    lab.released(1).unwrap();
    lab.check_pristine(1);
    let kept = everything_kept(&lab);
    for (path, text) in written {
        assert!(kept.contains(text.trim_end()), "{} with {text:?} is lost", path.display());
    }
}

/// The lines of every blob that is in a backup.
fn everything_kept(lab: &RepositoryLab) -> BTreeSet<String> {
    let repo = lab.repo();
    let listed = lab.run(&repo, &["rev-list", "--objects", "--glob=refs/orange/backup/*"]);
    let ids: String =
        listed.lines().filter_map(|line| line.split(' ').next()).map(|id| format!("{id}\n")).collect();
    let call = lab.git.call_in(&repo).args(["cat-file", "--batch"]).input(ids.as_bytes());
    String::from_utf8_lossy(&call.run().unwrap().stdout).lines().map(str::to_owned).collect()
}

#[test]
fn who_keeps_a_file_open_to_write_it_is_named() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    let folder = lab.pooled(1);
    lab.write(&folder.join("log"), "begun\n");
    let mut writer = std::process::Command::new("sh")
        .args(["-c", "exec cat >>log"])
        .current_dir(&folder)
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    orange_testkit::until("it has the file open", || !process::writers(&folder).unwrap().is_empty());
    let pid = writer.id().to_string();
    let error = lab.released(1).unwrap_err();
    assert!(error.kind == ErrorKind::Refused && error.message.contains(&pid), "{error}");
    assert_eq!(fs::read_to_string(folder.join("log")).unwrap(), "begun\n");
    writer.stdin.take().unwrap().write_all(b"and ended\n").unwrap();
    writer.wait().unwrap();
    assert_eq!(lab.text_in(&lab.release(1).unwrap().commit, "log"), "begun\nand ended");
}
