//! Several processes on one home, some of them killed.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::store::tests::{TestProcess, draft, editors, home, task};
use crate::store::{
    Event, Home, LockedWorkItem, Pool, Set, WorkItem, WorkItemDir, WorkItemKind, activity, create, index,
    journal, list,
};
use crate::{Error, ErrorKind};
use orange_system::atomic;

const ROUNDS: u32 = 20;
const MAKERS: usize = 4;
const MADE_BY_EACH: usize = 8;

/// Work of the other processes; in the test run itself it does nothing.
#[test]
fn role() {
    let (Ok(role), Ok(root)) = (std::env::var("ORANGE_TEST_ROLE"), std::env::var("ORANGE_TEST_HOME")) else {
        return;
    };
    let home = Home::at(root).named(&format!("orange test {role}"));
    match role.as_str() {
        "write" => write_forever(&home),
        "append" => append_forever(&home),
        "hold" => hold_forever(&home),
        "count" => (0..ROUNDS).for_each(|_| count(&home)),
        "create" => create_one(&home),
        "bind" => bind(&home),
        "many" => change_many(&home),
        "edit" => editors::edit(&home),
        "index" => index::tests::write_forever(&home),
        "idle" => index::idle::tests::change(&home),
        "list" => index::idle::tests::write_forever(&home),
        "note" => activity::tests::note_many(&only_task(&home)),
        "move" => editors::move_until_stopped(&home),
        other => panic!("no role {other}"),
    }
}

#[test]
fn a_killed_writer_leaves_a_whole_file() {
    let (_folder, home) = home();
    home.prepare().unwrap();
    let path = file(&home);
    atomic::write(&path, &contents(0)).unwrap();
    for _ in 0..ROUNDS {
        let mut writer = TestProcess::start("write", &home);
        writer.wait_for("3");
        writer.kill();
        let found = fs::read(&path).unwrap();
        assert_eq!(found, contents(usize::from(found[0])));
    }
    atomic::sweep(home.root());
    assert_eq!(names(home.root()), ["file"]);
}

#[test]
fn room_that_was_made_takes_what_fits_and_is_given_back() {
    let (_folder, home) = home();
    home.prepare().unwrap();
    let path = file(&home);
    let room = atomic::make_room(&path, 8).unwrap();
    assert!(!path.exists());
    room.write(b"noted").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"noted   ");
    atomic::make_room(&path, 4).unwrap().write(b"too long").unwrap_err();
    drop(atomic::make_room(&path, 4).unwrap());
    assert_eq!(
        (fs::read(&path).unwrap(), names(home.root())),
        (b"noted   ".to_vec(), vec!["file".to_owned()])
    );
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(atomic::make_room(&path, 8).is_err());
}

#[test]
fn a_killed_engine_leaves_a_task_that_is_as_its_journal_says() {
    let (_folder, home) = home();
    let dir = task(&home, "fix").dir().clone();
    for _ in 0..ROUNDS {
        let mut engine = TestProcess::start("append", &home);
        engine.wait_for("3");
        engine.kill();
        let locked = LockedWorkItem::lock(&home, &dir).unwrap();
        let records = journal::read(&dir.history()).unwrap().records;
        assert!(records.iter().zip(1..).all(|(record, seq)| record.seq == seq));
        assert_eq!(locked.history(), &crate::store::WorkItemHistory::fold(&records));
        let text = fs::read_to_string(dir.task_md()).unwrap();
        assert!(text.contains(&format!("\nreview_round: {}\n", locked.task().counter("review_round"))));
        assert!(text.ends_with("---\n\n## Context\n\nToo sour.\n"));
    }
    drop(LockedWorkItem::lock(&home, &dir).unwrap());
    let others: Vec<_> = names(&dir.path).into_iter().filter(|name| !name.ends_with(".old")).collect();
    assert_eq!(others, [".lock", "TASK.md", "history.jsonl"]);
}

#[test]
fn a_lock_is_held_until_its_holder_dies() {
    let (_folder, home) = home();
    let dir = task(&home, "fix").dir().clone();
    let mut holder = TestProcess::start("hold", &home);
    holder.wait_for("held");
    let impatient = home.clone().patient(Duration::from_millis(20));
    let error = LockedWorkItem::lock(&impatient, &dir).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Locked);
    let expect =
        format!("task {} is locked by process {} (`orange test hold`) since 20", dir.id, holder.id());
    assert!(error.message.starts_with(&expect), "{}", error.message);
    WorkItem::read(&home, &dir).unwrap();
    holder.kill();
    LockedWorkItem::lock(&impatient, &dir).unwrap();
}

#[test]
fn a_lock_of_a_task_that_went_away_is_no_lock() {
    let (_folder, home) = home();
    let locked = task(&home, "fix");
    let dir = locked.dir().clone();
    let waiting = std::thread::scope(|scope| {
        let waiter = scope.spawn(|| LockedWorkItem::lock(&home, &dir).map(drop));
        fs::rename(&dir.path, home.root().join("trash")).unwrap();
        drop(locked);
        waiter.join().unwrap()
    });
    assert_eq!(waiting.unwrap_err().kind, ErrorKind::NotFound);
}

#[test]
fn no_update_is_lost() {
    let (_folder, home) = home();
    let dir = task(&home, "fix").dir().clone();
    let processes: Vec<_> = (0..4).map(|_| TestProcess::start("count", &home)).collect();
    assert!(processes.into_iter().all(TestProcess::succeeded));
    let locked = LockedWorkItem::lock(&home, &dir).unwrap();
    assert_eq!(locked.task().counter("review_round"), 4 * ROUNDS);
    assert_eq!(locked.history().last_seq, u64::from(1 + 4 * ROUNDS));
}

#[test]
fn one_of_many_creators_of_a_branch_wins() {
    let (_folder, home) = home();
    let processes: Vec<_> = (0..6).map(|_| TestProcess::start("create", &home)).collect();
    assert!(processes.into_iter().all(TestProcess::succeeded));
    assert_eq!(list(&home, None).unwrap().len(), 1);
}

#[test]
fn a_thousand_tasks_are_made_and_changed_at_once() {
    // Thousands of waits for a disk would say nothing more.
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    let home = Home::at(folder.path().join("home"));
    copy_of(&task(&home, "fix").dir().clone());
    let makers: Vec<_> = (0..MAKERS).map(|_| TestProcess::start("many", &home)).collect();
    assert!(makers.into_iter().all(TestProcess::succeeded));
    let listed = list(&home, None).unwrap();
    assert_eq!(listed.len(), 1000);
    let changes = listed.into_iter().map(|listed| listed.task.unwrap().counter("review_round"));
    assert_eq!(changes.collect::<Vec<_>>().iter().sum::<u32>(), 1000, "each was changed once");
}

/// Makes as many tasks like this one that with those which are going to be created there are a thousand.
fn copy_of(first: &WorkItemDir) {
    for number in 1..1000 - MAKERS * MADE_BY_EACH {
        let copy = first.path.with_file_name(format!("{:0>21}", format!("copy{number}")));
        fs::create_dir(&copy).unwrap();
        for file in ["TASK.md", "history.jsonl"] {
            let text = fs::read_to_string(first.path.join(file)).unwrap();
            let text = text.replace(&first.id, copy.file_name().unwrap().to_str().unwrap());
            fs::write(copy.join(file), text.replace("fix", &format!("fix-{number}"))).unwrap();
        }
    }
}

#[test]
fn slots_are_not_given_twice() {
    let (_folder, home) = home();
    let processes: Vec<_> = (0..6).map(|_| TestProcess::start("bind", &home)).collect();
    assert!(processes.into_iter().all(TestProcess::succeeded));
    let slots = crate::store::pool::read(&home).unwrap();
    let mut bound: Vec<_> = slots.iter().map(|slot| (&slot.name, slot.task.is_some())).collect();
    bound.sort();
    assert_eq!(bound, [(&"coffee--1".to_owned(), true), (&"coffee--2".to_owned(), true)]);
}

fn write_forever(home: &Home) {
    for round in 0.. {
        atomic::write(&file(home), &contents(round % 7)).unwrap();
        println!("\n{round}");
    }
}

fn append_forever(home: &Home) {
    for round in 0..u32::MAX {
        count(home);
        println!("\n{round}");
    }
}

fn hold_forever(home: &Home) {
    let _open = LockedWorkItem::lock(home, &only_task(home)).unwrap();
    println!("\nheld");
    std::thread::sleep(Duration::MAX);
}

/// Two events and a changed counter, as a transition writes them.
pub(super) fn count(home: &Home) {
    let mut locked = LockedWorkItem::lock(home, &only_task(home)).unwrap();
    let round = locked.task().counter("review_round") + 1;
    locked.append(Event::Unknown, Set::new().counter("review_round", round)).unwrap();
}

fn create_one(home: &Home) {
    let taken = Error::new(ErrorKind::Refused, "taken");
    let made = create(home, &draft("fix"), |same| if same.is_empty() { Ok(()) } else { Err(taken.clone()) });
    assert!(made.is_ok() || made.is_err_and(|error| error == taken));
}

/// Makes some tasks, and changes every task that nobody has changed before.
fn change_many(home: &Home) {
    for number in 0..MADE_BY_EACH {
        let branch = format!("new-{}-{number}", std::process::id());
        let made =
            create(home, &draft(&branch), |same| if same.is_empty() { Ok(()) } else { unreachable!() });
        change_once(&mut made.unwrap());
    }
    for dir in list::dirs(home, &[WorkItemKind::Task], None).unwrap() {
        change_once(&mut LockedWorkItem::lock(home, &dir).unwrap());
    }
}

fn change_once(locked: &mut LockedWorkItem) {
    if locked.task().counter("review_round") == 0 {
        locked.append(Event::Unknown, Set::new().counter("review_round", 1)).unwrap();
    }
}

fn bind(home: &Home) {
    let bound = Pool::lock(home).unwrap().bind(
        "coffee",
        2,
        &std::process::id().to_string(),
        crate::store::tests::usable,
    );
    assert!(bound.is_ok() || bound.is_err_and(|error| error.kind == ErrorKind::Refused));
}

pub(super) fn only_task(home: &Home) -> WorkItemDir {
    list::dirs(home, &[WorkItemKind::Task], None).unwrap().remove(0)
}

fn file(home: &Home) -> std::path::PathBuf {
    home.root().join("file")
}

/// Contents that tell by every byte which round they are of, and differ in length.
fn contents(round: usize) -> Vec<u8> {
    vec![u8::try_from(round).unwrap(); 300_000 + 10_000 * round]
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
