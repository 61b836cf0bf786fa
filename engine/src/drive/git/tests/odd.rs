//! Worktrees in states that agents leave behind now and then: each is given back, and everything in it is kept.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::thread;

use rustix::process::{Gid, Uid};

use super::*;

/// Does this as a user who is not root: root may write and read everything.
fn as_ordinary_user(lab: &RepositoryLab, act: impl FnOnce() + Send) {
    if !rustix::process::geteuid().is_root() {
        return act();
    }
    const SOMEBODY: u32 = 65534;
    let folder = lab.path("");
    let owner = format!("{SOMEBODY}:{SOMEBODY}");
    let status = std::process::Command::new("chown").args(["-R", &owner]).arg(&folder).status().unwrap();
    assert!(status.success());
    thread::scope(|scope| {
        let acting = scope.spawn(|| {
            let (user, group) = (Uid::from_raw(SOMEBODY), Gid::from_raw(SOMEBODY));
            rustix::thread::set_thread_res_gid(group, group, group).unwrap();
            rustix::thread::set_thread_res_uid(user, user, user).unwrap();
            act();
        });
        acting.join().unwrap();
    });
}

fn permit(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// The names of all blobs under backups.
fn kept_blobs(lab: &RepositoryLab) -> BTreeSet<String> {
    let listed = lab.run(&lab.repo(), &["rev-list", "--objects", "--glob=refs/orange/backup/*"]);
    listed.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

#[track_caller]
fn is_kept(lab: &RepositoryLab, text: &[u8]) {
    let id = lab.git.call().args(["hash-object", "--stdin"]).input(text).text().unwrap();
    assert!(kept_blobs(lab).contains(&id), "{:?} is in no backup", String::from_utf8_lossy(text));
}

#[test]
fn folders_and_files_without_permissions_are_kept() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    let folder = lab.pooled(1);
    for (name, mode) in [("closed", 0o000), ("listed", 0o444), ("fixed", 0o555)] {
        fs::create_dir_all(folder.join(name).join("below")).unwrap();
        lab.write(&folder.join(name).join("below/file"), &format!("in {name}\n"));
        permit(&folder.join(name).join("below"), mode);
        permit(&folder.join(name), mode);
    }
    lab.write(&folder.join("secret"), "nobody reads this\n");
    permit(&folder.join("secret"), 0o000);
    as_ordinary_user(&lab, || {
        lab.release(1).unwrap();
        lab.check_pristine(1);
        for text in ["in closed\n", "in listed\n", "in fixed\n", "nobody reads this\n"] {
            is_kept(&lab, text.as_bytes());
        }
    });
    assert!(!lab.path("pool/.released").exists());
}

#[test]
fn a_worktree_with_folders_that_cannot_be_written_is_removed() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    let folder = lab.pooled(1);
    // As the cache of Go's modules.
    fs::create_dir_all(folder.join("ignored/mod/a")).unwrap();
    lab.write(&folder.join("ignored/mod/a/file"), "cached\n");
    for name in ["ignored/mod/a", "ignored/mod"] {
        permit(&folder.join(name), 0o555);
    }
    as_ordinary_user(&lab, || {
        lab.kept(|git, context| git.remove(&folder, context)).unwrap();
        assert!(!folder.exists() && !lab.path("pool/.released").exists());
    });
}

#[test]
fn thousands_of_files_and_links_are_kept() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    let folder = lab.pooled(1);
    for n in 0..3000 {
        let name = folder.join(format!("many/{}/{n}", n % 100));
        if n < 100 {
            fs::create_dir_all(name.parent().unwrap()).unwrap();
        }
        if n % 4 == 0 { symlink(format!("target {n}"), name).unwrap() } else { lab.write(&name, "same\n") }
    }
    let backup = lab.release(1).unwrap();
    assert_eq!(lab.files_in(&backup.commit).len(), 3002);
    lab.check_pristine(1);
}

#[test]
fn a_folder_in_place_of_a_file_that_is_not_checked_out_is_kept() {
    let lab = RepositoryLab::new();
    lab.commit(&lab.repo(), "out", "a file\n");
    lab.run(&lab.repo(), &["push", "--quiet", "origin", "main"]);
    lab.acquire(1, "fix").unwrap();
    let folder = lab.pooled(1);
    lab.run(&folder, &["sparse-checkout", "set", "--no-cone", "/readme"]);
    assert!(!folder.join("out").exists());
    fs::create_dir(folder.join("out")).unwrap();
    lab.write(&folder.join("out/new"), "new\n");
    lab.release(1).unwrap();
    is_kept(&lab, b"new\n");
    lab.check_pristine(1);
}

#[test]
fn what_a_killed_git_left_of_an_operation_holds_no_release() {
    let folders = ["rebase-merge", "rebase-apply", "sequencer"];
    let files = ["CHERRY_PICK_HEAD", "MERGE_HEAD", "BISECT_LOG", "REVERT_HEAD"];
    for name in folders.into_iter().chain(files) {
        let lab = RepositoryLab::new();
        lab.acquire(1, "fix").unwrap();
        let folder = lab.pooled(1);
        let left = lab.git.own_part(&folder).unwrap().join(name);
        lab.write(&folder.join("work"), "w\n");
        if folders.contains(&name) {
            fs::create_dir(&left).unwrap()
        } else {
            lab.write(&left, "")
        }
        lab.release(1).unwrap();
        is_kept(&lab, b"w\n");
        lab.check_pristine(1);
        lab.acquire(1, "next").unwrap();
    }
}

#[test]
fn names_of_any_bytes_and_in_any_case_are_kept() {
    let lab = RepositoryLab::new();
    lab.run(&lab.repo(), &["config", "core.ignoreCase", "true"]);
    lab.acquire(1, "fix").unwrap();
    let folder = lab.pooled(1);
    let names: [&[u8]; 7] = [b"\xff\xfe", b"README", b"Readme", b"a\\", b"tab\t", b"~", b"\xc3\xa4\xcc\x88"];
    for name in names {
        fs::write(folder.join(OsStr::from_bytes(name)), [name, b"\n"].concat()).unwrap();
        symlink(OsStr::from_bytes(name), folder.join(OsStr::from_bytes(&[name, b".link"].concat()))).unwrap();
    }
    lab.release(1).unwrap();
    for name in names {
        is_kept(&lab, &[name, b"\n"].concat());
        is_kept(&lab, name);
    }
    lab.check_pristine(1);
}

#[test]
fn every_stash_of_a_submodule_is_kept() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    let folder = lab.pooled(1);
    let origin = lab.path("origin.git");
    let add =
        ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", origin.to_str().unwrap(), "sub"];
    lab.run(&folder, &add);
    lab.run(&folder, &["commit", "--quiet", "-m", "a submodule"]);
    let sub = folder.join("sub");
    for text in ["first\n", "second\n"] {
        lab.write(&sub.join("readme"), text);
        lab.run(&sub, &["stash", "--quiet"]);
    }
    lab.run(&sub, &["commit", "--quiet", "--allow-empty", "-m", "tagged"]);
    lab.run(&sub, &["tag", "kept"]);
    let tagged = lab.run(&sub, &["rev-parse", "kept"]);
    lab.run(&sub, &["reset", "--quiet", "--hard", "HEAD~1"]);
    lab.kept(|git, context| git.remove(&folder, context)).unwrap();
    is_kept(&lab, b"first\n");
    is_kept(&lab, b"second\n");
    assert!(kept_blobs(&lab).contains(&tagged));
}

#[test]
fn a_folder_with_the_name_of_the_tasks_file_is_kept() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    let folder = lab.pooled(1);
    fs::create_dir(folder.join(TASK_FILE)).unwrap();
    lab.write(&folder.join(TASK_FILE).join("notes"), "n\n");
    lab.release(1);
    is_kept(&lab, b"n\n");
}

#[test]
fn a_project_s_own_task_md_is_work() {
    let lab = RepositoryLab::new();
    lab.commit(&lab.repo(), TASK_FILE, "the project's\n");
    lab.run(&lab.repo(), &["push", "--quiet", "origin", "main"]);
    lab.git.exclude(TASK_FILE).unwrap();
    lab.acquire(1, "fix").unwrap();
    let own = lab.pooled(1).join(TASK_FILE);
    lab.write(&own, "changed\n");
    let backup = lab.release(1).unwrap();
    assert_eq!(lab.text_in(&backup.commit, TASK_FILE), "changed");
    lab.check_pristine(1);
    lab.acquire(1, "fix").unwrap();
    fs::remove_file(&own).unwrap();
    let backup = lab.release(1).unwrap();
    assert!(!lab.files_in(&backup.commit).contains(&TASK_FILE.to_owned()));
    lab.check_pristine(1);
    assert_eq!(fs::read_to_string(&own).unwrap(), "the project's\n");
}

#[test]
fn a_worktree_taken_after_a_failed_release_has_its_files() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    let folder = lab.pooled(1);
    lab.write(&folder.join("work"), "w\n");
    let own = lab.git.own_part(&folder).unwrap();
    // A git that was killed has left it.
    lab.write(&own.join("index.lock"), "");
    lab.released(1).unwrap_err();
    fs::remove_file(own.join("index.lock")).unwrap();
    lab.acquire(1, "fix").unwrap();
    assert_eq!(fs::read_to_string(folder.join("work")).unwrap(), "w\n");
    let tip = lab.commit(&folder, "more", "m\n");
    lab.run(&folder, &["switch", "--quiet", "--detach"]);
    let loose = lab.commit(&folder, "loose", "l\n");
    lab.released(1).unwrap();
    assert_eq!(lab.commit_of("fix"), tip);
    assert!(kept_blobs(&lab).contains(&loose));
    lab.check_pristine(1);
}

#[test]
fn an_index_that_git_cannot_read_holds_no_release() {
    for text in ["", "junk", "DIRC and what is none of an index, but long enough to be taken for one"] {
        let lab = RepositoryLab::new();
        lab.acquire(1, "fix").unwrap();
        let folder = lab.pooled(1);
        lab.commit(&folder, "done", "d\n");
        lab.write(&folder.join("work"), "w\n");
        lab.write(&lab.git.own_part(&folder).unwrap().join("index"), text);
        let kept = lab.released(1).unwrap();
        let aside =
            kept.iter().filter(|kept| matches!(kept, SavedWork::Aside(place) if place.exists())).count();
        assert_eq!(aside, 1, "{kept:?}");
        is_kept(&lab, b"w\n");
        lab.check_pristine(1);
    }
}

#[test]
fn nothing_is_taken_through_a_link_that_was_a_folder_before() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    let (folder, elsewhere) = (lab.pooled(1), lab.path("elsewhere"));
    fs::create_dir(&elsewhere).unwrap();
    lab.write(&elsewhere.join("file"), "somebody's\n");
    symlink(&elsewhere, folder.join("dir")).unwrap();
    let capture = super::super::capture::Capture::of(&folder);
    capture.take([Path::new("dir/file")]).unwrap();
    assert_eq!(fs::read_to_string(elsewhere.join("file")).unwrap(), "somebody's\n");
    assert!(capture.at_rest().unwrap().files.is_empty());
}

#[test]
fn what_is_in_the_place_of_the_folder_of_requests_is_set_aside() {
    let lab = RepositoryLab::new();
    lab.git.exclude(REQUEST_FOLDER).unwrap();
    lab.acquire(1, "fix").unwrap();
    let place = lab.pooled(1).join(REQUEST_FOLDER);
    lab.write(&place, "no folder\n");
    let [SavedWork::Aside(aside)] = &lab.released(1).unwrap()[..] else { panic!() };
    assert_eq!(fs::read_to_string(aside).unwrap(), "no folder\n");
    assert!(place.symlink_metadata().is_err());
    lab.check_pristine(1);
}
