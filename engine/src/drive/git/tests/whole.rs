//! A backup has files that git alone would pass over, and a release touches nothing but the worktree itself.

use std::os::unix::net::UnixListener;
use std::time::SystemTime;

use super::*;

/// A lab whose worktree 1 has the folders `in` and `out`, of which only `in` is checked out.
fn sparse(mode: &str) -> (RepositoryLab, PathBuf) {
    let lab = RepositoryLab::new();
    for folder in ["in", "out"] {
        fs::create_dir(lab.repo().join(folder)).unwrap();
        lab.commit(&lab.repo(), &format!("{folder}/file"), &format!("{folder}\n"));
    }
    lab.run(&lab.repo(), &["push", "--quiet", "origin", "main"]);
    lab.acquire(1, "fix").unwrap();
    let folder = lab.pooled(1);
    let cone = if mode == "--no-cone" { "/in/" } else { "in" };
    lab.run(&folder, &["sparse-checkout", "set", mode, cone]);
    assert!(!folder.join("out").exists());
    fs::create_dir(folder.join("out")).unwrap();
    (lab, folder)
}

#[test]
fn a_backup_has_what_is_outside_of_a_sparse_checkout() {
    for mode in ["--cone", "--no-cone"] {
        let (lab, folder) = sparse(mode);
        lab.write(&folder.join("out/file"), "changed\n");
        lab.write(&folder.join("out/new"), "new\n");
        lab.write(&folder.join("out/staged"), "staged\n");
        lab.run(&folder, &["add", "--sparse", "out/staged"]);
        lab.write(&folder.join("out/staged"), "then edited\n");
        lab.write(&folder.join("out/intended"), "intended\n");
        lab.run(&folder, &["add", "--sparse", "--intent-to-add", "out/intended"]);
        let backup = lab.release(1).unwrap();
        let said = ["file", "new", "staged", "intended"]
            .map(|name| lab.text_in(&backup.commit, &format!("out/{name}")));
        assert_eq!(said, ["changed", "new", "then edited", "intended"], "{mode}");
        assert_eq!(lab.text_in(&format!("{}^", backup.commit), "out/staged"), "staged", "{mode}");
        assert_eq!(lab.text_in(&backup.commit, "in/file"), "in");
        lab.check_pristine(1);
        assert!(folder.join("out/file").exists());
    }
}

#[test]
fn what_a_sparse_checkout_leaves_out_is_no_removal() {
    let (lab, folder) = sparse("--cone");
    lab.write(&folder.join("in/new"), "n\n");
    let backup = lab.release(1).unwrap();
    assert_eq!(lab.files_in(&backup.commit), [".gitignore", "in/file", "in/new", "out/file", "readme"]);
}

#[test]
fn files_in_the_folder_of_a_missing_submodule_are_kept() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    let folder = lab.pooled(1);
    let head = lab.commit_of("main");
    lab.run(&folder, &["update-index", "--add", "--cacheinfo", &format!("160000,{head},sub")]);
    lab.run(&folder, &["commit", "--quiet", "-m", "a submodule"]);
    fs::create_dir_all(folder.join("sub")).unwrap();
    lab.write(&folder.join("sub/notes"), "n\n");
    lab.released(1).unwrap();
    let kept = lab.git.backups("T1").unwrap();
    let has_notes =
        |backup: &Backup| !lab.run(&lab.repo(), &["ls-tree", "-r", &backup.commit, "sub/notes"]).is_empty();
    assert!(kept.iter().any(has_notes), "{kept:?}");
    lab.check_pristine(1);
}

#[test]
fn a_required_filter_that_fails_does_not_hold_a_release() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    let folder = lab.pooled(1);
    for (key, value) in [("filter.broken.clean", "false"), ("filter.broken.required", "true")] {
        lab.run(&lab.repo(), &["config", key, value]);
    }
    lab.write(&folder.join(".gitattributes"), "* filter=broken\n");
    lab.write(&folder.join("readme"), "changed\r\n");
    lab.write(&folder.join("new"), "n\r\n");
    // Git filters what is no older than its index to find out whether it has changed: here that is every file.
    let index = lab.run(&folder, &["rev-parse", "--path-format=absolute", "--git-path", "index"]);
    fs::File::open(index.trim()).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    let backup = lab.release(1).unwrap();
    let kept = |file: &str| {
        lab.git.call().args(["cat-file", "blob", &format!("{}:{file}", backup.commit)]).run().unwrap().stdout
    };
    assert_eq!((kept("readme"), kept("new")), (b"changed\r\n".to_vec(), b"n\r\n".to_vec()));
    assert!(!folder.join("new").exists());
    assert_eq!(lab.git.head(&folder).unwrap(), Some(lab.commit_of("origin/main")));
}

#[test]
fn special_files_are_set_aside_and_named() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    let folder = lab.pooled(1);
    fs::create_dir(folder.join("run")).unwrap();
    orange_testkit::make_fifo(&folder.join("run/pipe"));
    let _socket = UnixListener::bind(folder.join("socket")).unwrap();
    let mut names: Vec<_> = lab
        .released(1)
        .unwrap()
        .into_iter()
        .map(|kept| match &kept {
            SavedWork::Aside(place) if place.symlink_metadata().is_ok() => {
                place.file_name().unwrap().to_owned()
            }
            SavedWork::Aside(_) | SavedWork::Commit(_) => panic!("{kept:?}"),
        })
        .collect();
    names.sort();
    assert_eq!(names, ["pipe", "socket"]);
    assert!(!folder.join("run/pipe").exists() && !folder.join("socket").exists());
    lab.check_pristine(1);
}

#[test]
fn names_that_windows_could_not_have_are_kept() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    let names = ["git~1", "a\\b", "new\nline", "\"quoted\"", " ", "-rf"];
    names.iter().for_each(|name| lab.write(&lab.pooled(1).join(name), name));
    let backup = lab.release(1).unwrap();
    let listed = lab.run(&lab.repo(), &["ls-tree", "-z", "--name-only", &backup.commit]);
    for name in names {
        assert!(listed.split('\0').any(|one| one == name), "{name:?} is not in {listed:?}");
    }
    lab.check_pristine(1);
}

#[test]
fn a_git_folder_that_git_cannot_keep_is_set_aside() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    let folder = lab.pooled(1);
    fs::create_dir(folder.join("odd")).unwrap();
    lab.write(&folder.join("odd/.git"), "gitdir: /nowhere\n");
    lab.write(&folder.join("odd/work"), "w\n");
    let [SavedWork::Aside(place)] = &lab.released(1).unwrap()[..] else { panic!() };
    assert_eq!(fs::read_to_string(place.join("work")).unwrap(), "w\n");
    lab.check_pristine(1);
}

/// The state of the main checkout and of worktree 2, which nobody may touch.
fn others(lab: &RepositoryLab) -> Vec<String> {
    let state = |folder: &Path| {
        let status = lab.run(folder, &["status", "--porcelain=v2", "--branch"]);
        let files = ["readme", "mine"].map(|name| fs::read_to_string(folder.join(name)).unwrap_or_default());
        format!("{status} {files:?}")
    };
    vec![state(&lab.repo()), state(&lab.pooled(2))]
}

#[test]
fn a_worktree_with_a_changed_link_is_refused_and_untouched() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    lab.acquire(2, "other").unwrap();
    let folder = lab.pooled(1);
    lab.run(&lab.repo(), &["switch", "--quiet", "-c", "mine"]);
    for checkout in [lab.repo(), lab.pooled(2)] {
        lab.write(&checkout.join("readme"), "a person's\n");
        lab.write(&checkout.join("mine"), "new\n");
        lab.run(&checkout, &["add", "mine"]);
    }
    let link = fs::read_to_string(folder.join(".git")).unwrap();
    let before = others(&lab);
    let elsewhere = [
        format!("gitdir: {}\n", lab.repo().join(".git").display()),
        format!("gitdir: {}\n", lab.repo().join(".git/worktrees/p--2").display()),
        String::new(),
        "gitdir: /nowhere\n".to_owned(),
    ];
    for text in elsewhere {
        lab.write(&folder.join(".git"), &text);
        lab.write(&folder.join("work"), "w\n");
        refuses(lab.released(1), ErrorKind::Refused, "lost its link");
        refuses(lab.kept(|git, context| git.remove(&folder, context)), ErrorKind::Refused, "lost its link");
        refuses(lab.acquire(1, "next"), ErrorKind::Refused, "lost its link");
        refuses(lab.acquire(1, "fix"), ErrorKind::Refused, "lost its link");
        refuses(lab.git.changes(&folder), ErrorKind::Refused, "lost its link");
        refuses(
            lab.git.plan_merge("fix", "main", Strategy::Merge, Some(&folder)).map_err(|flaw| flaw.error),
            ErrorKind::Refused,
            "lost its link",
        );
        assert_eq!(others(&lab), before, "{text:?}");
        assert!(folder.join("work").exists());
    }
    // Somebody else's worktree in the place of ours is none of ours.
    fs::rename(&folder, lab.path("away")).unwrap();
    std::os::unix::fs::symlink(lab.pooled(2), &folder).unwrap();
    refuses(lab.released(1), ErrorKind::Refused, "is a symbolic link");
    assert_eq!(others(&lab), before);
    fs::remove_file(&folder).unwrap();
    fs::rename(lab.path("away"), &folder).unwrap();
    lab.write(&folder.join(".git"), &link);
    assert_eq!(lab.text_in(&lab.release(1).unwrap().commit, "work"), "w");
}

#[test]
fn commits_that_a_sequence_has_not_come_to_are_kept() {
    for verb in
        [&["cherry-pick", "side~2", "side~1", "side"][..], &["rebase", "--quiet", "--interactive", "side~3"]]
    {
        let lab = RepositoryLab::new();
        lab.acquire(1, "fix").unwrap();
        let folder = lab.pooled(1);
        lab.run(&folder, &["switch", "--quiet", "-c", "side"]);
        for text in ["theirs", "second", "third"] {
            lab.commit(&folder, "readme", &format!("{text}\n"));
        }
        let last = lab.commit_of("side");
        lab.run(&folder, &["switch", "--quiet", "fix"]);
        lab.commit(&folder, "readme", "ours\n");
        // An editor that has the sequence pick what is on no branch that is being rebased.
        let editor =
            format!("sh -c 'printf \"pick {}\\npick {}\\n\" >\"$0\"'", lab.commit_of("side~2"), last);
        let call = lab.git.call_in(&folder).env("GIT_SEQUENCE_EDITOR", editor);
        assert!(!call.args(verb).run().unwrap().success(), "{verb:?}");
        lab.run(&lab.repo(), &["branch", "--quiet", "-D", "side"]);
        lab.released(1).unwrap();
        let known = lab.run(&lab.repo(), &["rev-list", "--glob=refs/orange/backup/*"]);
        assert!(known.contains(&last), "{verb:?}");
        lab.check_pristine(1);
    }
}

#[test]
fn commits_that_only_a_bisection_has_are_kept() {
    let lab = RepositoryLab::new();
    lab.acquire(1, "fix").unwrap();
    let folder = lab.pooled(1);
    lab.run(&folder, &["switch", "--quiet", "--detach"]);
    let commits: Vec<_> = (0..4).map(|n| lab.commit(&folder, "steps", &format!("{n}\n"))).collect();
    lab.run(&folder, &["bisect", "start", &commits[3], &commits[0]]);
    lab.released(1).unwrap();
    let known = lab.run(&lab.repo(), &["rev-list", "--glob=refs/orange/backup/*"]);
    assert!(known.contains(&commits[3]));
}
