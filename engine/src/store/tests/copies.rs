//! The worktree's copy of `TASK.md`: texts that are merged, texts that are published, and texts that are neither.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use crate::ErrorKind;
use crate::store::tests::editors::in_a_worktree;
use crate::store::tests::processes::{count, only_task};
use crate::store::tests::task;
use crate::store::{Event, Home, LockedWorkItem, Set, WorkItem, WorkItemDir, copy};

const BODY: &str = "\n## Context\n\nToo sour.\n";

/// A task in a worktree: its home, its folder, and the path of the copy.
fn lab() -> (tempfile::TempDir, Home, WorkItemDir, PathBuf) {
    let (folder, home, copy) = in_a_worktree();
    let dir = only_task(&home);
    (folder, home, dir, copy)
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

fn change(path: &Path, from: &str, to: &str) {
    let changed = text(path).replacen(from, to, 1);
    assert_ne!(changed, text(path));
    fs::write(path, changed).unwrap();
}

fn append(path: &Path, line: &str) {
    fs::write(path, text(path) + line).unwrap();
}

/// The replaced texts.
fn kept(dir: &WorkItemDir) -> Vec<String> {
    let entries = fs::read_dir(dir.kept()).into_iter().flatten();
    entries.map(|entry| text(&entry.unwrap().path())).collect()
}

#[test]
fn the_worktree_has_a_regular_file_with_the_text() {
    let (_folder, home, dir, copy) = lab();
    let is_the_text = || copy.symlink_metadata().unwrap().is_file() && text(&copy) == text(&dir.task_md());
    assert!(is_the_text());
    let lock = || drop(LockedWorkItem::lock(&home, &dir).unwrap());

    fs::remove_file(&copy).unwrap();
    assert_eq!(WorkItem::read(&home, &dir).unwrap().0.body, BODY);
    lock();
    assert!(is_the_text(), "one that was removed comes back");

    for target in [dir.task_md(), "/elsewhere/tasks/coffee/x/TASK.md".into(), "/etc/passwd".into()] {
        fs::remove_file(&copy).unwrap();
        symlink(target, &copy).unwrap();
        assert_eq!(WorkItem::read(&home, &dir).unwrap().0.body, BODY);
        lock();
        assert!(is_the_text(), "a link is replaced, and not followed");
    }

    fs::remove_file(&copy).unwrap();
    fs::create_dir(&copy).unwrap();
    lock();
    assert!(copy.is_dir(), "a folder stays");
    fs::remove_dir_all(copy.parent().unwrap()).unwrap();
    lock();
    assert!(!copy.parent().unwrap().exists(), "a worktree is not made again");
}

#[test]
fn a_home_with_links_is_taken_over() {
    let (_folder, home, dir, copy) = lab();
    fs::remove_file(dir.base()).unwrap();
    fs::remove_file(&copy).unwrap();
    symlink(dir.task_md(), &copy).unwrap();
    append(&copy, "through the link\n");
    assert_eq!(LockedWorkItem::lock(&home, &dir).unwrap().task().body, format!("{BODY}through the link\n"));
    assert!(!copy.is_symlink() && text(&copy) == text(&dir.task_md()));

    // An editor has put a file in the place of the link before.
    fs::remove_file(dir.base()).unwrap();
    append(&copy, "by an editor\n");
    let body = LockedWorkItem::lock(&home, &dir).unwrap().task().body.clone();
    assert_eq!(body, format!("{BODY}through the link\nby an editor\n"));

    // And somebody has written to the task's own file since.
    fs::remove_file(dir.base()).unwrap();
    append(&copy, "theirs\n");
    let saved = fs::metadata(&copy).unwrap().modified().unwrap();
    change(&dir.task_md(), "sour.\n", "sour.\nours\n");
    let own = fs::OpenOptions::new().write(true).open(dir.task_md()).unwrap();
    own.set_modified(saved + std::time::Duration::from_millis(1)).unwrap();
    let body = LockedWorkItem::lock(&home, &dir).unwrap().task().body.clone();
    for line in ["theirs", "ours", "by an editor"] {
        assert!(body.lines().any(|found| found == line), "{line}: {body}");
    }
}

#[test]
fn a_projects_own_file_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("TASK.md");
    copy::check_place(folder.path()).unwrap();
    for own in ["ours", "", "---\ntitle: x\n---\n"] {
        fs::write(&path, own).unwrap();
        assert_eq!(copy::check_place(folder.path()).unwrap_err().kind, ErrorKind::Refused);
        assert_eq!(text(&path), own);
    }
    fs::write(&path, "---\nid: another\n---\n").unwrap();
    copy::check_place(folder.path()).unwrap();
    fs::remove_file(&path).unwrap();
    symlink("/etc/passwd", &path).unwrap();
    assert_eq!(copy::check_place(folder.path()).unwrap_err().kind, ErrorKind::Refused);
}

/// Somebody saves the copy: what the task's body becomes.
#[track_caller]
fn check_taken_in(edit: impl Fn(&str) -> String, body: &str, repairs: usize) {
    let (_folder, home, dir, copy) = lab();
    let edited = edit(&text(&copy));
    fs::write(&copy, &edited).unwrap();
    assert_eq!(WorkItem::read(&home, &dir).unwrap().0.body, body);
    assert_eq!(text(&copy), edited, "a reader changes nothing");
    let locked = LockedWorkItem::lock(&home, &dir).unwrap();
    assert_eq!((locked.task().body.as_str(), locked.task().status()), (body, "working"));
    assert_eq!(locked.repairs().len(), repairs, "{:?}", locked.repairs());
    drop(locked);
    assert!(text(&dir.task_md()).ends_with(body));
    assert!(text(&copy).contains("status: working") && text(&copy).ends_with(body));
    assert_eq!(LockedWorkItem::lock(&home, &dir).unwrap().repairs(), []);
}

#[test]
fn what_is_saved_in_the_worktree_is_taken_in() {
    check_taken_in(|text| format!("{text}## Handoff\n"), &format!("{BODY}## Handoff\n"), 0);
    check_taken_in(|text| text.replace("status: working", "status: done"), BODY, 1);
    check_taken_in(|_| "## Handoff\nDONE: it\n".to_owned(), "## Handoff\nDONE: it\n", 0);
    check_taken_in(|_| "\nDONE: it\n".to_owned(), "\nDONE: it\n", 0);
    check_taken_in(|text| text.replace(BODY, "no line end"), "no line end", 0);
    check_taken_in(|text| text.replace(BODY, ""), "", 0);
    let windows = |text: &str| format!("\u{feff}{}", text.replace('\n', "\r\n"));
    check_taken_in(windows, &BODY.replace('\n', "\r\n"), 0);
}

#[test]
fn every_byte_of_a_save_is_kept() {
    let (_folder, home, dir, copy) = lab();
    let odd =
        text(&copy).replacen("---\n", "---\n# mine\nmood: \"good\"   # today\n", 1) + "\n\t\u{3000} \n\n";
    fs::write(&copy, &odd).unwrap();
    drop(LockedWorkItem::lock(&home, &dir).unwrap());
    assert_eq!(text(&copy), odd);
    let clockless = |text: &str| -> Vec<String> {
        text.split('\n').filter(|line| !line.starts_with("updated_at")).map(str::to_owned).collect()
    };
    assert_eq!(clockless(&text(&dir.task_md())), clockless(&odd));
}

#[test]
fn keys_of_people_are_taken_in() {
    let (_folder, home, dir, copy) = lab();
    change(&copy, "summary: Grind finer", "summary: Grind coarser");
    change(&dir.task_md(), "harness: claude", "harness: pi");
    assert_eq!(WorkItem::read(&home, &dir).unwrap().0.summary, "Grind coarser");
    let locked = LockedWorkItem::lock(&home, &dir).unwrap();
    assert_eq!((locked.task().summary.as_str(), locked.task().harness.as_str()), ("Grind coarser", "pi"));
    drop(locked);
    assert_eq!(text(&copy), text(&dir.task_md()));
}

#[test]
fn a_copy_that_lacks_only_the_time_is_left_alone() {
    let (_folder, home, dir, copy) = lab();
    append(&copy, "by an agent\n");
    let state = || {
        let found = copy.metadata().unwrap();
        (found.ino(), found.mtime(), found.mtime_nsec(), text(&copy))
    };
    let before = state();
    let first = text(&dir.task_md());
    let mut locked = LockedWorkItem::lock(&home, &dir).unwrap();
    locked.append(Event::Unknown, crate::store::Set::new().status("working")).unwrap();
    drop(locked);
    drop(LockedWorkItem::lock(&home, &dir).unwrap());
    assert_ne!(text(&dir.task_md()), first);
    assert_eq!(state(), before);
    count(&home);
    assert_ne!(state(), before, "a counter is more than the time");
}

/// An error names the place in a text that cannot be parsed, and the text stays as it is.
#[track_caller]
fn check_refused(broken: &[u8], expect: &str) {
    let (_folder, home, dir, copy) = lab();
    fs::write(&copy, broken).unwrap();
    let events = text(&dir.history());
    let errors = [LockedWorkItem::lock(&home, &dir).map(drop), WorkItem::read(&home, &dir).map(drop)];
    for error in errors.map(Result::unwrap_err) {
        assert_eq!(error.kind, ErrorKind::Corrupt);
        let rest = error.message.strip_prefix(copy.to_str().unwrap());
        assert!(rest.is_some_and(|rest| rest.contains(expect)), "{}", error.message);
        assert!(error.help.contains("nothing was changed"), "{}", error.help);
    }
    assert_eq!((fs::read(&copy).unwrap(), text(&dir.history())), (broken.to_vec(), events));
    fs::remove_file(&copy).unwrap();
    assert_eq!(LockedWorkItem::lock(&home, &dir).unwrap().task().body, BODY);
    assert_eq!(text(&copy), text(&dir.task_md()));
}

#[test]
fn a_copy_that_cannot_be_understood_is_refused() {
    check_refused(b"text\n<<<<<<< HEAD\n", ":2: a merge conflict");
    check_refused(b"---\nno key\n---\n", ":2: this line");
    check_refused(b"---\nsummary: 'x\n---\n", ":2: the value of `summary`");
    check_refused(b"---\nid: x\nid: x\n---\n", "a second time");
    check_refused(b"---js\nid: x\n---\n", "opens with `---js`");
    check_refused(b"---\n---\n\xff\n", "not UTF-8");
    check_refused(&vec![b'x'; 4 * 1024 * 1024 + 1], "is longer than 4 MiB");
}

/// Checks that a text that is not the task's is never merged, and is kept unless it is empty.
#[track_caller]
fn check_unfit(unfit: &str) {
    let (_folder, home, dir, copy) = lab();
    fs::write(&copy, unfit).unwrap();
    assert_eq!(WorkItem::read(&home, &dir).unwrap().0.body, BODY);
    let locked = LockedWorkItem::lock(&home, &dir).unwrap();
    assert_eq!(locked.task().body, BODY);
    assert_eq!(locked.repairs().len(), usize::from(!unfit.is_empty()));
    drop(locked);
    assert_eq!(text(&copy), text(&dir.task_md()));
    assert_eq!(kept(&dir), Vec::from_iter((!unfit.is_empty()).then_some(unfit)));
    assert_eq!(LockedWorkItem::lock(&home, &dir).unwrap().repairs(), []);
}

#[test]
fn what_is_no_text_of_the_task_is_never_taken_in() {
    check_unfit("");
    check_unfit("-");
    check_unfit("---\nid: x\n");
    check_unfit("---\nid: another\n---\nIts body.\n");
}

#[test]
fn a_worktree_of_another_task_is_left_alone() {
    let (_folder, home, dir, copy) = lab();
    let other = {
        let mut locked = task(&home, "other");
        locked.append(Event::Unknown, Set::new().workspace(Some("coffee--1"))).unwrap();
        locked.dir().id.clone()
    };
    let mut pool = crate::store::Pool::lock(&home).unwrap();
    pool.unbind(&dir.id).unwrap();
    pool.bind("coffee", 1, &other, crate::store::tests::usable).unwrap();
    drop(pool);
    let theirs = format!("---\nid: {other}\n---\nTheirs.\n");
    fs::write(&copy, &theirs).unwrap();
    drop(LockedWorkItem::lock(&home, &dir).unwrap());
    assert_eq!(text(&copy), theirs);
}

#[test]
fn a_change_in_the_store_is_published_to_the_copy() {
    let (_folder, home, dir, copy) = lab();
    append(&dir.task_md(), "## Feedback\n\nMore milk.\n");
    append(&copy, "## Handoff\n\nDONE: it\n");
    let expect = format!("{BODY}## Handoff\n\nDONE: it\n## Feedback\n\nMore milk.\n");
    assert_eq!(WorkItem::read(&home, &dir).unwrap().0.body, expect);
    assert_eq!(LockedWorkItem::lock(&home, &dir).unwrap().task().body, expect);
    assert_eq!(text(&copy), text(&dir.task_md()));
    assert!(kept(&dir).is_empty());
}

#[test]
fn a_replaced_text_is_kept_and_named() {
    let (_folder, home, dir, copy) = lab();
    change(&dir.task_md(), "Too sour.", "Too bitter.");
    change(&copy, "Too sour.", "Too sweet.");
    let locked = LockedWorkItem::lock(&home, &dir).unwrap();
    assert_eq!(locked.task().body, "\n## Context\n\nToo sweet.\n");
    let [Event::TaskRepaired { field, kept: Some(file), .. }] = locked.repairs() else {
        panic!("{:?}", locked.repairs());
    };
    assert_eq!(field, "TASK.md");
    assert!(text(Path::new(file)).contains("Too bitter."));
    assert!(locked.task().attention.as_ref().unwrap().contains(file));
    drop(locked);
    assert!(text(&copy).contains("Too sweet.") && text(&copy).contains("attention: "));
    assert_eq!(LockedWorkItem::lock(&home, &dir).unwrap().repairs(), []);
    assert_eq!(kept(&dir).len(), 1);
}

#[test]
fn a_power_cut_brings_no_older_text_back() {
    let (_folder, home, dir, copy) = lab();
    let older = text(&copy);
    append(&dir.task_md(), "newer\n");
    drop(LockedWorkItem::lock(&home, &dir).unwrap());
    let record = text(&dir.base());
    let boot = record.split(' ').next().unwrap();
    let another_run = record.replacen(boot, "another-run", 1);

    // The record was written and the copy was not: it is the older one, or cut off.
    let saved = copy.metadata().unwrap().modified().unwrap();
    for left in [older.as_str(), &older[..older.len() - 9], ""] {
        fs::write(dir.base(), &another_run).unwrap();
        fs::write(&copy, left).unwrap();
        fs::File::options().write(true).open(&copy).unwrap().set_modified(saved).unwrap();
        let expect = format!("{BODY}newer\n");
        assert_eq!(LockedWorkItem::lock(&home, &dir).unwrap().task().body, expect);
        assert!(text(&copy).ends_with(&expect));
    }

    // Saved after the last time that both were the same.
    fs::write(dir.base(), &another_run).unwrap();
    append(&copy, "and later\n");
    assert_eq!(LockedWorkItem::lock(&home, &dir).unwrap().task().body, format!("{BODY}newer\nand later\n"));

    // The record itself is cut off.
    fs::write(dir.base(), &record[..record.len() / 2]).unwrap();
    append(&dir.task_md(), "own\n");
    assert_eq!(
        LockedWorkItem::lock(&home, &dir).unwrap().task().body,
        format!("{BODY}newer\nand later\nown\n")
    );
}

#[test]
fn a_worktree_that_is_given_back_has_no_copy() {
    let (_folder, home, dir, copy) = lab();
    append(&copy, "the last words\n");
    let mut locked = LockedWorkItem::lock(&home, &dir).unwrap();
    append(&copy, "and one more\n");
    locked.withdraw(copy.parent().unwrap()).unwrap();
    assert!(!copy.exists() && !dir.base().exists());
    assert_eq!(locked.task().body, format!("{BODY}the last words\nand one more\n"));
    locked.append(Event::Unknown, crate::store::Set::new().workspace(None)).unwrap();
    drop(locked);
    assert!(!copy.exists());
}
