//! Each check finds what it is there for, and nothing in a home where all is well.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::*;
use crate::around::Around;
use crate::flow::tests::MACHINES;
use crate::machines::Machines;
use crate::store::event::Spawn;
use crate::store::index::fine::FINE;
use crate::store::index::idle::CHANGED;
use crate::store::index::tests::{copy, grow_old};
use crate::store::index::{EngineKeys, FileFact, JournalFacts, TextFacts};
use crate::store::{Event, Home, LockedWorkItem, Set, WorkItemDir, WorkItemKind, tests};

struct DoctorWard {
    folder: tempfile::TempDir,
    app: App,
}

impl DoctorWard {
    fn new() -> DoctorWard {
        let (folder, home) = tests::home();
        home.prepare().unwrap();
        let app = App::for_tests(Machines::only(MACHINES), home, folder.path());
        for skills in [".claude/skills", ".codex/skills"] {
            fs::create_dir_all(folder.path().join(skills).join("orange")).unwrap();
            fs::write(folder.path().join(skills).join("orange/SKILL.md"), "").unwrap();
        }
        DoctorWard { folder, app }
    }

    fn home(&self) -> &Home {
        &self.app.home
    }

    /// A task of the test workflow.
    fn task(&self) -> WorkItemDir {
        let mut locked = tests::task(self.home(), "fix");
        locked.append(Event::Unknown, Set::new().workflow("test", "").status("working")).unwrap();
        locked.dir().clone()
    }

    /// Findings of a check that are not fine, as `level message`.
    fn found(&self, name: &str) -> Vec<String> {
        let check = CHECKS.iter().find(|check| check.name == name).unwrap();
        let findings = check.run(&CheckData::of(&self.app));
        assert!(!findings.is_empty(), "{name} says nothing");
        let bad: Vec<_> =
            findings.into_iter().filter(|finding| finding.level != FindingLevel::Fine).collect();
        assert!(bad.iter().all(|finding| !finding.remedy.is_empty()), "{bad:?}");
        bad.into_iter().map(|finding| format!("{:?} {}", finding.level, finding.message)).collect()
    }

    #[track_caller]
    fn check(&self, name: &str, says: &str) {
        let found = self.found(name);
        assert!(found.iter().any(|found| found.contains(says)), "{name}: {found:?}");
    }
}

#[test]
fn names_differ_and_every_check_has_a_remedy() {
    for (index, check) in CHECKS.iter().enumerate() {
        assert!(!check.remedy.is_empty());
        assert!(CHECKS[..index].iter().all(|other| other.name != check.name), "{}", check.name);
    }
}

#[test]
fn a_sound_home_has_no_finding_and_is_not_changed() {
    let ward = DoctorWard::new();
    let dir = ward.task();
    let before = fs::read(dir.history()).unwrap();
    let of_this_machine = ["tmux", "git", "path", "gh", "glab", "harnesses", "disk"];
    for check in CHECKS.iter().filter(|check| !of_this_machine.contains(&check.name)) {
        assert_eq!(ward.found(check.name), Vec::<String>::new(), "{}", check.name);
    }
    assert_eq!(fs::read(dir.history()).unwrap(), before);
    assert!(!ward.home().workspaces().exists());
}

#[test]
fn what_would_hang_an_agent_is_found() {
    let ward = DoctorWard::new();
    ward.task();
    let folder = ward.folder.path().to_owned();
    let project = Project { name: "coffee".to_owned(), path: folder.clone(), ..Project::default() };
    projects::add(ward.home(), project).unwrap();
    ward.check("dialogs", "Broken claude in coffee has no answer whether it may run every command");
    ward.check("dialogs", "has no answer whether it may read, edit and run what is in");
    ward.check("logins", "Broken claude in coffee");
    assert_eq!(ward.found("root"), [""; 0]);
    fs::remove_file(folder.join(".claude/skills/orange/SKILL.md")).unwrap();
    ward.check("skills", "Warning claude has no orange skill");
    let key = [("ANTHROPIC_API_KEY", "0123")];
    let DoctorWard { folder, app } = ward;
    let around = Around::at(folder.path(), &key, true);
    let ward = DoctorWard { folder, app: app.with_around(around) };
    ward.check("root", "Broken claude in coffee");
    ward.check("dialogs", "has no answer whether it may use the key");
}

#[test]
fn what_is_missing_is_found() {
    let ward = DoctorWard::new();
    ward.task();
    // Nothing is on this one's PATH.
    ward.check("harnesses", "`claude`");
    ward.check("gh", "no gh");
    ward.check("path", "Warning /bin is not on PATH: your shell does not find true");
    fs::write(ward.home().projects_json(), r#"[{"name": "coffee", "path": "/no/such/place"}]"#).unwrap();
    ward.check("projects", "Broken coffee: /no/such/place is gone");
}

#[test]
fn a_project_on_gitlab_needs_glab_and_not_gh() {
    let ward = DoctorWard::new();
    let projects = r#"[{"name": "coffee", "path": "/no/such/place", "settings": {"forge": "gitlab"}}]"#;
    fs::write(ward.home().projects_json(), projects).unwrap();
    ward.check("glab", "Warning no glab: pull requests of coffee are neither opened nor followed");
    assert_eq!(ward.found("gh"), Vec::<String>::new());
    fs::write(ward.home().projects_json(), projects.replace("gitlab", "github")).unwrap();
    ward.check("gh", "Warning no gh: pull requests of coffee are neither opened nor followed");
    assert_eq!(ward.found("glab"), Vec::<String>::new());
}

#[test]
fn what_is_on_a_disk_of_windows_is_found() {
    let DoctorWard { folder, app } = DoctorWard::new();
    let around = Around::at(folder.path(), &[("WSL_DISTRO_NAME", "Debian")], false);
    let ward = DoctorWard { folder, app: app.with_around(around) };
    assert_eq!(ward.found("windows"), [""; 0]);
    for path in ["/mnt/c/code/coffee", "/mnt/data/code/tea", "/home/me/mnt/c"] {
        let name = path.rsplit('/').next().unwrap().to_owned();
        let project = Project { name, path: path.into(), ..Project::default() };
        projects::add(ward.home(), project).unwrap();
    }
    assert_eq!(ward.found("windows"), ["Warning /mnt/c/code/coffee is on a disk of Windows"]);
}

#[test]
fn a_home_that_others_can_read_is_reported() {
    let ward = DoctorWard::new();
    fs::set_permissions(ward.home().root(), fs::Permissions::from_mode(0o755)).unwrap();
    ward.check("home", "Warning others can read");
}

#[test]
fn what_dead_processes_left_is_found() {
    let ward = DoctorWard::new();
    let dir = ward.task();
    // No process has the highest number.
    let left = dir.path.join(format!(".TASK.md.{}.0.tmp", i32::MAX));
    fs::write(&left, "half").unwrap();
    ward.check("leftovers", &left.to_string_lossy());
    assert!(left.exists());
}

#[test]
fn a_task_that_disagrees_with_its_journal_is_found() {
    let ward = DoctorWard::new();
    let dir = ward.task();
    let text = fs::read_to_string(dir.task_md()).unwrap();
    fs::write(dir.task_md(), text.replace("status: working", "status: done")).unwrap();
    ward.check("journals", "TASK.md has done for status, the journal working");
    let mut journal = fs::read(dir.history()).unwrap();
    journal.extend(b"{\"seq\": 9, \"ty");
    fs::write(dir.history(), &journal).unwrap();
    ward.check("journals", "is torn");
    fs::write(dir.history(), "no journal\n{}\n").unwrap();
    ward.check("tasks", "history.jsonl:1");
}

#[test]
fn tasks_and_sessions_without_each_other_are_found() {
    let ward = DoctorWard::new();
    let dir = ward.task();
    let mut locked = crate::store::LockedWorkItem::lock(ward.home(), &dir).unwrap();
    let spawn = Spawn { spawn: 1, actor: crate::store::event::Actor::Worker, ..Default::default() };
    locked.append(Event::AgentSpawned(spawn), Set::new()).unwrap();
    let plan = crate::store::event::Transition { from: "a".into(), to: "b".into(), ..Default::default() };
    locked.append(Event::TransitionStarted(plan), Set::new()).unwrap();
    assert_eq!(ward.found("transitions"), [""; 0], "a process is at work on it");
    drop(locked);
    ward.check("sessions", "agent 1 (worker) is gone");
    assert_eq!(ward.found("transitions"), [""; 0], "it was begun a moment ago");
    let journal = fs::File::options().append(true).open(dir.history()).unwrap();
    journal.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(60)).unwrap();
    ward.check("transitions", "a → b is begun");
    let mut locked = crate::store::LockedWorkItem::lock(ward.home(), &dir).unwrap();
    locked.append(Event::Unknown, Set::new().status("vanished")).unwrap();
    ward.check("workflows", "vanished");
}

#[test]
fn worktrees_of_tasks_that_are_gone_are_found() {
    let ward = DoctorWard::new();
    crate::store::Pool::lock(ward.home())
        .unwrap()
        .bind("coffee", 1, "gone", crate::store::tests::usable)
        .unwrap();
    fs::create_dir(ward.home().workspace("mine")).unwrap();
    fs::write(ward.home().workspace("mine").join("precious"), "p").unwrap();
    ward.check("pool", "mine is left alone");
    ward.check("pool", "coffee--1 is not needed");
}

#[test]
fn a_journal_from_the_future_is_found() {
    let ward = DoctorWard::new();
    let dir = ward.task();
    let journal = fs::read_to_string(dir.history()).unwrap();
    fs::write(dir.history(), journal.replace("\"timestamp\":\"20", "\"timestamp\":\"29")).unwrap();
    ward.check("clock", "in the future");
}

/// A mission in this status that holds a worktree.
fn mission(ward: &DoctorWard, status: &str) -> WorkItemDir {
    let mut locked = tests::mission(ward.home(), "brew");
    locked.append(Event::Unknown, Set::new().status(status).workspace(Some("coffee--1"))).unwrap();
    locked.dir().clone()
}

#[test]
fn a_sound_mission_is_no_problem() {
    for status in ["running", "paused", "failed"] {
        let ward = DoctorWard::new();
        mission(&ward, status);
        for check in ["tasks", "plans", "workflows", "journals", "sessions", "agents", "pool", "worktrees"] {
            assert_eq!(ward.found(check), [""; 0], "{check}, {status}");
        }
    }
    let ward = DoctorWard::new();
    mission(&ward, "completed");
    ward.check("pool", "Warning coffee--1 is held by a finished task");
}

#[test]
fn the_torn_journal_of_a_mission_is_mended_by_its_commands() {
    let ward = DoctorWard::new();
    let dir = mission(&ward, "paused");
    let mut journal = fs::read(dir.history()).unwrap();
    journal.extend(b"{\"seq\": 9, \"ty");
    fs::write(dir.history(), &journal).unwrap();
    let check = CHECKS.iter().find(|check| check.name == "journals").unwrap();
    let [CheckFinding { message, remedy, .. }] = &check.run(&CheckData::of(&ward.app))[..] else {
        panic!("one finding is expected")
    };
    assert!(message.contains("is torn"), "{message}");
    assert!(remedy.contains("`orange mission continue`"), "{remedy}");
}

#[test]
fn a_mission_that_waits_for_a_worktree_is_named() {
    let ward = DoctorWard::new();
    let id = tests::mission(ward.home(), "brew").dir().id.clone();
    let check = CHECKS.iter().find(|check| check.name == "queue").unwrap();
    let [CheckFinding { level: FindingLevel::Fine, message, .. }] = &check.run(&CheckData::of(&ward.app))[..]
    else {
        panic!("something is wrong")
    };
    assert_eq!(*message, format!("mission {id} waits for a worktree of coffee"));
}

#[test]
fn an_agent_of_a_mission_that_is_gone_is_found() {
    let ward = DoctorWard::new();
    let dir = mission(&ward, "running");
    let mut locked = crate::store::LockedWorkItem::lock(ward.home(), &dir).unwrap();
    let agent = Spawn { spawn: 1, actor: "worker".into(), ..Spawn::default() };
    locked.append(Event::AgentSpawned(agent), Set::new()).unwrap();
    drop(locked);
    ward.check("sessions", &format!("Warning mission {}: agent 1 (worker) is gone, unnoticed", dir.id));
}

#[test]
fn the_harnesses_of_a_mission_are_checked_until_it_has_ended() {
    let ward = DoctorWard::new();
    let dir = mission(&ward, "paused");
    // Nothing is on this one's PATH.
    ward.check("harnesses", "Broken ");
    let mut locked = crate::store::LockedWorkItem::lock(ward.home(), &dir).unwrap();
    locked.append(Event::Unknown, Set::new().status("completed")).unwrap();
    drop(locked);
    assert!(ward.found("harnesses").iter().all(|found| found.starts_with("Warning")));
}

#[test]
fn a_mission_that_needs_a_person_is_found() {
    let ward = DoctorWard::new();
    let dir = mission(&ward, "running");
    let mut locked = crate::store::LockedWorkItem::lock(ward.home(), &dir).unwrap();
    locked.call_attention("no coffee").unwrap();
    drop(locked);
    ward.check("agents", &format!("Warning mission {}: no coffee", dir.id));
    fs::write(dir.task_md(), "").unwrap();
    ward.check("tasks", "MISSION.md");
}

#[test]
fn a_mission_without_its_plan_is_found_until_it_has_ended() {
    let ward = DoctorWard::new();
    let dir = mission(&ward, "paused");
    fs::write(dir.plan(), "{ }").unwrap();
    ward.check("plans", "plan.json was changed after the start");
    fs::remove_file(dir.plan()).unwrap();
    ward.check("plans", &format!("Broken mission {}: ", dir.id));
    ward.check("plans", "plan.json is gone");
    let mut locked = crate::store::LockedWorkItem::lock(ward.home(), &dir).unwrap();
    locked.append(Event::Unknown, Set::new().status("cancelled")).unwrap();
    drop(locked);
    assert_eq!(ward.found("plans"), [""; 0]);
}

#[test]
fn the_monitor_that_runs_is_named() {
    let ward = DoctorWard::new();
    let says = || {
        let check = CHECKS.iter().find(|check| check.name == "monitor").unwrap();
        check.run(&CheckData::of(&ward.app))[0].message.clone()
    };
    assert!(says().starts_with("none runs"), "{}", says());
    let only = crate::flow::only_one::try_become(&ward.app).unwrap().unwrap();
    assert!(says().starts_with(&format!("process {} ", std::process::id())), "{}", says());
    drop(only);
    assert!(says().starts_with("none runs"), "{}", says());
}

/// A project in the folder of the ward, whose tasks a monitor starts.
fn project(ward: &DoctorWard) {
    let project = Project {
        name: "coffee".to_owned(),
        path: ward.folder.path().to_owned(),
        pool_size: 1,
        queue: Some("auto".to_owned()),
        ..Project::default()
    };
    projects::add(ward.home(), project).unwrap();
}

#[test]
fn a_project_is_examined_before_its_first_task() {
    let ward = DoctorWard::new();
    project(&ward);
    ward.check("dialogs", "Broken claude in coffee has no answer whether it may");
    ward.check("logins", "Broken claude in coffee");
    // Nothing is on this one's PATH.
    ward.check("harnesses", "Warning new tasks of coffee: `claude`");
    fs::remove_file(ward.folder.path().join(".claude/skills/orange/SKILL.md")).unwrap();
    ward.check("skills", "Warning claude has no orange skill");
}

#[test]
fn an_automatic_queue_without_a_monitor_is_found() {
    let ward = DoctorWard::new();
    project(&ward);
    assert_eq!(ward.found("queue"), [""; 0], "nothing waits");
    let mut locked = tests::task(ward.home(), "fix");
    locked.append(Event::Unknown, Set::new().workflow("test", "")).unwrap();
    drop(locked);
    ward.check("queue", "Warning the queue of coffee is automatic, and no monitor runs");
    let only = crate::flow::only_one::try_become(&ward.app).unwrap().unwrap();
    assert!(ward.found("queue").iter().all(|found| !found.contains("no monitor runs")));
    drop(only);
}

#[test]
fn an_index_changes_no_finding() {
    const TASKS: usize = 60;
    let ward = DoctorWard::new();
    let over = ward.task();
    let end = Set::new().status("done").workspace(None).tmux_session(None);
    LockedWorkItem::lock(ward.home(), &over).unwrap().append(Event::Unknown, end).unwrap();
    (1..TASKS).for_each(|number| copy(ward.home(), &over, number));
    let mut dirs = list::dirs(ward.home(), &[WorkItemKind::Task], None).unwrap();
    dirs.sort();
    let rewrite = |path: &Path, from: &str, to: &str| {
        fs::write(path, fs::read_to_string(path).unwrap().replace(from, to)).unwrap();
    };
    rewrite(&dirs[1].task_md(), "status: \"done\"", "status: \"working\"");
    rewrite(&dirs[1].task_md(), "status: done", "status: working");
    rewrite(&dirs[2].task_md(), "review_round: 0", "review_round: 7");
    rewrite(&dirs[3].history(), "\"timestamp\":\"2", "\"timestamp\":\"9");
    fs::write(dirs[4].history(), fs::read_to_string(dirs[4].history()).unwrap() + "{\"seq\":").unwrap();
    fs::write(dirs[5].task_md(), "no frontmatter").unwrap();
    fs::remove_file(dirs[6].history()).unwrap();
    grow_old(ward.home());

    let names = CHECKS.iter().map(|check| check.name).filter(|name| *name != "disk");
    let all = || names.clone().flat_map(|name| ward.found(name)).collect::<Vec<_>>();
    let remove = || {
        for index in [JournalFacts::INDEX, TextFacts::INDEX, EngineKeys::INDEX] {
            fs::remove_file(over.path.with_file_name(index)).unwrap();
        }
    };
    let first = all();
    for says in ["status", "review_round", "in the future", "torn", "is missing"] {
        assert!(first.iter().any(|found| found.contains(says)), "{says}: {first:#?}");
    }
    assert_eq!(all(), first);
    remove();
    assert_eq!(all(), first);
    // With a list of idle tasks, the doctor notes those that are fine, and examines them again when a person changes one.
    drop(list::journals(ward.home(), &[WorkItemKind::Task], None, &|_, _| true).unwrap());
    assert_eq!(all(), first);
    let noted = over.path.with_file_name(FINE);
    let names_of = |dir: &WorkItemDir| fs::read_to_string(&noted).unwrap().contains(&dir.id);
    assert!(names_of(&dirs[20]) && !(1..=6).any(|at| names_of(&dirs[at])));
    assert_eq!(all(), first);
    rewrite(&dirs[20].task_md(), "review_round: 0", "review_round: 8");
    fs::remove_file(dirs[21].history()).unwrap();
    let later = all();
    assert!(later.iter().any(|found| found.contains(&dirs[20].id) && found.contains("review_round")));
    assert!(later.iter().any(|found| found.contains(&dirs[21].id) && found.contains("is missing")));
    remove();
    fs::remove_file(noted).unwrap();
    assert_eq!(all(), later);
    // The list was wrong about a journal that was replaced, also of a task that waits.
    drop(list::journals(ward.home(), &[WorkItemKind::Task], None, &|_, _| true).unwrap());
    let proof = over.path.with_file_name(CHANGED);
    drop(ward.found("tasks"));
    assert!(proof.exists());
    rewrite(&dirs[30].history(), "\"status\":\"done\"", "\"status\":\"working\"");
    drop(ward.found("tasks"));
    assert!(!proof.exists());
}

#[test]
fn a_project_with_walls_needs_bubblewrap() {
    let ward = DoctorWard::new();
    assert_eq!(ward.found("walls"), [""; 0]);
    let mut settings = crate::store::settings::Settings::default();
    settings.sandbox.level = Some(orange_core::wall::Level::Wall);
    let path = ward.folder.path().to_owned();
    projects::add(ward.home(), Project { name: "coffee".to_owned(), path, settings, ..Project::default() })
        .unwrap();
    ward.check("walls", "Broken no agent of coffee can start: `bwrap` is not installed or not on PATH");
}
