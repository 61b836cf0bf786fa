//! Whatever is done to an index, an answer is the one of the files.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use orange_testkit::Random;

use super::*;
use crate::store::tests::{TestProcess, draft, home, task};
use crate::store::{Event, Home, LockedWorkItem, Set, create, list};
use orange_system::nofollow::opened;

/// A home with so many tasks, whose files are older than whatever is created next.
fn home_with(tasks: usize) -> (tempfile::TempDir, Home, Vec<WorkItemDir>) {
    let (folder, home) = home();
    let first = task(&home, "fix-0").dir().clone();
    for number in 1..tasks {
        copy(&home, &first, number);
    }
    let mut dirs = list::dirs(&home, &[WorkItemKind::Task], None).unwrap();
    dirs.sort();
    grow_old(&home);
    (folder, home, dirs)
}

/// Adds a task like this one, with a branch of its own, much faster than [`create`] does.
pub(crate) fn copy(home: &Home, first: &WorkItemDir, number: usize) {
    let dir = home.task("coffee", &format!("{}{number:06}", &first.id[..first.id.len() - 6]));
    fs::create_dir(&dir.path).unwrap();
    for (from, to) in [(first.task_md(), dir.task_md()), (first.history(), dir.history())] {
        let text = fs::read_to_string(from).unwrap();
        fs::write(to, text.replace(&first.id, &dir.id).replace("fix-0", &format!("fix-{number}"))).unwrap();
    }
}

/// Waits until the clock of the file system has moved on.
pub(crate) fn grow_old(home: &Home) {
    let probe = home.root().join("probe");
    let now = || {
        fs::write(&probe, "").unwrap();
        Stamp::of_file(&fs::File::open(&probe).unwrap()).unwrap()
    };
    let before = now();
    while !before.is_older_than(&now()) {}
    fs::remove_file(&probe).unwrap();
}

fn place<F: FileFact>(home: &Home) -> PathBuf {
    home.tasks().join("coffee").join(F::INDEX)
}

/// Facts that lists have about each task: by the indexes, or by the files alone.
fn known(dirs: &[WorkItemDir], is_indexed: bool) -> Vec<String> {
    let (journals, texts) = match is_indexed {
        true => (facts::<JournalFacts>(dirs, AskedTasks::All), facts::<TextFacts>(dirs, AskedTasks::All)),
        false => (read(dirs), read(dirs)),
    };
    let one = |(dir, (journal, text)): (&WorkItemDir, (JournalFacts, TextFacts))| {
        let owned = journal.owned.map(Arc::unwrap_or_clone);
        let task = text.task(dir, owned.clone().unwrap_or_default());
        format!("{} {owned:?} {:?} {task:?}", dir.id, text.branch)
    };
    dirs.iter().zip(journals.into_iter().zip(texts)).map(one).collect()
}

fn files_opened(home: &Home, work: impl FnOnce()) -> usize {
    opened::during(home.root(), work).0
}

#[test]
fn an_index_saves_the_opening_of_what_has_not_changed() {
    let (_folder, home, dirs) = home_with(300);
    let read_all = || drop(known(&dirs, true));
    assert!(files_opened(&home, read_all) > 600);
    assert!(place::<JournalFacts>(&home).exists() && place::<TextFacts>(&home).exists());
    let again = files_opened(&home, read_all);
    assert!(again < 10, "{again} files were opened");
    drop(LockedWorkItem::lock(&home, &dirs[7]).unwrap().append(Event::Unknown, Set::new().status("done")));
    let changed = files_opened(&home, read_all);
    assert_eq!(changed, again + 2);
    assert_eq!(known(&dirs, true), known(&dirs, false));
}

#[test]
fn a_small_home_has_no_index() {
    let (_folder, home, dirs) = home_with(FEW);
    assert_eq!(known(&dirs, true), known(&dirs, false));
    assert!(!place::<JournalFacts>(&home).exists() && !place::<TextFacts>(&home).exists());
}

#[test]
fn what_was_written_just_now_is_read_again() {
    let (_folder, home, dirs) = home_with(3 * FEW);
    let index = |begun: &atomic::BegunFile| {
        let open = OpenFolder::open(dirs[0].path.parent().unwrap()).unwrap();
        let stamp = open.stamp(&format!("{}/history.jsonl", dirs[0].id)).unwrap();
        stamp.is_older_than(&begun.stamp)
    };
    let begun = atomic::begin(&place::<JournalFacts>(&home)).unwrap();
    assert!(index(&begun));
    // The next write has at least the time of the index, which it may equal.
    fs::OpenOptions::new().append(true).open(dirs[0].history()).unwrap().set_len(0).unwrap();
    assert!(!index(&begun));
}

#[test]
fn a_idle_task_has_no_open_transition_and_no_agent() {
    let (_folder, home, dirs) = home_with(3 * FEW);
    let idle = || facts::<JournalFacts>(&dirs, AskedTasks::All).iter().filter(|it| it.idle.is_some()).count();
    // The files say it only to who writes an index.
    assert_eq!((idle(), idle()), (dirs.len(), dirs.len()));
    let started = Event::TransitionStarted(crate::store::event::Transition::default());
    LockedWorkItem::lock(&home, &dirs[0]).unwrap().append(started, Set::new()).unwrap();
    let spawned = Event::AgentSpawned(crate::store::event::Spawn { spawn: 1, ..Default::default() });
    LockedWorkItem::lock(&home, &dirs[1]).unwrap().append(spawned, Set::new()).unwrap();
    grow_old(&home);
    fs::remove_file(place::<JournalFacts>(&home)).unwrap();
    assert_eq!((idle(), idle()), (dirs.len() - 2, dirs.len() - 2));
}

#[test]
fn an_index_of_some_tasks_keeps_the_others() {
    let (_folder, home, dirs) = home_with(6 * FEW);
    let (one, other) = dirs.split_at(3 * FEW);
    for some in [one, other] {
        drop(facts::<TextFacts>(some, AskedTasks::Some));
    }
    assert!(files_opened(&home, || drop(facts::<TextFacts>(&dirs, AskedTasks::All))) < 10);
    // Those that are gone are forgotten by the next index of all.
    other.iter().for_each(|dir| fs::remove_dir_all(&dir.path).unwrap());
    fs::remove_file(place::<JournalFacts>(&home)).unwrap_or_default();
    one.iter().for_each(|dir| fs::write(dir.task_md(), fs::read(dir.task_md()).unwrap()).unwrap());
    grow_old(&home);
    drop(facts::<TextFacts>(one, AskedTasks::All));
    let text = fs::read_to_string(place::<TextFacts>(&home)).unwrap();
    assert_eq!(text.lines().count(), 1 + one.len());
}

#[test]
fn a_damaged_index_counts_for_nothing() {
    let (_folder, home, dirs) = home_with(3 * FEW);
    let expect = known(&dirs, false);
    assert_eq!(known(&dirs, true), expect);
    let path = place::<JournalFacts>(&home);
    let whole = fs::read(&path).unwrap();
    let mut random = Random::new(7);
    for round in 0..200 {
        let mut bytes = whole.clone();
        match random.below(4) {
            0 => bytes.truncate(random.below(whole.len())),
            1 => bytes.extend(&whole[random.below(whole.len())..]),
            2 => bytes.iter_mut().skip(random.below(whole.len())).take(64).for_each(|byte| *byte = 0),
            _ => bytes[random.below(whole.len())] ^= 1 << random.below(8),
        }
        fs::write(&path, &bytes).unwrap();
        assert_eq!(known(&dirs, true), expect, "round {round}");
    }
    for other in ["", "\n", "orange-index-2 0 0\n", "orange-index-3 0 0000000000000000\n"] {
        fs::write(&path, other).unwrap();
        assert_eq!(known(&dirs, true), expect, "{other}");
    }
}

#[test]
fn a_forged_index_names_no_path() {
    let (_folder, home, dirs) = home_with(3 * FEW);
    drop(known(&dirs, true));
    let path = place::<JournalFacts>(&home);
    let text = fs::read_to_string(&path).unwrap();
    let body = text.split_once('\n').unwrap().1;
    for forged in ["\"/etc/passwd\"", "\"../..\"", "\".pool.json\"", "7"] {
        let body = body.replace("\"workspace\":null", &format!("\"workspace\":{forged}"));
        fs::write(&path, [&head_of(&body), "\n", &body].concat()).unwrap();
        for facts in facts::<JournalFacts>(&dirs, AskedTasks::All) {
            assert_eq!(facts.owned.unwrap().workspace, None, "{forged}");
        }
    }
}

#[test]
fn an_index_that_cannot_be_read_or_written_is_done_without() {
    let (_folder, home, dirs) = home_with(3 * FEW);
    let expect = known(&dirs, false);
    let path = place::<JournalFacts>(&home);
    let secret = home.root().join("secret");
    fs::write(&secret, "secret").unwrap();
    symlink(&secret, &path).unwrap();
    assert_eq!(known(&dirs, true), expect);
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
    fs::remove_file(&path).unwrap();
    fs::create_dir_all(path.join("folder")).unwrap();
    assert_eq!(known(&dirs, true), expect);
    assert_eq!(known(&dirs, true), expect);
}

#[test]
fn no_attack_on_indexes_changes_an_answer() {
    const ROUNDS: usize = 400;
    let (_folder, home, mut dirs) = home_with(3 * FEW);
    let (_other_folder, _, others) = home_with(2 * FEW);
    drop(known(&others, true));
    let mut random = Random::new(27);
    let mut former = Vec::new();
    for round in 0..ROUNDS {
        let dir = dirs[random.below(dirs.len())].clone();
        let index =
            home.tasks().join("coffee").join([JournalFacts::INDEX, TextFacts::INDEX][random.below(2)]);
        let what = random.below(12);
        match what {
            0 => drop(
                LockedWorkItem::lock(&home, &dir)
                    .map(|mut it| it.append(Event::Unknown, status(&mut random))),
            ),
            1 => edit_in_place(&dir.history(), "pending", "waiting", &mut random),
            2 => edit_in_place(&dir.task_md(), "fix-", "mix-", &mut random),
            3 => fs::remove_file(&index).unwrap_or_default(),
            4 => former.extend(fs::read(&index).ok()),
            5 => drop(former.pop().map(|bytes| fs::write(&index, bytes).unwrap())),
            6 => {
                let other = others[0].path.with_file_name(index.file_name().unwrap());
                drop(fs::copy(other, &index));
            }
            7 => exchange(&dir, &dirs[random.below(dirs.len())]),
            8 => fs::write(dir.task_md(), "no frontmatter").unwrap(),
            9 => fs::write(dir.history(), fs::read(dirs[0].history()).unwrap()).unwrap(),
            10 => fs::write(index.with_file_name("..texts.index.1.0.tmp"), "half").unwrap(),
            _ => {
                drop(create(&home, &draft(&format!("new-{round}")), |_| Ok(())).unwrap());
                dirs = list::dirs(&home, &[WorkItemKind::Task], None).unwrap();
                dirs.sort();
            }
        }
        let indexed = known(&dirs, true);
        assert_eq!(indexed, known(&dirs, false), "round {round} of kind {what}");
        assert_eq!(known(&dirs, true), indexed, "round {round} of kind {what}, again");
    }
}

#[test]
fn a_kill_leaves_an_index_or_none() {
    let (_folder, home, dirs) = home_with(20 * FEW);
    let expect = known(&dirs, false);
    for round in 0..10 {
        let mut writer = TestProcess::start("index", &home);
        writer.wait_for("writing");
        // So long that each round comes to another moment.
        let until = SystemTime::now() + Duration::from_millis(3 * round);
        while SystemTime::now() < until {}
        writer.kill();
        assert_eq!(known(&dirs, true), expect, "round {round}");
    }
}

/// Writes both indexes again and again.
pub(crate) fn write_forever(home: &Home) {
    let dirs = list::dirs(home, &[WorkItemKind::Task], None).unwrap();
    loop {
        println!("writing");
        drop(known(&dirs, true));
        fs::remove_file(place::<JournalFacts>(home)).unwrap();
        fs::remove_file(place::<TextFacts>(home)).unwrap();
    }
}

fn status(random: &mut Random) -> Set {
    Set::new().status(["working", "done", "pending"][random.below(3)])
}

/// Writes other bytes of the same length into a file, and sets its time back, as if it had not been written.
fn edit_in_place(path: &Path, from: &str, to: &str, random: &mut Random) {
    let Ok(text) = fs::read_to_string(path) else { return };
    let (from, to) = if random.below(2) == 0 { (from, to) } else { (to, from) };
    let before = fs::metadata(path).unwrap().modified().unwrap();
    fs::write(path, text.replace(from, to)).unwrap();
    let times = [before, before + Duration::from_secs(3600), SystemTime::UNIX_EPOCH];
    let file = fs::OpenOptions::new().append(true).open(path).unwrap();
    file.set_modified(times[random.below(times.len())]).unwrap();
}

/// Gives each of two tasks the folder of the other.
fn exchange(one: &WorkItemDir, other: &WorkItemDir) {
    if one != other {
        atomic::exchange(&one.path, &other.path).unwrap();
    }
}
