//! Whatever happens to the list of idle tasks, an answer is the one of the files.

use std::fs;
use std::path::PathBuf;

use orange_testkit::Random;

use super::*;
use crate::store::index::FileFact;
use crate::store::index::tests::{copy, grow_old};
use crate::store::tests::{TestProcess, draft, home, task};
use crate::store::{Event, LockedWorkItem, Set, WorkItem, WorkItemKind, create, find, list, trash};
use orange_system::nofollow::opened;

const TASKS: usize = 3 * FEW;

fn is_over(_: WorkItemKind, owned: &Owned) -> bool {
    owned.status == "done"
}

fn place(home: &Home, name: &str) -> PathBuf {
    home.tasks().join("coffee").join(name)
}

/// The ids and the values of all tasks by the list, those of them that are not over, and those that have or could have one branch.
fn by_list(home: &Home, branch: &str) -> (Vec<String>, Vec<String>, Vec<String>) {
    let kinds = [WorkItemKind::Task];
    let with = |is_wanted: list::IsWanted<'_>| {
        let known = list::journals(home, &kinds, None, is_wanted).unwrap();
        sorted(list::each(known, |it| Some(format!("{} {:?}", it.dir.id, it.task.map(|task| task.owned)))))
    };
    let found = list::branches(home, &kinds, None, &is_over, &|_, own| own == branch).unwrap();
    let found = found.iter().filter(|named| named.may_have(|own| own == branch));
    (
        with(&|_, _| true),
        with(&|kind, owned| !is_over(kind, owned)),
        sorted(found.map(|it| it.dir.id.clone())),
    )
}

/// The ids and the values by the files alone, as [`by_list`] has them.
fn by_files(home: &Home, branch: &str) -> (Vec<String>, Vec<String>, Vec<String>) {
    let dirs = list::dirs(home, &[WorkItemKind::Task], None).unwrap();
    let all: Vec<(String, bool)> = crate::store::index::read::<JournalFacts>(&dirs)
        .into_iter()
        .zip(&dirs)
        .map(|(facts, dir)| {
            let owned = facts.owned.map(Arc::unwrap_or_clone).unwrap();
            let is_over = is_over(dir.kind, &owned);
            (format!("{} {:?}", dir.id, Ok::<_, Error>(owned)), is_over)
        })
        .collect();
    let found = list::branches_of(dirs);
    let found = found.iter().filter(|named| named.may_have(|own| own == branch));
    let live = all.iter().filter(|(_, is_over)| !is_over).map(|(shown, _)| shown.clone());
    let live = sorted(live);
    (sorted(all.into_iter().map(|(shown, _)| shown)), live, sorted(found.map(|it| it.dir.id.clone())))
}

fn sorted(all: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = all.into_iter().collect();
    all.sort();
    all
}

/// Checks the list, where tasks that are listed and not over are there in any case.
#[track_caller]
fn check(home: &Home, what: &str) {
    let (all, live, of_branch) = by_files(home, "fix-7");
    let (listed, listed_live, listed_branch) = by_list(home, "fix-7");
    assert_eq!(listed, all, "{what}");
    assert!(live.iter().all(|one| listed_live.contains(one)), "{what}");
    assert_eq!(listed_branch, of_branch, "{what}");
}

fn end(home: &Home, dir: &WorkItemDir, status: &str) {
    let mut locked = LockedWorkItem::lock(home, dir).unwrap();
    locked.append(Event::Unknown, Set::new().status(status)).unwrap();
}

/// A home whose tasks are over and listed.
fn listed() -> (tempfile::TempDir, Home, Vec<WorkItemDir>) {
    let (folder, home) = home();
    let first = task(&home, "fix-0").dir().clone();
    end(&home, &first, "done");
    (1..TASKS).for_each(|number| copy(&home, &first, number));
    let mut dirs = list::dirs(&home, &[WorkItemKind::Task], None).unwrap();
    dirs.sort();
    grow_old(&home);
    check(&home, "first");
    assert!(place(&home, IDLE).exists());
    (folder, home, dirs)
}

fn rewrite(path: &Path, from: &str, to: &str) {
    fs::write(path, fs::read_to_string(path).unwrap().replace(from, to)).unwrap();
}

#[test]
fn a_finished_task_is_not_looked_at() {
    let (_folder, home, dirs) = listed();
    let looks = |work: &dyn Fn()| opened::looks_during(&dirs[5].path, work);
    let live = |_: WorkItemKind, owned: &Owned| owned.status != "done";
    let of_list = || drop(list::journals(&home, &[WorkItemKind::Task], None, &live).unwrap());
    let named = || drop(find::named(&home, WorkItemKind::Task, "fix-7", None, &is_over).unwrap());
    let rivals = || drop(list::of_branch(&home, "coffee", "new", &is_over).unwrap());
    assert_eq!([looks(&of_list), looks(&named), looks(&rivals)], [0, 0, 0]);
    fs::remove_file(place(&home, CHANGED)).unwrap();
    assert_eq!([looks(&named), looks(&of_list), looks(&of_list)].map(|count| count > 0), [true, true, false]);
}

#[test]
fn a_locked_task_is_believed_no_longer() {
    let (_folder, home, dirs) = listed();
    end(&home, &dirs[3], "working");
    check(&home, "reopened");
    let list = fs::read(place(&home, IDLE)).unwrap();
    end(&home, &dirs[3], "done");
    check(&home, "ended again");
    // One task more is not a reason to write the list again; many are.
    assert_eq!(fs::read(place(&home, IDLE)).unwrap(), list);
    dirs.iter().take(TASKS / 2).for_each(|dir| end(&home, dir, "done"));
    check(&home, "many");
    grow_old(&home);
    check(&home, "later");
    assert_ne!(fs::read(place(&home, IDLE)).unwrap(), list);
}

#[test]
fn a_task_that_is_locked_meanwhile_is_not_listed() {
    let (_folder, home, dirs) = listed();
    fs::remove_file(place(&home, IDLE)).unwrap();
    let mut locked = LockedWorkItem::lock(&home, &dirs[3]).unwrap();
    check(&home, "the list is written while a task is locked");
    assert!(place(&home, IDLE).exists());
    locked.append(Event::Unknown, Set::new().status("working")).unwrap();
    check(&home, "and changed");
}

#[test]
fn an_epoch_ends_with_the_boot() {
    let (_folder, home, dirs) = listed();
    let boot = clock::boot();
    for name in [IDLE, CHANGED] {
        let text = fs::read_to_string(place(&home, name)).unwrap().replace(&boot, "another-boot");
        let body = text.split_once('\n').unwrap().1;
        let text = if name == IDLE { [&head_of(body), "\n", body].concat() } else { text.clone() };
        fs::write(place(&home, name), text).unwrap();
    }
    assert!(IdleTasks::read(dirs[0].path.parent().unwrap()).is_none());
}

#[test]
fn a_line_that_a_kill_has_torn_hides_no_other() {
    let (_folder, home, dirs) = listed();
    let mut file = fs::OpenOptions::new().append(true).open(place(&home, CHANGED)).unwrap();
    file.write_all(format!("\n{}", &dirs[4].id[..9]).as_bytes()).unwrap();
    end(&home, &dirs[3], "working");
    check(&home, "torn");
}

#[test]
fn a_folder_that_a_person_has_replaced_is_read() {
    let (_folder, home, dirs) = listed();
    let backup = home.root().join("backup");
    fs::rename(&dirs[3].path, &backup).unwrap();
    check(&home, "moved away");
    fs::create_dir(&dirs[3].path).unwrap();
    for name in ["TASK.md", "history.jsonl"] {
        fs::copy(backup.join(name), dirs[3].path.join(name)).unwrap();
    }
    rewrite(&dirs[3].history(), "\"done\"", "\"working\"");
    check(&home, "an older one is restored");
    copy(&home, &dirs[2], 900_000);
    check(&home, "one is copied");
}

#[test]
fn what_is_edited_by_hand_is_found_by_its_branch_or_checked() {
    let (_folder, home, dirs) = listed();
    let named = |branch| find::named(&home, WorkItemKind::Task, branch, None, &is_over);
    let third = named("fix-3").unwrap();
    rewrite(&third.task_md(), "fix-3", "mix-3");
    assert_eq!(named("mix-3").unwrap(), third);
    assert!(named("fix-3").is_err());
    rewrite(&dirs[4].history(), "\"done\"", "\"working\"");
    let is_wrong = |over: &list::ListedTask| over.dir == dirs[4];
    let over = list::sorted(&home, &is_over).unwrap().over.into_iter().find(is_wrong).unwrap();
    let (task, _) = WorkItem::read_last(&home, &dirs[4], 0).unwrap();
    over.check(Some(&task)).unwrap();
    assert!(!place(&home, CHANGED).exists());
    check(&home, "after the check");
}

#[test]
fn a_random_walk_is_the_same_without_the_list() {
    const ROUNDS: usize = 100;
    let (_folder, home, mut dirs) = listed();
    let mut random = Random::new(27);
    let mut former = Vec::new();
    for round in 0..ROUNDS {
        let dir = dirs[random.below(dirs.len())].clone();
        let name = [IDLE, CHANGED, JournalFacts::INDEX][random.below(3)];
        let what = random.below(11);
        match what {
            0..=2 => end(&home, &dir, ["working", "done", "pending"][what]),
            3 => fs::remove_file(place(&home, name)).unwrap_or_default(),
            4 => former.extend([IDLE, CHANGED].map(|name| fs::read(place(&home, name)).unwrap_or_default())),
            // An older list, whose epoch is over. Its own proof is not restored: nothing else would say so.
            5 if former.len() > 1 => {
                fs::write(place(&home, IDLE), &former[random.below(former.len())]).unwrap()
            }
            6 => fs::remove_dir_all(&dir.path).unwrap(),
            7 => {
                let there = trash::delete(&home, LockedWorkItem::lock(&home, &dir).unwrap()).unwrap();
                end(&home, &there, "working");
                trash::restore(&home, &there, Event::Unknown, &is_over, |_, _| Ok(())).unwrap();
            }
            8 => drop(create(&home, &draft("fix-7"), |_| Ok(())).unwrap()),
            9 => {
                let value = crate::store::scalar::Value::Text("fix-7");
                LockedWorkItem::lock(&home, &dir).unwrap().edit(&[("branch", value)]).unwrap();
            }
            _ => dirs.iter().step_by(2).for_each(|dir| end(&home, dir, "done")),
        }
        dirs = list::dirs(&home, &[WorkItemKind::Task], None).unwrap();
        dirs.sort();
        if dirs.len() < TASKS {
            drop(task(&home, "fix-7"));
        }
        check(&home, &format!("round {round} of kind {what}"));
    }
}

#[test]
fn a_kill_between_two_steps_changes_no_answer() {
    let (_folder, home, dirs) = listed();
    let points = tempfile::tempdir().unwrap();
    for number in 1.. {
        assert!(number < 300, "the process makes no end");
        let kill = points.path().join("kill");
        fs::write(&kill, format!("store::tests::processes::role {number}")).unwrap();
        let is_done = TestProcess::start_with_fail_points("idle", &home, points.path()).succeeded();
        check(&home, &format!("after a kill at step {number}"));
        end(&home, &dirs[2], "working");
        check(&home, &format!("after a change behind step {number}"));
        if is_done {
            assert!(number > 20 && kill.exists(), "{number} steps");
            return;
        }
        assert!(!kill.exists(), "a process failed before step {number}");
    }
}

/// Ends and reopens tasks, and writes the list in between.
pub(crate) fn change(home: &Home) {
    let mut dirs = list::dirs(home, &[WorkItemKind::Task], None).unwrap();
    dirs.sort();
    let list = || drop(list::journals(home, &[WorkItemKind::Task], None, &|_, _| true).unwrap());
    end(home, &dirs[1], "working");
    fs::remove_file(place(home, IDLE)).unwrap_or_default();
    list();
    end(home, &dirs[1], "done");
    end(home, &dirs[2], "done");
    list();
}

#[test]
fn a_change_is_seen_while_others_write_the_list() {
    let (_folder, home, dirs) = listed();
    let others: Vec<TestProcess> = (0..2).map(|_| TestProcess::start("list", &home)).collect();
    for round in 0..20 {
        let dir = &dirs[round % 7];
        for status in ["working", "done"] {
            end(&home, dir, status);
            let known = list::journals(&home, &[WorkItemKind::Task], None, &|_, _| true).unwrap();
            let one = known.iter().find(|known| known.dir == *dir).unwrap();
            assert!(one.may_be(|owned| owned.status == status), "round {round}: it is {status}");
        }
    }
    others.into_iter().for_each(TestProcess::kill);
}

/// Writes the list again and again.
pub(crate) fn write_forever(home: &Home) {
    loop {
        fs::remove_file(place(home, IDLE)).unwrap_or_default();
        drop(list::journals(home, &[WorkItemKind::Task], None, &|_, _| true).unwrap());
    }
}
