//! Missions in the store: kept as tasks are, beside them, and without a copy of their text in the worktree.

use std::fs;

use crate::ErrorKind;
use crate::store::create::plan_hash;
use crate::store::pool::{self, Pool, slot_of};
use crate::store::scalar::Value;
use crate::store::tests::{draft, home, mission, mission_draft, task, usable};
use crate::store::{Event, LockedWorkItem, Set, WorkItem, WorkItemDraft, WorkItemKind, create, find, list};

#[test]
fn a_new_mission_is_whole() {
    let (_folder, home) = home();
    let unnamed = WorkItemDraft { branch: None, creator: Some("t1".to_owned()), ..mission_draft("brew") };
    let locked = create(&home, &unnamed, |_| Ok(())).unwrap();
    let dir = locked.dir().clone();
    assert_eq!(dir.path, home.missions().join("coffee").join(&dir.id));
    let text = fs::read_to_string(dir.path.join("MISSION.md")).unwrap();
    let keys: Vec<&str> = text.lines().filter_map(|line| line.split_once(": ").map(|(key, _)| key)).collect();
    assert_eq!(
        keys.join(" "),
        "id project branch summary status harness review_harness workflow workspace tmux_session created_at updated_at"
    );
    assert_eq!(fs::read(dir.plan()).unwrap(), b"{}");
    assert!(!dir.path.join("TASK.md").exists());

    let branch = format!("orange/grind-finer-{}", &dir.id[..8]);
    assert_eq!((locked.task().kind, &locked.task().branch), (WorkItemKind::Mission, &branch));
    assert_eq!((&locked.history().branch.name, locked.history().creator.as_deref()), (&branch, Some("t1")));
    drop(locked);
    let (_, journal) = WorkItem::read(&home, &dir).unwrap();
    let Event::MissionCreated { plan_hash: hash, prompt, intervene, .. } = &journal.records[0].event else {
        panic!("{:?}", journal.records);
    };
    assert_eq!((&**hash, &**prompt, &**intervene), (&*plan_hash(b"{}"), "Grind finer", "on-error"));
}

#[test]
fn values_of_a_mission_go_to_its_journal_and_its_text() {
    let (_folder, home) = home();
    let mut locked = mission(&home, "brew");
    locked.append(Event::Unknown, Set::new().status("running")).unwrap();
    locked.edit(&[("summary", Value::Text("Grind coarser"))]).unwrap();
    let dir = locked.dir().clone();
    drop(locked);
    let text = fs::read_to_string(dir.task_md()).unwrap();
    assert!(text.contains("\nstatus: running\n") && text.contains("\nsummary: Grind coarser\n"), "{text}");

    fs::write(dir.task_md(), text.replace("running", "completed")).unwrap();
    assert_eq!(WorkItem::read(&home, &dir).unwrap().0.status(), "running");
    assert_eq!(LockedWorkItem::lock(&home, &dir).unwrap().repairs().len(), 1);
    assert!(fs::read_to_string(dir.task_md()).unwrap().contains("\nstatus: running\n"));
}

#[test]
fn a_project_s_own_task_md_stays_as_it_is_in_a_mission() {
    let (_folder, home) = home();
    let mut locked = mission(&home, "brew");
    locked.append(Event::Unknown, Set::new().workspace(Some("coffee--1"))).unwrap();
    let dir = locked.dir().clone();
    drop(locked);
    let worktree = home.workspace("coffee--1");
    fs::create_dir_all(&worktree).unwrap();
    let own = worktree.join("TASK.md");
    for text in ["", "---\nid: another\n", "# What to do\n"] {
        fs::write(&own, text).unwrap();
        let mut locked = LockedWorkItem::lock(&home, &dir).unwrap();
        locked.edit(&[("attention", Value::Text(text))]).unwrap();
        locked.sync().unwrap();
        locked.withdraw(&worktree).unwrap();
        drop(locked);
        assert!(!WorkItem::read(&home, &dir).unwrap().0.body.contains("What to do"));
        assert_eq!(fs::read_to_string(&own).unwrap(), text);
    }
    fs::remove_file(&own).unwrap();
    drop(LockedWorkItem::lock(&home, &dir).unwrap());
    assert!(!own.exists());
    assert!(!dir.base().exists() && !dir.kept().exists());
}

#[test]
fn a_task_and_a_mission_learn_of_each_other_s_branch() {
    let (_folder, home) = home();
    let first = task(&home, "fix").dir().id.clone();
    let second = mission(&home, "brew").dir().id.clone();
    for (branch, holder) in [("fix", &first), ("brew", &second), ("another", &String::new())] {
        for draft in [draft(branch), mission_draft(branch)] {
            let mut rivals = Vec::new();
            let refused = create(&home, &draft, |others| {
                rivals.extend(others.iter().map(|other| other.id.clone()));
                Err(crate::Error::new(ErrorKind::Refused, "no"))
            });
            assert_eq!(refused.unwrap_err().kind, ErrorKind::Refused);
            assert_eq!(rivals, if holder.is_empty() { vec![] } else { vec![holder.clone()] }, "{branch}");
        }
    }
}

#[test]
fn lists_have_one_kind_and_name_a_mission_that_cannot_be_read() {
    let (_folder, home) = home();
    let first = task(&home, "fix").dir().clone();
    let second = mission(&home, "brew").dir().clone();
    let broken = mission(&home, "boil").dir().clone();
    fs::write(broken.task_md(), "").unwrap();
    let dirs = |listed: Vec<list::WorkItemEntry>| listed.into_iter().map(|one| one.dir).collect::<Vec<_>>();
    assert_eq!(dirs(list::list(&home, None).unwrap()), [first]);
    let mut missions = list::missions(&home, Some("coffee")).unwrap();
    let error = missions.pop().unwrap().task.unwrap_err();
    assert!(error.message.contains("MISSION.md"), "{}", error.message);
    assert_eq!(dirs(missions), [second]);
    assert_eq!(dirs(list::missions(&home, Some("tea")).unwrap()), []);
}

#[test]
fn a_command_finds_its_own_kind_and_the_engine_finds_both() {
    let (_folder, home) = home();
    let first = task(&home, "fix").dir().clone();
    let second = mission(&home, "brew").dir().clone();
    for dir in [&first, &second] {
        assert_eq!(find::by_id(&home, &dir.id).unwrap(), *dir);
    }
    let named = |kind, name: &str| find::named(&home, kind, name, None, &|_, _| false);
    assert_eq!(named(WorkItemKind::Task, &first.id).unwrap(), first);
    assert_eq!(named(WorkItemKind::Mission, "brew").unwrap(), second);
    let refused = |kind, name: &str| {
        let error = named(kind, name).unwrap_err();
        assert_eq!(error.kind, ErrorKind::NotFound);
        (error.message.clone(), error.help.clone())
    };
    let (id, other) = (&first.id, &second.id);
    assert_eq!(
        refused(WorkItemKind::Mission, id),
        (format!("{id} is a task"), format!("`orange task show {id}`"))
    );
    assert_eq!(
        refused(WorkItemKind::Task, other),
        (format!("{other} is a mission"), format!("`orange mission show {other}`"))
    );
    assert_eq!(refused(WorkItemKind::Task, "brew").0, "there is no task `brew`");
    assert_eq!(refused(WorkItemKind::Mission, "fix").0, "there is no mission `fix`");
    let gone = LockedWorkItem::lock(&home, &home.mission("coffee", "gone")).unwrap_err();
    assert_eq!(gone.message, "there is no mission gone in project coffee");
}

#[test]
fn a_mission_keeps_its_worktree_without_the_file_of_the_pool() {
    let (_folder, home) = home();
    let mut locked = mission(&home, "brew");
    locked.append(Event::Unknown, Set::new().workspace(Some("coffee--1"))).unwrap();
    let dir = locked.dir().clone();
    drop(locked);
    let other = task(&home, "fix").dir().clone();
    assert_eq!(slot_of(&pool::read(&home).unwrap(), &dir.id).unwrap().name, "coffee--1");
    let mut pool = Pool::lock(&home).unwrap();
    assert_eq!(pool.bind("coffee", 2, &other.id, usable).unwrap(), "coffee--2");
    let error = pool.bind("coffee", 2, "more", usable).unwrap_err();
    let holders = format!("coffee--1 by {} (brew), coffee--2 by {} (fix)", dir.id, other.id);
    assert_eq!(error.message, format!("all workspaces of coffee are taken: {holders}"));
    let error = pool.forget("coffee--1").unwrap_err();
    assert_eq!(error.message, format!("mission {} holds workspace coffee--1", dir.id));
    drop(pool);
    assert_eq!(pool::worktree_of(&home, &dir.id).unwrap().as_deref(), Some("coffee--1"));
    for is_lost in [false, true] {
        assert_eq!(pool::holder(&home, "coffee--1").unwrap(), Some(dir.clone()), "{is_lost}");
        fs::remove_file(home.pool_json()).unwrap_or_default();
    }
    let inside = home.workspace("coffee--1").join("src");
    fs::create_dir_all(&inside).unwrap();
    assert_eq!(find::at(&home, &inside).unwrap(), Some(dir));
}

#[test]
fn a_mission_without_a_journal_is_reported_as_one() {
    let (_folder, home) = home();
    let dir = mission(&home, "brew").dir().clone();
    fs::remove_file(dir.history()).unwrap();
    let error = WorkItem::read(&home, &dir).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Corrupt);
    assert_eq!(error.help, "it is the engine's record of the mission: restore it from a backup");
}
