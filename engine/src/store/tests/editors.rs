//! Processes that edit a `TASK.md` in every way that people and agents do, while the engine writes it.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use crate::store::tests::processes::{count, only_task};
use crate::store::tests::{TestProcess, home, task};
use crate::store::{Event, Home, LockedWorkItem, Set, WorkItem, late_write};

const EDITORS: usize = 4;
const EDITS: usize = 21;
const PATIENCE: Duration = Duration::from_secs(180);

/// A task in a worktree, and the path by which an agent sees it.
pub(super) fn in_a_worktree() -> (tempfile::TempDir, Home, PathBuf) {
    let (folder, home) = home();
    let mut locked = task(&home, "fix");
    let worktree = home.workspace("coffee--1");
    fs::create_dir_all(&worktree).unwrap();
    locked.append(Event::Unknown, Set::new().status("working").workspace(Some("coffee--1"))).unwrap();
    drop(locked);
    (folder, home, worktree.join("TASK.md"))
}

#[test]
fn no_line_of_an_editor_is_lost() {
    let (_folder, home, copy) = in_a_worktree();
    let dir = only_task(&home);
    let engines: Vec<_> = (0..2).map(|_| TestProcess::start("move", &home)).collect();
    let editors: Vec<_> = (0..EDITORS).map(|_| TestProcess::start("edit", &home)).collect();
    let lines: Vec<String> = editors.iter().flat_map(|editor| marks(editor.id())).collect();
    assert!(editors.into_iter().all(TestProcess::succeeded));
    fs::write(home.root().join("stop"), "").unwrap();
    assert!(engines.into_iter().all(TestProcess::succeeded));

    let (read, _) = WorkItem::read(&home, &dir).unwrap();
    let locked = LockedWorkItem::lock(&home, &dir).unwrap();
    assert_eq!(read.body, locked.task().body, "a reader sees what the next writer keeps");
    for line in ["Too sour."].into_iter().chain(lines.iter().map(String::as_str)) {
        assert!(read.body.lines().any(|found| found == line), "{line} is lost:\n{}", read.body);
    }
    let owned = locked.history().owned.clone();
    drop(locked);
    assert_eq!(owned.status, "working");
    let text = fs::read_to_string(dir.task_md()).unwrap();
    assert_eq!(fs::read_to_string(&copy).unwrap(), text);
    let expect = format!("\nreview_round: {}\n", owned.counter("review_round"));
    assert!(text.contains("\nstatus: working\n") && text.contains(&expect), "{text}");
    assert_eq!(LockedWorkItem::lock(&home, &dir).unwrap().repairs(), [], "nothing is left to be repaired");
}

/// Changes the task's file through a descriptor that was opened before the engine replaced it.
#[track_caller]
fn check_late(write: impl Fn(&mut File), meanwhile: impl Fn(&Path), expect: &str) {
    let (_folder, home, copy) = in_a_worktree();
    let dir = only_task(&home);
    let mut old = OpenOptions::new().read(true).write(true).open(&copy).unwrap();
    for _ in 0..3 {
        count(&home);
    }
    meanwhile(&copy);
    write(&mut old);
    assert_eq!(WorkItem::read(&home, &dir).unwrap().0.body, expect);
    let locked = LockedWorkItem::lock(&home, &dir).unwrap();
    assert_eq!((locked.task().body.as_str(), locked.repairs().len()), (expect, 1));
    drop(locked);
    assert!(fs::read_to_string(dir.task_md()).unwrap().ends_with(expect));
    assert_eq!(LockedWorkItem::lock(&home, &dir).unwrap().repairs(), []);
}

fn at_the_end(text: &'static str) -> impl Fn(&mut File) {
    move |file| {
        file.seek(SeekFrom::End(0)).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }
}

fn rewritten(text: &'static str) -> impl Fn(&mut File) {
    move |file| {
        file.set_len(0).unwrap();
        file.rewind().unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }
}

fn appended(text: &'static str) -> impl Fn(&Path) {
    move |path| OpenOptions::new().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap()
}

#[test]
fn what_is_written_through_an_old_descriptor_is_carried_over() {
    check_late(at_the_end("late\n"), |_| {}, "\n## Context\n\nToo sour.\nlate\n");
    check_late(at_the_end("late\n"), appended("new\n"), "\n## Context\n\nToo sour.\nnew\nlate\n");
    check_late(rewritten("---\nstatus: done\n---\nlate\n"), |_| {}, "late\n");
    check_late(rewritten("late\n"), appended("new\n"), "\n## Context\n\nToo sour.\nnew\nlate\n");
}

#[test]
fn what_is_half_written_late_is_carried_over_when_it_is_whole() {
    let (_folder, home, copy) = in_a_worktree();
    let dir = only_task(&home);
    let mut old = OpenOptions::new().write(true).open(&copy).unwrap();
    count(&home);
    old.set_len(0).unwrap();
    old.write_all(b"---\nstatus: ").unwrap();
    assert_eq!(LockedWorkItem::lock(&home, &dir).unwrap().task().body, "\n## Context\n\nToo sour.\n");
    old.write_all(b"done\n---\nlate\n").unwrap();
    assert_eq!(LockedWorkItem::lock(&home, &dir).unwrap().task().body, "late\n");
    old.write_all(b"and later\n").unwrap();
    assert_eq!(LockedWorkItem::lock(&home, &dir).unwrap().task().body, "late\nand later\n");
}

#[test]
fn former_versions_are_forgotten() {
    let (_folder, home, _copy) = in_a_worktree();
    let dir = only_task(&home);
    for _ in 0..40 {
        count(&home);
    }
    let formers = || {
        let names = fs::read_dir(&dir.path).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_str().unwrap().ends_with(".old")).count()
    };
    let before = formers();
    assert!(before >= 40, "{before}");
    let now = SystemTime::now();
    late_write::forget(&dir.task_md(), now).unwrap();
    assert_eq!(formers(), before);
    late_write::forget(&dir.task_md(), now + Duration::from_secs(61)).unwrap();
    assert_eq!(formers(), 32);
}

/// Lines that a process of the role `edit` writes.
fn marks(process: u32) -> impl Iterator<Item = String> {
    (0..EDITS).map(move |number| format!("edit {number} of {process}"))
}

/// Edits in every way in turn. Editors take turns, since they know as little of each other as any editor does.
pub(super) fn edit(home: &Home) {
    let path = home.workspace("coffee--1").join("TASK.md");
    let first = whole(&path);
    for (number, line) in marks(std::process::id()).enumerate() {
        let turn = File::create(home.root().join("turn")).unwrap();
        turn.lock().unwrap();
        match number % 7 {
            0 => append(&path, &line),
            1 => fs::write(&path, with(&whole(&path), &line)).unwrap(),
            2 => rename_over(&path, &with(&whole(&path), &line)),
            3 => fs::write(&path, with(&old_frontmatter(&first, &whole(&path)), &line)).unwrap(),
            4 => rename_over(&path, &with(&old_frontmatter(&first, &whole(&path)), &line)),
            5 => fs::write(&path, with(&forged(&whole(&path)), &line)).unwrap(),
            _ => append_late(home, &path, &line),
        }
    }
}

/// Takes the task through one change after the other until somebody says stop.
pub(super) fn move_until_stopped(home: &Home) {
    while !home.root().join("stop").exists() {
        if home.root().join("pause").exists() {
            std::thread::yield_now();
        } else {
            count(home);
            // As many replaced versions are kept as an editor may sleep through while it waits for a processor.
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// The text as an editor loads it, which shows an empty file to nobody.
fn whole(path: &Path) -> String {
    let until = Instant::now() + PATIENCE;
    loop {
        assert!(Instant::now() < until, "{} stays empty", path.display());
        if let Ok(text) = fs::read_to_string(path)
            && text.contains("\n---\n")
        {
            return text;
        }
    }
}

fn with(text: &str, line: &str) -> String {
    format!("{text}{line}\n")
}

fn append(path: &Path, line: &str) {
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

fn rename_over(path: &Path, text: &str) {
    let new = path.with_extension("new");
    fs::write(&new, text).unwrap();
    fs::rename(&new, path).unwrap();
}

fn old_frontmatter(old: &str, now: &str) -> String {
    let (frontmatter, body) = (old.split_once("\n---\n").unwrap().0, now.split_once("\n---\n").unwrap().1);
    format!("{frontmatter}\n---\n{body}")
}

fn forged(text: &str) -> String {
    let (frontmatter, body) = text.split_once("\n---\n").unwrap();
    let forged: String = frontmatter
        .split_inclusive('\n')
        .map(|line| match line.split_once(": ") {
            Some(("status", _)) => "status: done\n",
            Some(("review_round", _)) => "review_round: 0\n",
            Some(_) | None => line,
        })
        .collect();
    format!("{}\n---\n{body}", forged.trim_end())
}

/// Opens the file, has it replaced, and appends while the engines pause; then waits until the line is there, since an editor that
/// has read the file without it could remove it.
fn append_late(home: &Home, path: &Path, line: &str) {
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    let pause = home.root().join("pause");
    fs::write(&pause, "").unwrap();
    count(home);
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
    fs::remove_file(&pause).unwrap();
    let until = Instant::now() + PATIENCE;
    while !whole(path).contains(line) {
        assert!(Instant::now() < until, "{line} is not carried over");
        std::thread::yield_now();
    }
}

#[test]
fn a_file_of_a_writer_killed_before_its_swap_is_no_late_write() {
    let (_folder, home, copy) = in_a_worktree();
    let dir = only_task(&home);
    let text = fs::read_to_string(&copy).unwrap();
    let body = WorkItem::read(&home, &dir).unwrap().0.body;
    let new = text.replacen("status: working", "status: reviewing", 1);
    assert_ne!(new, text);
    fs::write(late_write::name(&dir.task_md(), &body), new).unwrap();
    assert_eq!(LockedWorkItem::lock(&home, &dir).unwrap().repairs(), []);
    assert_eq!(fs::read_to_string(&copy).unwrap(), text);
}
